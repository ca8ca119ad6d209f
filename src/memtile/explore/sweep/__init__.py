"""Sweeps: a design with other values for its parameters, again and again."""
