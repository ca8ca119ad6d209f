"""How Numba compiles the model; knows no hardware."""
