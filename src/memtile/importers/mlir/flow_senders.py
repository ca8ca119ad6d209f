"""Flows of which two end at one port: a circuit has one sender, so one of the two is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memtile.errors import DesignError, InputFileError
from memtile.importers.mlir.description import DeviceDescription, EndDescription, FlowDescription
from memtile.importers.mlir.forms.operand_faults import operation_error, reading
from memtile.importers.mlir.tree import Operation

Named = Callable[[EndDescription, bool], str]


def check_senders(device: DeviceDescription, flows: Iterable[FlowDescription], named: Named) -> None:
    """Look for ports to which a circuit leads and another flow too.

    Args:
        device: with its chains.
        flows: the circuits, then the packet flows, of which several may end at one port.
        named: name of an end as messages have it, and whether words come out there.

    Raises:
        InputFileError: two flows that end at one port, at the second of them; names both.
    """
    first: dict[EndDescription, FlowDescription] = {}
    for flow in flows:
        for target in flow.targets:
            other = first.setdefault(target, flow)
            if other.sources[0] != flow.sources[0] and None in (other.packet, flow.packet):
                raise _two_senders(device, target, (other, flow), named)


def _two_senders(
    device: DeviceDescription, target: EndDescription, flows: Sequence[FlowDescription], named: Named
) -> InputFileError:
    one, two = flows
    end = named(target, True)
    says = (
        f"{end} gets the stream of {named(two.sources[0], False)} here, and in {_place(one.operation)} that "
        f"of {named(one.sources[0], False)}"
    )
    lacking = [f"{named(each, True)} has a task and no flow" for each in _without_flow(device, target)]
    step = "One of these two flows ends at the wrong channel, or has its ends swapped."
    if lacking:
        step += f" {', '.join(lacking)}."
    allowed = "one circuit to each port"
    return operation_error(two.operation, says, allowed, reason="two_drivers", step=step)


def _without_flow(device: DeviceDescription, beside: EndDescription) -> list[EndDescription]:
    """The receiving channels of the tile that have a chain of BDs and no flow."""
    ends = {target for flow in device.flows for target in flow.targets}
    chains = [
        EndDescription(chain.tile, beside.bundle, chain.channel)
        for chain in device.chains
        if chain.tile == beside.tile and chain.direction == "S2MM"
    ]
    return [each for each in dict.fromkeys(chains) if beside.bundle == "DMA" and each not in ends]


def _place(operation: Operation) -> str:
    return operation.tokens.text.where(operation.tokens.offset(operation.at))


def raise_at_flow(error: DesignError, flows: Mapping[str, Operation]) -> None:
    """Raise an error of the router at the place of its flow, if it is known; ``flows`` has them by name."""
    for problem in error.problems:
        if problem.field in flows:
            with reading(flows[problem.field]):
                raise error
