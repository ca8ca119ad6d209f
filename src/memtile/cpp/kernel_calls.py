"""A call of a C++ function by a core: declared arguments, waits as actions, faults as errors."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memtile.arch.core import CORE, SIDES
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import COMPUTE
from memtile.corelib.call_costs import COUNTED, UNKNOWN, CallCost
from memtile.corelib.rounding import Modes, Rounding, Saturation
from memtile.cpp.faults import Argument, error_of, place_of
from memtile.cpp.image import FRACTIONS, INTEGERS, SECONDS, Answer, Ask, Image, RequestData
from memtile.cpp.operation_counts import estimate
from memtile.cpp.parameter_types import CppSignature, CppType
from memtile.cpp.touched import Guarded
from memtile.errors import DesignError
from memtile.sim.kernels.actions import Action

if TYPE_CHECKING:
    from memtile.sim.kernels.kernel_core import Core

Values = npt.NDArray[Any]

ROUNDING: dict[Rounding, int] = {
    "floor": 0,
    "ceil": 1,
    "negative_inf": 8,
    "positive_inf": 9,
    "symmetric_zero": 10,
    "symmetric_inf": 11,
    "conv_even": 12,
    "conv_odd": 13,
}
"""Modes of ``crRnd`` by number (UG1583, Mode Settings); the library lacks 2 and 3."""
SATURATION: dict[Saturation, int] = {"none": 0, "saturate": 1, "symmetric": 3}
_BY_ROUNDING = {number: name for name, number in ROUNDING.items()}
_BY_SATURATION = {number: name for name, number in SATURATION.items()}
_ROUNDING, _SATURATION = 0, 1  # memtile::Mode
_WORD = 0xFFFF_FFFF
_SOURCE = "C++ kernels, docs/cpp.md"
_FRACTIONS = {"f32": "<fxxxx", "f64": "<d"}
_ANSWERS = {"f32": Answer.SINGLE, "f64": Answer.DOUBLE}


@dataclass(frozen=True, slots=True)
class Signature:
    """How a text declares a function.

    Attributes:
        name: of the function.
        kinds: element type of each argument, and whether it is an array.
        result: type of what it gives back; empty = nothing.
        stack: bytes of stack that its core has.
        names: of the arguments, for messages; empty = by number.
    """

    name: str
    kinds: tuple[tuple[str, bool], ...]
    result: str = ""
    stack: int = 0
    names: tuple[str, ...] = ()

    def problem(self) -> str:
        """Why C++ cannot be called like that; empty if it can."""
        fractions = sum(not is_array and kind in _FRACTIONS for kind, is_array in self.kinds)
        if len(self.kinds) - fractions > INTEGERS or fractions > FRACTIONS:
            allowed = f"{INTEGERS}, and {FRACTIONS} floating-point ones"
            return f"it has {len(self.kinds)} arguments; there can be {allowed}"
        wrong = [kind for kind, is_array in self.kinds if not is_array and not _is_number(kind)]
        if wrong or (self.result and not _is_number(self.result)):
            return f"{(wrong or [self.result])[0]} is no type of a number"
        return ""


def _is_number(kind: str) -> bool:
    digits = kind.lstrip("sui")
    return kind in ("index", "bf16", *_FRACTIONS) or (
        kind != digits and digits.isdigit() and int(digits) <= 64
    )


Service = Callable[[RequestData], Generator[Action, Any, None]]
"""Does what a kernel asks and fills in the answer."""


class KernelCalls:
    """Calls of the function of one core.

    Args:
        image: the core's copy of the compiled kernels.
        symbol: of the function.
        signature: as the text declares it.
        core: that calls it.
        sanitize: accesses are checked.
        source: the function as its source has it; None = nobody knows.
        services: what else the caller does for the kernel, by what it asks.
        unnoted: numbers of arguments whose accesses the caller notes for the search for races.

    Attributes:
        spent: cycles that the last call takes at least, by its counted operations; 0 = it counted none.
    """

    def __init__(
        self,
        image: Image,
        symbol: str,
        signature: Signature,
        core: Core,
        *,
        sanitize: bool,
        source: CppSignature | None = None,
        services: Mapping[Ask, Service] = MappingProxyType({}),
        unnoted: frozenset[int] = frozenset(),
    ) -> None:
        self._services, self._unnoted = services, unnoted
        self._image, self._signature, self._core = image, signature, core
        self._types: Sequence[CppType | None] = source.parameters if source else [None] * len(signature.kinds)
        self._function, self._sanitize = image.address(symbol), sanitize
        self._answer = _ANSWERS.get(signature.result, Answer.WHOLE if signature.result else Answer.NOTHING)
        self._synced: tuple[int, int] | None = None
        self.spent = 0
        core_data = image.core
        core_data.column, core_data.row = core.at

    def __call__(self, *given: Any) -> Generator[Action, Any, Any]:
        """Run it; what it waits for are actions.

        Raises:
            DesignError: it failed, or asked for what no core has.
        """
        image, data, called_from = self._image, self._image.core, self._place
        arrays = [_plain(each) for each in given if isinstance(each, np.ndarray)]
        self._modes_in()
        guarded = Guarded(image, self._core, arrays, self._signature.stack) if self._sanitize else None
        places = iter(guarded.addresses if guarded else [array.ctypes.data for array in arrays])
        whole, fraction = self._arguments(given, places)
        ctypes_counts = data.counts
        for unit in range(len(ctypes_counts)):
            ctypes_counts[unit] = 0
        noted = self._noted(given, arrays)
        before = None if guarded or self._core.notes is None else [array.copy() for array in noted]
        asked = image.start(self._function, whole, fraction, self._answer, SECONDS)
        while asked != Ask.FINISH:
            if guarded:
                guarded.leave()
            if asked < 0:
                raise error_of(
                    self._image, self._core, self._signature.name, self._arguments_of(given, arrays, guarded)
                )
            assert called_from is not None  # what looks for the place of a wait finds it by this name
            yield from self._served(Ask(asked))
            if guarded:
                guarded.enter()
            asked = image.go_on()
        if guarded:
            guarded.leave()
        elif before is not None:
            self._note(noted, before)
        self._modes_out()
        self.count()
        return self._result()

    @property
    def where(self) -> str:
        """Its core, for messages."""
        return self._core.name

    def _place(self) -> str:
        """Where the kernel waits, as a file and a line; its name if nothing knows them."""
        found = place_of(self._image)
        return f"{Path(found.file).name}:{found.line}" if found else self._signature.name

    def count(self) -> None:
        """Let ``spent`` be what the call has taken so far."""
        self.spent = estimate(list(self._image.core.counts))

    def cost(self, *_given: Any) -> CallCost:
        """What the last call took: at least the cycles of its counted operations."""
        return CallCost(self.spent, COUNTED if self.spent else UNKNOWN)

    # arguments -------------------------------------------------------------------------------------------

    def _arguments(self, given: Sequence[Any], places: Any) -> tuple[list[int], list[float]]:
        whole, fraction = list[int](), list[float]()
        for value, (kind, _), type_ in zip(given, self._signature.kinds, self._types, strict=True):
            if isinstance(value, np.ndarray):
                whole.append(next(places))
            elif kind in _FRACTIONS:
                fraction.append(struct.unpack("<d", struct.pack(_FRACTIONS[kind], float(value)))[0])
            else:
                whole.append(_extended(_word(value, kind), type_))
        return whole, fraction

    def _result(self) -> Any:
        kind, call = self._signature.result, self._image.call
        if not kind:
            return None
        if kind in _FRACTIONS:
            return call.fraction_answer
        if kind == "bf16":
            return struct.unpack("<f", struct.pack("<I", (call.whole_answer & 0xFFFF) << 16))[0]
        return _wrapped(call.whole_answer, kind)

    def _arguments_of(
        self, given: Sequence[Any], arrays: Sequence[Values], guarded: Guarded | None
    ) -> list[Argument]:
        """The arrays of a call as an error names them."""
        places = guarded.addresses if guarded else [array.ctypes.data for array in arrays]
        numbers = [n for n, value in enumerate(given) if isinstance(value, np.ndarray)]
        kinds = self._signature.kinds
        return [
            Argument(kinds[number][0], place, array.nbytes, array.itemsize, self._name(number))
            for number, place, array in zip(numbers, places, arrays, strict=True)
        ]

    def _name(self, number: int) -> str:
        names = self._signature.names
        return names[number] if names else f"argument {number}"

    def _noted(self, given: Sequence[Any], arrays: Sequence[Values]) -> list[Values]:
        """The arrays of a call whose accesses are noted here."""
        numbers = [n for n, value in enumerate(given) if isinstance(value, np.ndarray)]
        return [array for n, array in zip(numbers, arrays, strict=True) if n not in self._unnoted]

    def _note(self, arrays: Sequence[Values], before: Sequence[Values]) -> None:
        """Note for the search for races that a call read its arrays, and wrote those that changed."""
        assert self._core.notes is not None
        for array, was in zip(arrays, before, strict=True):
            self._core.notes.part(array, bool(np.any(array.view(np.uint8) != was.view(np.uint8))))

    # modes -----------------------------------------------------------------------------------------------

    def _modes_in(self) -> None:
        """Give the kernel the modes of its core, where something else has set them since."""
        modes: Modes = self._core.modes
        now = ROUNDING[modes.rounding], SATURATION[modes.saturation]
        if now != self._synced:
            self._image.core.mode[_ROUNDING], self._image.core.mode[_SATURATION] = now
            self._synced = now

    def _modes_out(self) -> None:
        """Take the modes that the kernel has set, as far as the library knows them."""
        number, saturation = self._image.core.mode[_ROUNDING], self._image.core.mode[_SATURATION]
        modes: Modes = self._core.modes
        modes.set(_BY_ROUNDING.get(number), _BY_SATURATION.get(saturation))
        self._synced = ROUNDING[modes.rounding], SATURATION[modes.saturation]

    # requests --------------------------------------------------------------------------------------------

    def _served(self, asked: Ask) -> Generator[Action, Any, None]:
        """The action for what the kernel asks, and its answer."""
        request, core = self._image.core.request, self._core
        if self._fails(asked):
            yield core.cycles(1)
            return
        if asked is Ask.GET_STREAM:
            self._answered((yield core.get_stream(request.count, np.uint32)))
            request.last = int(core.last)
        elif asked is Ask.PUT_STREAM:
            yield core.put_stream(self._words(), last=bool(request.last))
        elif asked is Ask.GET_CASCADE:
            self._answered((yield core.get_cascade(np.uint32)))
        elif asked is Ask.PUT_CASCADE:
            yield core.put_cascade(self._words())
        elif asked is Ask.EVENT:
            yield core.event(request.index)
        elif asked is Ask.DELAY:
            yield core.cycles(request.value)
        elif asked is Ask.CYCLE:
            request.words[0], request.words[1] = core.now & _WORD, core.now >> WORD_BITS
        elif asked in self._services:
            yield from self._services[asked](request)
        else:
            yield self._lock(asked)
        request.done = 1

    def _fails(self, asked: Ask) -> bool:
        """Whether it is a stream access that does not wait, and would have to (DEV-INTRINSIC-6)."""
        if self._image.core.request.blocking:
            return False
        return not (self._core.has_word() if asked is Ask.GET_STREAM else self._core.has_room())

    def _words(self) -> npt.NDArray[np.uint32]:
        request = self._image.core.request
        return np.array(request.words[: request.count], np.uint32)

    def _answered(self, words: npt.NDArray[np.uint32]) -> None:
        self._image.core.request.words[: len(words)] = [int(word) for word in words]

    def _lock(self, asked: Ask) -> Action:
        """The operation on a lock that the core numbers as its instructions do."""
        request, core = self._image.core.request, self._core
        windows = {first // COMPUTE.locks: side for side, first in CORE.lock_windows.items()}
        side, number = divmod(request.index, COMPUTE.locks)
        tile = core.reach[SIDES.index(windows[side])] if side in windows else -1
        if tile < 0:
            last = len(windows) * COMPUTE.locks - 1
            raise DesignError.of(
                "lock",
                str(request.index),
                f"0..{last}",
                f"{self._signature.name} uses lock {request.index}, which the core does not reach",
                "Locks of the core's own tile begin at 48.",
                reason="cpp_lock",
                where=core.name,
                source="aie-rt: lock windows of a core",
            )
        if asked is Ask.RELEASE:
            return core.release(number, request.value, tile=tile)
        sign = -1 if asked is Ask.ACQUIRE_GREATER_EQUAL else 1
        return core.acquire(number, sign * request.value, tile=tile)


def _plain(array: Values) -> Values:
    """The memory of an array, without what watches it.

    Raises:
        DesignError: its elements do not follow each other.
    """
    found = np.asarray(array).view(np.ndarray)
    if not found.flags.c_contiguous:
        raise DesignError.of(
            "array",
            f"strides of {found.strides} bytes",
            "elements that follow each other",
            reason="cpp_array",
            where="C++ kernel",
            source=_SOURCE,
        )
    return found


def _word(value: Any, kind: str) -> int:
    """A number as a register of 64 bits holds it."""
    if kind == "bf16":
        return int(np.float32(value).view(np.uint32)) >> 16
    return _wrapped(int(value), kind, least=64 if kind[:1] == "u" else 0)


def _extended(value: int, type_: CppType | None) -> int:
    """A number as its callee wants the register: with as many bits as its type has, extended as that is.

    Clang's code trusts its caller to have done this, by the type of the callee; GCC's does it itself.
    """
    if type_ is None or type_.kind not in ("signed", "unsigned", "bool"):
        return value
    if type_.kind == "bool":
        return int(value != 0)
    return _wrapped(value, f"{type_.kind[0]}{8 * type_.size}", least=64)


def _wrapped(value: int, kind: str, least: int = 0) -> int:
    """A whole number of a type: with its sign, or for an unsigned one without."""
    digits = kind.lstrip("sui")
    bits = int(digits) if digits.isdigit() else 64
    value &= (1 << bits) - 1
    unsigned = kind[:1] == "u" or bits == 1
    if not unsigned and value >> (bits - 1):
        value -= 1 << bits
    return value - (1 << 64) if unsigned and least and value >> 63 else value
