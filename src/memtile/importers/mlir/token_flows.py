"""Packet flows that should bring the tokens of a tile to firmware, and are of another id than these.

A token carries the controller id of its tile. A flow from the tile's control port that is of another id takes
none of them, and no wait for the tile's channels ends. The same port answers control packets, with ids that
these name, so only flows to the port of firmware count. Nothing says in which of several devices a host
waits: of a tile that is in two of them there is no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.oddities import OTHER_TOKENS, Suspect
from memtile.importers.mlir.configure import FIRMWARE, TILE_CONTROL, Configured
from memtile.importers.mlir.description import FlowDescription


def token_flow_findings(devices: Sequence[Configured]) -> Iterator[Finding]:
    """One finding for each tile none of whose flows to firmware is of its own id; it explains waits alone.

    Args:
        devices: of the text, each in its array, one once for each time that it is loaded.
    """
    for made in {made.device.name: made for made in devices}.values():
        others = (each for each in devices if each.device.name != made.device.name)
        there = {tile.place for each in others for tile in each.tiles.values()}
        for name, controller, flows in _of_other_ids(made):
            if made.tiles[name].place not in there:
                yield _finding(made, name, controller, flows)


def _of_other_ids(made: Configured) -> Iterator[tuple[str, int, Sequence[FlowDescription]]]:
    """The tiles of which no flow to firmware is of their id, with that id and the flows."""
    flows = dict[str, list[FlowDescription]]()
    for flow in made.device.flows:
        if flow.packet is not None and any((end.bundle, end.channel) == FIRMWARE for end in flow.targets):
            for end in flow.sources:
                if end.bundle == TILE_CONTROL:
                    flows.setdefault(end.tile, []).append(flow)
    for name, own in flows.items():
        controller = made.device.tiles[name].controller
        if controller is not None and all(flow.packet != controller for flow in own):
            yield name, controller, own


def _finding(made: Configured, name: str, controller: int, flows: Sequence[FlowDescription]) -> Finding:
    tile = made.tiles[name]
    assert tile.place is not None
    who = "{}({},{})".format(tile.kind.name, *tile.place)
    operation = flows[0].operation
    place = operation.tokens.text.where(operation.tokens.offset(operation.at))
    does = f"takes packets of id {flows[0].packet} from the control port of {who}"
    message = (
        f"The packet flow of {line_of(place)} {does}, whose tokens are of id {controller}: none gets there."
    )
    fix = f"Give the flow the id {controller}, or the tile the controller id {flows[0].packet}."
    sides = (Side(f"the packet flow of {line_of(place)}", does, place),)
    severity = CODES[OTHER_TOKENS].severity
    return Suspect(OTHER_TOKENS, severity, message, sides, fix=fix, waiting=((who,),), latent=True)
