"""Long lists of numbers in a page: their bytes by place, deflated, as text (about one byte a number)."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memtile.model.state.columns import Ints

MOST = 0xFFFF_FFFF  # that a number can be
_PLACES = 4  # bytes of a number


def packed(lists: Sequence[Ints]) -> str:
    """All lists one after the other, as base64 of deflated bytes: first all lowest bytes, then the next ones.

    Args:
        lists: int64, each number from 0 to ``MOST``.

    Raises:
        ValueError: a number that does not fit.
    """
    whole = np.concatenate(lists) if lists else np.zeros(0, np.int64)
    if len(whole) and (whole.min() < 0 or whole.max() > MOST):
        raise ValueError(f"a number of {whole.min()}..{whole.max()} does not fit into 32 bits")
    places = whole.astype("<u4").view(np.uint8).reshape(-1, _PLACES).T
    return base64.b64encode(zlib.compress(np.ascontiguousarray(places).tobytes(), 9)).decode("ascii")


def unpacked(text: str) -> Ints:
    """The numbers again, all in one list."""
    places = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(_PLACES, -1)
    numbers: npt.NDArray[np.uint32] = np.ascontiguousarray(places.T).view("<u4")[:, 0]
    return numbers.astype(np.int64)


def steps(rising: Ints) -> Ints:
    """The first number and the differences from each to the next; of numbers that never fall."""
    return np.diff(rising, prepend=0)
