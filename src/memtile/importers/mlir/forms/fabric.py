"""Tiles and what streams between them: flows, packets, switches, allocations of channels, cascades."""

from __future__ import annotations

from collections import Counter

from memtile.arch.ports import SLOTS_PER_SLAVE
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
from memtile.importers.mlir.forms.operands import BUNDLES, OperationForm, packet_of
from memtile.importers.mlir.tree import Operation, TokenSpan

_ROLES = {"CoreTile": "compute", "MemTile": "memory", "ShimNOCTile": "interface", "ShimPLTile": "interface"}
_ROLE_NUMBERS = ("compute", "memory", "interface", "interface")
_ID_BITS = 0x1F


def tile(device: DeviceDescription, operation: Operation) -> None:
    """``aie.tile(0, 2)``."""
    form = OperationForm(operation)
    given = form.texts()
    column, row = (
        (form.integer("col"), form.integer("row"))
        if form.generic or not given
        else (form.whole(text) for text in given.exactly(2))
    )
    packet = packet_of(form.attributes.get("controller_id"))
    controller = None if packet is None else packet[1]
    device.tiles[form.result] = TileDescription(form.result, (column, row), operation, controller=controller)


def logical_tile(device: DeviceDescription, operation: Operation) -> None:
    """``aie.logical_tile<CoreTile>(?, ?)``."""
    form = OperationForm(operation)
    if form.generic:
        place = [form.integer(name) if name in form.attributes else None for name in ("col", "row")]
        role = form.choice("tile_type", _ROLE_NUMBERS)
    else:
        place = [None if text == "?" else form.whole(text) for text in form.texts().exactly(2)]
        kind = form.texts("<")[0]
        if kind not in _ROLES:
            raise form.error(f"{kind} is no kind of tile", ", ".join(_ROLES), reason="mlir_tile")
        role = _ROLES[kind]
    fixed = None if None in place else (int(place[0] or 0), int(place[1] or 0))
    found = TileDescription(form.result, fixed, operation, role, wanted=(place[0], place[1]))
    device.tiles[form.result] = found


def flow(device: DeviceDescription, operation: Operation) -> None:
    """``aie.flow(%a, DMA : 0, %b, DMA : 1)``."""
    form = OperationForm(operation)
    if form.generic:
        source, target = form.values.first(2)
        ends = [
            EndDescription(
                tile_, form.bundle(form.attributes[f"{side}_bundle"]), form.integer(f"{side}_channel")
            )
            for side, tile_ in (("source", source), ("dest", target))
        ]
    else:
        one, port, other, there = form.items().exactly(4)
        ends = [_end(form, form.text(one), port), _end(form, form.text(other), there)]
    device.flows.append(FlowDescription([ends[0]], [ends[1]], operation))


def packet_flow(device: DeviceDescription, operation: Operation) -> None:
    """``aie.packet_flow(5) { aie.packet_source<..>  aie.packet_dest<..> }``."""
    form = OperationForm(operation)
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
    priority = form.attributes.get("priority_route", False) is True
    for packet in _packet_ids(form):
        device.flows.append(FlowDescription(sources, targets, operation, packet, _keep(form), priority))


def _packet_ids(form: OperationForm) -> list[int]:
    """The ids of a packet flow: one, or since autumn 2026 all that ``(2, mask = 30)`` matches."""
    if form.generic:
        packet, mask = form.integer("ID"), form.integer("mask", _ID_BITS)
    else:
        first, *others = form.texts()
        packet, at = form.whole(first), form.keyword("mask")
        mask = _ID_BITS
        if others:
            if at is None or len(others) > 1:
                raise form.error(f"it has {len(others)} more operands", "an id, or (2, mask = 30)")
            mask = form.whole(others[0].partition("=")[2])
    matched = [number for number in range(_ID_BITS + 1) if number & mask == packet]
    return matched if mask != _ID_BITS and matched else [packet]


def multicast(device: DeviceDescription, operation: Operation) -> None:
    """``aiex.multicast(%t, DMA : 0) { aiex.multi_dest<%a, DMA : 0> .. }``: circuits from one source."""
    source = _parenthesised(OperationForm(operation))
    for target in _inner(operation, "aiex.multi_dest"):
        device.flows.append(FlowDescription([source], [_packet_end(target)], operation))


