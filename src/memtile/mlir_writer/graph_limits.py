"""What a graph has and no operation of mlir-aie says, by the graph's names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from memtile.adf.core_loop import BufferPort, KernelPort, ParameterPort
from memtile.adf.host_record import Updated
from memtile.adf.lowering import Lowered
from memtile.adf.packet_ways import PacketWays
from memtile.adf.plan import Net
from memtile.bd.descriptor import Descriptor
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
    _check_descriptors(lowered)


def check_updates(lowered: Lowered, updates: Sequence[Updated]) -> None:
    """Refuse parameters that ``main`` changes once the graph runs, and those that take part in each call.

    Args:
        lowered: the graph.
        updates: of its ``main``.

    Raises:
        DesignError: there is one.
    """
    values: dict[int, bytes] = {}
    for each in updates:
        port = lowered.parameters[each.port]
        if not port.is_async:
            _check_parameter(port)
        if each.runs and values.get(each.port) != each.data:
            raise refused(
                port.name,
                f"main updates {port.name} after run(), and the text has no main",
                "parameters that keep the value which they have at the first run()",
                "Update it before the first run() alone, or pass it as data.",
            )
        values[each.port] = each.data


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
        says = f"{port.name} is a parameter without a value: its kernel waits until main updates it"
        step = "Give it an initial_value, update it before the first run(), or pass it as data."
    else:
        return
    allowed = "asynchronous parameters, with a value before the first run() if kernels read them"
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


def _check_descriptors(lowered: Lowered) -> None:
    """Refuse packets that several descriptors fill, and padding that a descriptor's length cuts off."""
    ends = [end for net in lowered.plan.nets for end in net.sources]
    for tile in lowered.array.tiles:
        for work in channel_work(tile):
            chain = [bd for task in work.tasks for _, bd in work.chain(task)]
            mine = (end.port for end in ends if (end.tile, end.channel) == (tile.place, work.channel))
            name = lowered.lookup.label(port) if (port := next(mine, None)) is not None else tile.title
            if any(bd.tlast_suppress for bd in chain):  # all but the last one of a packet
                raise refused(
                    name,
                    f"packets of {name} have several descriptors each, and aie.dma_bd ends each with TLAST",
                    "packets of one descriptor",
                    "Let the tilings be such that one descriptor walks each.",
                )
            if cut := next((bd for bd in chain if _is_cut(bd)), None):
                raise refused(
                    name,
                    f"a descriptor of {name} ends after {cut.length} words, within its padding, and "
                    "aie.dma_bd moves all of it",
                    "tilings that are padded as a whole",
                    "Choose a tiling whose last elements are those of its last dimension.",
                )


def _is_cut(bd: Descriptor) -> bool:
    """Whether a descriptor with padding is at its end before its dimensions are."""
    pads = [*bd.pad, *[(0, 0)] * len(bd.dims)]
    wraps = [wrap for _, wrap in bd.dims]
    return (
        any(map(any, bd.pad))
        and all(wraps)
        and bd.length != prod(wrap + sum(pad) for wrap, pad in zip(wraps, pads, strict=False))
    )
