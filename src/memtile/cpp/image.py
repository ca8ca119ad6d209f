"""One core's copy of compiled kernels: loaded, called on a stack of its own, and continued where it waited.

A core has its own program memory and its own globals, so that each loads a copy. The structures are those of
``runtime/core.cc`` and ``include/memtile/core.h``.
"""

from __future__ import annotations

import _ctypes
import atexit
import ctypes
import mmap
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError

INTEGERS, FRACTIONS = 26, 8
"""Arguments of a call: pointers and integers, and floating-point numbers."""
REQUEST_WORDS = 64
SECONDS = 60
"""Processor time of a call that counts as endless."""
_FRAMES, _REASON = 24, 400
HOST_FRAMES = 2
"""How much larger frames of the host are, at most: they hold vectors that a core keeps in registers."""
_STACK_BYTES = 1 << 20  # frames of the host are larger than those of a core


class Ask(IntEnum):
    """What a kernel asks of its core."""

    FINISH = 0
    GET_STREAM = 1
    PUT_STREAM = 2
    GET_CASCADE = 3
    PUT_CASCADE = 4
    ACQUIRE_EQUAL = 5
    ACQUIRE_GREATER_EQUAL = 6
    RELEASE = 7
    EVENT = 8
    DELAY = 9
    CYCLE = 10
    ACQUIRE_BUFFER = 11
    RELEASE_BUFFER = 12
    PACKET_ID = 13


class Fault(IntEnum):
    """Why a call ended before its end."""

    NONE = 0
    SIGNAL = 1
    ENDLESS = 2
    FAILED = 3
    OUTSIDE = 4
    MISALIGNED = 5
    UNDEFINED = 6
    OVERFLOW = 7


class Unit(IntEnum):
    """Functional units of the core, in the order of the counts."""

    LOAD = 0
    STORE = 1
    MAC = 2
    ALU = 3
    SHUFFLE = 4
    CONVERT = 5
    SCALAR = 6
    STREAM = 7


class Answer(IntEnum):
    """What a function gives back."""

    NOTHING = 0
    WHOLE = 1
    SINGLE = 2
    DOUBLE = 3


