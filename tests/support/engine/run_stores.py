"""A store of earlier runs for a test, and everything that a run leaves, to be compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memtile.design.array import Array
from memtile.explain.results import Result
from memtile.model.state.columns import DATA
from memtile.model.state.state_differences import columns
from memtile.runs import earlier_runs
from memtile.runs.earlier_runs import RunStart
from memtile.runs.options import RunOptions
from memtile.runs.run_store import RunStore
from memtile.sim.loop.timing_only import moving_words
from memtile.sim.skip.fast_forward import fast_forwarding


@contextmanager
def store_in(folder: Path) -> Iterator[RunStore]:
    """Context in which runs are kept in a folder, and taken from there."""
    store = RunStore(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(earlier_runs, "store_in_use", lambda: store)
        yield store


def start(array: Array, **options: Any) -> RunStart | None:
    """The start of a run of an array without words, ready to run."""
    array.route()
    array.engine.read_by_host = any(sequence.reads for sequence in array.hosts)
    chosen = RunOptions(data=False, **options)
    with moving_words(False), fast_forwarding(chosen.fast_forward):
        return RunStart.of(array, chosen)


def left(array: Array, result: Result) -> dict[str, Any]:
    """What a run leaves: its result, the state without words, and what is known of kernels, hosts and BDs."""
    engine = array.engine
    running = engine.cores.running.items()
    hosts = [
        (
            *(each.ended, each.present, each.due, each.polled, each.polls, each.line),
            [(task.bds, task.done_at, task.done, task.place) for task in each.host.tasks],
            [each.host.tasks.index(task) for task in each.owing],
            type(each.last),
        )
        for each in array.hosts
    ]
    channels = [ch for tile in array.tiles for ch in (*tile.s2mm, *tile.mm2s)]
    return {
        "result": {
            each.name: getattr(result, each.name)
            for each in dataclasses.fields(result)
            if each.name not in ("kept", "recalled", "outputs")
        },
        "state": {
            each.name: each.values.tolist()
            for each in columns(engine.external.shown_to(engine.state))
            if each.column.kind is not DATA
        },
        "kernels": [
            (core, r.kernel, r.declared, r.released, r.taken, r.asked, r.links, r.accessed, r.endless)
            for core, r in running
        ],
        "rest of kernels": [list(r.actions) for _, r in running],
        "hosts": hosts,
        "channels": [ch._saved() | {"posted": ch._posted} for ch in channels],
        "pools": [tile.bd_pool.saved() for tile in array.tiles],
        "places": engine.bd_places,
        "skipped": engine.skipper.as_plain(),
        "wordless": (engine.wordless, engine.words_needed_by, array.run_until),
    }