def broadcast(device: DeviceDescription, operation: Operation) -> None:
    """``aiex.broadcast_packet(%t, DMA : 0) { aiex.bp_id(0) { aiex.bp_dest<%a, DMA : 0> .. } .. }``.

    Its packet flows stand the last first (aie-broadcast-packet).
    """
    source = _parenthesised(OperationForm(operation))
    for each in reversed(_inner(operation, "aiex.bp_id")):
        form = OperationForm(each)
        packet = form.integer("ID") if form.generic else form.whole(form.texts()[0])
        targets = [_packet_end(target) for target in _inner(each, "aiex.bp_dest")]
        device.flows.append(FlowDescription([source], targets, each, packet))


def _inner(operation: Operation, name: str) -> list[Operation]:
    blocks = (block for region in operation.regions for block in region.blocks)
    return [each for block in blocks for each in block.operations if each.name == name]


def _parenthesised(form: OperationForm) -> EndDescription:
    """``(%t, DMA : 0)``."""
    if form.generic:
        return EndDescription(form.values[0], form.bundle(form.attributes["bundle"]), form.integer("channel"))
    tile_, port = form.items().exactly(2)
    return _end(form, form.text(tile_), port)


def _keep(form: OperationForm) -> bool | None:
    """Whether headers are kept; None = nothing is said."""
    found = form.attributes.get("keep_pkt_header")
    return None if found is None else bool(found)


def switchbox(device: DeviceDescription, operation: Operation) -> None:
    """``aie.switchbox(%t) { .. }`` and ``aie.shim_mux(%t) { .. }``."""
    form = OperationForm(operation)
    found = SwitchDescription(form.values[0], operation, mux=operation.name == "aie.shim_mux")
    device.switches.append(found)
    selects: dict[str, tuple[int, int]] = {}
    for inner in (
        each for region in operation.regions for block in region.blocks for each in block.operations
    ):
        if inner.name == "aie.connect":
            found.circuits.append(_connection(inner))
        elif inner.name == "aie.amsel":
            select = OperationForm(inner)
            selects[select.result] = (
                select.integer("arbiterID", _number(select, "<")),
                select.integer("msel", _number(select, "(")),
            )
        elif inner.name == "aie.masterset":
            found.masters.append(_master(inner, selects))
        elif inner.name == "aie.packet_rules":
            found.rules.append(_rules(inner, selects))
        elif inner.name != "aie.end":
            device.unknown.setdefault(inner.name, []).append(inner)
    _check_switch(form, found)


def _check_switch(form: OperationForm, switch: SwitchDescription) -> None:
    """Refuse ports that are used twice, and slaves with more rules than they have slots (SwitchboxOp)."""
    targets = Counter((bundle, n) for _, _, bundle, n in switch.circuits)
    targets.update((bundle, n) for bundle, n, *_ in switch.masters)
    rules = Counter((bundle, n) for bundle, n, _ in switch.rules)
    rules.update({(bundle, n) for bundle, n, *_ in switch.circuits})
    for ports, what in ((targets, "the target of two connections"), (rules, "a source of packets twice")):
        twice = next((port for port, many in ports.items() if many > 1), None)
        if twice is not None:
            says = f"{twice[0]} : {twice[1]} is {what}"
            raise form.error(says, "ports with one use", reason="mlir_switch")
    for bundle, n, slots in switch.rules:
        if len(slots) > SLOTS_PER_SLAVE:
            says = f"{bundle} : {n} has {len(slots)} rules"
            raise form.error(says, f"up to {SLOTS_PER_SLAVE} for a port", reason="mlir_switch")


def allocation(device: DeviceDescription, operation: Operation) -> None:
    """``aie.shim_dma_allocation @in(%tile, MM2S, 0)``, earlier ``@in(MM2S, 0, 0)`` with a column."""
    form = OperationForm(operation)
    made = AllocationDescription(form.symbol, "S2MM", 0, operation)
    if form.generic:
        made.direction = form.direction(form.attributes["channel_dir"])
        made.channel = form.integer("channel_index")
        made.tile = form.values[0] if form.values else ""
        made.column = form.integer("col") if "col" in form.attributes else None
        made.packet = packet_of(form.attributes.get("packet"))
    else:
        texts = form.texts()
        if texts[0][:1] == "%":
            made.tile, direction, channel = texts.first(3)
            made.direction, made.channel = form.direction(direction), form.whole(channel)
        else:
            made.direction, made.channel = form.direction(texts[0]), form.whole(texts[1])
            made.column = form.whole(texts[2])
        packet = next((item for item in form.items()[2:] if "pkt_id" in form.text(item)), None)
        if packet is not None:
            made.packet = packet_of(form.value(packet))
    device.allocations[made.name] = made


