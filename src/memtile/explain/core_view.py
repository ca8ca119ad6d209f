"""What a core looks like from outside: its name, whether it is done, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memtile.explain.bd_chains import BdChains
from memtile.explain.lock_waits import wait_text
from memtile.explain.names import core_name
from memtile.explain.results import CoreUse
from memtile.model.state.causes import CORE_CAUSE_TEXT, CoreCause, CorePhase
from memtile.sim.engine import Engine


@dataclass(frozen=True, slots=True)
class CoreView:
    """One core of an engine that has or had a kernel.

    Args:
        engine: the model.
        core: model index of the core.
        chains: of the channels.
    """

    engine: Engine
    core: int
    chains: BdChains

    @property
    def name(self) -> str:
        """``core (0, 2)``: column and row of its tile."""
        return core_name(self.engine, self.core)

    @property
    def kernel(self) -> str:
        """Name of its kernel."""
        return self.engine.cores.running[self.core].kernel

    @property
    def done(self) -> bool:
        """Whether the kernel has ended."""
        return bool(self.engine.state.cores.phase[self.core] == CorePhase.DONE)

    @property
    def at_rest(self) -> bool:
        """Done, or an endless kernel that waits for a lock."""
        waits = self.engine.state.cores.phase[self.core] == CorePhase.ACQUIRE
        return self.done or (self.engine.cores.running[self.core].endless and bool(waits))

    def use(self) -> CoreUse:
        """Cycles by cause."""
        spent = self.engine.state.core_spent[self.core]
        return CoreUse(self.name, self.kernel, {cause: int(spent[cause]) for cause in CoreCause})

    def waits_for(self) -> str:
        """One line: what the core does and what would let it go on."""
        cores = self.engine.state.cores
        text = f"{self.name}, kernel {self.kernel!r}"
        if cores.phase[self.core] == CorePhase.NEXT:
            return f"{text}: between two of its actions"
        if cores.phase[self.core] != CorePhase.ACQUIRE:
            return f"{text}: {CORE_CAUSE_TEXT[CoreCause(int(cores.why[self.core]))]}"
        return f"{text}: {self._lock_wait()}"

    def _lock_wait(self) -> str:
        cores = self.engine.state.cores
        tile, lock = int(cores.tile[self.core]), int(cores.target[self.core])
        return wait_text(self.engine, self.chains, tile, lock, int(cores.value[self.core]), self.name)


def core_views(engine: Engine, chains: BdChains) -> Iterator[CoreView]:
    """The cores that have or had a kernel, in model order."""
    return (CoreView(engine, core, chains) for core in sorted(engine.cores.running))
