"""What a core looks like from outside: its name, whether it is done, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from memtile.explain.bd_chains import BdChains
from memtile.explain.link_waits import link_text
from memtile.explain.lock_waits import wait_text, wanted_text
from memtile.explain.names import core_name
from memtile.explain.results import CoreUse
from memtile.model.state.causes import LINKS, CoreCause, CorePhase
from memtile.sim.core_control import without_program
from memtile.sim.engine import Engine

_UNSIMULATED = "its program is not simulated"
_WAY_OUT = "give it a kernel (--kernels FILE.py or run_kernel)"
_IDLE = "it does nothing, and what waits for it goes on waiting"


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
    def waits_endlessly(self) -> bool:
        """Whether it is an endless kernel that waits for a lock, a value of the cascade or a word."""
        waits = self.engine.state.cores.phase[self.core] in (CorePhase.ACQUIRE, *LINKS)
        return waits and self.engine.cores.running[self.core].endless

    def at_rest(self, good: Set[int]) -> bool:
        """Whether it is done, or an endless kernel that may wait: said to, or among the ``good`` cores."""
        if self.done:
            return True
        said = self.engine.cores.running[self.core].declared is True
        return self.waits_endlessly and (said or self.core in good)

    def use(self) -> CoreUse:
        """Cycles by cause."""
        spent = self.engine.state.core_spent[self.core]
        return CoreUse(self.name, self.kernel, {cause: int(spent[cause]) for cause in CoreCause})

    def waits_for(self) -> str:
        """One line: what the core does and what would let it go on."""
        cores = self.engine.state.cores
        text = f"{self.name}, kernel {self.kernel!r}"
        if cores.why[self.core] == CoreCause.HALTED:
            return f"{text}: {CoreCause.HALTED.text} (Debug_Status, Error_Halt_Control)"
        if cores.phase[self.core] == CorePhase.NEXT:
            return f"{text}: between two of its actions"
        if cores.phase[self.core] in LINKS:
            return f"{text}: {link_text(self.engine, self.core)}"
        if cores.phase[self.core] != CorePhase.ACQUIRE:
            return f"{text}: {CoreCause(int(cores.why[self.core])).text}"
        return f"{text}: {self._lock_wait()}"

    def rests(self) -> str:
        """One line: for what an endless kernel waits; of a lock, without who could give it."""
        cores = self.engine.state.cores
        if cores.phase[self.core] in LINKS:
            return f"{self.name}, kernel {self.kernel!r}: {link_text(self.engine, self.core)}"
        tile, lock = int(cores.tile[self.core]), int(cores.target[self.core])
        wanted = wanted_text(self.engine, tile, lock, int(cores.value[self.core]))
        return f"{self.name}, kernel {self.kernel!r}: {wanted}"

    def _lock_wait(self) -> str:
        cores = self.engine.state.cores
        tile, lock = int(cores.tile[self.core]), int(cores.target[self.core])
        return wait_text(self.engine, self.chains, tile, lock, int(cores.value[self.core]), self.name)


def core_views(engine: Engine, chains: BdChains) -> Iterator[CoreView]:
    """The cores that have or had a kernel, in model order."""
    return (CoreView(engine, core, chains) for core in sorted(engine.cores.running))


def unsimulated(engine: Engine) -> Iterator[str]:
    """One line for each core that was enabled and has no kernel."""
    return (f"{_enabled(engine, core)}: {_WAY_OUT}" for core in without_program(engine))


def idle_text(engine: Engine, core: int) -> str:
    """That a core was enabled and does nothing, for who cannot give it a kernel."""
    return f"{_enabled(engine, core)}: {_IDLE}"


def _enabled(engine: Engine, core: int) -> str:
    return f"{core_name(engine, core)} was enabled; {_UNSIMULATED}"