def cascade_flow(device: DeviceDescription, operation: Operation) -> None:
    """``aie.cascade_flow(%from, %to)``."""
    source, target = OperationForm(operation).values.first(2)
    device.cascades.append(CascadeDescription(source, target, operation))


def configure_cascade(device: DeviceDescription, operation: Operation) -> None:
    """``aie.configure_cascade(%tile, West, East)``: where its input comes from, where its output goes."""
    form = OperationForm(operation)
    if form.generic:
        sides = [form.choice(name, BUNDLES) for name in ("inputDir", "outputDir")]
    else:
        sides = form.texts().first(3)[1:]
    device.cascade_sides.append(CascadeSides(form.values[0], sides[0], sides[1], operation))


def _end(form: OperationForm, tile_: str, port: TokenSpan) -> EndDescription:
    bundle, _, channel = form.text(port).partition(":")
    return EndDescription(tile_, form.bundle(bundle), form.whole(channel))


def _packet_end(operation: Operation) -> EndDescription:
    form = OperationForm(operation)
    if form.generic:
        return EndDescription(form.values[0], form.bundle(form.attributes["bundle"]), form.integer("channel"))
    tile_, port = form.items("<").exactly(2)
    return _end(form, form.text(tile_), port)


def _connection(operation: Operation) -> tuple[str, int, str, int]:
    form = OperationForm(operation)
    if form.generic:
        found = form.attributes
        source, target = form.bundle(found["source_bundle"]), form.bundle(found["dest_bundle"])
        return source, form.integer("source_channel"), target, form.integer("dest_channel")
    one, other = (_end(form, "", port) for port in form.items("<").exactly(2))
    return one.bundle, one.channel, other.bundle, other.channel


def _number(form: OperationForm, opening: str) -> int:
    items = form.items(opening)
    return form.whole(form.text(items[0])) if items else 0


def _master(
    operation: Operation, selects: dict[str, tuple[int, int]]
) -> tuple[str, int, int, tuple[int, ...], bool | None]:
    form = OperationForm(operation)
    if form.generic:
        bundle, channel = form.bundle(form.attributes["dest_bundle"]), form.integer("dest_channel")
    else:
        end = _end(form, "", form.items()[0])
        bundle, channel = end.bundle, end.channel
    chosen = [_selected(form, selects, value) for value in form.values]
    if not chosen:
        raise form.error("it has no amsel", "what aie.amsel gives", reason="mlir_operands")
    if len({arbiter for arbiter, _ in chosen}) > 1:
        raise form.error("it has amsels of several arbiters", "amsels of one arbiter", reason="mlir_switch")
    keep = _keep(form)
    return bundle, channel, chosen[0][0], tuple(msel for _, msel in chosen), keep


def _selected(form: OperationForm, selects: dict[str, tuple[int, int]], value: str) -> tuple[int, int]:
    """Arbiter and msel that a value stands for."""
    if value not in selects:
        raise form.error(f"{value} is no amsel of this switch", ", ".join(selects) or "aie.amsel")
    return selects[value]


def _rules(
    operation: Operation, selects: dict[str, tuple[int, int]]
) -> tuple[str, int, list[tuple[int, int, int, int]]]:
    form = OperationForm(operation)
    if form.generic:
        bundle, channel = (
            form.bundle(form.attributes["source_bundle"]),
            form.integer("source_channel"),
        )
    else:
        end = _end(form, "", form.items()[0])
        bundle, channel = end.bundle, end.channel
    slots = []
    for inner in (
        each for region in operation.regions for block in region.blocks for each in block.operations
    ):
        if inner.name == "aie.rule":
            rule = OperationForm(inner)
            if rule.generic:
                mask, value = rule.integer("mask"), rule.integer("value")
            else:
                mask, value = (rule.whole(text) for text in rule.texts().first(2))
            chosen = _selected(rule, selects, rule.values[0])
            slots.append((mask & _ID_BITS, value & _ID_BITS, *chosen))
    return bundle, channel, slots
