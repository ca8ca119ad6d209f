"""``aie.helpers.dialects.ext``: the former place of ``aie.helpers.dialects`` (mlir-aie until 2025)."""
