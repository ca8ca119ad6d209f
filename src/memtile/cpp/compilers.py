"""The C++ compiler of this machine: ``CXX``, the system's, or that of the ``ziglang`` package.

What counts as one translates a program of C++20. Which one it was, and its version, are part of what it made.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from memtile.errors import InputFileError
from memtile.jit.cache import cache_directory
from memtile.output_files import write_output
from memtile.sim.loop.compiled_sources import ENGINE
from memtile.system import system

STANDARD = "-std=c++20"
VARIABLE = "CXX"
_PROGRAMS = ("c++", "clang++", "g++")
_SECONDS = 120
_KNOWN = "cpp-compilers"
_PROBE = """#include <bit>
#include <concepts>
#include <span>
template <std::integral T> constexpr T twice(T value) { return value + value; }
static_assert(twice(2) == 4 && std::bit_cast<unsigned>(1.0f) == 0x3f800000u);
"""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that knows C++20.

    Attributes:
        command: the words that start it.
        version: first line of what it says about itself.
        is_clang: it takes Clang's options.
    """

    command: tuple[str, ...]
    version: str
    is_clang: bool

    @property
    def name(self) -> str:
        """The words that start it, as a shell takes them."""
        return shlex.join(self.command)


def candidates() -> Iterator[tuple[str, ...]]:
    """The compilers that there may be, best first: those that are named and not there are left out."""
    if os.environ.get(VARIABLE):
        yield tuple(shlex.split(os.environ[VARIABLE]))
        return
    for program in _PROGRAMS:
        if (found := shutil.which(program)) is not None:
            yield (found,)
    if find_spec("ziglang") is not None:
        yield (sys.executable, "-m", "ziglang", "c++")


@cache
def tried(command: tuple[str, ...]) -> Compiler | None:
    """The compiler that a command starts; None if it is none, or does not know C++20."""
    try:
        said = _run([*command, "--version"])
        _probe(command, said)
    except (OSError, subprocess.SubprocessError):
        return None
    version = next(iter(said.splitlines()), "")
    return Compiler(command, version, "clang" in said.lower())


def _probe(command: tuple[str, ...], version: str) -> None:
    """Let a compiler translate a source of C++20, once for each of its versions.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it does not know C++20.
    """
    said = "\0".join([*command, version, STANDARD, _PROBE])
    known = cache_folder(_KNOWN) / hashlib.sha256(said.encode()).hexdigest()[:24]
    if known.exists():
        return
    with tempfile.TemporaryDirectory(prefix="memtile-") as folder:
        source = Path(folder, "probe.cc")
        source.write_text(_PROBE, "utf-8")
        _run([*command, STANDARD, "-c", str(source), "-o", str(source.with_suffix(".o"))])
    write_output(known, version, durable=False)


def cache_folder(name: str = "cpp") -> Path:
    """A folder of the cache, beside that of the engine, which memtile keeps to the user."""
    folder = cache_directory(ENGINE).parents[1] / name
    system().make_folder(folder, 0o700)
    return folder


def compiler() -> Compiler:
    """The first compiler of this machine that knows C++20.

    Raises:
        InputFileError: there is none.
    """
    if (named := os.environ.get(VARIABLE)) and tried(tuple(shlex.split(named))) is None:
        raise InputFileError(
            f"{VARIABLE}={named}: this is no compiler of C++20. Unset {VARIABLE}, or name one such as g++ 11."
        )
    found = next(filter(None, map(tried, candidates())), None)
    if found is None:
        raise InputFileError(
            "C++ kernels need a compiler of C++20, and there is none here. "
            "Install g++ 11 or clang 14, or get one as a Python package by pip install ziglang."
        )
    return found


def _run(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, check=True, timeout=_SECONDS, text=True, errors="replace"
    )
    return done.stdout
