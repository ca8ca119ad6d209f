"""Core bodies of MLIR designs as kernels.

``body`` turns the region of a core into Python, once: what synchronises (locks, object FIFOs, functions of
the user) becomes actions of a generator, all between two of them becomes functions over NumPy views of the
tile's memory. ``quote`` builds the trees, from templates of this package and checked nodes; ``proofs`` puts a
check where an index is used, unless it is known to be in range; ``verify`` sees that nothing else is in a
tree before ``body_segments`` runs it in the interpreter, or compiled by Numba once it has worked so much that
waiting for the compiler pays. ``expressions`` has one expression an operation; ``arithmetic`` the functions
in them, exact for every width.
"""
