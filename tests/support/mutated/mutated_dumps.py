"""Coredumps with valid heads and hostile registers; the same ones for the same number.

By hand, ten thousand of them in two processes, from the folder of the checkout::

    PYTHONPATH=src:tests .venv/bin/python tests/support/mutated/mutated_dumps.py 10000
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from memtile import Array
from memtile.arch.tiles import WORD_BYTES
from memtile.explain.dump.capture import write_coredump
from memtile.explain.dump.dump_formats import TILE_WORDS, Words, read_coredump
from memtile.explain.dump.report import explained
from memtile.io.dumps import load_coredump
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from support.designs.dump_designs import CIRCLE, MOVING, RING
from support.mutated.mutated_bytes import NUMBERS
from support.mutated.mutated_runs import followed, run_all

SECONDS = 300.0  # on a machine that others use too
_HEAD = 4096  # bytes of an ELF before its tiles


def saved_dumps(folder: Path) -> list[Path]:
    """Dumps of three designs that stand still, each raw and as ELF, and their registers' places."""
    found = []
    for name, text in (("circle", CIRCLE), ("ring", RING), ("moving", MOVING)):
        names: dict[str, Callable[[], Array]] = {}
        exec(text, names)  # a design of ours
        array = names["design"]()
        array.run(60)
        for elf in (False, True):
            found.append(folder / f"{name}.{'elf' if elf else 'raw'}")
            write_coredump(array.engine, array.device, found[-1], elf=elf)
    return found


def register_places() -> list[list[int]]:
    """Of each tile of a column of npu1 the places of its registers, in words."""
    array = Array("npu1", 1)
    kinds = plain(array.engine.spec.tiles).kind.tolist()
    return [[each.offset // WORD_BYTES for each in registers_of(KIND_NAMES[kind])] for kind in kinds]


def mutated(base: Path, number: int, path: Path, places: list[list[int]]) -> None:
    """Write a dump with mistakes; which ones is said by the number alone."""
    rng = random.Random(number)
    data = bytearray(base.read_bytes())
    first = data.find(b"\x7fELF") + 1 and len(data) % (TILE_WORDS * WORD_BYTES)
    if rng.random() < 0.25:
        for _ in range(rng.choice((1, 2, 8))):
            data[rng.randrange(_HEAD if first else len(data))] = rng.choice((0, 255, rng.randrange(256)))
        path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
        return
    words: Words = np.frombuffer(data, "<u4", offset=first)
    for _ in range(rng.choice((1, 4, 32, 256))):
        tile = rng.randrange(min(len(places), len(words) // TILE_WORDS))
        at = tile * TILE_WORDS + rng.choice(places[tile])
        words[at] = rng.choice((*NUMBERS, rng.getrandbits(32), rng.getrandbits(32)))
    if rng.random() < 0.05:
        words[:] = rng.choice(NUMBERS)
    path.write_bytes(data)


def look(path: Path) -> str:
    """Say all that ``memtile explain`` says of a dump.

    Raises:
        MemtileError: it is refused.
    """
    loaded = load_coredump(read_coredump(path), str(path), "npu1")
    found = explained(loaded.array.engine, loaded.source, moves={}, notes=loaded.notes)
    "\n".join(found.lines())
    json.dumps(found.as_json())
    return "good" if found.good else "wrong"


def _run(bases: list[Path], places: list[list[int]], folder: Path, number: int) -> Callable[[], str]:
    path = folder / f"mutated{number % 4}"
    mutated(bases[number % len(bases)], number, path, places)
    return partial(look, path)


def main(many: int, processes: int = 2) -> None:
    """Look at many of them and print how that ended."""
    with tempfile.TemporaryDirectory() as folder:
        made = partial(_run, saved_dumps(Path(folder)), register_places(), Path(folder))
        followed(run_all(range(many), made, processes, SECONDS), many, partial(print, flush=True))


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(int, sys.argv[2:]))
