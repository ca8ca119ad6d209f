"""Does a column reset clear every column of the state, a pause move every cycle number? And why not some?"""

from __future__ import annotations

import inspect
import re
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt
import pytest

from memtile.arch.tiles import TileName
from memtile.model import column_clock, roster
from memtile.model.build.model import Placed
from memtile.model.state.state import NOW, State, StateTables
from memtile.model.tile_reset import reset_tile
from memtile.sim.engine import Engine

Columns = dict[str, npt.NDArray[Any]]
SINCE, MISSED = 1000, 20

LISTS = """
    active_channels waiting_channels bidding releasing active_controls packet_slaves active_ports
    asked_interfaces active_cores active_units gated zeroising guarding in_flight host_words clock"""
FIXED = """
    channels.tile channels.direction channels.external channels.switch_port channels.number
    walks.stream_words fifos.depth fifos.wrap cores.tile banks.tile locks.tile memories.reach
    guards.enabled switch.tile switch.number switch.latency switch.is_master switch.link
    switch.channel switch.wrap switch.hosted switch.control switch.depth switch.parity_mask
    switch.parity_status controls.slave_port controls.master_port controls.status"""
NOT_FILLED = {*LISTS.split(), *FIXED.split(), "gates.off", "flights"}  # flights: counted by in_flight

KEPT_BY_RESET = {
    "memories stay (DEV-CLK-3)": "memory program flips fates guards.unclean",
    "fixed, but for what the mode of interleaving sets anew": """
        memories.shift memories.mask memories.group_shift memories.group_mask memories.group_banks""",
    "set when a task starts or a BD is loaded, and of no meaning before": """
        channels.length channels.fetch_why channels.packed channels.tlast_suppress channels.lock
        channels.acquire_value channels.acquire_enable channels.until channels.task_token
        channels.token_counts channels.next_bd channels.acquire_lock channels.release_lock
        channels.release_value channels.due_lock channels.due_value fields walks.address
        walks.padding walks.padded walks.position walks.step walks.wrap walks.before walks.after
        walks.origin walks.granule_words granules.target granules.bank granules.owner granules.since
        granules.guest_bank granules.is_pad granules.words granules.pending_bank granules.port_owner
        granules.port_target granules.port_words codecs.words codecs.coded codecs.at
        memories.control""",
    "a ring or queue that is empty; what is in it begins anywhere": """
        channels.queue fifos.head fifos.words fifos.last switch.head switch.words switch.last
        switch.entered controls.words controls.last controls.head counts.words counts.head""",
    "of a control packet, set by its header": """
        controls.operation controls.address controls.left controls.response""",
    "of a packet, set by its header; its slave port gives its arbiter back": """
        switch.arbiter switch.asked switch.targets switch.in_header switch.ready_at arbiters.holder""",
    "set anew when a port is configured": "switch.feeds switch.sibling switch.drop_header",
    "set anew when merge registers are written": "arbiters.position arbiters.served",
    "of the last kernel, which has ended": """
        cores.phase cores.until cores.lock cores.target cores.value cores.step cores.begun
        cores.steps cores.bank cores.wanted accesses""",
    "whose turn it is: any is as fair; and where the scrubber goes on": """
        banks.turn locks.turn interfaces.turn arbiters.turn guards.at""",
    "of the last cycle with a request alone": """
        banks.best banks.winner banks.stamp banks.conflict banks.free_at locks.best locks.winner
        locks.stamp interfaces.best interfaces.winner interfaces.stamp arbiters.best arbiters.winner
        arbiters.stamp guards.bank guards.again_at""",
    "of cycles that are over": "switch.popped switch.stalled switch.tlast switch.idle",
    "worked out anew by the next use (observers.resolved)": "lines",
    "books of the run": """
        spent core_spent channels.bds_done channels.tasks_done arbiters.packets guards.steps
        interfaces.served""",
    "the test bench and the host": """
        ports.source_position ports.source_end ports.sink_row ports.sink_count ports.pattern_base
        ports.pattern_length source source_last sink sink_last pattern""",
}

PRESENT = """
    channels.why cores.why channels.due_lock granules.guest_bank granules.port_bank guards.bank
    banks.winner switch.asked observers.derived ports.pattern_base flights"""  # of one cycle, no number
