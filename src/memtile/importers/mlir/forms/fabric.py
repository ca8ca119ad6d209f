"""Tiles and what streams between them: flows, packets, switches, allocations of channels, cascades."""

from __future__ import annotations

from memtile.importers.mlir.description import (
    AllocationDescription,
    CascadeDescription,
    CascadeSides,
    DeviceDescription,
    EndDescription,
    FlowDescription,
    SwitchDescription,
    TileDescription,
)
from memtile.importers.mlir.forms.operands import BUNDLES, Form, packet_of
from memtile.importers.mlir.tree import Operation, Span

_ROLES = {"CoreTile": "compute", "MemTile": "memory", "ShimNOCTile": "interface", "ShimPLTile": "interface"}
_ROLE_NUMBERS = ("compute", "memory", "interface", "interface")
_ID_BITS = 0x1F


def tile(device: DeviceDescription, operation: Operation) -> None:
    """``aie.tile(0, 2)``."""
    form = Form(operation)
    given = [form.whole(form.text(item)) for item in form.items()]
    column, row = given or (form.attributes["col"], form.attributes["row"])
    packet = packet_of(form.attributes.get("controller_id"))
    controller = None if packet is None else packet[1]
    place = int(column), int(row)
    device.tiles[form.result] = TileDescription(form.result, place, operation, controller=controller)


def logical_tile(device: DeviceDescription, operation: Operation) -> None:
    """``aie.logical_tile<CoreTile>(?, ?)``."""
    form = Form(operation)
    if form.generic:
        place = [form.attributes.get("col"), form.attributes.get("row")]
        role = _ROLE_NUMBERS[int(form.attributes["tile_type"])]
    else:
        texts = [form.text(item) for item in form.items()]
        place = [None if text == "?" else form.whole(text) for text in texts]
        role = _ROLES[form.text(form.items("<")[0])]
    fixed = None if None in place else (int(place[0] or 0), int(place[1] or 0))
    found = TileDescription(form.result, fixed, operation, role, wanted=(place[0], place[1]))
    device.tiles[form.result] = found


def flow(device: DeviceDescription, operation: Operation) -> None:
    """``aie.flow(%a, DMA : 0, %b, DMA : 1)``."""
    form = Form(operation)
    if form.generic:
        source, target = form.values[:2]
        ends = [
            EndDescription(
                tile_, form.bundle(form.attributes[f"{side}_bundle"]), form.attributes[f"{side}_channel"]
            )
            for side, tile_ in (("source", source), ("dest", target))
        ]
    else:
        one, port, other, there = form.items()
        ends = [_end(form, form.text(one), port), _end(form, form.text(other), there)]
    device.flows.append(FlowDescription([ends[0]], [ends[1]], operation))


def packet_flow(device: DeviceDescription, operation: Operation) -> None:
    """``aie.packet_flow(5) { aie.packet_source<..>  aie.packet_dest<..> }``."""
    form = Form(operation)
    packet = form.attributes["ID"] if form.generic else form.whole(form.text(form.items()[0]))
    sources, targets = list[EndDescription](), list[EndDescription]()
    for inner in (
        each for region in operation.regions for block in region.blocks for each in block.operations
    ):
        if inner.name in ("aie.packet_source", "aie.packet_dest"):
            (sources if inner.name == "aie.packet_source" else targets).append(_packet_end(inner))
    if not sources or not targets:
        raise form.error(
            f"{len(sources)} sources and {len(targets)} destinations", "a source and a destination"
        )
    keep = bool(form.attributes.get("keep_pkt_header", False))
    device.flows.append(FlowDescription(sources, targets, operation, int(packet) & _ID_BITS, keep))


def switchbox(device: DeviceDescription, operation: Operation) -> None:
    """``aie.switchbox(%t) { .. }`` and ``aie.shim_mux(%t) { .. }``."""
    form = Form(operation)
    found = SwitchDescription(form.values[0], operation, mux=operation.name == "aie.shim_mux")
    device.switches.append(found)
    selects: dict[str, tuple[int, int]] = {}
    for inner in (
        each for region in operation.regions for block in region.blocks for each in block.operations
    ):
        if inner.name == "aie.connect":
            found.circuits.append(_connection(inner))
        elif inner.name == "aie.amsel":
            select = Form(inner)
            selects[select.result] = (
                select.attributes.get("arbiterID", _number(select, "<")),
                select.attributes.get("msel", _number(select, "(")),
            )
        elif inner.name == "aie.masterset":
            found.masters.append(_master(inner, selects))
        elif inner.name == "aie.packet_rules":
            found.rules.append(_rules(inner, selects))
        elif inner.name != "aie.end":
            device.unknown.setdefault(inner.name, []).append(inner)


