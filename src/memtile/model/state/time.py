"""The clock of the model, and its timing constants, by name."""

from dataclasses import fields
from typing import Annotated, NamedTuple

from memtile.arch.timing import Timing
from memtile.jit.tables import table
from memtile.model.state.columns import (
    COUNT,
    COUNTED,
    DUE,
    EQUAL,
    FLAG,
    MOST,
    NOTHING,
    OUTSIDE,
    OWN_RESET,
    PROCESS,
    SOON,
    STAMP,
    STAYS,
    UNSAVED,
    Column,
    Holds,
    Ints,
    Owner,
    Rows,
)


class Clock(NamedTuple):
    """The array clock, one row, and what the clock loop looks at between two cycles."""

    now: Annotated[Ints, Column(STAMP, 0, OUTSIDE, STAYS, Holds(0, MOST))]  # cycle
    activity: Annotated[Ints, Column(EQUAL, 0, OUTSIDE, STAYS, COUNTED)]  # 0 = nothing changed in it
    quiet: Annotated[Ints, Column(EQUAL, 0, OUTSIDE, STAYS, COUNTED)]  # cycles without changes up to now
    asking: Annotated[
        Ints, Column(EQUAL, 0, OWN_RESET, STAYS, Holds(0, Rows(Owner.CORE, 1)))
    ]  # cores that need an action
    booked: Annotated[Ints, Column(EQUAL, 0, OUTSIDE, STAYS, FLAG)]  # 1 = this cycle's causes are booked
    full: Annotated[Ints, Column(EQUAL, 0, OUTSIDE, STAYS, FLAG)]  # 1 = the host must take or give words
    columns_written: Annotated[
        Ints, Column(EQUAL, 0, OUTSIDE, STAYS, FLAG)
    ]  # 1 = a register of column clocks was
    locks_changed: Annotated[
        Ints, Column(EQUAL, 0, OUTSIDE, STAYS, Holds(0, 3))
    ]  # 1 = who waits for a lock asks again
    passing: Annotated[
        Ints, Column(EQUAL, 0, OUTSIDE, STAYS, NOTHING)
    ]  # 1 = time passes even when nothing can move
    wordless: Annotated[Ints, Column(EQUAL, 0, OUTSIDE, STAYS, NOTHING)]  # 1 = words are not moved
    # words that control packets have written so far
    by_packet: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED)]
    raised: Annotated[
        Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED)
    ]  # events raised by their number so far
    # halts, lost pushes, stuck packets, missing circuits, enabled and failed cores so far, and their ends
    alarms: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED)]
    # cycles so far in which nothing could move and that passed at once
    idle: Annotated[Ints, Column(PROCESS, 0, OUTSIDE, STAYS, UNSAVED)]
    host_free: Annotated[
        Ints, Column(DUE, 0, OUTSIDE, STAYS, SOON)
    ]  # the host's next access comes not before it
    host_waited: Annotated[
        Ints, Column(COUNT, 0, OUTSIDE, STAYS, COUNTED)
    ]  # cycles that passed between its accesses


class Timings(NamedTuple):
    """The constants of ``arch.timing.Timing`` that compiled code uses, one row; units as there."""

    task_start: Ints
    task_load: Ints
    finished_bd_delay: Ints
    neighbour_latency: Ints
    count_fifo_words: Ints
    packet_arbitration: Ints
    zeroisation: Ints
    scrub_granules: Ints
    core_lock: Ints
    core_lock_wait: Ints
    s2mm_lock_wait: Ints
    mm2s_lock_wait: Ints
    cascade_latency: Ints
    broadcast_hop: Ints
    token_words: Ints
    external_latency: Ints
    external_write_latency: Ints
    external_egress_words: Ints
    external_burst_overhead: Ints
    external_beside: Ints
    external_first_read: Ints
    external_first_write: Ints
    port_pause: Ints
    queue_running: Ints
    external_ahead: Ints
    ingress_latency: Ints
    ingress_ahead: Ints
    ingress_bds: Ints
    wire_start: Ints
    unlimited: Ints
    access_cycles: Ints


def timings(timing: Timing) -> Timings:
    """The constants as compiled code has them."""
    values = {f.name: getattr(timing, f.name) for f in fields(timing) if f.name in Timings._fields}
    return table(Timings, 1, **values)
