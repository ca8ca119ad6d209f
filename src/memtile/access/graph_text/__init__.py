"""Tilings in the text of a C++ graph, read without a compiler: a bounded grammar, nothing is executed."""
