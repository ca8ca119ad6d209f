"""What a tile sends from its tile-control slave port: task-complete tokens and answers to control packets.

A small buffer per tile (DEV-TOK-1) takes one word a cycle, packets never mixed: the token of one channel,
rotating over the channels, or the words of a control packet's answer. Acts between two cycles, like the
memory-mapped port. In a model without switches the host takes the words.
"""

from __future__ import annotations

from memtile.arch.packets import ACTORS, TOKEN, TOKEN_TYPE
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.tiles import TILE_KINDS
from memtile.jit.decorators import inlined, jit
from memtile.model.dma.task_end import LAST_IN_TASK, pop_count
from memtile.model.state.state import State
from memtile.model.state.streams import CONTROL_SLOTS
from memtile.model.streams.host_ports import sent
from memtile.model.streams.packets import with_parity

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
