"""Control packets: memory-mapped accesses that arrive as a stream at the tile-control master port.

Stream header (unless the master drops it), control header, data, TLAST on the last word; one word a cycle. A
read is answered by a packet with the response id from the tile-control slave port. Errors set the sticky bits
of the handler's status register; what is left of a broken packet is thrown away (AM020; mlir-aie for the
layout; DEV-CTL-1, DEV-CTL-2).
"""

from __future__ import annotations

from memtile.arch.packets import CONTROL_HEADER, Operation
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.tiles import TILE_BYTES, WORD_BYTES
from memtile.jit.decorators import jit
from memtile.model import axi
from memtile.model.checking import notes
from memtile.model.events.reports import signal
from memtile.model.memory import axi_port
from memtile.model.state.events import Signal
from memtile.model.state.state import State
from memtile.model.streams import control_port
from memtile.model.streams.beats import pop_word
from memtile.model.streams.packets import STREAM_MASK, header_at, odd
from memtile.model.streams.switch_config import PACKET
from memtile.model.streams.switch_ports import offers

START, CONTROL, DATA, ANSWER, DISCARD = 0, 1, 2, 3, 4  # Controls.stage
_STATUS = register_named("memory_tile", "Tile_Control_Packet_Handler_Status")
FIRST_PARITY = _STATUS.field("First_Header_Parity_Error").mask
SECOND_PARITY = _STATUS.field("Second_Header_Parity_Error").mask
ACCESS = _STATUS.field("SLVERR_On_Access").mask
TLAST = _STATUS.field("Tlast_Error").mask
_OPERATION, _BEATS = field_of(CONTROL_HEADER, "Operation"), field_of(CONTROL_HEADER, "Beats")
_OPERATION_LSB, _OPERATION_MAX = _OPERATION.lsb, _OPERATION.maximum
_BEATS_LSB, _BEATS_MAX = _BEATS.lsb, _BEATS.maximum
_RESPONSE_LSB = field_of(CONTROL_HEADER, "Response_ID").lsb
_SPACE = TILE_BYTES - 1


@jit
def fail(st: State, tile: int, error: int, last: int) -> None:
    """Set a sticky bit; the rest of the packet is thrown away."""
    st.registers[st.controls.status[tile]] |= error
    signal(st, tile, Signal.CONTROL_PACKET)
    st.controls.stage[tile] = START if last else DISCARD


@jit
def begin(st: State, tile: int, word: int, last: int) -> None:
    """Read the control header."""
    controls = st.controls
    if not odd(word):
        fail(st, tile, SECOND_PARITY, last)
        return
    controls.operation[tile] = (word >> _OPERATION_LSB) & _OPERATION_MAX
    controls.left[tile] = ((word >> _BEATS_LSB) & _BEATS_MAX) + 1
    controls.address[tile] = word & _SPACE
    controls.response[tile] = word >> _RESPONSE_LSB
    controls.opened[tile] = 0
    if controls.operation[tile] == Operation.READ:
        controls.stage[tile] = ANSWER
        controls.header_due[tile] = 1
        controls.cut[tile] = 1 - last
    elif last:
        fail(st, tile, TLAST, last)
    else:
        controls.stage[tile] = DATA


@jit
def opens(st: State, tile: int) -> bool:
    """Whether the next word of the packet makes an access to data memory: one for all words of a granule."""
    at = st.controls.address[tile]
    inside = at % WORD_BYTES == 0 and at // WORD_BYTES < st.spec.tiles.memory_words[tile]
    return bool(inside and st.controls.opened[tile] == 0)