class RequestData(ctypes.Structure):
    """``memtile::Request``."""

    _fields_ = (
        ("ask", ctypes.c_uint32),
        ("index", ctypes.c_uint32),
        ("value", ctypes.c_int32),
        ("count", ctypes.c_uint32),
        ("last", ctypes.c_uint32),
        ("blocking", ctypes.c_uint32),
        ("done", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("words", ctypes.c_uint32 * REQUEST_WORDS),
    )


class CoreData(ctypes.Structure):
    """``memtile::Core``."""

    _fields_ = (
        ("hooks", ctypes.c_void_p),
        ("column", ctypes.c_uint32),
        ("row", ctypes.c_uint32),
        ("mode", ctypes.c_uint32 * 8),
        ("counts", ctypes.c_uint64 * len(Unit)),
        ("request", RequestData),
    )


class CallData(ctypes.Structure):
    """``Call`` of the runtime."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("whole", ctypes.c_int64 * 32),
        ("fraction", ctypes.c_double * FRACTIONS),
        ("answer", ctypes.c_int32),
        ("seconds", ctypes.c_int32),
        ("whole_answer", ctypes.c_int64),
        ("fraction_answer", ctypes.c_double),
    )


class ReportData(ctypes.Structure):
    """``Report`` of the runtime."""

    _fields_ = (
        ("fault", ctypes.c_int32),
        ("signal", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("extra", ctypes.c_uint64),
        ("writes", ctypes.c_uint32),
        ("frames", ctypes.c_uint32),
        ("line", ctypes.c_uint32),
        ("column", ctypes.c_uint32),
        ("frame", ctypes.c_uint64 * _FRAMES),
        ("reason", ctypes.c_char * _REASON),
        ("file", ctypes.c_char * _REASON),
    )


class RegionData(ctypes.Structure):
    """``Region`` of the runtime."""

    _fields_ = (
        ("first", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("touched", ctypes.c_void_p),
        ("code", ctypes.c_void_p),
    )


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


class Image:
    """A copy of a library, for one core.

    Args:
        library: as it was built.
        kept: the file of the copy stays until the process ends, for a debugger.

    Attributes:
        library: the same; debug information is there.
        base: address at which the copy is loaded.
        core: what the kernel sees of its core, and what it asks.
        report: why the last call failed.
        call: the call that is made.
    """

    def __init__(self, library: Path, *, kept: bool = False) -> None:
        self.library = library
        with tempfile.NamedTemporaryFile(prefix="memtile-", suffix=".so", delete=not kept) as copy:
            if kept:
                atexit.register(Path(copy.name).unlink, missing_ok=True)
            with library.open("rb") as source:
                shutil.copyfileobj(source, copy)
            copy.flush()
            try:
                self._loaded = ctypes.CDLL(copy.name, mode=ctypes.DEFAULT_MODE)
            except OSError as error:
                raise InputFileError(f"{library}: compiled kernels cannot be loaded: {error}.") from None
        self._stack = mmap.mmap(-1, _STACK_BYTES)
        first = ctypes.c_char.from_buffer(self._stack)
        self._stack_address = ctypes.addressof(first)
        page = mmap.PAGESIZE
        ctypes.CDLL(None).mprotect(
            ctypes.c_void_p(self._stack_address), page, 0
        )  # below it: a fault, no overrun
        self._kept = first
        for name, kind in (("memtile_core", CoreData), ("memtile_report", ReportData)):
            getattr(self._loaded, name).restype = ctypes.POINTER(kind)
        self.core: Any = self._loaded.memtile_core().contents
        self.report: Any = self._loaded.memtile_report().contents
        self.call: Any = CallData()
        self._start, self._continue = self._loaded.memtile_start, self._loaded.memtile_continue
        self._start.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)
        self._given = ctypes.addressof(self.call), self._stack_address + page, _STACK_BYTES - page
        self.base = self._about(ctypes.cast(self._loaded.memtile_core, ctypes.c_void_p).value or 0).base or 0
        weakref.finalize(self, _ctypes.dlclose, self._loaded._handle)

    def address(self, symbol: str) -> int:
        """Address of a function; 0 = there is none of that name."""
        try:
            return ctypes.cast(getattr(self._loaded, symbol), ctypes.c_void_p).value or 0
        except AttributeError:
            return 0

    def start(
        self, function: int, whole: Sequence[int], fraction: Sequence[float], answer: Answer, seconds: int
    ) -> int:
        """Call a function until it waits, ends or fails; what it asks for, -1 if it failed."""
        call = self.call
        call.function, call.answer, call.seconds = function, answer, seconds
        call.whole[: len(whole)] = whole
        call.fraction[: len(fraction)] = fraction
        return int(self._start(*self._given))

    def go_on(self) -> int:
        """Continue the call after its request was answered."""
        return int(self._continue())

    def check(self, regions: Any, stack: int) -> None:
        """Say what a sanitized call may touch: an array of :class:`RegionData`, and bytes of its stack."""
        first, end = self._span()
        self._loaded.memtile_regions(
            regions,
            len(regions),
            ctypes.c_uint64(first),
            ctypes.c_uint64(end),
            ctypes.c_uint64(stack * HOST_FRAMES),
        )

    def _span(self) -> tuple[int, int]:
        """Addresses of the copy, globals included: what the loader maps from its file and behind."""
        from memtile.cpp.symbols import loaded_bytes

        return self.base, self.base + loaded_bytes(self.library)

    def nearest(self, address: int) -> str:
        """Name of the function that an address is in, as far as the loader knows it."""
        return (self._about(address).symbol or b"").decode("utf-8", "replace")

    @staticmethod
    def _about(address: int) -> _DlInfo:
        found = _DlInfo()
        ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found))
        return found
