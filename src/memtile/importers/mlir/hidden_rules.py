"""Packet rules of a switchbox that take the packets of a rule behind them in the same slave port.

The first rule that matches decides, so the rule behind one with a wider mask never gets a packet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, HIDDEN_RULE, Finding, Side
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import SwitchDescription
from memtile.importers.mlir.tree import Operation

_Slot = tuple[int, int, int, int]
"""Mask, id, arbiter and msel."""


def hidden_findings(made: Configured) -> Iterator[Finding]:
    """One finding for each rule that takes all packets of a later one, which leads them elsewhere."""
    for switch in made.device.switches:
        for (bundle, number, slots), rules in zip(switch.rules, _rules(switch), strict=True):
            port = f"{bundle} : {number} of {made.tiles[switch.tile].title}"
            for at, later in enumerate(slots):
                first = next((n for n in range(at) if _hides(slots[n], later)), None)
                if first is not None:
                    yield _finding(port, (slots[first], later), (rules[first], rules[at]))


def _hides(first: _Slot, later: _Slot) -> bool:
    """Whether a rule takes all that a later one would take, and leads it to other masters."""
    takes = not (first[0] & ~later[0]) and not (first[1] ^ later[1]) & first[0]
    return takes and first[1] != later[1] and first[2:] != later[2:]


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


def _finding(port: str, slots: Sequence[_Slot], rules: Sequence[Operation]) -> Finding:
    first, later = slots
    place, behind = (rule.tokens.text.where(rule.tokens.offset(rule.at)) for rule in rules)
    mask = first[0] | (first[1] ^ later[1])
    does = f"takes packets of id {later[1]} too, with mask {first[0]} and id {first[1]}"
    message = (
        f"The packet rule in {line_of(place)} ({port}) {does}: the rule in {line_of(behind)}, which leads "
        "them elsewhere, gets none."
    )
    fix = f"Give the rule in {line_of(place)} the mask {mask}, or put the one in {line_of(behind)} before it."
    side = Side(f"the packet rule in {line_of(place)}", does, place)
    return Finding(HIDDEN_RULE, CODES[HIDDEN_RULE].severity, message, (side,), fix=fix)
