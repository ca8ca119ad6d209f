"""Which accesses of a run nothing orders: vector clocks over the notes of ``model.checking``."""
