"""Whom a core waits for at its cascade or its stream, by name, and why nothing comes or goes."""

from __future__ import annotations

from memtile.arch.core import CORE
from memtile.arch.ports import PORTS
from memtile.arch.tiles import TILE_KINDS
from memtile.explain.names import core_name
from memtile.model.cores.cascade import receiver, sender
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.state.causes import LINKS, CoreCause, CorePhase
from memtile.sim.engine import Engine

_CASCADES = [phase for phase, link in LINKS.items() if link.stall is CoreCause.CASCADE_STALL]
_REGISTER = "Accumulator_Control"


def awaited(engine: Engine, core: int) -> int | None:
    """The core at the other end of the cascade that a core waits at; -1 = none, None = it does not wait."""
    state, phase = engine.state, engine.state.cores.phase[core]
    if state.cores.why[core] != CoreCause.CASCADE_STALL or phase not in _CASCADES:
        return None
    one, other = (sender, receiver) if phase == CorePhase.GET_CASCADE else (receiver, sender)
    there = one(state, core)
    return there if there >= 0 and other(state, there) == core else -1


def link_text(engine: Engine, core: int) -> str:
    """One line about a core at its cascade or its stream: what it waits for, and who does not do it."""
    phase = CorePhase(int(engine.state.cores.phase[core]))
    if phase == CorePhase.GET_CASCADE:
        return f"{LINKS[phase].text}{_from(engine, core)}"
    if phase == CorePhase.PUT_CASCADE:
        return f"{LINKS[phase].text}{_to(engine, core)}"
    return f"{LINKS[phase].text}, {_stream(engine, core, gets=phase == CorePhase.GET_STREAM)}"


def _from(engine: Engine, core: int) -> str:
    cascades, there = engine.state.cascades, sender(engine.state, core)
    side = "west" if cascades.from_west[core] else "north"
    if there < 0:
        return f", whose input is the {side}, where no core is ({_REGISTER} of its tile)"
    text = f" from {core_name(engine, there)} in the {side}"
    if receiver(engine.state, there) != core:
        other = "east" if cascades.to_east[there] else "south"
        return f"{text}, which puts its values to the {other} ({_REGISTER} of its tile)"
    return f"{text}, {_does(engine, there, core)}"


def _to(engine: Engine, core: int) -> str:
    cascades, there = engine.state.cascades, receiver(engine.state, core)
    side = "east" if cascades.to_east[core] else "south"
    if there < 0:
        return f", whose output is the {side}, where no core is ({_REGISTER} of its tile)"
    text = f" to {core_name(engine, there)} in the {side}"
    if sender(engine.state, there) != core:
        other = "west" if cascades.from_west[there] else "north"
        return f"{text}, which gets its values from the {other} ({_REGISTER} of its tile)"
    waiting = int(cascades.out_held[core] + cascades.in_held[there])
    return f"{text}, where {waiting} of {2 * CORE.cascade_depth} stand, {_does(engine, there, core)}"


def _does(engine: Engine, there: int, core: int) -> str:
    """What the core at the other end does."""
    running, state = engine.cores.running.get(there), engine.state
    if running is None:
        return "which has no kernel"
    phase = CorePhase(int(state.cores.phase[there]))
    name = f"whose kernel {running.kernel!r}" if running.kernel else "whose program"
    if phase == CorePhase.DONE:
        return f"{name} has ended"
    if awaited(engine, there) == core:
        what = "a value" if phase == CorePhase.GET_CASCADE else "room"
        return f"{name} waits for {what} on the cascade from {core_name(engine, core)} itself"
    if phase in LINKS:
        return f"{name} {LINKS[phase].text} itself"
    return f"{name} waits for a lock" if phase == CorePhase.ACQUIRE else f"{name} does something else"


def _stream(engine: Engine, core: int, *, gets: bool) -> str:
    """At which port of its stream switch a core waits, and whether that port is connected."""
    cores, switch = engine.state.cores, engine.state.switch
    tile = int(cores.tile[core])
    ports = PORTS[TILE_KINDS[KIND_NAMES[engine.spec.tiles.kind[tile]]].name]
    port = int((cores.stream_in if gets else cores.stream_out)[core])
    name = (ports.masters if gets else ports.slaves)[int(switch.number[port])]
    side = "master" if gets else "slave"
    if switch.mode[port] == 0:
        return f"at {side} port {name} of its stream switch, which is not enabled"
    return f"at {side} port {name} of its stream switch, " + (
        "where none comes" if gets else "where none is taken"
    )
