"""Cores as their status registers show them."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.arch.acts import Acts
from memtile.arch.registers import Register
from memtile.arch.tiles import COMPUTE, WORD_BYTES
from memtile.explain.dump.formats import Words
from memtile.jit.tables import plain
from memtile.model.state.causes import LINKS, CoreCause, CorePhase
from memtile.sim.engine import Engine

_STALLS = ("Lock_Stall_S", "Lock_Stall_W", "Lock_Stall_N", "Lock_Stall_E")
_HALTS = ("Debug_Halt", "Error_Halt")


def put_core(engine: Engine, tile: int, registers: Sequence[Register], words: Words) -> None:
    """Have the core of a tile do what Core_Status shows; one that shows nothing has no program."""
    core = int(plain(engine.spec.tiles).core[tile])
    status = next((each for each in registers if each.acts is Acts.CORE_STATUS), None)
    if core < 0 or status is None:
        return
    word = int(words[status.offset // WORD_BYTES])
    shown = {field.name for field in status.fields if field.get(word)}
    if not shown - {"Reset"}:
        return
    engine.cores.resume_ended(core, "", endless=None, released=())
    cores = engine.state.cores
    cores.phase[core], cores.why[core], cores.target[core] = CorePhase.WAIT, CoreCause.RUNNING, -1
    for phase, link in LINKS.items():
        if link.status in shown:
            cores.phase[core], cores.why[core] = phase, link.stall
    if shown & {*_STALLS}:
        cores.phase[core], cores.why[core] = CorePhase.ACQUIRE, CoreCause.LOCK_STALL
        cores.lock[core] = COMPUTE.locks * next(n for n, name in enumerate(_STALLS) if name in shown)
    if shown & {*_HALTS}:
        cores.why[core] = CoreCause.HALTED
    if "Core_Done" in shown:
        cores.phase[core], cores.why[core], cores.ended[core] = CorePhase.DONE, CoreCause.DONE, 1
