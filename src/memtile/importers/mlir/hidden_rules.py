"""Packet rules of a switchbox that take the packets of a rule behind them in the same slave port.

The first rule that matches decides, so the rule behind one with a wider mask never gets a packet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memtile.arch.registers import field_of
from memtile.arch.switch_registers import SLOT
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, HIDDEN_RULE, Finding, Side
from memtile.explain.names import called
from memtile.explain.oddities import Suspect
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import SwitchDescription
from memtile.importers.mlir.set_circuits import Port, behind
from memtile.importers.mlir.tree import Operation

_Slot = tuple[int, int, int, int]
"""Mask, id, arbiter and msel."""
_End = tuple[str, int]
"""Bundle and channel of a port that words leave."""


def hidden_findings(made: Configured) -> Iterator[Finding]:
    """One finding for each rule that takes all packets of a later one, which leads them elsewhere."""
    for switch in made.device.switches:
        for (bundle, number, slots), rules in zip(switch.rules, _rules(switch), strict=True):
            port = f"{bundle} : {number} of {made.tiles[switch.tile].title}"
            for at, later in enumerate(slots):
                first = next((n for n in range(at) if _hides(switch, slots[n], later)), None)
                if first is not None:
                    waiting = _receivers(made, switch, (bundle, number), later)
                    yield _finding(port, (slots[first], later), (rules[first], rules[at]), waiting)


def _hides(switch: SwitchDescription, first: _Slot, later: _Slot) -> bool:
    """Whether a rule takes all that a later one would take, and does not lead it to all its masters."""
    takes = not (first[0] & ~later[0]) and not (first[1] ^ later[1]) & first[0]
    return takes and first[1] != later[1] and not _masters(switch, later) <= _masters(switch, first)


def _masters(switch: SwitchDescription, slot: _Slot) -> set[_End]:
    """The master ports to which a rule leads packets."""
    return {(to, n) for to, n, arbiter, msels, _ in switch.masters if arbiter == slot[2] and slot[3] in msels}


def _matches(slot: _Slot, packet: int) -> bool:
    return not (slot[1] ^ packet) & slot[0]


def _receivers(made: Configured, switch: SwitchDescription, slave: _End, later: _Slot) -> set[str]:
    """The channels that a rule would feed; none where no descriptor of the text, nor a host, sends to it."""
    place = made.tiles[switch.tile].place
    assert place is not None
    senders = {
        (tile.place or place, tile.kind.role == "interface", "DMA", chain.channel)
        for chain in made.device.chains
        for tile in (made.tiles[chain.tile],)
        if any(bd.packet is not None and _matches(later, bd.packet[1]) for bd in chain.bds)
    }
    hosts = [tile for tile in made.tiles.values() if tile.kind.role == "interface"]
    senders |= {(tile.place or place, True, "DMA", n) for tile in hosts for n in range(len(tile.mm2s))}
    sent = {at for sender in senders for at in _ways(made, _leaving(made, sender, later[1]), later[1])}
    if (place, False, *slave) not in sent:
        return set()
    here = (place, False, *slave)
    ends = _ways(made, [(here, master) for master in _masters(switch, later)], later[1])
    tiles = {tile.place: tile for tile in made.tiles.values()}
    found = ((tiles[at], n) for at, _, bundle, n in ends if bundle == "DMA" and at in tiles)
    return {called(tile.engine, tile.s2mm[n].index).partition(" '")[0] for tile, n in found}


def _ways(made: Configured, leaving: Iterable[tuple[Port, _End]], packet: int) -> set[Port]:
    """The ports at which packets of an id come in that leave others; a DMA is the end of a way."""
    found = set[Port]()
    rest = list(leaving)
    while rest:
        for at in behind(*rest.pop()):
            if at not in found:
                found.add(at)
                rest += _leaving(made, at, packet) if at[2] != "DMA" else ()
    return found


def _leaving(made: Configured, at: Port, packet: int) -> list[tuple[Port, _End]]:
    """Where packets of an id leave the switch, or the multiplexer, at which they came in."""
    place, mux, *slave = at
    found: list[tuple[Port, _End]] = []
    for switch in made.device.switches:
        if (made.tiles[switch.tile].place, switch.mux) == (place, mux):
            found += ((at, (to, n)) for *source, to, n in switch.circuits if source == slave)
            for bundle, number, slots in switch.rules:
                taken = [slot for slot in slots if [bundle, number] == slave and _matches(slot, packet)]
                found += ((at, end) for slot in taken[:1] for end in _masters(switch, slot))
    return found


def _rules(switch: SwitchDescription) -> list[list[Operation]]:
    """The rules of each slave port, in the order of the text."""
    inside = [
        each for region in switch.operation.regions for block in region.blocks for each in block.operations
    ]
    return [
        [
            rule
            for region in port.regions
            for block in region.blocks
            for rule in block.operations
            if rule.name == "aie.rule"
        ]
        for port in inside
        if port.name == "aie.packet_rules"
    ]


def _finding(
    port: str, slots: Sequence[_Slot], rules: Sequence[Operation], waiting: Iterable[str]
) -> Finding:
    first, later = slots
    place, hidden = (rule.tokens.text.where(rule.tokens.offset(rule.at)) for rule in rules)
    mask = first[0] | (first[1] ^ later[1])
    does = f"takes packets of id {later[1]} too, with mask {first[0]} and id {first[1]}"
    message = (
        f"The packet rule in {line_of(place)} ({port}) {does}: the rule in {line_of(hidden)}, which leads "
        "them elsewhere, gets none."
    )
    others = [
        n for n in range(field_of(SLOT, "id").maximum + 1) if _matches(first, n) and not _matches(later, n)
    ]
    narrower = all(_matches((mask, *first[1:]), n) for n in others)
    either = f"Give the rule in {line_of(place)} the mask {mask}, or put" if narrower else "Put"
    fix = f"{either} the one in {line_of(hidden)} before {'it' if narrower else f'that in {line_of(place)}'}."
    side = Side(f"the packet rule in {line_of(place)}", does, place)
    severity, names = CODES[HIDDEN_RULE].severity, [(each,) for each in sorted(waiting)]
    return Suspect(HIDDEN_RULE, severity, message, (side,), fix=fix, waiting=names)
