"""A stand-in of what memtile uses of mlir-aie: its documented host interface, and nothing that compiles."""