@jit
def move_on(st: State, tile: int) -> None:
    """The word at the handler's address is done: it takes its bank, and the next one is due."""
    controls, at = st.controls, st.controls.address[tile]
    if opens(st, tile):
        axi_port.begin(st, tile, at // WORD_BYTES, 1)
        controls.opened[tile] = 1
    controls.address[tile] = (at + WORD_BYTES) & _SPACE
    granule = st.spec.kinds.granule_words[st.spec.tiles.kind[tile]]
    if controls.address[tile] // WORD_BYTES % granule == 0:
        controls.opened[tile] = 0
    controls.left[tile] -= 1


@jit
def store(st: State, tile: int, word: int, last: int) -> None:
    """Write one data word."""
    controls = st.controls
    at = controls.address[tile]
    notes.barrier(st)
    st.clock.by_packet[0] += 1
    answered = axi.write(st, tile, at, word) if at % WORD_BYTES == 0 else axi.refuse(st, tile)
    notes.barrier(st)
    if answered == axi.SLAVE_ERROR:
        st.registers[controls.status[tile]] |= ACCESS
        signal(st, tile, Signal.CONTROL_PACKET)
    move_on(st, tile)
    done = last if controls.operation[tile] == Operation.BLOCK_WRITE else 1 if controls.left[tile] == 0 else 0
    if done != last:
        fail(st, tile, TLAST, last)
    elif last:
        controls.stage[tile] = START


@jit
def accept(st: State, tile: int, word: int, last: int) -> None:
    """Act on one word of a control packet."""
    stage = st.controls.stage[tile]
    port = st.controls.master_port[tile]
    dropped = st.switch.mode[port] == PACKET and st.switch.drop_header[port] == 1
    if stage == START and not dropped:
        if not odd(word):
            fail(st, tile, FIRST_PARITY, last)
        elif last:
            fail(st, tile, TLAST, last)
        else:
            st.controls.stage[tile] = CONTROL
    elif stage in (START, CONTROL):
        begin(st, tile, word, last)
    elif stage == DATA:
        store(st, tile, word, last)
    elif last:
        st.controls.stage[tile] = START


@jit
def answer(st: State, tile: int) -> None:
    """Put the next word of a read's answer into the tile's buffer, when nobody else is sending."""
    controls = st.controls
    if controls.sender[tile] >= 0 or control_port.full(st, tile):
        return
    controls.sender[tile] = control_port.HANDLER
    if controls.header_due[tile] == 1:
        controls.header_due[tile] = 0
        control_port.put(st, tile, header_at(st.spec, tile, controls.response[tile] & STREAM_MASK), 0)
        return
    at = controls.address[tile]
    notes.barrier(st)
    value = axi.read(st, tile, at) if at % WORD_BYTES == 0 else axi.refuse(st, tile)
    notes.barrier(st)
    if value == axi.SLAVE_ERROR:
        st.registers[controls.status[tile]] |= ACCESS
        signal(st, tile, Signal.CONTROL_PACKET)
        value = 0
    move_on(st, tile)
    control_port.put(st, tile, value, 1 if controls.left[tile] == 0 else 0)
    if controls.left[tile] == 0:
        controls.sender[tile] = control_port.NOBODY
        controls.stage[tile] = START
        if controls.cut[tile] == 1:
            fail(st, tile, TLAST, 0)


@jit
def waits(st: State, tile: int) -> bool:
    """Whether the next word has to wait for the port to data memory."""
    if not axi_port.busy(st, tile) or not opens(st, tile):
        return False
    return bool(st.controls.stage[tile] == DATA or st.controls.stage[tile] == ANSWER)


@jit
def handle(st: State, tile: int) -> None:
    """One cycle of the handler: answer, or take one word."""
    port = st.controls.master_port[tile]
    if waits(st, tile):
        return
    if st.controls.stage[tile] == ANSWER:
        answer(st, tile)
    elif offers(st, port):
        word, last = pop_word(st, port)
        st.clock.activity[0] += 1
        accept(st, tile, word, last)


@jit
def resting(st: State, tile: int) -> bool:
    """Whether the tile has no token, no answer and nothing in its buffer, and its handler need not wait."""
    controls = st.controls
    if waits(st, tile):
        return False
    return bool(controls.held[tile] == 0 and controls.due[tile] == 0 and controls.stage[tile] != ANSWER)


@jit
def step(st: State) -> None:
    """One cycle of all active tile-control ports."""
    roster = st.active_controls
    kept = 0
    for slot in range(1, roster[0] + 1):
        tile = roster[slot]
        control_port.send(st, tile)
        handle(st, tile)
        control_port.collect(st, tile)
        if resting(st, tile):
            st.controls.active[tile] = 0
        else:
            kept += 1
            roster[kept] = tile
    roster[0] = kept
