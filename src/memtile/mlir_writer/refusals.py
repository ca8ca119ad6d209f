"""Errors about what a design has and MLIR has no operation for."""

from __future__ import annotations

from memtile.errors import DesignError


def refused(where: str, says: str, allowed: str, step: str = "") -> DesignError:
    """The error of a part of a design that cannot be written.

    Args:
        where: the part, by the user's name.
        says: what it is.
        allowed: what can be written.
        step: what to do.
    """
    return DesignError.of(
        "mlir",
        where,
        allowed,
        says,
        step,
        reason="mlir_export",
        where=where,
        source="mlir-aie: operations of the AIE dialect",
    )
