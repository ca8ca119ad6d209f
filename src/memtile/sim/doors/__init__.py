"""Doors to an array: memory-mapped accesses by hosts, in the time that they take."""
