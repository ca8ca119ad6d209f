"""Packet switching: a header chooses an arbiter, the arbiter holds its masters until TLAST (AM020 chapter 2).

The lowest enabled slot of the slave that matches the stream id names an arbiter and an msel; every master in
packet mode with that arbiter and msel gets the packet. Slaves that want the same arbiter take turns, packet
by packet, round robin or as deterministic merge says (DEV-PKT-3, DEV-PKT-4). A header that no slot matches,
or that no master takes, stays where it is and stops its port (DEV-PKT-1).
"""

from __future__ import annotations

from memtile.arch.ports import ARBITERS, MERGE_ARBITERS, MERGE_POSITIONS, SLOTS_PER_SLAVE
from memtile.arch.register_map import register_named
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.arch.timing import Unlimited
from memtile.jit.decorators import inlined, jit
from memtile.model.events.reports import signal
from memtile.model.memory.banks import rank
from memtile.model.state.event_columns import TileSignal
from memtile.model.state.state import State
from memtile.model.state.streams import PAIR, TLAST
from memtile.model.streams.beats import upper
from memtile.model.streams.packet_flow import STREAM_MASK
from memtile.model.streams.switch_config import PACKET
from memtile.model.streams.switch_ports import has_room, offers, pop, push

NONE = -1
_DIRECT = int(Unlimited.PACKETS)
_FURTHEST = 256  # ports of a way: more than any array has, so that a ring ends
_ENABLE = field_of(SLOT, "enable").mask
_ID, _MASK, _MSEL, _ARBITER = (field_of(SLOT, name) for name in ("id", "mask", "msel", "arbit"))
_ID_LSB, _MASK_LSB, _MSEL_LSB, _ARBITER_LSB = _ID.lsb, _MASK.lsb, _MSEL.lsb, _ARBITER.lsb
_MSEL_MAX, _ARBITER_MAX = _MSEL.maximum, _ARBITER.maximum

_MERGE = register_named("memory_tile", "Stream_Switch_Deterministic_Merge_arb0_slave0_1")
_MERGE_ENABLE = register_named("memory_tile", "Stream_Switch_Deterministic_Merge_arb0_ctrl").field("Enable")
_ENABLE_MERGE = _MERGE_ENABLE.mask
_PER_WORD = 2  # merge positions in a register
_SLAVE_LSB = tuple(_MERGE.field(f"Slave_ID_{n}").lsb for n in range(_PER_WORD))
_COUNT_LSB = tuple(_MERGE.field(f"Packet_Count_{n}").lsb for n in range(_PER_WORD))
_SLAVE_MAX, _COUNT_MAX = _MERGE.field("Slave_ID_0").maximum, _MERGE.field("Packet_Count_0").maximum
_MERGE_WORDS = MERGE_POSITIONS // _PER_WORD


@jit
def matching_slot(st: State, port: int, header: int) -> int:
    """The register of the slave's first enabled slot that matches the header's stream id, or -1."""
    tile = st.switch.tile[port]
    first = st.spec.tiles.register_base[tile] + st.spec.kinds.slot_config[st.spec.tiles.kind[tile]]
    first += st.switch.number[port] * SLOTS_PER_SLAVE
    for n in range(SLOTS_PER_SLAVE):
        slot = st.registers[first + n]
        differs = ((slot >> _ID_LSB) ^ header) & (slot >> _MASK_LSB) & STREAM_MASK
        if slot & _ENABLE and differs == 0:
            return int(slot)
    return NONE


@jit
def merge_word(st: State, arbiter: int, word: int) -> int:
    """Register ``word`` of a tile-wide arbiter's deterministic merge; the last one is its control."""
    tile = arbiter // ARBITERS
    first = st.spec.kinds.merge_config[st.spec.tiles.kind[tile], arbiter % ARBITERS]
    return int(st.registers[st.spec.tiles.register_base[tile] + first + word])


@jit
def merges(st: State, arbiter: int) -> bool:
    """Whether the arbiter serves its slaves in a programmed order."""
    if arbiter % ARBITERS >= MERGE_ARBITERS:
        return False
    return bool(merge_word(st, arbiter, _MERGE_WORDS) & _ENABLE_MERGE)


