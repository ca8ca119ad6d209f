"""Channel registers: start queue, control, status (AM025 DMA_S2MM_n_* and DMA_MM2S_n_*).

The bits that the tile kinds share stand at the same places in all of them; the register tables hide what a
kind lacks.
"""

from __future__ import annotations

from memtile.arch.register_map import register_named
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import MEMORY
from memtile.jit.decorators import jit
from memtile.model.checking import notes
from memtile.model.roster import wake_channel
from memtile.model.state.causes import Cause, Phase
from memtile.model.state.state import State

_QUEUE = register_named("memory_tile", "DMA_S2MM_0_Start_Queue")
_CONTROL = register_named("memory_tile", "DMA_S2MM_0_Ctrl")
_STATUS = register_named("memory_tile", "DMA_S2MM_Status_0")
_MM2S_STATUS = register_named("memory_tile", "DMA_MM2S_Status_0")
_INTERFACE_CONTROL = register_named("noc", "DMA_S2MM_0_Ctrl")
_INTERFACE_STATUS = register_named("noc", "DMA_S2MM_Status_0")
_MEMORY_CONTROL = register_named("memory_tile", "Memory_Control")

QUEUE_START_BD_MASK = _QUEUE.field("Start_BD_ID").mask
QUEUE_REPEAT_LSB = _QUEUE.field("Repeat_Count").lsb
QUEUE_REPEAT_MASK = _QUEUE.field("Repeat_Count").maximum
COMPRESSION_LSB = _CONTROL.field("Decompression_Enable").lsb  # the place of MM2S Compression_Enable too
OUT_OF_ORDER_MASK = _CONTROL.field("Enable_Out_of_Order").mask
FOT_MASK = _CONTROL.field("FoT_Mode").mask
FOT_LSB = _CONTROL.field("FoT_Mode").lsb
QUEUE_TOKEN_LSB = _QUEUE.field("Enable_Token_Issue").lsb
INTERLEAVE_MASK = _MEMORY_CONTROL.field("Memory_Interleaving").mask
ZEROISE_MASK = _MEMORY_CONTROL.field("Memory_Zeroisation").mask

ERROR_QUEUE_OVERFLOW = _STATUS.field("Task_Queue_Overflow").lsb
ERROR_BD_INVALID = _STATUS.field("Error_BD_Invalid").lsb
ERROR_BD_UNAVAILABLE = _STATUS.field("Error_BD_Unavailable").lsb
ERROR_MEMORY_UNAVAILABLE = _STATUS.field("Error_DM_Access_to_Unavailable").lsb
ERROR_LENGTH_EXCEEDED = _STATUS.field("Error_FoT_Length_Exceeded").lsb
ERROR_BDS_PER_TASK = _STATUS.field("Error_FoT_BDs_per_Task").lsb
ERROR_LOCK_UNAVAILABLE = _STATUS.field("Error_Lock_Access_to_Unavailable").lsb
ERROR_AXI_DECODE = _INTERFACE_STATUS.field("AXI_MM_Decode_Error").lsb
ERROR_AXI_SLAVE = _INTERFACE_STATUS.field("AXI_MM_Slave_Error").lsb
ERROR_UNKNOWN_FORMAT = WORD_BITS
"""In ``ChannelColumns.errors`` only, behind the status bits: compressing in a format that is not public."""

PAUSE_MEMORY_MASK = _INTERFACE_CONTROL.field("Pause_Mem").mask
PAUSE_STREAM_MASK = _INTERFACE_CONTROL.field("Pause_Stream").mask

_CLEARABLE = _STATUS.clearable | _INTERFACE_STATUS.clearable
_STOPPING = ~(1 << ERROR_QUEUE_OVERFLOW)  # the errors that halt a channel
_QUEUE_SIZE = _STATUS.field("Task_Queue_Size").lsb
_RUNNING = _STATUS.field("Channel_Running").lsb
_FIELDS = {field.name: field.mask for register in (_MM2S_STATUS, _STATUS) for field in register.fields}
_STALLED = tuple(_FIELDS[cause.status[0]] if cause.status else 0 for cause in Cause)
"""By cause the bit of the status that shows it."""

_DEPTH = MEMORY.queue_depth
_STATUS_IDLE, _STATUS_STARTING, _STATUS_RUNNING = 0, 1, 2  # AM025 Status field


@jit
def status(st: State, ch: int) -> int:
    """The channel's status register."""
    c = st.channels
    phase, why = c.phase[ch], c.why[ch]
    running = phase != Phase.IDLE and phase != Phase.STARTING
    kept = st.spec.timing.queue_running[0] if running else 0  # the place of the running task (DEV-QUEUE-1)
    waiting = min(c.queue_count[ch] + kept, _DEPTH)  # the one about to start among them, if there is room
    current_bd = st.spec.kinds.current_bd[st.spec.tiles.kind[c.tile[ch]], c.direction[ch]]
    word = c.errors[ch] | _STALLED[why] | (c.bd[ch] << current_bd) | (waiting << _QUEUE_SIZE)
    if phase != Phase.IDLE or c.queue_count[ch] > 0:
        word |= 1 << _RUNNING
    if phase == Phase.STARTING or phase == Phase.LOADING:
        return int(word | _STATUS_STARTING)
    return int(word | (_STATUS_IDLE if phase == Phase.IDLE else _STATUS_RUNNING))


@jit
def clear_status(st: State, ch: int, value: int) -> None:
    """Clear the sticky bits that are written 1.

    With no error left a halted channel drops its task and goes on with the next one (DEV-EXT-3).
    """
    c = st.channels
    st.clock.alarms[0] += 1
    c.errors[ch] &= ~(value & _CLEARABLE)
    if c.phase[ch] == Phase.HALTED and c.errors[ch] & _STOPPING == 0:
        drop_task(st, ch)


@jit
def write_control(st: State, ch: int, control: int) -> None:
    """A write to the control register; while Reset is 1 nothing starts, and tasks pushed meanwhile wait."""
    wake_channel(st, ch)
    st.channels.control[ch] = control
    if control & st.spec.kinds.reset_mask[st.spec.tiles.kind[st.channels.tile[ch]]]:
        reset(st, ch)


@jit
def reset(st: State, ch: int) -> None:
    """Clear queue, state machine, stream buffers and errors; locks, BDs and memory stay (DEV-RESET-1)."""
    notes.channel_seen(st, ch)
    st.clock.alarms[0] += 1
    st.channels.errors[ch] = 0
    st.channels.queue_count[ch] = 0
    drop_task(st, ch)


@jit
def drop_task(st: State, ch: int) -> None:
    """Forget the running task and all words that are on their way."""
    c = st.channels
    wake_channel(st, ch)
    c.phase[ch] = Phase.IDLE
    c.why[ch] = Cause.IDLE
    c.bd[ch] = 0
    c.task_bd[ch] = -1
    c.runs_left[ch] = 0
    c.moved[ch] = 0
    c.header_due[ch] = 0
    if c.token_due[ch] == 0:  # counts that follow a token go with it
        st.counts.held[ch] = 0
    st.walks.left[ch] = 0
    st.granules.formed[ch] = 0
    st.granules.closed[ch] = 0
    st.granules.port_count[ch] = 0
    st.granules.port_bank[ch] = -1
    st.fifos.held[ch] = 0
    st.codecs.held[ch] = 0
    st.codecs.coded_held[ch] = 0
    row = c.external[ch]
    if row >= 0:
        st.externals.held[row] = 0
        st.externals.arrived[row] = 0
        st.externals.buffered[row] = 0
