"""MLIR text as mlir-aie, IRON and iree-amd-aie print it.

``tokens`` cuts a text up, ``reader`` makes the tree of ``tree`` from it, ``attributes`` and ``types`` say
what attributes and types mean. The reader knows no operation: whatever has a name, operands, attributes and
regions is read and kept, in pretty and in generic form, so only what a design needs has to be known.
"""
