"""What can take part in what happens, and so what of the state is kept and compared.

Most tiles of a large array are at rest, and only writes of registers wake them: those of the host or of a
kernel make the plan anew, and so do those of control packets. What can act by itself is *live*: channels with
something to do, ports that are set up or hold words, cores with a kernel, and what words from there may come
to. Their tiles are live too, and those whose memory and locks they reach. Nothing else can change.
"""

from __future__ import annotations

from memtile.jit.addresses import WORD
from memtile.jit.decorators import jit
from memtile.model.dma.bd_fields import iterates, iteration_register
from memtile.model.events.unit_setup import USES_COUNTERS
from memtile.model.state.causes import CorePhase, Phase
from memtile.model.state.columns import Ints
from memtile.model.state.event_columns import SOURCE, EventSource
from memtile.model.state.state import State
from memtile.model.streams.switch_config import OFF
from memtile.sim.skip.records import (
    OF_TILES,
    Arrays,
    LiveSection,
    RowsOf,
    SpanRule,
)

_SIDES = 3  # of a tile, itself among them
_REACH = 4  # memories that a core reaches


@jit
def mark(work: Arrays, part: int, number: int) -> None:
    """Let something be live, if there is such a thing."""
    if number >= 0:
        work.live[work.search.first_flag[0, part] + number] = 1


@jit
def mark_port(st: State, work: Arrays, port: int) -> None:
    """Let a port be live, and what its words come to: the port behind the wire, or a channel."""
    if port < 0:
        return
    switch = st.switch
    mark(work, LiveSection.PORT, port)
    mark(work, LiveSection.TILE, switch.tile[port])
    if switch.is_master[port] == 1:
        mark_channel(st, work, switch.channel[port])
        if switch.link[port] >= 0:
            mark(work, LiveSection.PORT, switch.link[port])
            mark(work, LiveSection.TILE, switch.tile[switch.link[port]])


@jit
def mark_channel(st: State, work: Arrays, ch: int) -> None:
    """Let a channel be live, with the port that it feeds and the memories that it reaches."""
    if ch < 0:
        return
    tile, port = st.channels.tile[ch], st.channels.switch_port[ch]
    mark(work, LiveSection.CHANNEL, ch)
    mark(work, LiveSection.EXTERNAL, st.channels.external[ch])
    mark(work, LiveSection.TILE, tile)
    if port >= 0:
        mark(work, LiveSection.PORT, port)
    if st.channels.number[ch] < st.spec.kinds.neighbour_channels[st.spec.tiles.kind[tile]]:
        for side in range(_SIDES):
            mark(work, LiveSection.TILE, st.spec.tiles.neighbour[tile, side])


@jit
def busy(st: State, ch: int) -> bool:
    """Whether the channel has something to do, or its port at the host has words for it or takes some."""
    c, ports = st.channels, st.ports
    if c.phase[ch] != Phase.IDLE or c.queue_count[ch] + c.active[ch] + c.waiting[ch] > 0:
        return True
    if st.fifos.held[ch] + c.token_due[ch] > 0:
        return True
    return bool(ports.source_end[ch] + ports.source_more[ch] + ports.next_end[ch] + ports.has_sink[ch] > 0)


@jit
def mark_core(st: State, work: Arrays, core: int) -> None:
    """Let a core be live, with the port that it feeds and the memories that it reaches."""
    tile = st.cores.tile[core]
    mark(work, LiveSection.CORE, core)
    mark(work, LiveSection.TILE, tile)
    mark_port(st, work, st.cores.stream_out[core])
    for side in range(_REACH):
        mark(work, LiveSection.TILE, st.spec.tiles.core_reach[tile, side])


@jit
def mark_ports_of(st: State, work: Arrays, tile: int) -> None:
    """Let the ports be live into which a live tile puts tokens and traces."""
    mark(work, LiveSection.PORT, st.controls.slave_port[tile])
    first = st.spec.tiles.first_unit[tile]
    for unit in range(first, first + st.spec.tiles.units[tile]):
        mark(work, LiveSection.PORT, st.spec.event_units.trace_port[unit])


@jit
def find_live(st: State, work: Arrays) -> None:
    """Find what is live now."""
    search = work.search
    live = work.live
    for n in range(search.first_flag[0, LiveSection.PORT + 1]):
        live[n] = 0
    mark_active(st, work)
    for tile in range(st.spec.tiles.kind.shape[0]):
        if live[search.first_flag[0, LiveSection.TILE] + tile] == 1:
            mark_ports_of(st, work, tile)
    for part in range(LiveSection.PORT + 1):
        list_live(work, part, search.first_flag[0, part], search.first_flag[0, part + 1])
    search.channel_count[0] = search.live_count[0, LiveSection.CHANNEL]
    for n in range(search.channel_count[0]):
        work.live_channels[n] = listed_part(work, LiveSection.CHANNEL, n)


@jit
def mark_active(st: State, work: Arrays) -> None:
    """Let what can act by itself be live, with all that it reaches."""
    for tile in range(st.spec.tiles.kind.shape[0]):
        mark_active_of(st, work, tile)


