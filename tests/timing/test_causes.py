"""Is it settled for every cause what the status register says, and whether a channel may rest with it?"""

from __future__ import annotations

import pytest

from memtile.arch.register_map import register_named
from memtile.model.dma.channel_registers import status
from memtile.model.roster import held_event, resting
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.event_columns import ChannelEvent
from memtile.testing.rig import Rig

STALLED = [
    f for f in register_named("memory_tile", "DMA_S2MM_Status_0").fields if f.name.startswith("Stalled")
]
# Field of AM025's status register for a channel that stalls; None = there is none for it.
STATUS_FIELDS = {
    Cause.MOVING: None,
    Cause.IDLE: None,
    Cause.TASK_START: None,
    Cause.BD_SWITCH: None,
    Cause.LOCK_ACQUIRE: "Stalled_Lock_Acq",
    Cause.BANK_CONFLICT: None,
    Cause.MEMORY_BUSY: None,
    Cause.STREAM_STARVED: "Stalled_Stream_Starvation",
    Cause.STREAM_BLOCKED: "Stalled_Stream_Starvation",  # Stalled_Stream_Backpressure of MM2S, the same bit
    Cause.HALTED: None,
    Cause.NEIGHBOUR_BUSY: None,
    Cause.TOKEN_BLOCKED: "Stalled_TCT_or_Count_FIFO_Full",
    Cause.EXTERNAL: None,
    Cause.CLOCK_OFF: None,
}
# Event that a channel asserts as long as it rests, -1 = none; None = a channel does not rest with the cause.
WHILE_RESTING = {
    Cause.MOVING: None,
    Cause.IDLE: -1,
    Cause.TASK_START: None,
    Cause.BD_SWITCH: None,
    Cause.LOCK_ACQUIRE: ChannelEvent.STALLED_LOCK,
    Cause.BANK_CONFLICT: None,
    Cause.MEMORY_BUSY: None,
    Cause.STREAM_STARVED: ChannelEvent.STREAM,
    Cause.STREAM_BLOCKED: None,
    Cause.HALTED: None,
    Cause.NEIGHBOUR_BUSY: None,
    Cause.TOKEN_BLOCKED: None,
    Cause.EXTERNAL: None,
    Cause.CLOCK_OFF: None,
}


@pytest.mark.parametrize("cause", Cause)
def test_the_status_register_shows_each_stall_that_am025_has_a_bit_for(cause: Cause) -> None:
    rig = Rig()
    rig.engine.state.channels.why[0] = cause
    word = status(rig.engine.state, 0)
    assert [f.name for f in STALLED if f.get(word)] == list(filter(None, [STATUS_FIELDS[cause]]))


@pytest.mark.parametrize("cause", Cause)
def test_a_channel_rests_with_what_only_others_can_end(cause: Cause) -> None:
    st = Rig().engine.state
    st.channels.why[0] = cause
    rests = False
    for phase in Phase:
        st.channels.phase[0] = phase
        rests |= bool(resting(st, 0))
    assert (held_event(st, 0) if rests else None) == WHILE_RESTING[cause]
