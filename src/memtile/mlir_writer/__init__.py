"""MLIR of mlir-aie from a design, whatever it was written in: the way back from the machine to its text."""
