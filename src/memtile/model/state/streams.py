"""Tables of the stream switches and the tile-control ports; columns as in ``state.state``."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.ports import MSELS

Ints = npt.NDArray[np.int64]

TLAST, PAIR, WRONG_PARITY = 1, 2, 4  # flags of an entry; a pair is two words, the lower one first
PORT_SLOTS = 16  # ring slots of a switch port: a power of two; the stream FIFO is the deepest
CONTROL_SLOTS = 64  # of a tile's buffer of tokens and answers; the most that Timing allows
COUNT_SLOTS = 16  # of a channel's finish-on-TLAST counts

PortRing = Annotated[Ints, (PORT_SLOTS,)]
ControlRing = Annotated[Ints, (CONTROL_SLOTS,)]
CountRing = Annotated[Ints, (COUNT_SLOTS,)]
Msels = Annotated[Ints, (MSELS,)]


class SwitchPorts(NamedTuple):
    """Ports of the stream switches: words on their way, and where they go (AM020 chapter 2).

    What every cycle looks at stands together, so that it shares cache lines.
    """

    held: Ints
    popped: Ints  # cycle of the last word that left
    depth: Ints
    active: Ints  # 1 = in State.active_ports
    head: Ints
    latency: Ints  # cycles before a word may leave
    mode: Ints  # switch_config.OFF, CIRCUIT or PACKET
    is_master: Ints
    link: Ints  # master: slave port at the other end of the wire, -1 = none
    feeds: Ints  # slave in circuit mode: the first master that it feeds, -1 = none
    sibling: Ints  # master in circuit mode: the next one that its slave feeds, -1 = none
    channel: Ints  # master: S2MM channel that it feeds, -1 = none
    wrap: Ints  # ring slots in use, less 1
    hosted: Ints  # 1 = the host takes the words that leave the port
    control: Ints  # tile whose control packets this master takes, -1 = none
    stalled: Ints  # last cycle in which a word had to wait
    tile: Ints
    number: Ints  # port index among its tile's slaves or masters
    words: PortRing
    last: PortRing  # TLAST
    entered: PortRing  # cycle in which the word came
    tlast: Ints  # last cycle in which the last word of a packet left
    idle: Ints  # last cycle before the port was woken
    drop_header: Ints  # master in packet mode: 1 = takes packets without their header
    targets: Ints  # slave in packet mode: bit mask of the masters of its packet
    arbiter: Ints  # slave: arbiter that its packet holds, -1 = none
    asked: Ints  # slave: arbiter that its header asks in this cycle, -1 = none
    in_header: Ints  # slave: 1 = the next word is the packet's header
    ready_at: Ints  # slave: cycle from which the packet may move
    unrouted: Ints  # slave: 1 = its header matches no slot, or no master takes it
    parity: Ints  # slave: WRONG_PARITY if it is injected, else 0
    parity_mask: Ints  # slave: bits of the injection register; master: bit of the status register
    parity_status: Ints  # master: the latter
    full_depth: Ints  # ``depth`` as it will be when the tile has its clock again


class Arbiters(NamedTuple):
    """Packet arbiters of the stream switches, ``ARBITERS`` for each tile."""

    masters: Msels  # by msel: bit mask of the masters
    holder: Ints  # slave port whose packet is on its way, -1 = none
    turn: Ints  # number of the slave served first next time
    best: Ints
    winner: Ints
    stamp: Ints
    packets: Ints  # packets passed
    position: Ints  # of deterministic merge
    served: Ints  # packets of that position so far


class Controls(NamedTuple):
    """Tile-control ports: control packets in, tokens and answers out; one a tile."""

    active: Ints  # 1 = in State.active_controls
    slave_port: Ints
    master_port: Ints
    status: Ints  # index in State.registers of the handler's status
    words: ControlRing
    last: ControlRing  # TLAST
    head: Ints
    held: Ints
    due: Ints  # channels with a token to send
    turn: Ints  # channel of the tile served first next time
    sender: Ints  # channel whose token is being taken, or control_port.NOBODY or HANDLER
    in_counts: Ints  # 1 = the token is taken, its counts follow
    stage: Ints  # of the packet that comes in, see control_packets
    operation: Ints
    address: Ints  # byte address in the tile of the next access
    left: Ints  # accesses still to do
    response: Ints  # stream id of the answer
    header_due: Ints  # 1 = the answer's header is still to be sent
    cut: Ints  # 1 = the packet of a read went on after its header


class Counts(NamedTuple):
    """Finish-on-TLAST counts, one buffer a channel, in the form of the pop register."""

    words: CountRing
    head: Ints
    held: Ints
