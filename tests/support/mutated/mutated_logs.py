"""Logs of sweeps with mistakes in them, and hostile ones; the same ones for the same number.

By hand, ten thousand of them in two processes, from the folder of the checkout::

    PYTHONPATH=src:tests .venv/bin/python tests/support/mutated/mutated_logs.py 10000
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet

from memtile.explore.sweep.data_frames import HEAD, ROW
from memtile.explore.sweep.reruns import replay
from memtile.explore.sweep.sweep import SweepPlan, sweep
from memtile.explore.sweep.sweep_result import read_result
from support.mutated.mutated_arrays import change
from support.mutated.mutated_runs import followed, run_all

DESIGN = """\
from typing import Literal

import numpy as np
from memtile import MemoryTile


def design(words: Literal[16, 32] = 16, depth: Literal[1, 2] = 1):
    tile = MemoryTile()
    data = np.arange(words * depth, dtype=np.int32)
    tile.s2mm[0].feed(data)
    tile.s2mm[0].start(tile.write(tile.buffer("a", words * depth)))
    return tile
"""
SECONDS = 300.0  # on a machine that others use too
PATHS = ("/etc/x.py", "../x.py", "a/../../x.py", "a\\x.py", "c:x.py", "x\0.py", "", ".", "a//b.py", "b" * 300)


def saved_log(folder: Path) -> Path:
    """The log of a small sweep."""
    design = folder / "small.py"
    design.write_text(DESIGN, encoding="utf-8")
    log = folder / "small.sweep.parquet"
    sweep(design, SweepPlan(workers=0), log=log)
    return log


@cache
def parts_of(log: Path) -> tuple[Any, tuple[Any, ...]]:
    """Head and rows of a log."""
    table = parquet.read_table(log)
    head = json.loads(table.schema.metadata[HEAD])
    return head, tuple(json.loads(text) for text in table.column(ROW).to_pylist())


def mutated(log: Path, number: int, path: Path) -> None:
    """Write a log with mistakes; which ones is said by the number alone."""
    rng = random.Random(number)
    what = rng.random()
    if what < 0.45:
        path.write_bytes(_damaged(rng, log.read_bytes()))
        return
    head, rows = parts_of(log)
    if what < 0.7:
        head = change(rng, head)
    elif what < 0.9:
        rows = tuple(change(rng, row) for row in rows)
    else:
        head = _with_paths(rng, head)
    texts: Sequence[str] = [json.dumps(row) for row in rows]
    if rng.random() < 0.1:
        texts = rng.choice((["["] * 3, ["[" * 100_000], [""], [], ["9" * 5000], ["null"], ["1e999"]))
    write(path, json.dumps(head), texts, rng.choice(COLUMNS) if rng.random() < 0.1 else None)


COLUMNS: Sequence[Callable[[Sequence[str]], Any]] = (
    lambda texts: arrow.array(range(len(texts))),
    lambda texts: arrow.array([text.encode() for text in texts]),
    lambda texts: arrow.array([[text] for text in texts]),
    lambda texts: arrow.array([None for _ in texts], arrow.string()),
    lambda texts: arrow.array([{"a": text} for text in texts]),
    lambda texts: arrow.array(list(texts)).dictionary_encode(),
)
"""Rows of other types."""


def write(path: Path, head: str, rows: Sequence[str], column: Callable[[Sequence[str]], Any] | None) -> None:
    """Write a log: a table with its rows, and the head in its metadata."""
    made = arrow.array(list(rows), arrow.string()) if column is None else column(rows)
    table = arrow.table({ROW: made}).replace_schema_metadata({HEAD: head.encode("utf-8", "surrogatepass")})
    parquet.write_table(table, path)


def _with_paths(rng: random.Random, head: Mapping[str, Any]) -> Any:
    """Sources whose files lie elsewhere."""
    name = rng.choice(PATHS)
    sources = {
        key: {**each, "files": {**each["files"], name: "raise SystemExit(9)"}}
        for key, each in head["sources"].items()
    }
    if rng.random() < 0.3:
        sources = {key: {**each, "name": name} for key, each in sources.items()}
    return {**head, "sources": sources}


def _damaged(rng: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(made))
        if rng.random() < 0.6:
            made[at] ^= 1 << rng.randrange(8)
        elif rng.random() < 0.7:
            made[at] = rng.choice((0, 255, 127, 128))
        else:
            made = made[: max(at, 8)] + made[-8:]
    return bytes(made)


def look(path: Path, folder: Path) -> str:
    """Show a log, draw it, and replay a variant, if its sources are those of the design.

    Raises:
        MemtileError: it is refused.
    """
    result = read_result(path)
    str(result.sheet())
    json.dumps(result.as_json())
    result.picture()
    before = set(os.listdir(folder))
    again = replay(path)
    str(again.sheet())
    assert set(os.listdir(folder)) == before, "replay wrote beside the log"
    return "same" if again.same else "different"


def _run(log: Path, folder: Path, number: int) -> Callable[[], str]:
    path = folder / "mutated" / f"{number % 64}.parquet"
    path.parent.mkdir(exist_ok=True)
    mutated(log, number, path)
    return partial(look, path, folder)


def main(many: int, processes: int = 2) -> None:
    """Look at many of them and print how that ended."""
    with tempfile.TemporaryDirectory() as folder:
        made = partial(_run, saved_log(Path(folder)), Path(folder))
        followed(run_all(range(many), made, processes, SECONDS), many, partial(print, flush=True))


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(int, sys.argv[2:]))
