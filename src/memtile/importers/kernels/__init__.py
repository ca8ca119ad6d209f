"""Core bodies of MLIR designs as kernels.

``body`` turns the region of a core into Python source, once: what synchronises (locks, object FIFOs,
functions of the user) becomes actions of a generator, all between two of them becomes functions over NumPy
views of the tile's memory. ``segments`` runs these in the interpreter, or compiled by Numba once they have
worked so much that waiting for the compiler pays. ``expressions`` has one Python expression an operation;
``arithmetic`` the functions in them, exact for every width.
"""
