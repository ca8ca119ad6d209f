"""The debug unit of a core: what halts it, what lets it go on, and what its status shows (AM025 Debug_*).

A halted core stands still wherever it is, in the middle of an action of its kernel or between two; what it
had been granted it keeps (DEV-DEBUG-1). It has no program counter, so no PC event halts it.
"""

from __future__ import annotations

from memtile.arch.register_map import register_named
from memtile.arch.registers import DebugControl
from memtile.arch.tiles import COMPUTE, WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model.cores.core_ports import stalled_side
from memtile.model.events.asserted import asserted
from memtile.model.state.causes import CoreCause, CorePhase
from memtile.model.state.event_columns import CoreEvent
from memtile.model.state.state import State
from memtile.model.state.tile_columns import TRIGGERS, Trigger

_CONTROL, _STATUS = register_named("core", "Core_Control"), register_named("core", "Core_Status")
_ENABLING, _RESET = register_named("core", "Enable_Events"), register_named("core", "Reset_Event")
_DEBUG, _EVENTS = register_named("core", "Debug_Control0"), register_named("core", "Debug_Control1")
_STALLS, _SHOWN = register_named("core", "Debug_Control2"), register_named("core", "Debug_Status")
_ERROR, _ERROR_EVENT = (register_named("core", f"Error_Halt_{x}") for x in ("Control", "Event"))
_PLACES = tuple(
    (register.offset - _CONTROL.offset) // WORD_BYTES
    for register in (_DEBUG, _EVENTS, _ENABLING, _RESET, _ERROR, _ERROR_EVENT)
)
_AT_DEBUG, _AT_EVENTS, _AT_ENABLING, _AT_RESET, _AT_ERROR, _AT_ERROR_EVENT = _PLACES  # behind Core_Control
_EVENT_MAX = _RESET.field("Reset_Event").maximum
_HALT_LSB = tuple(_EVENTS.field(f"Debug_Halt_Core_Event{n}").lsb for n in range(2))
_STEP_LSB = _EVENTS.field("Debug_SingleStep_Core_Event").lsb
_RESUME_LSB = _EVENTS.field("Debug_Resume_Core_Event").lsb
_ENABLE_LSB, _DISABLE_LSB = (_ENABLING.field(f"{x}_Event").lsb for x in ("Enable", "Disable"))
_ENABLED, _DISABLED = (_ENABLING.field(f"{x}_Event_occurred").mask for x in ("Enable", "Disable"))
_HALT_BIT, _COUNT = _DEBUG.field("Debug_Halt_Bit").mask, _DEBUG.field("Single_Step_Count")
_COUNT_LSB, _COUNT_MAX = _COUNT.lsb, _COUNT.maximum
_ERROR_MASK = _ERROR.field("Error_Halt").mask
_ENABLE, _HELD = _CONTROL.field("Enable").mask, _CONTROL.field("Reset").mask
_LOCK_STALL_HALT = _STALLS.field("Lock_Stall_Halt").mask
_STREAM_STALL_HALT = _STALLS.field("Stream_Stall_Halt").mask
_MEMORY_STALL_HALT = _STALLS.field("Memory_Stall_Halt").mask
_STALL_HALTS = _LOCK_STALL_HALT | _MEMORY_STALL_HALT | _STREAM_STALL_HALT

ANY = _SHOWN.field("Debug_halted").mask
"""Bit of ``Debug_Status`` for any reason, and in ``Cores.halted`` for the halt bit and for a single step."""

_BY_EVENT = tuple(_SHOWN.field(f"Debug_Event{n}_Halted").mask for n in range(2))
_BY_LOCK, _BY_MEMORY = (_SHOWN.field(f"{x}_Stall_Halted").mask for x in ("Lock", "Memory"))
_BY_STREAM = _SHOWN.field("Stream_stall_Halted").mask
BY_DEBUG = sum(field.mask for field in _SHOWN.fields)
BY_ERROR = 1 << _SHOWN.fields[0].msb + 1
"""In ``Cores.halted``: an error halt, which ``Error_Halt_Control`` shows and ends."""
BY_DISABLE = BY_ERROR << 1
"""In ``Cores.halted``: the enable bit of Core_Control fell; setting it again ends that (DEV-CORE-9)."""

_SHOWS_DONE, _SHOWS_ERROR = _STATUS.field("Core_Done").mask, _STATUS.field("Error_Halt").mask
_SHOWS_DEBUG = _STATUS.field("Debug_Halt").mask
_LOCK_STALL_LSB = _STATUS.field("Lock_Stall_S").lsb  # south, west, north, east: as the core's windows
_LOCKS = COMPUTE.locks  # in each of the core's windows
_MEMORY_STALL_LSB = _STATUS.field("Memory_Stall_S").lsb
_STALL_GET_CASCADE, _STALL_PUT_CASCADE = (_STATUS.field(f"Cascade_Stall_{x}").mask for x in ("SCD", "MCD"))
_STALL_GET_STREAM, _STALL_PUT_STREAM = (_STATUS.field(f"Stream_Stall_{x}").mask for x in ("SS0", "MS0"))


