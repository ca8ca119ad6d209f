"""Numbers that a host passes where the host sequence takes a number."""

from __future__ import annotations

import re
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError, Problem
from memtile.importers.mlir.types import Shaped

_WIDTH = re.compile(r"[su]?i([0-9]+)")
_INDEX_BITS = 64


def host_number(position: int, kind: Shaped, value: npt.ArrayLike | SupportsFloat) -> int:
    """The value of an argument that is a number.

    Args:
        position: of the argument.
        kind: of it, as the sequence declares it.
        value: what the host passes: a number, or an array of one element.

    Raises:
        InputFileError: no number, a fraction, or a number that the type does not hold.
    """
    array = np.asarray(value)
    bits = int(found[1]) if (found := _WIDTH.fullmatch(kind.element)) else _INDEX_BITS
    low, high = -((1 << bits) >> 1), (1 << bits) - 1
    allowed = f"a whole number, {low}..{high}"
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise InputFileError(_problem(position, kind, f"{array.dtype} of shape {array.shape}", allowed))
    number = array.reshape(-1)[0].item()
    if number != number or number in (float("inf"), float("-inf")) or number != int(number):
        raise InputFileError(_problem(position, kind, str(number), allowed))
    if not low <= number <= high:
        raise InputFileError(_problem(position, kind, str(number), allowed))
    return int(number)


def _problem(position: int, kind: Shaped, given: str, allowed: str) -> Problem:
    return Problem(
        "number",
        given,
        f"{allowed} ({kind.element})",
        reason="mlir_scalar",
        where=f"argument {position}",
        source="mlir-aie: aie.runtime_sequence",
    )
