"""C++ kernels compiled for the host with memtile's headers, and called without a simulator.

``LoneKernels`` calls the functions of sources compiled beside ``lone_core.cc`` with NumPy arrays. A core's
stream and cascade are queues of words that a test fills and empties.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from memtile import cpp

Words = npt.NDArray[np.uint32]
INCLUDE = Path(cpp.__file__).with_name("include")
CORE = Path(__file__).with_name("lone_core.cc")
QUEUES = {"stream in": 0, "stream out": 1, "cascade in": 2, "cascade out": 3}
ARCHITECTURES = {"AIE-ML": ("20", "__AIE2__", "2"), "AIE2P": ("21", "__AIE2P__", "21")}
ROUNDING = {"floor": 0, "ceil": 1, "negative_inf": 8, "positive_inf": 9, "symmetric_zero": 10,
            "symmetric_inf": 11, "conv_even": 12, "conv_odd": 13}  # fmt: skip
SATURATION = {"none": 0, "saturate": 1, "symmetric": 3}
ASKS = ("finish", "get_stream", "put_stream", "get_cascade", "put_cascade", "acquire_equal",
        "acquire_greater_equal", "release", "event", "delay")  # fmt: skip
_ALIGNMENT = 64
_FLAGS = ("-std=c++20", "-O2", "-fPIC", "-shared", "-w", "-fwrapv", "-fno-strict-aliasing",
          "-ffp-contract=off", "-fno-exceptions", "-include", "memtile/intrinsics.h")  # fmt: skip


class CompileError(Exception):
    """A source does not compile; the text is the compiler's."""


def compiler() -> str | None:
    """The C++ compiler of this machine, or None."""
    return next((found for name in ("c++", "g++", "clang++") if (found := shutil.which(name))), None)


def compiled(
    source: Path,
    folder: Path,
    defines: Mapping[str, str | int | None] | None = None,
    include: Sequence[Path] = (),
    generation: str = "AIE-ML",
    flags: Sequence[str] = (),
    around: tuple[str, str] = ("", ""),
) -> Path:
    """The library of a source, in a folder; the one that is there if headers and options are the same.

    ``around`` is C++ before the source and after it.

    Raises:
        CompileError: the source does not compile.
    """
    number, name, model = ARCHITECTURES[generation]
    macros = {"__AIENGINE__": "2", "__AIEARCH__": number, "__AIE_ARCH__": number, name: "1"}
    macros |= {
        "MEMTILE_GENERATION": model,
        **{k: "" if v is None else str(v) for k, v in (defines or {}).items()},
    }
    words = [*_FLAGS, *flags, *(f"-D{key}={value}" for key, value in macros.items()), f"-I{INCLUDE}"]
    if any(around):
        text = f'#include "{source.resolve()}"'.join(f"{each}\n" for each in around)
        source = folder / f"{source.stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.cc"
        source.write_text(text, "utf-8")
    words += [*(f"-I{each}" for each in include), str(source), str(CORE)]
    used = compiler()
    if used is None:
        raise CompileError("this machine has no C++ compiler")
    program = Path(used).resolve()
    said = [*words, source.read_text("utf-8"), _headers(), f"{program} {program.stat().st_mtime_ns}"]
    key = hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]
    library = folder / f"{source.stem}-{key}.so"
    with FileLock(f"{library}.lock"):
        if library.is_file():
            return library
        made = library.with_suffix(".new")
        done = subprocess.run([used, *words, "-o", str(made)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise CompileError(done.stderr)
        made.replace(library)
    return library


@cache
def _headers() -> str:
    """A digest of memtile's own headers and of the core beside them."""
    files = [*sorted(each for each in INCLUDE.rglob("*") if each.is_file()), CORE]
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()


def exported(library: Path) -> set[str]:
    """The C functions that a library of kernels has, without those of the lone core."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {name for _, kind, name in map(str.split, done.stdout.splitlines()) if kind == "T"}
    return {each for each in names if not each.startswith(("_", "lone_core_"))}


def aligned(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array of zeros at an address that every vector access allows."""
    kind = np.dtype(dtype)
    room = np.zeros(count * kind.itemsize + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    found: npt.NDArray[Any] = room[start : start + count * kind.itemsize].view(kind)
    return found


class LoneKernels:
    """The functions of a library; each object has a core of its own."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library), mode=os.RTLD_LOCAL | os.RTLD_NOW)

    def call(self, name: str, *arguments: Any) -> None:
        """Call ``name``: arrays by address, ints as int32, floats as float32."""
        function = getattr(self._library, name)
        function.restype = None
        function(*(_passed(each) for each in arguments))

    def has(self, name: str) -> bool:
        """Whether the library exports a function of this name."""
        return hasattr(self._library, name)

    def set_modes(self, rounding: str = "floor", saturation: str = "none") -> None:
        """Set the control registers of the core."""
        self._library.lone_core_modes(ROUNDING[rounding], SATURATION[saturation])

    def put(self, queue: str, words: npt.ArrayLike) -> None:
        """Put 32-bit words at the end of a queue; the last one ends a packet."""
        given = np.ascontiguousarray(words, np.uint32)
        self._library.lone_core_put(QUEUES[queue], ctypes.c_void_p(given.ctypes.data), len(given))

    def take(self, queue: str) -> Words:
        """Take all words of a queue."""
        found = np.empty(self._library.lone_core_waiting(QUEUES[queue]), np.uint32)
        self._library.lone_core_take(QUEUES[queue], ctypes.c_void_p(found.ctypes.data), len(found))
        return found

    def asked(self) -> list[tuple[str, int, int]]:
        """What else kernels asked of their core since the last look: what, which, value."""
        return [(ASKS[int(what)], int(index), int(value)) for what, index, value in self.asked_numbers()]

    def asked_numbers(self) -> npt.NDArray[np.int32]:
        """The same as int32[requests, 3]; ``ASKS`` has the names of the first ones."""
        found = np.empty(self._library.lone_core_requests(), np.int32)
        self._library.lone_core_asked(ctypes.c_void_p(found.ctypes.data), len(found))
        return found.reshape(-1, 3)

    def variable(self, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """A view of a global array."""
        size = np.dtype(dtype).itemsize * count
        return np.frombuffer((ctypes.c_uint8 * size).in_dll(self._library, name), dtype)


def _passed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int32(int(value))
