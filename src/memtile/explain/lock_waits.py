"""Channels and cores that wait for a lock, its value, and the BD chains and kernels that could release it.

What a chain releases is in its descriptors. A kernel that has released the lock before is named as a
releaser, one whose text says that it does, or that has no text and reaches the lock, as one that may.

It also has releases that go to the lock of another ring.

Who takes from a ring gives back: one channel waits for lock *room* and gives *data*, another one takes *data*
and gives *room*. Where nobody gives *room*, and who takes *data* gives a lock that somebody else gives
already, that one stands where *room* was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memtile.arch.tiles import MEMORY
from memtile.explain.bd_chains import BdChains
from memtile.explain.names import called, channel_name, core_name
from memtile.jit.tables import plain
from memtile.model.state.causes import CorePhase
from memtile.sim.kernels.kernel_core import place
from memtile.sim.kernels.kernel_text import released_by
from memtile.sim.loop.engine import Engine


def wait_text(engine: Engine, chains: BdChains, at: int, lock: int, operand: int, waiting: str) -> str:
    """One line about a wait.

    Args:
        engine: the model.
        chains: of its channels.
        at: model index of the tile that waits.
        lock: index of the lock among all locks of the model, see :func:`owner`.
        operand: of the acquire; below 0 it waits for at least ``-operand``.
        waiting: name of who waits, as :func:`channel_name` or ``CoreView.name`` has it.
    """
    return f"{wanted_text(engine, at, lock, operand)}, {_releasers(engine, chains, lock, waiting)}"


def wanted_text(engine: Engine, at: int, lock: int, operand: int) -> str:
    """The wait alone, without who could end it; arguments as of :func:`wait_text`."""
    tile, local = owner(engine, lock)
    whose = "" if tile == at else f" of tile {place(engine.spec, tile)}"
    needs = values_text(operand, int(engine.state.locks.value[lock]))
    return f"waits for lock {local}{_name(engine, lock)}{whose} ({needs})"


def values_text(operand: int, present: int | None = None) -> str:
    """``needs 2, has 1``: the value that an acquire needs, and the present one where it is known."""
    needs = f"needs {-operand}" if operand < 0 else f"needs exactly {operand}"
    return needs if present is None else f"{needs}, has {present}"


def lock_errors(engine: Engine) -> Iterator[str]:
    """Locks whose sticky overflow or underflow is set."""
    locks, many = engine.state.locks, len(engine.spec.tiles.kind) > 1
    most, least = (
        f"a release above {MEMORY.lock_value_max}, where it stayed",
        "a change below 0, where it stayed",
    )
    for flags, error, text in ((locks.overflow, "overflow", most), (locks.underflow, "underflow", least)):
        for lock in flags.nonzero()[0].tolist():
            tile, local = owner(engine, lock)
            whose = f" of tile {place(engine.spec, tile)}" if many else ""
            yield f"lock {local}{_name(engine, lock)}{whose}: {error}, {text}"


def owner(engine: Engine, lock: int) -> tuple[int, int]:
    """Tile and number within it of a lock of the model."""
    bases = plain(engine.spec.tiles).lock_base
    tile = int((bases <= lock).nonzero()[0][-1])
    return tile, lock - int(bases[tile])


def lock_text(engine: Engine, lock: int) -> str:
    """``lock 3 'full' of tile (0, 1)``; the tile only where there are several."""
    tile, local = owner(engine, lock)
    name = engine.lock_names.get(lock)
    whose = f" of tile {place(engine.spec, tile)}" if len(engine.spec.tiles.kind) > 1 else ""
    return f"lock {local}{f' {name!r}' if name else ''}{whose}"


def _name(engine: Engine, lock: int) -> str:
    """The name that a design gave to a lock, after its number."""
    name = engine.lock_names.get(lock)
    return "" if name is None else f" {name!r}"


def lock_name(engine: Engine, lock: int) -> str:
    """``lock 3 'full' of tile (0, 1)``; the tile only where there are several; of a cascade whose it is."""
    if lock >= len(engine.state.locks.value):
        return f"the cascade of {core_name(engine, lock - len(engine.state.locks.value))}"
    tile, local = owner(engine, lock)
    whose = f" of tile {place(engine.spec, tile)}" if len(engine.spec.tiles.kind) > 1 else ""
    return f"lock {local}{_name(engine, lock)}{whose}"


def _releasers(engine: Engine, chains: BdChains, lock: int, waiting: str) -> str:
    """The channels and cores that release a lock, or may."""
    known = [*_channels(engine, chains, lock, waiting), *_kernels(engine, lock, waiting)]
    if known:
        return f"released by {', '.join(known)}"
    may = ", ".join(_in_reach(engine, lock, waiting))
    return f"and no running chain releases it; {may} may" if may else "and no running chain releases it"


def _channels(engine: Engine, chains: BdChains, lock: int, waiting: str) -> Iterator[str]:
    """Channels that have a BD to end which releases the lock."""
    for ch, bd, queued in chains.releases.get(lock, ()):
        name = channel_name(engine, ch)
        itself = " itself, after this wait" if name == waiting else ""
        yield f"{called(engine, ch)}{itself} (BD {bd}{', queued' if queued else ''})"


def _kernels(engine: Engine, lock: int, waiting: str) -> Iterator[str]:
    """Kernels that have released the lock before."""
    for core, running in sorted(engine.cores.running.items()):
        if lock in running.released and core_name(engine, core) != waiting:
            ended = ", which has ended" if engine.state.cores.phase[core] == CorePhase.DONE else ""
            yield f"{core_name(engine, core)} (kernel {running.kernel!r}{ended})"


def _in_reach(engine: Engine, lock: int, waiting: str) -> Iterator[str]:
    """Kernels that have not ended and may release a lock by their text, or reach it and have none."""
    cores, tile = engine.state.cores, owner(engine, lock)[0]
    for core, running in sorted(engine.cores.running.items()):
        seen = engine.spec.tiles.core_reach[cores.tile[core]]
        if cores.phase[core] == CorePhase.DONE or tile not in seen or core_name(engine, core) == waiting:
            continue
        text = released_by(running, engine.spec)
        if text is None or lock in text.locks | text.maybe:
            yield f"{core_name(engine, core)} (kernel {running.kernel!r})"


class Swap(NamedTuple):
    """A release that goes to the wrong lock; channels and locks by their indices in the model.

    Attributes:
        giver: channel that releases.
        gives: lock that it releases.
        meant: lock that nobody releases.
        waiting: channel that takes from that one.
    """

    giver: int
    gives: int
    meant: int
    waiting: int


def swaps(engine: Engine, chains: BdChains) -> Iterator[Swap]:
    """All such releases of the channels' present tasks, or of their last ones."""
    steps = chains.lock_steps()
    by_cores = {lock for running in engine.cores.running.values() for lock in running.released}
    given = {gives for _, _, gives in steps if gives is not None} | by_cores
    for waiting, meant, data in steps:
        if meant is None or data is None or meant in given or data == meant:
            continue
        for giver, takes, gives in steps:
            if giver == waiting or takes != data or gives is None:
                continue
            others = {ch for ch, _, lock in steps if lock == gives and ch != giver}
            if others or gives in by_cores:
                yield Swap(giver, gives, meant, waiting)
