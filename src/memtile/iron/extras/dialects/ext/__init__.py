"""``aie.extras.dialects.ext``: the former place of ``aie.extras.dialects`` (mlir-aie until 2025)."""
