"""A model after a run without words, as data to be put into an equal model that has not run.

What is kept are the columns that the run changed, and what is known of kernels and of skipped time. Words
are not: they mean nothing after such a run (``sim.loop.timing_only``). Nor is what words in streams carry,
such as TLAST: a run that leaves words in streams is stuck, and none is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import plain
from memtile.model.checking.saved import Fault, faults
from memtile.model.state.causes import CorePhase
from memtile.model.state.columns import DATA
from memtile.model.state.state_differences import Values, columns
from memtile.sim.kernels.running_cores import Running
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.run_start import column_digests

Array = npt.NDArray[Any]
_WORDLESS = "clock.wordless"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run.

    Attributes:
        arrays: columns of the state that differ from the start, by name.
        facts: of kernels and skipped time, plain data.
    """

    arrays: Mapping[str, Array]
    facts: Mapping[str, Any]


def end_of(engine: Engine, before: Mapping[str, str]) -> RunEnd | None:
    """The end of a run; None if it has moved words, left some at ports, or a kernel has not ended.

    Args:
        engine: that ran.
        before: its ``column_digests`` at the start.
    """
    phases, running = plain(engine.state.cores).phase, engine.cores.running
    ended = all(phases[core] == CorePhase.DONE for core in running)
    if not engine.wordless or not ended or engine.left or engine.cores.failed:
        return None
    after = column_digests(engine)
    kept = {each.name: each.values for each in _kept(engine) if after[each.name] != before[each.name]}
    kernels = {str(core): _kernel_facts(each) for core, each in running.items()}
    return RunEnd(kept, {"kernels": kernels, "skipped": engine.skipper.as_plain()})


def put_end(engine: Engine, end: RunEnd) -> bool:
    """Bring a model from its start to an end; False, with nothing done, if no run of it ends there.

    Args:
        engine: ready to run, of the same start.
        end: what :func:`end_of` found.
    """
    here = {each.name: each.values for each in _kept(engine)}
    shown = engine.external.shown_to(engine.state)
    if any(True for _ in _wrong(engine, end, here)):
        return False
    saved = {each.name: each.values for each in columns(shown)} | dict(end.arrays)
    saved[_WORDLESS] = np.zeros(1, dtype=np.int64)  # as it is of both, which no saved state has
    if any(True for _ in faults(shown, saved)):
        return False
    for name, values in end.arrays.items():
        here[name][...] = values
    for core, facts in end.facts["kernels"].items():
        _put_kernel(engine.cores.running[int(core)], facts)
    engine.skipper.take_over(end.facts["skipped"])
    return True


def _wrong(engine: Engine, end: RunEnd, here: Mapping[str, Array]) -> Iterator[Fault | str]:
    """Yield what is not of this model: columns of another form, and other kernels."""
    for name, values in end.arrays.items():
        if name not in here or (here[name].dtype, here[name].shape) != (values.dtype, values.shape):
            yield name
    if set(end.facts["kernels"]) != set(map(str, engine.cores.running)):
        yield "kernels"


def _kept(engine: Engine) -> Iterator[Values]:
    """Yield the columns that mean something without words."""
    return (each for each in columns(engine.external.shown_to(engine.state)) if each.column.kind is not DATA)


def _kernel_facts(running: Running) -> list[Any]:
    links = sorted(map(int, running.links))
    return [sorted(running.released), sorted(running.taken), running.asked, links, running.accessed]


def _put_kernel(running: Running, facts: list[Any]) -> None:
    released, taken, running.asked, links, running.accessed = facts
    running.released, running.taken = set(released), set(taken)
    running.links = set(map(CorePhase, links))
    running.actions, running.steps = iter(()), np.zeros((0, 0, 0), dtype=np.int64)
