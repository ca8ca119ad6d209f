"""How the model is compiled by Numba; knows no hardware.

The model is functions over a *struct*: a NamedTuple of arrays, of tables, and of further structs. A table is
one NumPy record array; the field of a struct that is a table has *columns*. Compiled code gets

- a struct as a pointer (``structs``): the addresses and shapes of its arrays, laid one after the other;
- an array of a struct, and each column of a table, as a Numba type of its own (``column_types``), whose
  element is one address computation away and which says to LLVM that no two of them overlap.

A function is an *entry*, which Python calls, or a *part*, which is compiled into the entries that call it
(``decorators``, ``parts``). Parts need functions of Numba that are not public; ``numba_hooks`` looks for
them, and without them Numba compiles the same functions in its own, slower, way. ``cache`` keeps what was
compiled.
"""
