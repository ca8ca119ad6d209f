"""Functions that cores call and nobody's design defines, in NumPy: those that IRON and mlir-aie designs ship.

``memtile.kernels.aie`` offers them. Nothing here knows the model: arrays in, arrays changed in place.
"""