def allocation(device: DeviceDescription, operation: Operation) -> None:
    """``aie.shim_dma_allocation @in(%tile, MM2S, 0)``, earlier ``@in(MM2S, 0, 0)`` with a column."""
    form = Form(operation)
    made = AllocationDescription(form.symbol, "S2MM", 0, operation)
    if form.generic:
        made.direction = form.direction(form.attributes["channel_dir"])
        made.channel = int(form.attributes["channel_index"])
        made.tile = form.values[0] if form.values else ""
        made.column = form.attributes.get("col")
        made.packet = packet_of(form.attributes.get("packet"))
    else:
        texts = [form.text(item) for item in form.items()]
        if texts[0][:1] == "%":
            made.tile, texts = texts[0], texts[1:]
            made.direction, made.channel = form.direction(texts[0]), form.whole(texts[1])
        else:
            made.direction, made.channel = form.direction(texts[0]), form.whole(texts[1])
            made.column = form.whole(texts[2])
        packet = next((item for item in form.items()[2:] if "pkt_id" in form.text(item)), None)
        if packet is not None:
            made.packet = packet_of(form.value(packet))
    device.allocations[made.name] = made


def cascade_flow(device: DeviceDescription, operation: Operation) -> None:
    """``aie.cascade_flow(%from, %to)``."""
    source, target = Form(operation).values[:2]
    device.cascades.append(CascadeDescription(source, target, operation))


def configure_cascade(device: DeviceDescription, operation: Operation) -> None:
    """``aie.configure_cascade(%tile, West, East)``: where its input comes from, where its output goes."""
    form = Form(operation)
    if form.generic:
        sides = [BUNDLES[int(form.attributes[name])] for name in ("inputDir", "outputDir")]
    else:
        sides = [form.text(item) for item in form.items()[1:3]]
    device.cascade_sides.append(CascadeSides(form.values[0], sides[0], sides[1], operation))


def _end(form: Form, tile_: str, port: Span) -> EndDescription:
    bundle, _, channel = form.text(port).partition(":")
    return EndDescription(tile_, form.bundle(bundle), form.whole(channel))


def _packet_end(operation: Operation) -> EndDescription:
    form = Form(operation)
    if form.generic:
        return EndDescription(
            form.values[0], form.bundle(form.attributes["bundle"]), form.attributes["channel"]
        )
    tile_, port = form.items("<")
    return _end(form, form.text(tile_), port)


def _connection(operation: Operation) -> tuple[str, int, str, int]:
    form = Form(operation)
    if form.generic:
        found = form.attributes
        source, target = form.bundle(found["source_bundle"]), form.bundle(found["dest_bundle"])
        return source, int(found["source_channel"]), target, int(found["dest_channel"])
    one, other = (_end(form, "", port) for port in form.items("<"))
    return one.bundle, one.channel, other.bundle, other.channel


def _number(form: Form, opening: str) -> int:
    items = form.items(opening)
    return form.whole(form.text(items[0])) if items else 0


def _master(
    operation: Operation, selects: dict[str, tuple[int, int]]
) -> tuple[str, int, int, tuple[int, ...], bool]:
    form = Form(operation)
    if form.generic:
        bundle, channel = form.bundle(form.attributes["dest_bundle"]), int(form.attributes["dest_channel"])
    else:
        end = _end(form, "", form.items()[0])
        bundle, channel = end.bundle, end.channel
    chosen = [selects[value] for value in form.values]
    keep = bool(form.attributes.get("keep_pkt_header", False))
    return bundle, channel, chosen[0][0], tuple(msel for _, msel in chosen), keep


def _rules(
    operation: Operation, selects: dict[str, tuple[int, int]]
) -> tuple[str, int, list[tuple[int, int, int, int]]]:
    form = Form(operation)
    if form.generic:
        bundle, channel = (
            form.bundle(form.attributes["source_bundle"]),
            int(form.attributes["source_channel"]),
        )
    else:
        end = _end(form, "", form.items()[0])
        bundle, channel = end.bundle, end.channel
    slots = []
    for inner in (
        each for region in operation.regions for block in region.blocks for each in block.operations
    ):
        if inner.name == "aie.rule":
            rule = Form(inner)
            if rule.generic:
                mask, value = rule.attributes["mask"], rule.attributes["value"]
            else:
                mask, value = (rule.whole(rule.text(item)) for item in rule.items()[:2])
            slots.append((int(mask) & _ID_BITS, int(value) & _ID_BITS, *selects[rule.values[0]]))
    return bundle, channel, slots
