"""The hardware blocks, one module each: flat state and the step functions that Numba compiles."""
