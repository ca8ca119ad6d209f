"""Runs whose whole start is one that was run before: their ends are taken from there.

A run without words of a design whose kernels are lists of actions, and whose host starts tasks in order, is
decided by data alone: the state of the model before its first cycle, its timing constants, what kernels and
the host will do, the options of the run, and the sources of memtile. A digest of all that is the name of a
file. The run's end is put into the model, and the result is made of it as of any run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from memtile.errors import MemtileError
from memtile.jit.settings import BOUNDS
from memtile.runs.machine import Machine
from memtile.runs.options import RunOptions
from memtile.runs.run_store import RunStore, build, sources_are_loaded, usual_store
from memtile.sim.loop.run_end import RunEnd, end_of, put_end
from memtile.sim.loop.run_start import digest, start_of
from memtile.sim.loop.timing_only import words_wanted

VARIABLE = "MEMTILE_RECALL"


def store_in_use() -> RunStore | None:
    """Where ends of runs are kept; None if there is no place for them, or they are not wanted.

    They are not where the environment has ``MEMTILE_RECALL=0``, indices are checked, or sources have changed
    since this process imported them.
    """
    if os.environ.get(VARIABLE) == "0" or BOUNDS or not sources_are_loaded():
        return None
    try:
        return usual_store()
    except (MemtileError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class RunStart:
    """The start of a run that data alone decides.

    Attributes:
        machine: that is to run.
        parts: what decides about the run, by name.
        store: where its end is, or is to be kept.
    """

    machine: Machine
    parts: dict[str, Any]
    store: RunStore

    @classmethod
    def of(cls, machine: Machine, options: RunOptions) -> RunStart | None:
        """The start of a run; None if data alone does not decide it, or earlier runs are not wanted."""
        if options.untimed or not options.recall or words_wanted() or not machine.engine.cores.running:
            return None
        hosts = [each.beginning() for each in machine.hosts]
        if None in hosts or len(hosts) > 1:
            return None
        machine.engine.make_ready()
        found = start_of(machine.engine) if not machine.engine.words_needed_by else None
        store = None if found is None else store_in_use()
        if found is None or store is None:
            return None
        limits = digest(options.max_cycles, machine.engine.skipper.chosen)
        return cls(machine, {**found, "hosts": digest(hosts), "limits": limits, "build": build()}, store)

    @property
    def key(self) -> str:
        """A digest of all parts."""
        return digest(sorted(self.parts.items()))

    def recalled(self) -> bool:
        """Whether the machine was brought to the end that such a run had earlier."""
        end, hosts = self.store.read(self.key), self.machine.hosts
        if end is None or not put_end(self.machine.engine, end):
            return False
        for sequence, known in zip(hosts, end.facts["hosts"], strict=True):
            sequence.put_at_end(known)
        return True

    def keep(self) -> None:
        """Keep the end of the run, which was a good one, if its kernels have ended."""
        hosts = self.machine.hosts
        end = end_of(self.machine.engine, self.parts["state"])
        if end is not None and sources_are_loaded():
            known = {**end.facts, "hosts": [sequence.end() for sequence in hosts]}
            self.store.write(self.key, RunEnd(end.arrays, known))
