"""``aie.extras.dialects``: operations with operators of Python."""
