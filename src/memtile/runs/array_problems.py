"""What can be wrong with the arrays that a user brings to a program, or wants from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtile.errors import Problem
from memtile.runs.array_names import TileMemory
from memtile.runs.external_uses import ExternalRegion

_SOURCE = "the program"
_NO_MEMORY = "the tile has no data memory"


def _problem(
    reason: str, name: str, field: str, given: str, allowed: str, next_step: str = "", says: str = ""
) -> Problem:
    return Problem(
        field, given, allowed, says, next_step, reason=reason, where=f"array {name}", source=_SOURCE
    )


def name_twice(name: str, times: int, option: str) -> Problem:
    """One name, several arrays with the same ``option``."""
    says = f"the array is given {times} times with {option}; it must be given once"
    return _problem("array_twice", name, "name", f"{times} times", f"once with {option}", says=says)


def buffer_twice(name: str, region: ExternalRegion, holder: str) -> Problem:
    """A buffer that another name, ``holder``, means too."""
    says = f"the buffer {region.title} is that of array {holder} already"
    return _problem("array_twice", name, "buffer", region.title, f"not that of {holder}", says=says)


def unknown(name: str, regions: Sequence[ExternalRegion], *, wanted: bool) -> Problem:
    """A name that means none of the ``regions`` that the program writes (``wanted``) or reads."""
    what, verb = ("output", "writes") if wanted else ("input", "reads")
    there = [region.text for region in regions if (region.writes if wanted else region.reads)]
    allowed = "; ".join(there) or f"none: the program {verb} no external memory"
    says = f"no {what} is called {name!r}; "
    says += f"the {what}s are {allowed}" if there else f"the program {verb} no external memory"
    return _problem("array_unknown", name, what, repr(name), allowed, says=says)


def missing(region: ExternalRegion, name: str) -> Problem:
    """A buffer that the program only reads, without contents."""
    if name == "NAME" and region.argument is not None:
        name = str(region.argument)
    return Problem(
        f"buffer {region.title}",
        "no array",
        region.text.removeprefix(f"{region.title}, "),
        f"the program needs an array for buffer {region.text}",
        f"Give --in {name}=FILE.npy, or --pad-arguments for zeros.",
        reason="array_missing",
        where="memtile run",
        source=_SOURCE,
    )


def not_to_be_made(name: str, size: int, largest: int) -> Problem:
    """A wanted buffer of ``size`` bytes, none or too many."""
    step = "" if size else f"Say how much: {name}:int32:16x8."
    return _problem("array_size", name, "size", f"{size} bytes", f"1..{largest} bytes", step)


def not_words(name: str, size: int) -> Problem:
    """An array of ``size`` bytes that are no words."""
    says = f"size is {size} bytes; it must be whole 32-bit words, at least one"
    return _problem("array_size", name, "size", f"{size} bytes", "whole 32-bit words", says=says)


def too_small(name: str, size: int, region: ExternalRegion) -> Problem:
    """An array that the program reaches beyond."""
    says = f"size is {size} bytes; the buffer needs at least {region.needed}: {region.text}"
    allowed = f"{region.needed} bytes or more ({region.text})"
    step = "Give --pad-arguments (run_program(pad_arguments=True)) to fill it up with zeros."
    return _problem("array_size", name, "size", f"{size} bytes", allowed, step, says)


def not_a_receiver(name: str) -> Problem:
    """An array for a stream that only sends."""
    says = "an MM2S stream leaves the tile; --in needs an S2MM stream"
    return _problem("array_direction", name, "stream", "MM2S", "S2MM with --in", says=says)


def not_a_sender(name: str) -> Problem:
    """An array from a stream that only receives."""
    says = "an S2MM stream enters the tile; --out needs an MM2S stream"
    return _problem("array_direction", name, "stream", "S2MM", "MM2S with --out", says=says)


def outside_memory(name: str, place: TileMemory, size: int, memory_bytes: int) -> Problem:
    """Bytes that a tile's memory does not have, or that are no words."""
    given, allowed = f"{size} bytes from {place.offset:#x}", f"whole words within {memory_bytes:#x} bytes"
    says = f"the array covers bytes {place.offset:#x}..{place.offset + max(size, 1) - 1:#x}; "
    says += f"they must be whole words in 0x0..{memory_bytes - 1:#x}" if memory_bytes else _NO_MEMORY
    return _problem("array_place", name, "tile memory", given, allowed, says=says)


def no_shape(name: str) -> Problem:
    """Tile memory is wanted, and nobody says how much."""
    step = f"Say how much: {name}:int32:16x8."
    return _problem("array_shape", name, "shape", "none", "a shape", step, "the shape is missing")


def not_elements(name: str, size: int, dtype: np.dtype[Any]) -> Problem:
    """A buffer of ``size`` bytes that are no elements of the type."""
    allowed = f"a multiple of {dtype.itemsize} bytes, as {dtype} needs"
    return _problem("array_size", name, "size", f"{size} bytes", allowed, "Name another type.")


def shape_does_not_fit(name: str, asked: int, size: int, region: ExternalRegion) -> Problem:
    """A shape of ``asked`` bytes for a buffer of ``size``."""
    says = f"the shape takes {asked} bytes; the buffer has {size}: {region.text}"
    allowed = f"{size} bytes ({region.text})"
    return _problem("array_size", name, "shape", f"{asked} bytes", allowed, says=says)
