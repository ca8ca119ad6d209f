"""``aie.iron.kernels``."""