@jit
def mark_active_of(st: State, work: Arrays, tile: int) -> None:
    """Mark what can act by itself in a tile as live, with all that it reaches."""
    tiles, core = st.spec.tiles, st.spec.tiles.core[tile]
    first, ports = tiles.slave_base[tile], tiles.slaves[tile] + tiles.masters[tile]
    for port in range(first, first + ports):
        if st.switch.mode[port] != OFF or st.switch.held[port] > 0:
            mark_port(st, work, port)
    for ch in range(tiles.channel_base[tile], tiles.channel_base[tile] + tiles.channels[tile]):
        if busy(st, ch):
            mark_channel(st, work, ch)
    for unit in range(tiles.first_unit[tile], tiles.first_unit[tile] + tiles.units[tile]):
        if st.observers.active[unit] == 1:
            mark(work, LiveSection.TILE, tile)
    if core >= 0 and (st.cores.phase[core] != CorePhase.IDLE or st.cores.active[core] == 1):
        mark_core(st, work, core)


@jit
def list_live(work: Arrays, part: int, first: int, end: int) -> None:
    """List all of a part that are live; their flags are entries ``first`` to ``end``."""
    at = first
    for n in range(first, end):
        if work.live[n] == 1:
            work.lists[at] = n - first
            at += 1
    work.search.live_count[0, part] = at - first


@jit
def listed_part(work: Arrays, part: int, n: int) -> int:
    """The n-th one of a part that is live."""
    return int(work.lists[work.search.first_flag[0, part] + n])


@jit
def add_rows(work: Arrays, entry: int, first: int, rows: int, words: int) -> None:
    """Add the first words of some rows of a table, from where an entry of the layout says, to the plan."""
    search, plan = work.search, work.plan
    layout = work.layout
    if rows == 0:
        return
    at, apart = search.span_count[0], layout.stride[entry]
    search.slot_words[0] += rows * words
    if apart == words * WORD:
        rows, words = 1, rows * words
    plan.address[at] = layout.table[entry] + first * apart + layout.byte[entry]
    plan.rows[at], plan.stride[at] = rows, apart
    plan.words[at], plan.compared[at] = words, layout.compared[entry]
    search.span_count[0] = at + 1


@jit
def add_live(work: Arrays, entry: int, part: int) -> None:
    """Add the rows of all of a part that are live."""
    first, rows, words = 0, 0, work.layout.words[entry]
    for n in range(work.search.live_count[0, part]):
        number = listed_part(work, part, n)
        if number != first + rows:
            add_rows(work, entry, first, rows, words)
            first, rows = number, 0
        rows += 1
    add_rows(work, entry, first, rows, words)


@jit
def add_rings(st: State, work: Arrays, entry: int) -> None:
    """Add the slots of their rings that live ports use."""
    first, rows, slots = 0, 0, 0
    for n in range(work.search.live_count[0, LiveSection.PORT]):
        port = listed_part(work, LiveSection.PORT, n)
        if port != first + rows or st.switch.wrap[port] + 1 != slots:
            add_rows(work, entry, first, rows, slots)
            first, rows, slots = port, 0, st.switch.wrap[port] + 1
        rows += 1
    add_rows(work, entry, first, rows, slots)


@jit
def add_iterations(st: State, work: Arrays, entry: int) -> None:
    """Add the registers that loading a BD changes."""
    for n in range(work.search.live_count[0, LiveSection.TILE]):
        tile = listed_part(work, LiveSection.TILE, n)
        if st.spec.tiles.channels[tile] > 0:
            for bd in range(st.spec.kinds.bd_last[st.spec.tiles.kind[tile], 1] + 1):
                if iterates(st, tile, bd):
                    add_rows(work, entry, iteration_register(st.spec, tile, bd), 1, 1)


@jit
def add_of_tiles(st: State, work: Arrays, entry: int, owned: int) -> None:
    """Add the rows that live tiles have in a table."""
    first, rows, tiles, words = 0, 0, st.spec.tiles.kind.shape[0], work.layout.words[entry]
    for n in range(work.search.live_count[0, LiveSection.TILE]):
        at = 2 * (owned * tiles + listed_part(work, LiveSection.TILE, n))
        if work.rows[at] != first + rows:
            add_rows(work, entry, first, rows, words)
            first, rows = work.rows[at], 0
        rows += work.rows[at + 1]
    add_rows(work, entry, first, rows, words)


@jit
def counts_in(st: State, unit: int) -> bool:
    """Whether registers of the unit count."""
    return bool(st.observers.active[unit] == 1 and st.observers.uses[unit] & USES_COUNTERS)


@jit
def add_registers(st: State, work: Arrays, entry: int, tile: int) -> None:
    """Add the registers of a tile to the plan, but for those that count."""
    tiles, at = st.spec.tiles, st.spec.tiles.register_base[tile]
    end = at + tiles.registers[tile]
    while at < end:
        first = behind = end
        for unit in range(tiles.first_unit[tile], tiles.first_unit[tile] + tiles.units[tile]):
            counter = st.spec.event_units.counter[unit]
            if counts_in(st, unit) and at <= counter < first:
                first, behind = counter, counter + st.spec.event_units.counters[unit]
        add_rows(work, entry, at, first - at, 1)
        at = behind