STANDING = {
    "a number of cycles": """
        walks.stream_words cores.step traces.gap traces.lost switch.latency gates.zeroising""",
    "the pause itself": "gates.since",
    "looked at in that cycle alone": "banks.stamp banks.conflict",
    "over before the pause, in the cycle that the event units have seen": """
        switch.popped switch.stalled switch.tlast switch.idle core_seen observers.folded""",
    "the lock has the value before and after the pause": "locks.since",
    "of interface tiles, which keep their clock": "externals.response_at externals.ready banks.free_at",
}


def columns(state: State) -> Columns:
    """Everything that a cycle may change, by ``table.column``."""
    found: Columns = {}
    for name in StateTables._fields:
        table = getattr(state, name)
        names = getattr(table, "_fields", None) or table.dtype.names
        found |= {f"{name}.{n}": getattr(table, n) for n in names} if names else {name: table}
    return found


def listed(reasons: dict[str, str]) -> set[str]:
    names = [name for listing in reasons.values() for name in listing.split()]
    assert len(names) == len(set(names))
    return set(names)


def after_reset(name: TileName, *, filled: bool) -> Columns:
    """The state of a tile after a column reset, with other values than those of rest in it before."""
    engine = Engine([Placed(name)], switched=True)
    state = engine.state
    state.clock[NOW] = SINCE
    for column, values in columns(state).items():
        if filled and column not in NOT_FILLED:
            values[...] = np.where(values == 1, 2, 1)
    column_clock.stop(state, 0)
    reset_tile(state, 0)
    state.clock[NOW] += MISSED
    column_clock.start(state, 0)
    return columns(state)


def test_a_reset_clears_every_column_that_is_not_kept_for_a_reason() -> None:
    """DEV-CLK-3. A new column belongs into ``tile_reset``, or into ``KEPT_BY_RESET`` with its reason."""
    kept: set[str] = set()
    for name in ("memory", "compute"):
        before, after = (after_reset(name, filled=filled) for filled in (False, True))
        kept |= {column for column in before if not np.array_equal(before[column], after[column])}
    expected = listed(KEPT_BY_RESET)
    assert kept - expected == set(), "not put back by the reset of a column: see tile_reset"
    assert expected - kept == set(), "listed as kept, but put back"


def of_cycles() -> set[str]:
    """The columns whose comment speaks of cycles, but lists and books."""
    sources = {"": StateTables}
    sources |= {f"{n}.": t for n, t in get_type_hints(StateTables).items() if hasattr(t, "_fields")}
    found = {
        prefix + column
        for prefix, table in sources.items()
        for column, comment in re.findall(
            r"^    (\w+):\s*\(?\s*\w+\s*#(.*)$", inspect.getsource(table), re.MULTILINE
        )
        if re.search(r"\bcycles?\b", comment)
    }
    return found - {*LISTS.split(), "spent", "core_spent"}


@pytest.mark.parametrize("name", ["memory", "compute"])
def test_a_pause_moves_every_cycle_number_that_does_not_stand_for_a_reason(name: TileName) -> None:
    """DEV-CLK-2. A new cycle number belongs into ``column_clock.start``, or into ``STANDING``."""
    engine = Engine([Placed(name)], switched=True)
    state = engine.state
    state.clock[NOW] = SINCE
    column_clock.stop(state, 0)
    found = of_cycles()
    assert found > {"guards.again_at", "switch.entered", "channels.until", "stamps", "locks.event"}
    numbers = {column: values for column, values in columns(state).items() if column in found}
    assert numbers.keys() == found
    for column in found - set(PRESENT.split()):
        numbers[column][...] = SINCE
    state.clock[NOW] += MISSED
    column_clock.start(state, 0)
    stood = {c for c in found - set(PRESENT.split()) if numbers[c].size and (numbers[c] == SINCE).all()}
    empty = {column for column in found if not numbers[column].size}
    assert stood - listed(STANDING) == set(), "not moved by a pause: see column_clock.start"
    assert listed(STANDING) - stood - empty == set(), "listed as standing, but moved"


def test_nothing_wakes_what_has_no_clock() -> None:
    """The columns ``active`` are set to ``OFF`` and back, so that no list takes the tile in."""
    engine = Engine([Placed("compute")], switched=True)
    column_clock.stop(engine.state, 0)
    active = {c: v for c, v in columns(engine.state).items() if c.endswith(".active")}
    assert {c: set(v.tolist()) for c, v in active.items()} == {c: {roster.OFF} for c in active}
    column_clock.start(engine.state, 0)
    assert roster.OFF not in {value for v in active.values() for value in v.tolist()}
