"""What a kernel can ask of its core: wait, lock operations, and access patterns of the address generators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from weakref import ref

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CoreKind
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import DesignError, Problem, raise_if
from memtile.model.cores.core_ports import CoreMode

Ints = npt.NDArray[np.int64]

UNUSED = -1
_SOURCE = "AM020 chapter 4: load and store units"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Wait:
    """Compute for a number of cycles."""

    cycles: int


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LockOperation:
    """Acquire or release a lock.

    Attributes:
        lock: id as the core sees it: south, west, north and own tile have 16 each.
        value: acquire: below 0 wait for at least -value, else for exactly value; release: signed change.
        acquire: which of the two.
    """

    lock: int
    value: int
    acquire: bool


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Accesses:
    """Accesses step by step.

    Attributes:
        steps: int64[steps, address generators, (word as the core sees it, CoreMode)].
        nbytes: that banks read and write for them: whole words, two for a store of less than one.
    """

    steps: Ints
    nbytes: int = 0


@dataclass(frozen=True, slots=True, weakref_slot=True)
class EventInstruction:
    """Raise INSTR_EVENT_0 or INSTR_EVENT_1 of the core, in a cycle of its own.

    Attributes:
        number: 0 or 1.
    """

    number: int


@dataclass(frozen=True, slots=True, weakref_slot=True)
class CascadePut:
    """Put a value on the cascade.

    Attributes:
        words: its 32-bit words, int64[16].
    """

    words: Ints


@dataclass(frozen=True, slots=True, weakref_slot=True)
class CascadeGet:
    """Get a value from the cascade; what the ``yield`` gives is an array of 64 bytes.

    Attributes:
        dtype: element type of the array.
    """

    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StreamPut:
    """Put words into the core's stream port, one a cycle.

    Attributes:
        words: 32-bit words, int64[count].
        last: send TLAST with the last one.
    """

    words: Ints
    last: bool


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StreamGet:
    """Get words from the core's stream port, one a cycle; what the ``yield`` gives is an array of them.

    Attributes:
        count: 32-bit words.
        dtype: element type of the array.
    """

    count: int
    dtype: np.dtype[Any]


LinkAction = CascadePut | CascadeGet | StreamPut | StreamGet
"""Actions on the cascade and the stream of a core."""
Action = Wait | LockOperation | Accesses | EventInstruction | LinkAction
"""What a kernel yields; made by the methods of ``Core``."""
A = TypeVar("A")


class Made:
    """The actions that a kernel, or a host sequence, has made and not yielded.

    One that it drops is an action that it forgot to yield. Most are yielded before another one is made; the
    others are watched from then on.

    Attributes:
        forgotten: how it made the first action that it had dropped when it yielded another one; empty = none.
    """

    def __init__(self) -> None:
        self.forgotten = ""
        self._new: dict[int, tuple[Any, str, tuple[object, ...]]] = {}
        self._watched: dict[int, ref[Any]] = {}

    def add(self, action: A, text: str, *numbers: object) -> A:
        """Note an action that the kernel makes as ``text`` says, which has places for ``numbers``."""
        self._new[id(action)] = action, text, numbers
        return action

    def remove(self, action: object) -> None:
        """Note that the kernel has yielded an action; None = it has come to its end."""
        if self._new.pop(id(action), None) is None:
            self._watched.pop(id(action), None)
        while self._new:
            self._watch(*self._new.popitem()[1])

    def _watch(self, action: Any, text: str, numbers: tuple[object, ...]) -> None:
        key = id(action)

        def dropped(_: object) -> None:
            if self._watched.pop(key, None) is not None:
                said = text.format(*map(_named, numbers)) if numbers else text
                self.forgotten = self.forgotten or said

        self._watched[key] = ref(action, dropped)


def _named(number: object) -> str:
    """A number, or the name or else the number of a lock."""
    return str(getattr(number, "name", getattr(number, "id", number)))


class Pattern(NamedTuple):
    """Addresses of one address generator, step by step.

    Attributes:
        at: byte addresses as the core sees them, int64[steps]; -1 = no access in this step.
        bits: width of each access: 256, or 32, 16 or 8.
    """

    at: Ints
    bits: int


def merge(who: str, kind: CoreKind, loads: tuple[Pattern, ...], store: Pattern | None) -> Accesses:
    """The patterns of the address generators side by side; those that end first then do nothing.

    Raises:
        DesignError: more loads than the core has, a width it has not, or an address not aligned to its width.
    """
    raise_if(_problems(who, kind, loads, store), DesignError)
    ports = [*loads, *[None] * (kind.loads - len(loads)), store]
    length = max((len(p.at) for p in ports if p is not None), default=0)
    steps = np.zeros((length, kind.ports, 2), dtype=np.int64)
    for port, pattern in enumerate(ports):
        if pattern is not None:
            used = pattern.at != UNUSED
            steps[: len(used), port, 0] = np.where(used, pattern.at // WORD_BYTES, 0)
            mode = _mode(kind, pattern.bits, stores=port >= kind.loads)
            steps[: len(used), port, 1] = np.where(used, mode, CoreMode.NONE)
    return Accesses(steps, _nbytes(steps[:, :, 1], kind))


def _nbytes(modes: Ints, kind: CoreKind) -> int:
    """Bytes that accesses of these modes read and write."""
    vector = kind.vector_bits // 8
    widths = {CoreMode.WORD: WORD_BYTES, CoreMode.UPDATE: 2 * WORD_BYTES, CoreMode.VECTOR: vector}
    return sum(int(np.count_nonzero(modes == mode)) * width for mode, width in widths.items())


def _mode(kind: CoreKind, bits: int, *, stores: bool) -> CoreMode:
    if bits == kind.vector_bits:
        return CoreMode.VECTOR
    return CoreMode.UPDATE if stores and bits < 8 * WORD_BYTES else CoreMode.WORD


def _problems(who: str, kind: CoreKind, loads: tuple[Pattern, ...], store: Pattern | None) -> list[Problem]:
    found = []
    if len(loads) > kind.loads:
        found.append(
            Problem(
                "loads",
                str(len(loads)),
                f"at most {kind.loads}",
                f"the access has {len(loads)} loads; it can have at most {kind.loads}",
                reason="core_ports",
                where=who,
                source=_SOURCE,
            )
        )
    patterns = [(f"load {n}", p) for n, p in enumerate(loads)] + ([("store", store)] if store else [])
    widths = (kind.vector_bits, *kind.scalar_bits)
    for name, pattern in patterns:
        if pattern.bits not in widths:
            found.append(
                Problem(
                    name,
                    f"{pattern.bits} bits",
                    f"{', '.join(map(str, widths))} bits",
                    f"{name} has {pattern.bits} bits; it must have one of {', '.join(map(str, widths))}",
                    reason="core_width",
                    where=who,
                    source=_SOURCE,
                )
            )
            continue
        nbytes = pattern.bits // 8
        wrong = pattern.at[(pattern.at != UNUSED) & (pattern.at % nbytes != 0)]
        if len(wrong):
            found.append(
                Problem(
                    name,
                    f"address {wrong[0]:#x}",
                    f"multiples of {nbytes:#x} for {pattern.bits} bits",
                    f"{name} of {pattern.bits} bits has address {wrong[0]:#x}; "
                    f"it must be a multiple of {nbytes:#x}",
                    reason="core_alignment",
                    where=who,
                    source=_SOURCE,
                )
            )
    return found
