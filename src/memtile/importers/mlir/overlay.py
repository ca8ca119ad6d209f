"""The way for control packets that aiecc lays over a design: from interface tiles to all of their columns.

mlir-aie asks for it beside the text, by an option of aiecc (``--generate-ctrl-pkt-overlay``). Here the design
asks for it: by that option in a comment, by ``aiex.control_packet``, or by packets that a host sends from a
channel which no flow of the text has. The flows are those of mlir-aie's pass
(aie-generate-column-control-overlay): one for each tile of a column, whose id it has (DEV-MLIR-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memtile.arch.devices import Device
from memtile.importers.mlir.description import (
    AllocationDescription,
    DeviceDescription,
    EndDescription,
    FlowDescription,
    Place,
    TileDescription,
)
from memtile.importers.mlir.forms.operands import OperationForm, packet_of
from memtile.importers.mlir.set_circuits import is_routed
from memtile.importers.mlir.tree import Operation
from memtile.runs.operations import locate

Port = tuple[Place | None, int]
"""An MM2S channel: the place of its tile, and its number."""
CONTROL = "TileControl"
CONTROL_PACKET = "aiex.control_packet"
_OPTIONS = ("--generate-ctrl-pkt-overlay", "route-shim-to-tile-ctrl=true")
_OPT_OUT, _DONE = "needs_ctrl_pkt_overlay", "has_ctrl_pkt_overlay"
_COLUMN_IDS = (15, 26, 27, 29, 30, 31)
"""Ids of the tiles of a column of up to six rows, so chosen that masks of packet slots tell them apart; those
of interface tiles fit into the 4 bits that a token has for them (mlir-aie, getTileToControllerIdMap)."""


def controller_id(tile: TileDescription, chip: Device) -> int:
    """The id for control packets of a tile: as the text says it, else the one that mlir-aie gives."""
    if tile.controller is not None:
        return tile.controller
    assert tile.place is not None
    row = tile.place[1]
    return _COLUMN_IDS[row] if chip.rows <= len(_COLUMN_IDS) else row


def give_ids(device: DeviceDescription, chip: Device) -> None:
    """Give the tiles the ids that a build gives them (aie-assign-tile-controller-ids); lowered text has them.

    A host sequence writes the id to each channel from which it wants a token, which takes firmware its time.
    """
    for tile in device.tiles.values():
        if tile.place is not None and not is_routed(device):
            tile.controller = controller_id(tile, chip)


def channel_for(chip: Device, row: int) -> int:
    """The MM2S channel of the interface tile that sends to a row: the rows are shared out in order."""
    channels = chip.kind("interface").channels
    return min(row // (chip.rows // channels), channels - 1)


def allocation_name(column: int, channel: int) -> str:
    """The symbol by which a host sequence names the channel that sends control packets."""
    return f"ctrlpkt_col{column}_mm2s_chan{channel}"


def add_overlay(device: DeviceDescription, chip: Device) -> None:
    """Add the flows to a device that asks for them, and the tiles and symbols that they need.

    Args:
        device: whose tiles have places and whose object FIFOs have become flows.
        chip: that it is for.
    """
    if _opted_out(device) or is_routed(device) or not (said_by_run_line(device, *_OPTIONS) or _used(device)):
        return
    before = _sources(device)
    by_place = {tile.place: name for name, tile in device.tiles.items() if tile.place is not None}
    for column, row in control_packet_places(device):
        by_place.setdefault((column, row), _new_tile(device, (column, row)))
    tallest = {column: 0 for column, _ in by_place}
    for column, row in by_place:
        tallest[column] = max(tallest[column], row)
    for column in range(min(tallest, default=0), max(tallest, default=-1) + 1):
        top = tallest.get(column, max(tallest.values()))
        for row in range(top + 1):
            if (column, row) not in by_place:
                by_place[column, row] = _new_tile(device, (column, row))
        for row in range(top + 1):
            channel = channel_for(chip, row)
            if not before.get(((column, 0), channel)):  # a circuit takes no packets
                name, source = by_place[column, row], (by_place[column, 0], channel)
                _flow(device, source, name, controller_id(device.tiles[name], chip))


def control_packet_places(device: DeviceDescription) -> list[Place]:
    """The tiles that the control packets of the host sequences go to."""
    found = dict[Place, None]()
    for sequence in device.sequences.values():
        for operation in sequence.walk():
            address = (
                OperationForm(operation).attributes.get("address")
                if operation.name == CONTROL_PACKET
                else None
            )
            if isinstance(address, int):
                found[locate(address)[:2]] = None
    return list(found)


def _opted_out(device: DeviceDescription) -> bool:
    """Whether the text wants no overlay, or says of itself that the pass has been over it."""
    attributes = OperationForm(device.operation).attributes
    return attributes.get(_OPT_OUT) is False or _DONE in attributes


def run_lines(device: DeviceDescription) -> list[str]:
    """The lines that call the compiler, of the text and of a ``run.lit`` beside it."""
    text = device.operation.tokens.text
    lines = f"{text.content}\n{text.build}".splitlines()
    return [line for line in lines if line.startswith("//") and "RUN:" in line]


def said_by_run_line(device: DeviceDescription, *options: str) -> bool:
    """Whether a line of the text that calls the compiler has one of the options, and not as ``=false``."""
    return any(
        option in line and f"{option}=false" not in line for line in run_lines(device) for option in options
    )


def _used(device: DeviceDescription) -> bool:
    """Whether a host sends control packets, and no flow of the text takes them."""
    if any(end.bundle == CONTROL for flow in device.flows for end in flow.targets):
        return False
    lead = _sources(device)
    return any(
        operation.name == CONTROL_PACKET or _sends(device, operation, lead)
        for sequence in device.sequences.values()
        for operation in sequence.walk()
    )


def _sends(device: DeviceDescription, operation: Operation, lead: Mapping[Port, bool]) -> bool:
    """Whether an operation sends packets from a channel of an interface tile that leads nowhere."""
    form = OperationForm(operation)
    metadata = form.attributes.get("metadata")
    found = device.allocations.get(str(metadata)) if metadata is not None else None
    if found is None or found.direction != "MM2S":
        return False
    place = device.tiles[found.tile].place if found.tile else (found.column or 0, 0)
    return (place, found.channel) not in lead and any(packet is not None for packet in _packets(form))


def _packets(form: OperationForm) -> Iterator[tuple[int, int] | None]:
    yield packet_of(form.attributes.get("packet"))
    for item in [] if form.generic else form.items():
        if form.named(item) and form.operation.tokens.words[item.first] == "packet":
            yield packet_of(form.value(item))


def _sources(device: DeviceDescription) -> dict[Port, bool]:
    """MM2S channels with flows, by place and number, and whether it is a circuit."""
    return {
        (device.tiles[end.tile].place, end.channel): flow.packet is None
        for flow in device.flows
        for end in flow.sources
        if end.bundle == "DMA"
    }


def _new_tile(device: DeviceDescription, place: Place) -> str:
    """A tile that the text does not name, for packets go to it or past it."""
    name = next((name for name, tile in device.tiles.items() if tile.place == place), "")
    if not name:
        name = f"%overlay_{place[0]}_{place[1]}"
        device.tiles[name] = TileDescription(name, place, device.operation)
    return name


def _flow(device: DeviceDescription, source: tuple[str, int], tile: str, number: int) -> None:
    """The flow to a tile, and the symbol of the channel that it comes from.

    Args:
        device: to which both are added.
        source: interface tile and channel.
        tile: whose control port takes the packets.
        number: its id.
    """
    place = device.tiles[source[0]].place
    assert place is not None
    name = allocation_name(place[0], source[1])
    ends = [EndDescription(source[0], "DMA", source[1])], [EndDescription(tile, CONTROL, 0)]
    device.flows.append(FlowDescription(*ends, device.operation, number, keep_header=True, priority=True))
    made = AllocationDescription(name, "MM2S", source[1], device.operation, tile=source[0])
    device.allocations.setdefault(name, made)
