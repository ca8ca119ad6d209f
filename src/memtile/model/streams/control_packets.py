"""Control packets: memory-mapped accesses that arrive as a stream at the tile-control master port.

Stream header (unless the master drops it), control header, data, TLAST on the last word; one word a cycle. A
read is answered by a packet with the response id from the tile-control slave port. Errors set the sticky bits
of the handler's status register; what is left of a broken packet is thrown away (AM020; mlir-aie for the
layout; DEV-CTL-1, DEV-CTL-2).

It also says what a tile sends from its tile-control slave port: task-complete tokens and answers.

A small buffer per tile (DEV-TOK-1) takes one word a cycle, packets never mixed: the token of one channel,
rotating over the channels, or the words of a control packet's answer. Acts between two cycles, like the
memory-mapped port. In a model without switches the host takes the words.
"""

from __future__ import annotations

from memtile.arch.packets import ACTORS, CONTROL_HEADER, TOKEN, TOKEN_TYPE, PacketOperation
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.tiles import TILE_BYTES, TILE_KINDS, WORD_BYTES
from memtile.jit.decorators import inlined, jit
from memtile.model import axi
from memtile.model.checking import notes
from memtile.model.dma.task_queue import LAST_IN_TASK, pop_count
from memtile.model.events.reports import signal
from memtile.model.memory import axi_port
from memtile.model.state.event_columns import TileSignal
from memtile.model.state.state import State
from memtile.model.state.streams import CONTROL_SLOTS
from memtile.model.streams.beats import pop_word
from memtile.model.streams.host_ports import sent
from memtile.model.streams.packet_flow import STREAM_MASK, header_at, odd, with_parity
from memtile.model.streams.switch_config import PACKET
from memtile.model.streams.switch_ports import offers

NOBODY, HANDLER = -1, -2  # Controls.sender, beside channels
_ACTORS = tuple(ACTORS[kind.role] for kind in TILE_KINDS.values())
_MOST = max(len(row) for row in _ACTORS)
_ACTOR_OF = tuple(actor for row in _ACTORS for actor in (*row, *[0] * (_MOST - len(row))))
_CONTROLLER = register_named("memory_tile", "DMA_S2MM_0_Ctrl").field("Controller_ID")
_CONTROLLER_LSB, _CONTROLLER_MASK = _CONTROLLER.lsb, _CONTROLLER.maximum
_TYPE = TOKEN_TYPE << field_of(TOKEN, "Type").lsb
_ACTOR = field_of(TOKEN, "Actor_ID").lsb
_COLUMN, _ROW = field_of(TOKEN, "Column").lsb, field_of(TOKEN, "Row").lsb


@jit
def token_of(st: State, ch: int) -> int:
    """The channel's task-complete token; it is its own packet header."""
    tile = st.channels.tile[ch]
    actor = _ACTOR_OF[st.spec.tiles.kind[tile] * _MOST + ch - st.spec.tiles.channel_base[tile]]
    place = (st.spec.tiles.column[tile] << _COLUMN) | (st.spec.tiles.row[tile] << _ROW)
    controller = (st.channels.control[ch] >> _CONTROLLER_LSB) & _CONTROLLER_MASK
    return with_parity(int(_TYPE | (actor << _ACTOR) | place | controller))


@inlined
def full(st: State, tile: int) -> bool:
    """Whether the tile's buffer takes no word."""
    return bool(st.controls.held[tile] >= st.spec.timing.token_words[0])


@jit
def put(st: State, tile: int, word: int, last: int) -> None:
    """Append a word to the tile's buffer, which has room."""
    controls = st.controls
    slot = (controls.head[tile] + controls.held[tile]) % CONTROL_SLOTS
    controls.words[tile, slot] = word
    controls.last[tile, slot] = last
    controls.held[tile] += 1
    st.clock.activity[0] += 1


@jit
def send(st: State, tile: int) -> None:
    """Move the oldest word to the switch, or to the host."""
    controls = st.controls
    if controls.held[tile] == 0:
        return
    port, head = controls.slave_port[tile], controls.head[tile]
    if sent(st, port, controls.words[tile, head], controls.last[tile, head]):
        controls.head[tile] = (head + 1) % CONTROL_SLOTS
        controls.held[tile] -= 1


@jit
def choose(st: State, tile: int) -> None:
    """Begin with the token of the next channel that has one."""
    controls, count = st.controls, st.spec.tiles.channels[tile]
    for n in range(count):
        number = (controls.turn[tile] + n) % count
        ch = st.spec.tiles.channel_base[tile] + number
        if st.channels.token_due[ch] == 1:
            controls.sender[tile] = ch
            controls.in_counts[tile] = 0
            controls.turn[tile] = number + 1
            return


@jit
def collect(st: State, tile: int) -> None:
    """Take one word of a token, or of the counts behind it, into the buffer."""
    controls, c = st.controls, st.channels
    if controls.sender[tile] == NOBODY and controls.due[tile] > 0:
        choose(st, tile)
    ch = controls.sender[tile]
    if ch < 0 or full(st, tile):
        return
    if controls.in_counts[tile] == 1:
        word = pop_count(st, ch)
        last = 1 if word & LAST_IN_TASK else 0
    else:
        word = token_of(st, ch)
        last = 1 - c.token_counts[ch]
        controls.in_counts[tile] = 1
    put(st, tile, word, last)
    if last:
        controls.sender[tile] = NOBODY
        controls.due[tile] -= 1
        c.token_due[ch] = 0


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
    signal(st, tile, TileSignal.CONTROL_PACKET)
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
    if controls.operation[tile] == PacketOperation.READ:
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
    notes.barrier(st, tile)
    st.clock.by_packet[0] += 1
    answered = axi.write(st, tile, at, word) if at % WORD_BYTES == 0 else axi.refuse(st, tile)
    notes.barrier(st, tile)
    if answered == axi.SLAVE_ERROR:
        st.registers[controls.status[tile]] |= ACCESS
        signal(st, tile, TileSignal.CONTROL_PACKET)
    move_on(st, tile)
    done = (
        last
        if controls.operation[tile] == PacketOperation.BLOCK_WRITE
        else 1
        if controls.left[tile] == 0
        else 0
    )
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
    if controls.sender[tile] >= 0 or full(st, tile):
        return
    controls.sender[tile] = HANDLER
    if controls.header_due[tile] == 1:
        controls.header_due[tile] = 0
        put(st, tile, header_at(st.spec, tile, controls.response[tile] & STREAM_MASK), 0)
        return
    at = controls.address[tile]
    notes.barrier(st, tile)
    value = axi.read(st, tile, at) if at % WORD_BYTES == 0 else axi.refuse(st, tile)
    notes.barrier(st, tile)
    if value == axi.SLAVE_ERROR:
        st.registers[controls.status[tile]] |= ACCESS
        signal(st, tile, TileSignal.CONTROL_PACKET)
        value = 0
    move_on(st, tile)
    put(st, tile, value, 1 if controls.left[tile] == 0 else 0)
    if controls.left[tile] == 0:
        controls.sender[tile] = NOBODY
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
        send(st, tile)
        handle(st, tile)
        collect(st, tile)
        if resting(st, tile):
            st.controls.active[tile] = 0
        else:
            kept += 1
            roster[kept] = tile
    roster[0] = kept
