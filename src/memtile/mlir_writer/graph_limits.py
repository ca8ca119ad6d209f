"""What a graph has and no operation of mlir-aie says, by the graph's names."""

from __future__ import annotations

from memtile.adf.core_loop import BufferPort, KernelPort, ParameterPort
from memtile.adf.lowering import Lowered
from memtile.adf.packet_ways import PacketWays
from memtile.adf.plan import Net
from memtile.mlir_writer.machine import channel_work
from memtile.mlir_writer.refusals import refused

DEVICES = ("npu1", "npu2", "xcve2302", "xcve2802")
"""Devices of mlir-aie with memory tiles (AIEDevice of its dialect)."""


def check_graph(lowered: Lowered) -> None:
    """Refuse what cannot be written.

    Args:
        lowered: the graph.

    Raises:
        DesignError: another device; parameters that ``main`` updates or reads as the graph runs; margins of
            several readers; buffers in two tiles; packets that merge in an order; packets of several
            descriptors.
    """
    if lowered.plan.device not in DEVICES:
        raise refused(
            lowered.plan.device,
            f"the graph is for {lowered.plan.device}, which is no device of mlir-aie",
            ", ".join(DEVICES),
            "Choose one with --device.",
        )
    for core in lowered.cores.values():
        for kernel in core.kernels:
            for port in kernel.ports:
                _check_port(lowered, port)
    _check_places(lowered)
    for net in lowered.plan.nets:
        if net.packets:
            _check_order(lowered, net)
    _check_packets(lowered)


def _check_port(lowered: Lowered, port: KernelPort) -> None:
    if isinstance(port, ParameterPort):
        _check_parameter(port)
    if isinstance(port, BufferPort) and port.margin:
        pool = next(each for each in lowered.pools if each.buffers == port.buffers)
        if len(pool.readers) > 1:
            raise refused(
                port.name,
                f"{port.name} has a margin of {port.margin} bytes in buffers that {len(pool.readers)} ports "
                "read: a core that is early would write the margin while another one reads it",
                "margins in buffers of one reader",
                "Place them in cores that are not beside each other: each then has buffers of its own.",
            )


def _check_parameter(port: ParameterPort) -> None:
    if not port.is_async:
        does = "reads it after" if port.writes else "updates it before"
        says = f"{port.name} is a synchronous parameter: main {does} each call, and the text has no main"
        step = "Make it asynchronous (adf::async), or pass it as data."
    elif not port.writes and not port.written:
        says = f"{port.name} is a parameter without initial_value: its kernel waits until main updates it"
        step = "Give it an initial_value, or pass it as data."
    else:
        return
    allowed = "asynchronous parameters, those that kernels read with an initial_value"
    raise refused(port.name, says, allowed, step)


def _check_places(lowered: Lowered) -> None:
    for pool in lowered.pools:
        if any(each is not None for each in pool.rest):
            raise refused(
                pool.name,
                f"a buffer of {pool.name} lies in two memory tiles, and aie.buffer in one",
                "buffers within a memory tile",
                "Make it smaller, give it num_buffers = 1, or a location at which it fits.",
            )


def _check_order(lowered: Lowered, net: Net) -> None:
    """Refuse packets that switches merge in an order, for which mlir-aie has no operation."""
    if not PacketWays(net, lowered.lookup).order:
        return
    merges = (each for each in lowered.lookup.description.packets if each.id in net.packets)
    names = ", ".join(each.name for each in merges if each.kind != "split")
    raise refused(
        names,
        f"the packets of {names} merge in an order that switches keep, for which mlir-aie has no operation",
        "packets that merge as they come",
        "Use pktmerge, and tilings without packet_port_id behind it.",
    )


def _check_packets(lowered: Lowered) -> None:
    """Refuse packets that several descriptors fill: all but the last one suppress TLAST."""
    ends = [end for net in lowered.plan.nets if net.packets for end in net.sources]
    for tile in lowered.array.tiles:
        for work in channel_work(tile):
            if not any(bd.tlast_suppress for task in work.tasks for _, bd in work.chain(task)):
                continue
            port = next(end.port for end in ends if (end.tile, end.channel) == (tile.place, work.channel))
            name = lowered.lookup.label(port)
            raise refused(
                name,
                f"packets of {name} have several descriptors each, and aie.dma_bd ends each with TLAST",
                "packets of one descriptor",
                "Let the tilings be such that one descriptor walks each.",
            )
