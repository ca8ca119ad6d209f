"""``aie.dialects``: operations by dialect, as mlir-aie's Python has them."""
