"""Find packet flows for the task-complete tokens of a tile that have the wrong packet id.

A token carries the controller id of its tile. If no flow from the tile's control port to firmware has this
id, the tokens do not arrive, and the host waits for the tile's channels without end. Other flows from this
port carry answers to control packets and may have any id. A tile that several devices of a text use has no
finding, since the device in which the host waits is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.oddities import OTHER_TOKENS, Suspect
from memtile.importers.mlir.configure import FIRMWARE, TILE_CONTROL, Configured
from memtile.importers.mlir.description import FlowDescription


def token_flow_findings(devices: Sequence[Configured]) -> Iterator[Finding]:
    """Return a finding for each tile with flows to firmware of which none has its controller id.

    The findings are for a run or check in which the host waits for such a tile.

    Args:
        devices: of the text, each in its array, and once for each time that the host loads it.
    """
    for made in {made.device.name: made for made in devices}.values():
        others = (each for each in devices if each.device.name != made.device.name)
        there = {tile.place for each in others for tile in each.tiles.values()}
        for name, controller, flows in _of_other_ids(made):
            if made.tiles[name].place not in there:
                yield _finding(made, name, controller, flows)


def _of_other_ids(made: Configured) -> Iterator[tuple[str, int, Sequence[FlowDescription]]]:
    """Tiles without a flow to firmware of their controller id: name, this id and their flows."""
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
        f"The packet flow of {line_of(place)} {does}, but its tokens have id {controller} and do not arrive."
    )
    fix = f"Give the flow the id {controller}, or the tile the controller id {flows[0].packet}."
    sides = (Side(f"the packet flow of {line_of(place)}", does, place),)
    severity = CODES[OTHER_TOKENS].severity
    return Suspect(OTHER_TOKENS, severity, message, sides, fix=fix, waiting=((who,),), latent=True)
