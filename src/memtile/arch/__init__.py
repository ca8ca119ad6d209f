"""The hardware as tables: the only place where a number of the hardware lives.

Nothing here computes; every table names its source (AM020, AM025, UG1603, the open driver) and its
confidence grade. See ``docs/deviations.md`` for every choice between disagreeing sources.
"""