@jit
def halt(st: State, core: int, reason: int) -> None:
    """Halt the core for ``reason``, bits of ``Cores.halted``, from the next cycle on."""
    cores = st.cores
    cores.halted[core] |= reason
    cores.single[core] = 0
    if reason & BY_DEBUG:
        st.core_seen[core, CoreEvent.DEBUG_HALTED] = st.clock.now[0] + st.clock.booked[0]


@jit
def resume(st: State, core: int, reasons: int) -> None:
    """Take ``reasons`` back; the core goes on with the next cycle when none is left."""
    cores = st.cores
    before = cores.halted[core]
    cores.halted[core] = before & ~reasons
    if before != 0 and cores.halted[core] == 0:
        st.clock.locks_changed[0] = 1
        st.clock.activity[0] += 1
        st.clock.asking[0] += cores.phase[core] == CorePhase.NEXT


@jit
def single_step(st: State, core: int, count: int) -> None:
    """Let the core go on for ``count`` cycles in which it does not stall, then halt it."""
    resume(st, core, BY_DEBUG)
    st.cores.single[core] = count


@jit
def follow_control(st: State, tile: int) -> None:
    """Core_Control has changed: a core that loses its enable bit raises DISABLED (DEV-CORE-8) and stops.

    It stands still until it is enabled again (DEV-CORE-9).
    Before the next cycle Python takes or gives the kernel of a core whose reset bit has changed (DEV-CORE-6).
    """
    cores, core = st.cores, st.spec.tiles.core[tile]
    word = st.registers[st.spec.event_units.core[st.spec.tiles.first_unit[tile]]]
    held, enabled = word & _HELD > 0, word & _ENABLE > 0
    st.clock.alarms[0] += 1
    if cores.enabled[core] == 1 and not enabled:
        st.core_seen[core, CoreEvent.DISABLED] = st.clock.now[0] + st.clock.booked[0]
        st.clock.activity[0] += 1
        halt(st, core, BY_DISABLE)
    elif enabled:
        resume(st, core, BY_DISABLE)
    cores.enabled[core] = enabled
    if held and cores.held[core] == 0 and cores.reset[core] == 0:
        cores.reset[core] = 1
    cores.held[core] = held
    if cores.reset[core] > 0:
        st.clock.asking[0] += 1
        st.clock.activity[0] += 1


@jit
def write_halt(st: State, core: int, value: int) -> None:
    """A write to Debug_Control0: halt, go on, or take as many steps as the count says."""
    count = (value >> _COUNT_LSB) & _COUNT_MAX
    if count > 0:
        single_step(st, core, count)
    elif value & _HALT_BIT:
        halt(st, core, ANY)
    else:
        st.cores.single[core] = 0
        resume(st, core, BY_DEBUG)


@jit
def write_control(st: State, tile: int, which: int, value: int) -> None:
    """A write to a ``DebugControl`` register: the halt bit, stalls that halt, a reset, or an error's end."""
    core = st.spec.tiles.core[tile]
    if which == DebugControl.HALT_BIT:
        write_halt(st, core, value)
    elif which == DebugControl.STALLS:
        st.cores.halting_stalls[core] = value & _STALL_HALTS
    elif which == DebugControl.CORE:
        follow_control(st, tile)
    elif value & _ERROR_MASK:
        resume(st, core, BY_ERROR)


@jit
def note_cycles(st: State, core: int, cycles: int) -> None:
    """Phase 6: halt a core that stalls in a way that Debug_Control2 has chosen, or whose steps are made."""
    cores, why = st.cores, st.cores.why[core]
    if why == CoreCause.RUNNING and cores.single[core] > 0:
        cores.single[core] -= cycles
        if cores.single[core] <= 0:
            halt(st, core, ANY)
    chosen = cores.halting_stalls[core]
    if why == CoreCause.LOCK_STALL and chosen & _LOCK_STALL_HALT:
        halt(st, core, _BY_LOCK)
    elif why == CoreCause.STREAM_STALL and chosen & _STREAM_STALL_HALT:
        halt(st, core, _BY_STREAM)
    elif (why == CoreCause.BANK_CONFLICT or why == CoreCause.MEMORY_BUSY) and chosen & _MEMORY_STALL_HALT:
        halt(st, core, _BY_MEMORY)


