"""``aie.helpers.dialects``: loops, branches and functions."""
