"""Tables of the stream switches and the tile-control ports; columns as in ``state.state``."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from memtile.arch.packets import PacketOperation
from memtile.arch.ports import MERGE_POSITIONS, MSELS
from memtile.arch.tiles import TILE_BYTES
from memtile.model.state import columns as c
from memtile.model.state.columns import Column, Ints, Owner

# flags of an entry; a pair is two words, the lower one first; above them is the label of checking.notes
TLAST, PAIR, WRONG_PARITY = 1, 2, 4
PORT_SLOTS = 16  # ring slots of a switch port: a power of two; the stream FIFO is the deepest
PIPED = 3  # and above: SwitchPorts.active of the ports of a pipe, with its row in State.pipes
PIPES = 128  # at most
PIPE_SLOTS = 64  # ring slots of a pipe: a power of two
CONTROL_SLOTS = 64  # of a tile's buffer of tokens and answers; the most that Timing allows
COUNT_SLOTS = 16  # of a channel's finish-on-TLAST counts

PortRing = Annotated[Ints, (PORT_SLOTS,)]
ControlRing = Annotated[Ints, (CONTROL_SLOTS,)]
CountRing = Annotated[Ints, (COUNT_SLOTS,)]
Msels = Annotated[Ints, (MSELS,)]


class Pipe(IntEnum):
    """Columns of ``State.pipes``, see ``streams.pipes``; behind them the words that came, and their flags."""

    PORTS = 0  # how many it has; 0 = there is no pipe
    FIRST = 1  # of them
    LAST = 2
    LATENCY = 3  # of all together
    SINCE = 4  # cycle in which it began
    PUSHED = 5  # cycle in which the latest word came
    ENDED = 6  # cycle in which the latest TLAST went
    CHANNEL = 7  # S2MM channel that takes its words, -1 = none
    PORT = 8  # port that does, -1 = none


PIPE_RING = len(Pipe)


class SwitchPorts(NamedTuple):
    """Ports of the stream switches: words on their way, and where they go (AM020 chapter 2).

    What every cycle looks at comes first, so that it shares cache lines.
    """

    popped: Annotated[
        Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)
    ]  # cycle of the last word that left
    held: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.Same("wrap", 1)))]
    # bit n = a word left n cycles before ``popped``, as far as anybody asks
    departures: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.BYTE)]
    active: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)
    ]  # 1 = in State.active_ports
    head: Annotated[Ints, Column(c.RING, 0, c.STALE, c.STAYS, c.Holds(0, c.Same("wrap")))]
    depth: Annotated[Ints, Column(c.SETTING, c.BUILT, c.OWN_RESET, c.OWN_PAUSE, c.Holds(0, c.AtBuild()))]
    latency: Annotated[
        Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)
    ]  # cycles before a word may leave
    mode: Annotated[
        Ints, Column(c.SETTING, 0, c.OWN_RESET, c.STAYS, c.Holds(0, 2))
    ]  # switch_config.OFF, CIRCUIT or PACKET
    is_master: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    # master: slave port at the other end of the wire, -1 = none
    link: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    # slave in circuit mode: the first master that it feeds, -1 = none
    feeds: Annotated[Ints, Column(c.SETTING, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.PORT))]
    # master in circuit mode: the next one that its slave feeds, -1 = none
    sibling: Annotated[Ints, Column(c.SETTING, c.NONE, c.STALE, c.STAYS, c.Holds(c.NONE, c.RowLimit(-1)))]
    # master in circuit mode: 1 = its register names a slave to which the switch has no way
    barred: Annotated[Ints, Column(c.SETTING, 0, c.CLEARED, c.STAYS, c.FLAG)]
    # master: S2MM channel that it feeds, -1 = none
    channel: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.row_or_none(Owner.CHANNEL))]
    wrap: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]  # ring slots in use, less 1
    # 1 = the host takes the words that leave the port
    hosted: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.FLAG)]
    # tile whose control packets this master takes, -1 = none
    control: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    tile: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    # port index among its tile's slaves or masters
    number: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    stalled: Annotated[
        Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.SOON)
    ]  # last cycle in which a word had to wait
    # last cycle in which the last word of a packet left
    tlast: Annotated[Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.SOON)]
    idle: Annotated[
        Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.SOON)
    ]  # last cycle before the port was woken
    words: Annotated[PortRing, Column(c.DATA, 0, c.STALE, c.STAYS, c.ANY)]
    last: Annotated[PortRing, Column(c.DATA, 0, c.STALE, c.STAYS, c.LABELLED)]  # TLAST
    entered: Annotated[PortRing, Column(c.STAMP, 0, c.STALE, c.MOVES, c.SOON)]  # cycle in which the word came
    # master in packet mode: 1 = takes packets without their header
    drop_header: Annotated[Ints, Column(c.SETTING, 0, c.STALE, c.STAYS, c.FLAG)]
    # slave in packet mode: bit mask of the masters of its packet
    targets: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.WORD)]
    # slave: arbiter that its packet holds, -1 = none
    arbiter: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.ARBITER))]
    # slave: arbiter that its header asks in this cycle, -1 = none
    asked: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.ARBITER))]
    # slave: 1 = the next word is the packet's header
    in_header: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.FLAG)]
    # slave: 1 = its header matches no slot, or no master takes it
    unrouted: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    ready_at: Annotated[
        Ints, Column(c.DUE, 0, c.STALE, c.MOVES, c.SOON)
    ]  # slave: cycle from which the packet may move
    parity: Annotated[
        Ints, Column(c.SETTING, 0, c.CLEARED, c.STAYS, c.LABELLED)
    ]  # slave: WRONG_PARITY if it is injected, else 0
    # slave: bits of the injection register; master: bit of the status register
    parity_mask: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    parity_status: Annotated[
        Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)
    ]  # master: the latter
    # ``depth`` as it will be when the tile has its clock again
    full_depth: Annotated[Ints, Column(c.SETTING, 0, c.OWN_RESET, c.OWN_PAUSE, c.Holds(0, c.Same("wrap", 1)))]


class LogicPorts(NamedTuple):
    """Streams of the programmable logic at switch ports, see ``streams.logic_ports``; rows as SwitchPorts."""

    sending: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.FLAG)]  # 1 = in State.logic_sources
    # words of the stream in one of the PLIO, 0 = no PLIO is at the port
    words: Annotated[Ints, Column(c.SETTING, 0, c.OUTSIDE, c.STAYS, c.BYTE)]
    # the period of its clock: array cycles in so many ticks of it
    cycles: Annotated[Ints, Column(c.SETTING, 1, c.OUTSIDE, c.STAYS, c.Holds(1, c.AHEAD))]
    ticks: Annotated[Ints, Column(c.SETTING, 1, c.OUTSIDE, c.STAYS, c.Holds(1, c.AHEAD))]
    # parts of a cycle, ``ticks`` of which are one, by which the next PLIO word is due after ``due``
    carry: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.Holds(0, c.Same("ticks", -1)))]
    due: Annotated[Ints, Column(c.DUE, 0, c.OUTSIDE, c.MOVES, c.SOON)]  # cycle of the next PLIO word
    # source: words that fit into the FIFO between the two clocks, and those in it
    depth: Annotated[Ints, Column(c.SETTING, 0, c.OUTSIDE, c.STAYS, c.BYTE)]
    stored: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.Holds(0, c.Same("depth")))]
    # source: words of the PLIO word still to enter; sink: those that have left
    filled: Annotated[Ints, Column(c.EQUAL, 0, c.OUTSIDE, c.STAYS, c.Holds(0, c.Same("words")))]
    ready: Annotated[Ints, Column(c.STAMP, 0, c.OUTSIDE, c.MOVES, c.SOON)]  # source: when it could enter
    blocked: Annotated[Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.COUNTED)]  # cycles from then on
    sent: Annotated[Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.COUNTED)]  # words that have crossed
    beats: Annotated[Ints, Column(c.COUNT, 0, c.OUTSIDE, c.STAYS, c.COUNTED)]  # PLIO words
    # source: addresses in this process of words, of TLAST (0 = none has it) and of periods that pass before
    # each (0 = none), 32 bits each but TLAST; the next word, how many
    words_at: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    flags_at: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    stalls_at: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    place: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]
    end: Annotated[Ints, Column(c.PROCESS, 0, c.OUTSIDE, c.STAYS, c.UNSAVED)]


class Arbiters(NamedTuple):
    """Packet arbiters of the stream switches, ``ARBITERS`` for each tile."""

    masters: Annotated[
        Msels, Column(c.SETTING, 0, c.OWN_RESET, c.STAYS, c.WORD)
    ]  # by msel: bit mask of the masters
    # slave port whose packet is on its way, -1 = none
    holder: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.PORT))]
    turn: Annotated[
        Ints, Column(c.EQUAL, 0, c.TURN, c.STAYS, c.COUNTED)
    ]  # number of the slave served first next time
    best: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)]
    winner: Annotated[Ints, Column(c.EQUAL, c.NONE, c.STALE, c.STAYS, c.row_or_none(Owner.PORT))]
    stamp: Annotated[Ints, Column(c.STAMP, c.NEVER, c.STALE, c.STAYS, c.PAST)]
    packets: Annotated[Ints, Column(c.COUNT, 0, c.BOOKS, c.STAYS, c.COUNTED)]  # packets passed
    position: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.Holds(0, MERGE_POSITIONS - 1))
    ]  # of deterministic merge
    served: Annotated[
        Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.COUNTED)
    ]  # packets of that position so far


class Controls(NamedTuple):
    """Tile-control ports: control packets in, tokens and answers out; one a tile."""

    active: Annotated[
        Ints, Column(c.EQUAL, 0, c.OWN_RESET, c.OWN_PAUSE, c.ACTIVE)
    ]  # 1 = in State.active_controls
    slave_port: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    master_port: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    # index in State.registers of the handler's status
    status: Annotated[Ints, Column(c.EQUAL, c.BUILT, c.WIRED, c.STAYS, c.AS_BUILT)]
    words: Annotated[ControlRing, Column(c.DATA, 0, c.STALE, c.STAYS, c.WORD)]
    last: Annotated[ControlRing, Column(c.DATA, 0, c.STALE, c.STAYS, c.FLAG)]  # TLAST
    head: Annotated[Ints, Column(c.RING, 0, c.STALE, c.STAYS, c.Holds(0, CONTROL_SLOTS - 1))]
    held: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, CONTROL_SLOTS))]
    due: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.Rows(Owner.CHANNEL, 1)))
    ]  # channels with a token to send
    turn: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, c.Rows(Owner.CHANNEL, 1)))
    ]  # channel of the tile served first next time
    # channel whose token is being taken, or control_port.NOBODY or HANDLER
    sender: Annotated[Ints, Column(c.EQUAL, c.NONE, c.CLEARED, c.STAYS, c.Holds(-2, c.Rows(Owner.CHANNEL)))]
    # 1 = the access to data memory that the next word of a packet is part of has been made
    opened: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    in_counts: Annotated[
        Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)
    ]  # 1 = the token is taken, its counts follow
    # of the packet that comes in, see control_packets
    stage: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.Holds(0, 4))]
    operation: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.one_of(PacketOperation))]
    address: Annotated[
        Ints, Column(c.PLACE, 0, c.STALE, c.STAYS, c.Holds(0, TILE_BYTES - 1))
    ]  # byte address in the tile of the next access
    left: Annotated[Ints, Column(c.PLACE, 0, c.STALE, c.STAYS, c.SIGNED)]  # accesses still to do
    response: Annotated[Ints, Column(c.EQUAL, 0, c.STALE, c.STAYS, c.WORD)]  # stream id of the answer
    # 1 = the answer's header is still to be sent
    header_due: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
    # 1 = the packet of a read went on after its header
    cut: Annotated[Ints, Column(c.EQUAL, 0, c.CLEARED, c.STAYS, c.FLAG)]