@jit
def configure(st: State, unit: int) -> bool:
    """Read the registers that name events for the core of the unit; whether there is one."""
    first = st.spec.event_units.core[unit]
    if first < 0:
        return False
    core = st.spec.tiles.core[st.spec.event_units.tile[unit]]
    chosen, events = st.cores.triggers, st.registers[first + _AT_EVENTS]
    chosen[core, Trigger.HALT_0] = (events >> _HALT_LSB[0]) & _EVENT_MAX
    chosen[core, Trigger.HALT_1] = (events >> _HALT_LSB[1]) & _EVENT_MAX
    chosen[core, Trigger.STEP] = (events >> _STEP_LSB) & _EVENT_MAX
    chosen[core, Trigger.RESUME] = (events >> _RESUME_LSB) & _EVENT_MAX
    chosen[core, Trigger.ERROR] = st.registers[first + _AT_ERROR_EVENT] & _EVENT_MAX
    chosen[core, Trigger.RESET] = st.registers[first + _AT_RESET] & _EVENT_MAX
    enabling = st.registers[first + _AT_ENABLING]
    chosen[core, Trigger.ENABLE] = (enabling >> _ENABLE_LSB) & _EVENT_MAX
    chosen[core, Trigger.DISABLE] = (enabling >> _DISABLE_LSB) & _EVENT_MAX
    found = 0
    for n in range(TRIGGERS):
        found |= chosen[core, n]
    return found > 0


@jit
def follow(st: State, unit: int) -> None:
    """Do what the events of this cycle are chosen for; of a resume and a halt the halt wins."""
    core, first = st.spec.tiles.core[st.spec.event_units.tile[unit]], st.spec.event_units.core[unit]
    chosen = st.cores.triggers
    if asserted(st, unit, chosen[core, Trigger.RESUME]):
        st.registers[first + _AT_DEBUG] &= ~_HALT_BIT
        resume(st, core, BY_DEBUG)
    if asserted(st, unit, chosen[core, Trigger.STEP]):
        count = (st.registers[first + _AT_DEBUG] >> _COUNT_LSB) & _COUNT_MAX
        single_step(st, core, max(count, 1))
    for n in range(2):
        if asserted(st, unit, chosen[core, Trigger.HALT_0 + n]):
            halt(st, core, _BY_EVENT[n])
    if asserted(st, unit, chosen[core, Trigger.ERROR]):
        st.registers[first + _AT_ERROR] |= _ERROR_MASK
        halt(st, core, BY_ERROR)
    word = st.registers[first]
    if asserted(st, unit, chosen[core, Trigger.ENABLE]):
        word |= _ENABLE
        st.registers[first + _AT_ENABLING] |= _ENABLED
    if asserted(st, unit, chosen[core, Trigger.DISABLE]):
        word &= ~_ENABLE
        st.registers[first + _AT_ENABLING] |= _DISABLED
    if asserted(st, unit, chosen[core, Trigger.RESET]):
        word |= _HELD
    if word != st.registers[first]:
        st.registers[first] = word
        follow_control(st, st.spec.event_units.tile[unit])


@jit
def debug_status(st: State, tile: int) -> int:
    """What Debug_Status shows."""
    reasons = st.cores.halted[st.spec.tiles.core[tile]] & BY_DEBUG
    return int(reasons | (ANY if reasons else 0))


@jit
def core_status(st: State, tile: int) -> int:
    """What Core_Status shows: control bits, what stalls or halts the core, whether its kernel has ended."""
    cores, core = st.cores, st.spec.tiles.core[tile]
    shown = st.registers[st.spec.event_units.core[st.spec.tiles.first_unit[tile]]] & (_ENABLE | _HELD)
    if cores.halted[core] & BY_DEBUG:
        shown |= _SHOWS_DEBUG
    if cores.halted[core] & BY_ERROR:
        shown |= _SHOWS_ERROR
    if cores.ended[core] == 1:
        shown |= _SHOWS_DONE
    why = cores.why[core]
    if cores.active[core] == 1 and cores.phase[core] != CorePhase.NEXT:
        if why == CoreCause.LOCK_STALL:
            shown |= 1 << (_LOCK_STALL_LSB + cores.lock[core] // _LOCKS)
        elif why == CoreCause.BANK_CONFLICT or why == CoreCause.MEMORY_BUSY:
            shown |= 1 << (_MEMORY_STALL_LSB + stalled_side(st, core))
        elif why == CoreCause.CASCADE_STALL:
            getting = cores.phase[core] == CorePhase.GET_CASCADE
            shown |= _STALL_GET_CASCADE if getting else _STALL_PUT_CASCADE
        elif why == CoreCause.STREAM_STALL:
            shown |= _STALL_GET_STREAM if cores.phase[core] == CorePhase.GET_STREAM else _STALL_PUT_STREAM
    return int(shown)
