"""Confinement of a process on Linux: what code that a design brings may read, write and reach."""