@jit
def merge_count(st: State, arbiter: int, position: int) -> int:
    """Packets that the position of the merge serves in a row."""
    word = merge_word(st, arbiter, position // _PER_WORD)
    return (word >> _COUNT_LSB[position % _PER_WORD]) & _COUNT_MAX


@jit
def seek(st: State, arbiter: int, first: int) -> None:
    """Go to the first position from ``first`` on, cyclically, that serves any packet."""
    st.arbiters.served[arbiter] = 0
    for n in range(MERGE_POSITIONS):
        position = (first + n) % MERGE_POSITIONS
        if merge_count(st, arbiter, position) > 0:
            st.arbiters.position[arbiter] = position
            return


@jit
def restart_merge(st: State, tile: int, arbiter: int) -> None:
    """A write to the merge registers of an arbiter begins its order anew."""
    seek(st, tile * ARBITERS + arbiter, 0)


@jit
def has_turn(st: State, arbiter: int, slave: int) -> bool:
    """Whether deterministic merge, if it is on, lets the slave go next."""
    if not merges(st, arbiter):
        return True
    position = st.arbiters.position[arbiter]
    if merge_count(st, arbiter, position) == 0:
        return False
    word = merge_word(st, arbiter, position // _PER_WORD)
    return bool((word >> _SLAVE_LSB[position % _PER_WORD]) & _SLAVE_MAX == slave)


@jit
def bid(st: State, arbiter: int, port: int) -> None:
    """Enter a slave port into the arbitration of this cycle."""
    arbiters = st.arbiters
    place = rank(st.switch.number[port], arbiters.turn[arbiter])
    if arbiters.stamp[arbiter] != st.clock.now[0] or place < arbiters.best[arbiter]:
        arbiters.stamp[arbiter] = st.clock.now[0]
        arbiters.best[arbiter] = place
        arbiters.winner[arbiter] = port


@inlined
def is_direct(st: State) -> bool:
    """Whether packets to one receiver go there without arbiters and wires in between."""
    return bool(st.spec.timing.unlimited[0] & _DIRECT)


@jit
def only_master(st: State, port: int, header: int) -> int:
    """The one master to which a slave port hands a packet with this header, NONE = none, or several."""
    switch = st.switch
    if switch.mode[port] != PACKET:
        fed = switch.feeds[port]
        return int(fed) if fed >= 0 and switch.sibling[fed] < 0 else NONE
    slot = matching_slot(st, port, header)
    if slot == NONE:
        return NONE
    arbiter = switch.tile[port] * ARBITERS + ((slot >> _ARBITER_LSB) & _ARBITER_MAX)
    rest = st.arbiters.masters[arbiter, (slot >> _MSEL_LSB) & _MSEL_MAX]
    if rest == 0 or rest & (rest - 1) != 0:
        return NONE
    master = st.spec.tiles.master_base[switch.tile[port]]
    while rest > 1:
        rest >>= 1
        master += 1
    return int(master)


@jit
def receiver(st: State, port: int, header: int) -> tuple[int, int]:
    """The last master on the way of a packet, NONE = there is not one alone; 1 = it comes without header."""
    dropped = 0
    for _ in range(_FURTHEST):
        master = only_master(st, port, header)
        if master == NONE:
            return NONE, dropped
        if st.switch.mode[port] == PACKET:
            dropped |= st.switch.drop_header[master]
        port = st.switch.link[master]
        if port < 0:
            return master, dropped
    return NONE, dropped


@inlined
def not_on_its_way(st: State, port: int) -> bool:
    """Whether the packet of a slave port holds no arbiter: a direct one has asked none."""
    return bool(st.switch.arbiter[port] == NONE or st.switch.asked[port] == NONE)


@jit
def serve_direct(st: State, port: int) -> bool:
    """One cycle of a slave port whose packet goes straight to its receiver; False = it has to take its way.

    The last master is held up to TLAST, as by an arbiter: its ``asked`` is the slave port.
    """
    switch, head = st.switch, st.switch.head[port]
    if switch.arbiter[port] == NONE:
        master, dropped = receiver(st, port, switch.words[port, head])
        if master == NONE:
            return False
        if switch.asked[master] != NONE:
            return True
        switch.asked[master], switch.asked[port] = port, NONE
        switch.targets[port], switch.arbiter[port] = master, switch.tile[port] * ARBITERS
        switch.in_header[port] = dropped
        st.clock.activity[0] += 1
    master, last = switch.targets[port], switch.last[port, head]
    if not has_room(st, master):
        return True
    if switch.in_header[port] == 1 and last & PAIR != 0:
        push(st, master, upper(switch.words[port, head]), last - PAIR)
    elif switch.in_header[port] == 0:
        push(st, master, switch.words[port, head], last)
    pop(st, port)
    st.clock.activity[0] += 1
    switch.in_header[port] = 0
    if last & TLAST:
        switch.arbiter[port], switch.asked[master] = NONE, NONE
    return True


@inlined
def note_unrouted(st: State, port: int, unrouted: int) -> None:
    """Note whether no way leads on for the header that a slave port offers."""
    if st.switch.unrouted[port] != unrouted:
        st.switch.unrouted[port] = unrouted
        st.clock.alarms[0] += 1


@jit
def ask(st: State, port: int) -> None:
    """Let the header that a slave port offers ask for its arbiter."""
    switch, arbiters = st.switch, st.arbiters
    header = switch.words[port, switch.head[port]]
    slot = matching_slot(st, port, header)
    switch.asked[port] = NONE
    if slot == NONE:
        note_unrouted(st, port, 1)
        signal(st, switch.tile[port], TileSignal.STREAM_PACKET)
        return
    arbiter = switch.tile[port] * ARBITERS + ((slot >> _ARBITER_LSB) & _ARBITER_MAX)
    targets = arbiters.masters[arbiter, (slot >> _MSEL_LSB) & _MSEL_MAX]
    note_unrouted(st, port, 1 if targets == 0 else 0)
    if targets == 0:
        return
    switch.targets[port] = targets
    if arbiters.holder[arbiter] == NONE and has_turn(st, arbiter, switch.number[port]):
        switch.asked[port] = arbiter
        bid(st, arbiter, port)


@inlined
def contend(st: State) -> None:
    """All headers of this cycle ask for their arbiters."""
    roster, switch = st.active_ports, st.switch
    for slot in range(1, roster[0] + 1):
        port = roster[slot]
        if switch.mode[port] == PACKET and switch.is_master[port] == 0 and switch.arbiter[port] == NONE:
            switch.asked[port] = NONE
            if offers(st, port):
                ask(st, port)


@jit
def grant(st: State, port: int) -> None:
    """Give the slave port its arbiter, until TLAST."""
    switch = st.switch
    arbiter = switch.asked[port]
    switch.arbiter[port] = arbiter
    switch.in_header[port] = 1
    switch.ready_at[port] = st.clock.now[0] + st.spec.timing.packet_arbitration[0]
    st.arbiters.holder[arbiter] = port
    st.arbiters.turn[arbiter] = switch.number[port] + 1
    st.clock.activity[0] += 1


@jit
def release(st: State, port: int) -> None:
    """The packet is over: the arbiter is free from the next cycle on."""
    arbiter = st.switch.arbiter[port]
    st.switch.arbiter[port] = NONE
    st.arbiters.holder[arbiter] = NONE
    st.arbiters.packets[arbiter] += 1
    if merges(st, arbiter):
        st.arbiters.served[arbiter] += 1
        position = st.arbiters.position[arbiter]
        if st.arbiters.served[arbiter] >= merge_count(st, arbiter, position):
            seek(st, arbiter, position + 1)


@jit
def receivers(st: State, first: int, targets: int, header: int) -> int:
    """The masters in the bit mask that take the next word: a header is dropped where the master says so."""
    if header == 0:
        return targets
    taking, port = 0, 0
    while targets >> port:
        if (targets >> port) & 1 and st.switch.drop_header[first + port] == 0:
            taking |= 1 << port
        port += 1
    return taking


@jit
def all_have_room(st: State, first: int, targets: int) -> bool:
    """Whether every master in the bit mask ``targets``, numbered from port ``first``, can take a word."""
    rest, port = targets, first
    while rest:
        if rest & 1 and not has_room(st, port):
            return False
        rest >>= 1
        port += 1
    return True


@jit
def multicast(st: State, first: int, targets: int, word: int, last: int) -> None:
    """Put a word into every master in ``targets``."""
    rest, port = targets, first
    while rest:
        if rest & 1:
            push(st, port, word, last)
        rest >>= 1
        port += 1


@jit
def share(st: State, first: int, targets: int, beat: int, last: int) -> None:
    """Put a beat with a header into every master in ``targets``; those that drop headers get its word.

    The words behind it stay in their beats (DEV-V2-6).
    """
    rest, port = targets, first
    while rest:
        if rest & 1 and st.switch.drop_header[port] == 1:
            push(st, port, upper(beat), last - PAIR)
        elif rest & 1:
            push(st, port, beat, last)
        rest >>= 1
        port += 1


@jit
def serve(st: State, port: int) -> None:
    """Move the word that a slave port in packet mode offers to the masters of its packet."""
    switch = st.switch
    if is_direct(st) and not_on_its_way(st, port) and serve_direct(st, port):
        return
    if switch.arbiter[port] == NONE:
        arbiter = switch.asked[port]
        if arbiter == NONE or st.arbiters.winner[arbiter] != port:
            return
        grant(st, port)
    if st.clock.now[0] < switch.ready_at[port]:
        st.clock.activity[0] += 1
        return
    first, head = st.spec.tiles.master_base[switch.tile[port]], switch.head[port]
    last = switch.last[port, head]
    shared = switch.in_header[port] == 1 and last & PAIR != 0
    targets = switch.targets[port]
    if not shared:
        targets = receivers(st, first, targets, switch.in_header[port])
    if not all_have_room(st, first, targets):
        return
    if shared:
        share(st, first, targets, switch.words[port, head], last)
    else:
        multicast(st, first, targets, switch.words[port, head], last)
    pop(st, port)
    st.clock.activity[0] += 1
    switch.in_header[port] = 0
    if last & TLAST:
        release(st, port)
