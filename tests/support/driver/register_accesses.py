"""The register accesses of a host of MLIR text, as C: what AMD's driver makes for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memtile.arch.devices import ARRAY_BASE
from memtile.arch.register_map import register_named
from memtile.importers.loaded import Loaded
from memtile.programs import Operation, address_of
from memtile.runs.firmware import pointer_of, pointer_words
from memtile.runs.operations import Word, words_written
from support.mlir.mlir_builds import configuration

CONTROL = register_named("core", "Core_Control").offset
STATUS_S2MM_0 = register_named("noc", "DMA_S2MM_Status_0").offset


def write_header(
    folder: Path, text: str, design: Loaded, arguments: Mapping[int, int], *, chip: str, **more: int | str
) -> Path:
    """``register_accesses.h`` of a text with one core, in (0, 2), whose results leave by S2MM 0.

    Args:
        folder: for the file.
        text: of the design.
        design: the same, loaded.
        arguments: addresses of the arguments of its host sequence, by position.
        chip: device.
        more: further names, and what they stand for.
    """
    assert design.sequence is not None
    setup = [word for each in configuration(text, chip=chip) for word in words_written(each)]
    control = address_of(0, 2, CONTROL)
    lines = [
        *(f"#define {name} {value}" for name, value in more.items()),
        *(f"#define ARGUMENT_{n} {address:#x}ull" for n, address in arguments.items()),
        f"#define CORE_CONTROL {ARRAY_BASE + control:#x}ull",
        f"#define OUT_STATUS {ARRAY_BASE + address_of(0, 0, STATUS_S2MM_0):#x}ull",
        *_table("configuration", (word for word in setup if word.address != control)),
        *_table("instructions", _patched(design.sequence.steps, arguments)),
    ]
    file = folder / "register_accesses.h"
    file.write_text("\n".join(lines) + "\n")
    return file


def _patched(steps: Iterable[Operation], arguments: Mapping[int, int]) -> Iterator[Word]:
    """What a host sequence writes, with the addresses of its arguments where firmware puts them."""
    for step in steps:
        if (pointer := pointer_of(step)) is not None:
            yield from pointer_words(pointer.register, arguments[pointer.argument] + pointer.offset)
        yield from words_written(step)


def _table(name: str, words: Iterable[Word]) -> Iterator[str]:
    yield f"static const struct access {name}[] = {{"
    for word in words:
        yield f"    {{{ARRAY_BASE + word.address:#x}ull, {word.mask:#x}u, {word.value & word.mask:#x}u}},"
    yield "};"
