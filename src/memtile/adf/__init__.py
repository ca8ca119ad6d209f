"""Graphs of UG1603 in C++: what they describe, where it goes in the array, and how it runs."""
