"""Engines that the package carries: machine code for any processor of a kind, so that nobody waits for it.

A wheel for one platform has object files in its folder ``engines``, made by ``.ci/carry`` from the wheel for
all platforms. One is taken where nothing is in the cache, and where its sources, its structs, the platform
and the processor are those that it was made for; else the engine is compiled, as where none is carried.
``MEMTILE_JIT=own`` takes none.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from memtile.jit.cache import Sources, source_hash
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
        code: that fits, None if none does.
        refused: why one that is carried does not fit, empty if none is carried or one fits.
    """

    code: MachineCode | None
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
    """The file of an entry."""
    return FOLDER / f"{name}.object"


def baseline() -> Baseline | None:
    """What is compiled for this platform, None if nothing is."""
    return BASELINES.get(here()[0].split()[0])


def content_of(code: MachineCode, sources: Sources, needs: tuple[str, ...]) -> bytes:
    """A file with code that was compiled on this platform for processors with the features that it needs."""
    more = {"sources": source_hash(sources), "platform": here()[0], "needs": needs}
    return file_of(code, **more)


@cache
def found(name: str, sources: Sources, about: str) -> BundledEngine:
    """Code that is carried for an entry.

    Args:
        name: of the entry.
        sources: what it is made of.
        about: what else it depends on.
    """
    if not WANTED:
        return BundledEngine(None, "")
    try:
        first, _, content = path_of(name).read_bytes().partition(b"\n")
    except OSError:
        return BundledEngine(None, "")
    refused = _refused(first, content, source_hash(sources), about)
    return BundledEngine(
        None if refused else MachineCode(json.loads(first)["symbol"], about, content), refused
    )


def _refused(first: bytes, content: bytes, sources: str, about: str) -> str:
    """Why a file does not fit, as the end of a sentence; empty = it does."""
    try:
        head = json.loads(first)
        made_for, needs = (head["sha256"], head["sources"], head["about"]), frozenset(head["needs"])
        platform, _symbol = str(head["platform"]), str(head["symbol"])
    except (ValueError, KeyError, TypeError):
        return "is damaged"
    system, features = here()
    if made_for[0] != sha256(content).hexdigest():
        return "is damaged"
    if made_for[1:] != (sources, about):
        return "is of other sources"
    if platform != system:
        return f"is for {platform}"
    missing = ", ".join(sorted(needs - features))
    return f"needs a processor with {missing}" if missing else ""
