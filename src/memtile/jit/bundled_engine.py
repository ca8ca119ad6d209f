"""Engines that the package carries, so that nobody waits for Numba: machine code and bitcode.

They are in the folder ``engines``: bitcode in every checkout, sdist and wheel (``make engine``), of which
machine code is made in some seconds where it is first used (``bitcode``), and object files for any processor
of a kind in a wheel for one platform (``.ci/carry``). What is carried is taken where nothing is in the cache,
and where its sources, its structs and what it is for fit: an object file before bitcode. Else the engine is
translated by Numba, as where nothing is carried. ``MEMTILE_JIT=own`` takes none.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from memtile.jit.bitcode import fits_here, llvm_version
from memtile.jit.cache import Sources, source_hash
from memtile.jit.compiled_text import text_hash
from memtile.jit.native import MachineCode, file_of
from memtile.jit.settings import BOUNDS

FOLDER = Path(__file__).resolve().parents[1] / "engines"
WANTED = os.environ.get("MEMTILE_JIT") != "own" and not BOUNDS
_LEVEL_2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")


class Baseline(NamedTuple):
    """Processors that code is for.

    Attributes:
        name: as LLVM has it.
        needs: features that a processor of the architecture may lack, as LLVM calls them; those of the
            levels of x86-64 are in its psABI.
    """

    name: str
    needs: tuple[str, ...]


BASELINES = {
    "x86_64": Baseline("x86-64-v2", _LEVEL_2),
    "aarch64": Baseline("generic", ()),
    "arm64": Baseline("apple-m1", ()),
}
"""What is compiled for an architecture. Level 3 of x86-64 is no faster, and level 2 is what NumPy needs."""


class BundledEngine(NamedTuple):
    """What is carried.

    Attributes:
        code: machine code that fits, None if none does.
        bitcode: of which machine code can be made here, where ``code`` is None; None = there is none either.
        refused: why none of what is carried fits, empty if nothing is carried or something fits.
    """

    code: MachineCode | None
    bitcode: MachineCode | None
    refused: str


def platform_of(triple: str) -> str:
    """Architecture and system of LLVM's name of a platform, without vendor and versions."""
    parts = triple.split("-")
    system = re.sub(r"[\d.]+$", "", parts[2] if len(parts) > 2 else parts[-1])
    return f"{parts[0]} {system}"


@cache
def here() -> tuple[str, frozenset[str]]:
    """Platform and features of this processor."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return platform_of(binding.get_process_triple()), frozenset(f for f, has in features.items() if has)


def path_of(name: str) -> Path:
    """The file with machine code of an entry."""
    return FOLDER / f"{name}.object"


def bitcode_path(name: str) -> Path:
    """The file with bitcode of an entry."""
    return FOLDER / f"{name}.bitcode"


def baseline() -> Baseline | None:
    """What is compiled for this platform, None if nothing is."""
    return BASELINES.get(here()[0].split()[0])


def content_of(code: MachineCode, sources: Sources, needs: tuple[str, ...]) -> bytes:
    """A file with code that was compiled on this platform for processors with the features that it needs."""
    return file_of(code, sources=source_hash(sources), platform=here()[0], needs=needs)


def bitcode_content(code: MachineCode, function: Callable[..., int]) -> bytes:
    """A file with bitcode of a function that was made by this LLVM."""
    return file_of(code, sources=text_hash(function), llvm=llvm_version())


@cache
def found(function: Callable[..., int], sources: Sources, about: str) -> BundledEngine:
    """What is carried for an entry.

    Args:
        function: the entry, as it was written.
        sources: what it is made of.
        about: what else it depends on.
    """
    if not WANTED:
        return NOTHING
    name = function.__name__
    code, refused = _read(path_of(name), lambda: source_hash(sources), about, _other_processor)
    if code is not None:
        return BundledEngine(code, None, "")
    bitcode, why = _read(bitcode_path(name), lambda: text_hash(function), about, _other_llvm)
    return BundledEngine(None, bitcode, "" if bitcode is not None else refused or why)


NOTHING = BundledEngine(None, None, "")


def _read(
    path: Path, sources: Callable[[], str], about: str, unfit: Callable[[dict[str, Any]], str]
) -> tuple[MachineCode | None, str]:
    """What a file has, and why it does not fit, as the end of a sentence; empty = it does, or is absent."""
    try:
        first, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None, ""
    try:
        head = json.loads(first)
        symbol, made_for = str(head["symbol"]), (head["sources"], head["about"])
        fits = head["sources"] and made_for == (sources(), about)
        refused = unfit(head) if fits else "is of other sources"
        whole = head["sha256"] == sha256(content).hexdigest()
    except (ValueError, KeyError, TypeError):
        return None, "is damaged"
    if not whole or refused:
        return None, refused if whole else "is damaged"
    return MachineCode(symbol, about, content), ""


def _other_processor(head: dict[str, Any]) -> str:
    """Why machine code is not for this processor; empty = it is."""
    system, features = here()
    if head["platform"] != system:
        return f"is for {head['platform']}"
    missing = ", ".join(sorted(frozenset(head["needs"]) - features))
    return f"needs a processor with {missing}" if missing else ""


def _other_llvm(head: dict[str, Any]) -> str:
    """Why this LLVM makes no machine code of bitcode; empty = it does."""
    if int(head["llvm"]) > llvm_version():
        return f"needs LLVM {head['llvm']}, llvmlite here has {llvm_version()}"
    return "" if fits_here() else "is for processors with 64-bit addresses"