@jit
def is_only_raised(st: State, unit: int, event: int) -> bool:
    """Whether nothing but raising it by its number asserts an event, so that its stamps say when it was."""
    known = event <= st.spec.event_modules.last[st.spec.event_units.module[unit]]
    return bool(known and st.lines[unit, event, SOURCE] == EventSource.RAISED)


@jit
def add_counters(st: State, work: Arrays, entry: int) -> None:
    """Add the registers that count to the plan.

    One that an event may reset of which nobody knows when it was is compared for being equal.
    """
    plan = work.plan
    for n in range(work.search.live_count[0, LiveSection.TILE]):
        tile = listed_part(work, LiveSection.TILE, n)
        first = st.spec.tiles.first_unit[tile]
        for unit in range(first, first + st.spec.tiles.units[tile]):
            for counter in range(st.spec.event_units.counters[unit] if counts_in(st, unit) else 0):
                add_rows(work, entry, st.spec.event_units.counter[unit] + counter, 1, 1)
                last = work.search.span_count[0] - 1
                reset = st.observers.reset[unit, counter]
                known = reset == 0 or is_only_raised(st, unit, reset)
                plan.compared[last] = SpanRule.COUNTER if known else SpanRule.EQUAL
                plan.limit[last] = st.observers.threshold[unit, counter]


@jit
def add_changing(st: State, work: Arrays, entry: int) -> None:
    """Add the registers to the plan that time may change."""
    if work.search.with_events[0] == 0:
        add_iterations(st, work, entry)
    else:
        for n in range(work.search.live_count[0, LiveSection.TILE]):
            add_registers(st, work, entry, listed_part(work, LiveSection.TILE, n))
    if work.search.with_units[0] > 0:
        add_counters(st, work, entry)


@jit
def make_plan(st: State, work: Arrays) -> None:
    """Plan what is kept and compared: the state of all that is live, see ``plan.arrays`` for the layout."""
    search = work.search
    layout = work.layout
    find_live(st, work)
    search.span_count[0] = search.slot_words[0] = search.differing_word[0] = 0
    search.with_events[0] = 1 if st.clock.raised[0] > 0 else 0
    search.with_units[0] = st.active_units[0]
    for entry in range(layout.table.shape[0]):
        owned = layout.rows_of[entry]
        if owned == RowsOf.REGISTER:
            add_changing(st, work, entry)
        elif owned == RowsOf.UNIT and search.with_events[0] + search.with_units[0] == 0:
            continue
        elif owned < OF_TILES:
            add_of_tiles(st, work, entry, owned)
        elif owned == RowsOf.RING:
            add_rings(st, work, entry)
        elif owned <= RowsOf.PORT:
            add_live(work, entry, owned - OF_TILES + 1)
        else:
            rows = layout.words[entry]
            if owned == RowsOf.LIST:
                rows = min(
                    rows,
                    1 + search.live_count[0, LiveSection.CHANNEL] + search.live_count[0, LiveSection.CORE],
                )
            elif owned == RowsOf.LENGTH:
                rows = 1
            add_words(work, entry, rows)
    search.planned[0], search.packet_words[0] = 1, st.clock.by_packet[0]


@jit
def add_words(work: Arrays, entry: int, words: int) -> None:
    """Add the first words of a table of one row."""
    search, plan = work.search, work.plan
    layout = work.layout
    at = search.span_count[0]
    search.slot_words[0] += words
    plan.address[at] = layout.table[entry] + layout.byte[entry]
    plan.rows[at], plan.stride[at] = 1, layout.stride[entry]
    plan.words[at], plan.compared[at] = words, layout.compared[entry]
    search.span_count[0] = at + 1


@jit
def all_live(work: Arrays, part: int, roster: Ints) -> bool:
    """Whether all that a list of what is active names is live."""
    first = work.search.first_flag[0, part]
    for slot in range(1, roster[0] + 1):  # noqa: SIM110 - compiled code has no generators
        if work.live[first + roster[slot]] == 0:
            return False
    return True


@jit
def all_that_acts(st: State, work: Arrays) -> bool:
    """Whether the plan has all that is active."""
    if not all_live(work, LiveSection.PORT, st.active_ports) or not all_live(
        work, LiveSection.CORE, st.active_cores
    ):
        return False
    return all_live(work, LiveSection.CHANNEL, st.active_channels)


@jit
def outdated(st: State, work: Arrays) -> bool:
    """Whether something else than the clock has written registers since the plan was made.

    Or the first event was raised by its number, or other event units are at work.
    """
    search = work.search
    if search.planned[0] == 0 or search.packet_words[0] != st.clock.by_packet[0]:
        return True
    if search.with_units[0] != st.active_units[0]:
        return True
    return bool(search.with_events[0] == 0 and st.clock.raised[0] > 0)
