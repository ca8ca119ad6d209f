"""Compare what our importer makes of object FIFOs with what lowering tests of mlir-aie expect.

``PYTHONPATH=src:tests python tests/support/commands/lowerings.py FOLDER [--json FILE] [--only TEXT]``, where
FOLDER is ``test/objectFifo-stateful-transform`` of a checkout of mlir-aie. The files are read where they are.
Exit code 1 if a test is lowered to another machine than it expects, or a text that mlir-aie refuses is
accepted. A test need not expect all of a machine: what it leaves open is not compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memtile.design.array import Array
from memtile.errors import MemtileError
from memtile.importers.design import load
from memtile.importers.mlir.fifos import lower
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.references import check_references
from memtile.importers.mlir.tile_placement import place_tiles
from memtile.importers.mlir.token_packets import Text
from support.lowering.expected_machine import expected_machine
from support.lowering.filecheck import (
    RunLine,
    Section,
    absent_names,
    check_lines,
    operations,
    run_lines,
    sections,
)
from support.lowering.machines import Machine, differences, expanded, own_machine

KINDS = ("same", "another form", "differs", "accepted", "refused", "refused by both", "no machine")
"""How a comparison ends; ``accepted`` is a text that mlir-aie refuses."""
SILENT = ("differs", "accepted")
_PASS = "--aie-objectFifo-stateful-transform"
_LEFT_OUT = {
    "data_movement_patterns/link/link_via_shared_mem3.mlir": "buffers, a flow and chains of the second FIFO"
}
"""Tests whose lines seem to list a whole device and leave something out."""
_UNPLACED = "run --aie-place-tiles before this pass"  # as aiecc does, and the importer
_FIRST_GENERATION = "xcvc1902"


class Comparison(NamedTuple):
    """How a module of a test is lowered.

    Attributes:
        name: path of its file below the folder, and which module and prefix where there are several.
        kind: one of :data:`KINDS`.
        says: what differs, or why it is refused.
        first_generation: it is for AIE1, which is not modelled.
        dma: the test expects DMA work.
    """

    name: str
    kind: str
    says: tuple[str, ...]
    first_generation: bool
    dma: bool = False


Lowering = Callable[[Section, RunLine], Machine]
"""Our machine for a module and the options of a command."""


def fifo_machine(section: Section, _run: RunLine) -> Machine:
    """What our importer makes of the object FIFOs of a module.

    Raises:
        MemtileError: it refuses them.
    """
    (device, *_) = devices(read(Text("test.mlir", section.text)))
    array = Array(device.device)
    check_references(device)
    place_tiles(device, array.device, array.columns)
    kinds = {name: array.tile(*tile.place).kind for name, tile in device.tiles.items() if tile.place}
    lower(device, kinds, array.columns)
    return own_machine(device)


def compare(folder: Path, lowering: Lowering = fifo_machine) -> Iterator[Comparison]:
    """The comparisons of all tests below a folder."""
    for file in sorted(folder.rglob("*.mlir")):
        content = file.read_text()
        runs = [run for run in run_lines(content) if _PASS in run.options or run.fails]
        name = file.relative_to(folder).as_posix()
        for run in dict.fromkeys((run.prefixes, run.options.get(_PASS, "")) for run in runs):
            chosen = next(each for each in runs if (each.prefixes, each.options.get(_PASS, "")) == run)
            split = any("split-input-file" in option for option in chosen.options)
            found = sections(content, split=split)
            for number, section in enumerate(found):
                title = f"{name}#{number}" if len(found) > 1 else name
                title += f" {','.join(chosen.prefixes)}" if len(runs) > 1 else ""
                yield _one(title, section, chosen, lowering)


def _one(title: str, section: Section, run: RunLine, lowering: Lowering) -> Comparison:
    lines = check_lines(section, run.prefixes)
    errors = (*section.errors, *(line.text for line in lines if "error:" in line.text))
    if run.refuses and not errors:
        errors = ((lines[0].text if lines else "an error"),)
    first = _FIRST_GENERATION in section.text
    if run.fails and errors and _UNPLACED not in errors[0]:
        says = _refusal(section)
        kind = "refused by both" if says else "accepted"
        return Comparison(title, kind, (says or f"mlir-aie refuses: {errors[0]}",), first)
    expected = expected_machine(operations(lines))
    if expected.empty:
        return Comparison(title, "no machine", (), first)
    expected.complete = expected.complete and title not in _LEFT_OUT
    try:
        own = lowering(section, run)
    except MemtileError as error:
        return Comparison(title, "refused", (_first_line(error),), first, bool(expected.chains))
    begins = tuple(f"%{name}" for name in absent_names(lines))
    found = [f"{name} is there" for name in (*own.buffers, *own.locks) if begins and name.startswith(begins)]
    found += differences(expected, own)
    alike = found and not differences(expanded(expected), expanded(own))
    kind = "another form" if alike else "differs" if found else "same"
    return Comparison(title, kind, tuple(found), first, bool(expected.chains))


def _refusal(section: Section) -> str:
    """Why we refuse a module; empty if we do not."""
    try:
        load(Text("test.mlir", section.text))
    except MemtileError as error:
        return _first_line(error)
    return ""


def _first_line(error: MemtileError) -> str:
    return str(error).split("\n", maxsplit=1)[0]


def table(found: Sequence[Comparison], *, details: int = 3) -> str:
    """The comparisons as text."""
    lines = []
    for each in found:
        lines.append(f"{each.kind:16} {each.name}")
        lines += [f"    {says}" for says in each.says[:details]]
        lines += [f"    and {len(each.says) - details} more"] * (len(each.says) > details)
    counts = Counter(each.kind for each in found if not each.first_generation)
    old = sum(each.first_generation for each in found)
    total = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
    moving = [each.kind for each in found if each.dma and not each.first_generation]
    lines += [f"{len(found) - old} modules: {total}; {old} of AIE1 are left out"]
    return "\n".join([*lines, f"of {len(moving)} with DMA work {moving.count('same')} are the same"])


def main(arguments: Sequence[str]) -> int:
    """Compare, print, and say whether a machine differs silently."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", metavar="TEXT", help="modules whose name has TEXT in it")
    given = parser.parse_args(arguments)
    found = [each for each in compare(given.folder) if given.only in each.name]
    print(table(found, details=99 if given.only else 3))
    if given.json:
        given.json.write_text(json.dumps([each._asdict() for each in found], indent=1) + "\n")
    return int(any(each.kind in SILENT and not each.first_generation for each in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
