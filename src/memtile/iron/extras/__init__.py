"""``aie.extras``: what mlir-aie's Python takes from mlir-python-extras."""
