"""Outputs compared with what was expected: how much is wrong, and the first that is, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memtile.explain.findings import OTHER_WORDS
from memtile.explain.mismatch_causes import cause_of
from memtile.explain.value_causes import MismatchCause

Array = npt.NDArray[Any]

_LONGEST = 40  # characters of a value in a sentence
_AT_A_TIME = 1 << 16  # bytes that are compared


@dataclass(frozen=True, slots=True)
class Check:
    """The comparison of one output with its expected elements, one by one.

    Attributes:
        port: name of the output.
        elements: number of expected elements.
        missing: number of elements that did not arrive.
        wrong: number of elements that differ, or came after the expected ones.
        first_wrong: number of the first of these, in C order; None = there is none.
        index: its index in the expected array; with several arrays in sequence, the number of the array comes
            first. None = beyond the end, or nothing is wrong.
        got: its value; text if JSON cannot represent the number.
        expected: the value it should have; None = beyond the end.
        note: why the comparison may not be the intended one; empty = no doubt.
        cause: a known cause that explains all wrong elements, if there is one.
        arrays: actual and expected elements, if some are wrong and none are missing.
        digest: stands for the expected elements; 0 = they are not kept.
    """

    port: str
    elements: int
    missing: int
    wrong: int
    first_wrong: int | None
    index: tuple[int, ...] | None = None
    got: int | float | str | None = None
    expected: int | float | str | None = None
    note: str = ""
    cause: MismatchCause | None = field(default=None, compare=False)
    arrays: tuple[Array, Array] | None = field(default=None, compare=False, repr=False)
    digest: int = field(default=0, compare=False, repr=False)

    @property
    def exact(self) -> bool:
        """Whether every element is present and equal."""
        return self.missing == 0 and self.wrong == 0

    @property
    def is_open(self) -> bool:
        """Whether all elements came, some are wrong, and no other order or shift explains the difference."""
        known = self.cause is not None and self.cause.code != OTHER_WORDS
        return self.missing == 0 and self.wrong > 0 and self.index is not None and not known

    @property
    def text(self) -> str:
        """The difference, in one line."""
        missing = f"{self.missing} missing of {self.elements} elements"
        return "; ".join(
            filter(None, [f"{self.port}: {self.wrong} wrong{self._first()}, {missing}", self.note])
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        data = asdict(replace(self, arrays=None)) | {
            "index": None if self.index is None else list(self.index),
            "exact": self.exact,
        }
        del data["cause"], data["arrays"], data["digest"]  # a finding says it
        return data

    def _first(self) -> str:
        if self.first_wrong is None:
            return ""
        place = f", the first is element {self.first_wrong}"
        if self.index is None:
            return f"{place} ({self.got} came, beyond the end)"
        if len(self.index) > 1:
            place += f" at {list(self.index)}"
        return f"{place} ({_short(self.got)} came, {_short(self.expected)} was expected)"

    @classmethod
    def compare(
        cls,
        port: str,
        got: Array,
        expected: Array,
        shapes: Sequence[tuple[int, ...]] = (),
        note: str = "",
        *,
        more: int = 0,
    ) -> Check:
        """Compare flat arrays of one dtype; elements beyond the expected ones count as wrong.

        Args:
            port: name of the output.
            got: the actual elements; any type, one dimension.
            expected: the expected elements, of the same type.
            shapes: of the expected arrays, in sequence; one dimension if omitted.
            note: for the result, if the output is not exact.
            more: number of elements that came after those of ``got``, which is then longer than ``expected``.
        """
        common, digest = (
            min(len(got), len(expected)),
            crc32(np.ascontiguousarray(expected).view(np.uint8).data),
        )
        differs = _differing(got[:common], expected[:common])
        elements = differs // expected.itemsize  # in order, each once or more
        wrong = int(np.count_nonzero(np.diff(elements, prepend=-1))) + len(got) + more - common
        missing = len(expected) - common
        note = note if wrong or missing else ""
        if not wrong:
            return cls(port, len(expected), missing, 0, None, note=note, digest=digest)
        first = int(differs[0] // expected.itemsize) if len(differs) else common
        if first >= len(expected):
            value = _value(got[first])
            return cls(port, len(expected), missing, wrong, first, None, value, None, note, digest=digest)
        index = _index(first, shapes or (expected.shape,))
        values = _value(got[first]), _value(expected[first])
        cause = None if missing or more else cause_of(got, expected)
        arrays = None if missing or more or len(got) > len(expected) else (got, expected)
        return cls(port, len(expected), missing, wrong, first, index, *values, note, cause, arrays, digest)


def _differing(got: Array, expected: Array) -> Array:
    """Places of the bytes in which two arrays of one length differ, compared some at a time."""
    mine, other = got.view(np.uint8), expected.view(np.uint8)
    found = [np.zeros(0, np.int64)]
    for at in range(0, len(mine), _AT_A_TIME):
        some, others = mine[at : at + _AT_A_TIME], other[at : at + _AT_A_TIME]
        if some.tobytes() != others.tobytes():
            found.append(at + np.flatnonzero(some != others))
    return np.concatenate(found)


def types_note(expected: np.dtype[Any], sent: Sequence[np.dtype[Any]]) -> str:
    """Why bits are compared where values may have been meant: what is expected is of another type.

    Args:
        expected: type of the expected data.
        sent: types of the buffers that the channel reads.
    """
    others = [dtype for dtype in sent if _class(dtype) != _class(expected)]
    if not others:
        return ""
    return f"{expected} is expected of a buffer of {others[0]}: bits are compared, not values"


def _class(dtype: np.dtype[Any]) -> tuple[str, int]:
    """What makes bits mean other values: signed and unsigned numbers are told apart by their owner alone."""
    return ("integer" if dtype.kind in "biu" else dtype.kind), dtype.itemsize


def _index(number: int, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The place of element ``number`` of arrays one after the other; the number of the array, if several."""
    ends = np.cumsum([np.prod(shape, dtype=np.int64) for shape in shapes])
    n = int(np.searchsorted(ends, number, side="right"))
    within = number - int(ends[n - 1]) if n else number
    place = tuple(map(int, np.unravel_index(within, shapes[n] or (1,))))
    return (n, *place) if len(shapes) > 1 else place


def _value(element: Any) -> int | float | str:
    """An element as JSON has it; a text where it has no such value."""
    value = (
        element.item() if isinstance(element, np.generic) and element.dtype.kind in "biuf" else str(element)
    )
    return value if isinstance(value, int) or (isinstance(value, float) and isfinite(value)) else str(value)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
