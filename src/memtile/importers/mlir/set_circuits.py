"""Which flows of a text its switches have already: texts of 2023 and 2024 keep them beside their routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from memtile.importers.mlir.description import DeviceDescription, EndDescription, FlowDescription, Place

_BEYOND = {
    "North": ("South", 0, 1),
    "South": ("North", 0, -1),
    "East": ("West", 1, 0),
    "West": ("East", -1, 0),
}
Port = tuple[Place, bool, str, int]
"""Where words come in: a place, whether at its multiplexer, bundle and channel."""


def is_routed(device: DeviceDescription) -> bool:
    """Whether mlir-aie's router was there before; it keeps packet flows, and sets what circuits need."""
    packets = any(flow.packet is not None for flow in device.flows)
    ruled = not packets or any(switch.rules for switch in device.switches)
    return bool(device.switches) and ruled and not open_flows(device)


def open_flows(device: DeviceDescription) -> list[FlowDescription]:
    """The flows without packets that no circuits of the text's switches lead to all of their ends."""
    steps = defaultdict[Port, list[tuple[str, int]]](list)
    for switch in device.switches:
        place = device.tiles[switch.tile].place
        if place is not None:
            for source, channel, target, number in switch.circuits:
                steps[place, switch.mux, source, channel].append((target, number))
    circuits = [flow for flow in device.flows if flow.packet is None]
    return [flow for flow in circuits if not steps or not _leads(device, steps, flow)]


def _leads(
    device: DeviceDescription, steps: Mapping[Port, Sequence[tuple[str, int]]], flow: FlowDescription
) -> bool:
    def port(end: EndDescription, mux: bool) -> Port | None:
        place = device.tiles[end.tile].place
        return None if place is None else (place, mux, end.bundle, end.channel)

    seen = set[Port]()
    rest = [found for mux in (True, False) if (found := port(flow.sources[0], mux)) in steps]
    while rest:
        here = rest.pop()
        if here is not None and here not in seen:
            seen.add(here)
            rest += [following for target in steps.get(here, ()) for following in behind(here, target)]
    return all({port(end, True), port(end, False)} & seen for end in flow.targets)


def behind(here: Port, target: tuple[str, int]) -> list[Port]:
    """Where words that a switch or a multiplexer sends to a port come in, or end."""
    (column, row), mux, *_ = here
    bundle, channel = target
    if mux:
        return [((column, row), False, "South", channel) if bundle == "North" else (here[0], True, *target)]
    beyond, right, up = _BEYOND.get(bundle, (bundle, 0, 0))
    found: list[Port] = [((column + right, row + up), False, beyond, channel)]
    return [*found, (here[0], True, "North", channel)] if bundle == "South" else found
