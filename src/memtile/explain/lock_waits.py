"""Who waits for a lock, what it is, and who could release it: running BD chains, and kernels.

What a chain releases is in its descriptors. What a kernel will release only the kernel knows; one that
has released the lock before is named as a releaser, one that could reach it as one that may.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.tiles import MEMORY, TILE_KINDS, TileKind
from memtile.bd.windows import place_of_lock
from memtile.explain.bd_chains import bd_field, bds_to_come
from memtile.explain.names import channel_name, core_name
from memtile.jit.tables import plain
from memtile.model.dma import bd_fields
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import CorePhase
from memtile.sim.engine import Engine
from memtile.sim.kernels import place

_WINDOWS = ("west", "own", "east")  # columns of ``Tiles.neighbour``


def wait_text(engine: Engine, at: int, lock: int, operand: int, waiting: str) -> str:
    """One line about a wait.

    Args:
        engine: the model.
        at: model index of the tile that waits.
        lock: index of the lock among all locks of the model, see :func:`owner`.
        operand: of the acquire; below 0 it waits for at least ``-operand``.
        waiting: name of who waits, as :func:`channel_name` or ``CoreView.name`` has it.
    """
    tile, local = owner(engine, lock)
    wanted = f"at least {-operand}" if operand < 0 else f"exactly {operand}"
    whose = "" if tile == at else f" of tile {place(engine.spec, tile)}"
    present = int(engine.state.locks.value[lock])
    named = f"{local}{_name(engine, lock)}{whose}"
    return f"waits until lock {named} is {wanted}; it is {present}, {_releasers(engine, lock, waiting)}"


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


def lock_seen(engine: Engine, tile: int, dma_id: int) -> int | None:
    """Index among all locks of the model of what a tile's DMA calls ``dma_id``; None where nothing is."""
    seen = place_of_lock(_kind(engine, tile), dma_id)
    if seen is None:
        return None
    there = int(engine.spec.tiles.neighbour[tile, _WINDOWS.index(seen.window)])
    return None if there < 0 else int(engine.spec.tiles.lock_base[there]) + seen.local


def _name(engine: Engine, lock: int) -> str:
    """The name that a design gave to a lock, after its number."""
    name = engine.lock_names.get(lock)
    return "" if name is None else f" {name!r}"


def _releasers(engine: Engine, lock: int, waiting: str) -> str:
    """Who releases a lock, or who may."""
    known = [*_chains(engine, lock, waiting), *_kernels(engine, lock, waiting)]
    if known:
        return f"released by {', '.join(known)}"
    may = ", ".join(_in_reach(engine, owner(engine, lock)[0], waiting))
    return f"and no running chain releases it; {may} may" if may else "and no running chain releases it"


def _chains(engine: Engine, lock: int, waiting: str) -> Iterator[str]:
    channels = engine.state.channels
    for ch in range(len(channels.tile)):
        name, tile = channel_name(engine, ch), int(channels.tile[ch])
        itself = " itself, after this wait" if name == waiting else ""
        for bd, queued in bds_to_come(engine, ch):
            gives = bd_field(engine, ch, bd, bd_fields.RELEASE_VALUE) > 0
            if gives and lock_seen(engine, tile, bd_field(engine, ch, bd, bd_fields.RELEASE_ID)) == lock:
                yield f"{name}{itself} (BD {bd}{', queued' if queued else ''})"


def _kernels(engine: Engine, lock: int, waiting: str) -> Iterator[str]:
    """Kernels that have released the lock before."""
    for core, running in sorted(engine.cores.running.items()):
        if lock in running.released and core_name(engine, core) != waiting:
            ended = ", which has ended" if engine.state.cores.phase[core] == CorePhase.DONE else ""
            yield f"{core_name(engine, core)} (kernel {running.kernel!r}{ended})"


def _in_reach(engine: Engine, tile: int, waiting: str) -> Iterator[str]:
    """Kernels that have not ended and whose cores reach the locks of a tile."""
    cores = engine.state.cores
    for core, running in sorted(engine.cores.running.items()):
        seen = engine.spec.tiles.core_reach[cores.tile[core]]
        if cores.phase[core] != CorePhase.DONE and tile in seen and core_name(engine, core) != waiting:
            yield f"{core_name(engine, core)} (kernel {running.kernel!r})"


def _kind(engine: Engine, tile: int) -> TileKind:
    return TILE_KINDS[KIND_NAMES[engine.spec.tiles.kind[tile]]]
