"""Rules on what a device, a column or a core has: more is asked for than there is.

47-51 is AMD's message where its mapper finds no place; UG1076 lists what leads to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from memtile.adf.description import Port
from memtile.adf.nets import Wiring
from memtile.adf.sizes import block_bytes
from memtile.adf.verdict.locations import CHECKS, buffer_places
from memtile.adf.verdict.subject import Rule, Subject, Tile
from memtile.adf.verdict.verdicts import Verdict
from memtile.arch.core import CASCADE_STEPS
from memtile.arch.pl_interface import LOGIC_COLUMNS, LOGIC_MASTERS, LOGIC_SLAVES, PAIRED_BITS
from memtile.arch.ports import MERGE_POSITIONS, PORTS, port_kind
from memtile.design.packet_switches import IDS

_MAPPER = "UG1076: Checking User-Defined Constraints"
_COLUMN = "message published by a user of aiecompiler (Aries, issue 110)"
_REFUSED = "refuses it too"
_HALF = 0.5


def runtime_ratios(subject: Subject) -> Iterator[Verdict]:
    """Kernels that the graph puts into one core, with ratios above 1 together."""
    cores: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    for kernel in subject.objects.description.kernels:
        for place in subject.places("kernel", kernel.id):
            if place.kind == "tile" and kernel.runtime_ratio is not None:
                cores[place.column, place.row].append((kernel.id, kernel.runtime_ratio))
    for (column, row), kernels in cores.items():
        total = round(sum(ratio for _, ratio in kernels), 6)
        if len(kernels) > 1 and total > 1:
            names = ", ".join(subject.objects.name(number) for number, _ in kernels)
            yield Verdict(
                "",
                subject.objects.where(kernels[-1][0]),
                f"the runtime ratios of {names} in core ({column}, {row}) add up to {total:g}; "
                "at most 1 is allowed",
                _REFUSED,
                "Lower the ratios, or move a kernel.",
                "UG1603: Run-Time Ratio",
                "manual",
                {"needed": round(total * 100), "available": 100},
            )


def kernels_of_device(subject: Subject) -> Iterator[Verdict]:
    """More kernels that need a core each than the device has cores."""
    cores = subject.device.columns * subject.rows("compute")
    kernels = subject.objects.description.kernels
    alone = [kernel for kernel in kernels if kernel.runtime_ratio and kernel.runtime_ratio > _HALF]
    if len(alone) > cores:
        yield Verdict(
            "",
            subject.objects.where(alone[cores].id),
            f"{len(alone)} kernels have runtime ratios above {_HALF:g}, so that no two share a core; "
            f"{subject.device.name} has {cores} cores",
            _REFUSED,
            "Use fewer kernels, lower ratios where they allow it, or a larger device.",
            "UG1603: Run-Time Ratio",
            "manual",
            {"needed": len(alone), "available": cores},
        )


def cascades(subject: Subject) -> Iterator[Verdict]:
    """47-51: a cascade between placed kernels that goes neither east nor south."""
    for net in subject.nets:
        ports = [subject.objects.ports[tap.port] for tap in (*net.sources[:1], *net.targets[:1])]
        spots = [subject.core(port.owner) for port in ports]
        if len(ports) < 2 or ports[0].kind != "cascade" or not spots[0] or not spots[1]:
            continue
        (column, row), target = spots[0], spots[1]
        allowed = [(column + CASCADE_STEPS[way][0], row + CASCADE_STEPS[way][1]) for way in ("east", "south")]
        if target not in allowed:
            yield Verdict(
                "47-51",
                subject.objects.where(ports[1].id, net.connections[-1].line),
                f"the cascade of core {spots[0]} leads to core {allowed[0]} or {allowed[1]}, not to {target}",
                _REFUSED,
                "Change one of the locations.",
                f"{_MAPPER}; AM020 chapter 4: cascade",
                "manual",
            )


def memory_of_cores(subject: Subject) -> Iterator[Verdict]:
    """47-51: buffers that the graph puts into the memory of one core, and that it cannot hold."""
    most = subject.device.kind("compute").memory_bytes
    used: dict[Tile, dict[int, int]] = defaultdict(dict)
    for port, place in buffer_places(subject):
        inside = used[place.column, place.row]
        inside[port.id] = inside.get(port.id, 0) + block_bytes(port, subject.rates)
    for tile, inside in used.items():
        if sum(inside.values()) > most:
            parts = ", ".join(f"{subject.objects.name(port)} {nbytes:,}" for port, nbytes in inside.items())
            yield Verdict(
                "47-51",
                subject.objects.where(next(reversed(inside))),
                f"the buffers placed in core {tile} have {sum(inside.values()):,} bytes, its memory has "
                f"{most:,}: {parts}",
                _REFUSED,
                "Put some of them into the memory of a neighbour, or make one of them single_buffer.",
                _MAPPER,
                "manual",
                {"needed": sum(inside.values()), "available": most},
            )


def channels_of_cores(subject: Subject) -> Iterator[Verdict]:
    """47-51: buffers that the graph puts into one core, and that need more DMA channels than it has."""
    most = subject.device.kind("compute").channels
    used: dict[tuple[Tile, str], dict[int, Port]] = defaultdict(dict)
    for port, place in buffer_places(subject):
        if subject.leaves_by_dma(port):
            used[(place.column, place.row), port.direction][port.id] = port
    for (tile, direction), ports in used.items():
        if len(ports) > most:
            names = ", ".join(port.name for port in ports.values())
            yield Verdict(
                "47-51",
                subject.objects.where(next(reversed(ports))),
                f"core {tile} has {most} DMA channels for {direction}put, and {len(ports)} buffers placed "
                f"there need one: {names}",
                _REFUSED,
                "Put some of them into the memory of a neighbour.",
                _MAPPER,
                "manual",
                {"needed": len(ports), "available": most},
            )


def gmio_channels(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-7: more GMIO than interface tiles have DMA channels."""
    device = subject.device
    most = len(device.noc_columns) * device.kind("interface").channels
    for direction in ("in", "out"):
        gmios = [gmio for gmio in subject.objects.description.gmios if gmio.direction == direction]
        if len(gmios) > most:
            yield Verdict(
                "AIE-PRE-MAPPER-7",
                subject.objects.where(gmios[-1].id),
                f"{len(gmios)} {direction}put GMIO need a DMA channel each, {device.name} has {most} "
                f"({device.kind('interface').channels} in each of {len(device.noc_columns)} columns)",
                _REFUSED,
                "Use fewer GMIO, or packets.",
                CHECKS,
                "manual",
                {"needed": len(gmios), "available": most},
            )


def streams_of_logic(subject: Subject) -> Iterator[Verdict]:
    """AIE-PRE-MAPPER-6: more PLIO than interface tiles have ports, or streams to and from the array."""
    device, plios = subject.device, subject.objects.description.plios
    columns = LOGIC_COLUMNS.get(device.name, device.columns)
    switch = PORTS[device.kind("interface").name]
    for direction, ports, ways in (
        ("in", LOGIC_SLAVES, switch.masters),
        ("out", LOGIC_MASTERS, switch.slaves),
    ):
        mine = [plio for plio in plios if plio.direction == direction]
        wide = sum(2 if plio.width >= PAIRED_BITS else 1 for plio in mine)
        through = sum(port_kind(name) == "NORTH" for name in ways)
        for used, each, what in (
            (len(mine), through, "streams between interface tile and array"),
            (wide, len(ports), "ports of 64 bits"),
        ):
            if used > each * columns:
                yield Verdict(
                    "AIE-PRE-MAPPER-6",
                    subject.objects.where(mine[-1].id),
                    f"{direction}put PLIO need {used} {what}, {device.name} has {each * columns} "
                    f"({each} in each of {columns} columns)",
                    "runs it where its own device has that many",
                    "Use fewer or narrower PLIO, or packets.",
                    f"{CHECKS}; message published by a user of aiecompiler",
                    "report",
                    {"needed": used, "available": each * columns},
                )
                break


def streams_between_columns(subject: Subject) -> Iterator[Verdict]:
    """35-3253: more nets from a column to the next one than switches have streams."""
    device = subject.device
    switches = [(device.kind("compute").name, subject.rows("compute")), (device.kind("interface").name, 1)]
    most = sum(
        rows * len([port for port in PORTS[name].masters if port_kind(port) == "EAST"])
        for name, rows in switches
    )
    crossing: dict[tuple[int, str], list[Wiring]] = defaultdict(list)
    for net in subject.nets:
        for column, way in _crossed(subject, net):
            crossing[column, way].append(net)
    for (column, way), nets in sorted(crossing.items()):
        if len(nets) > most:
            yield Verdict(
                "35-3253",
                subject.objects.where(nets[most].sources[0].port),
                f"{len(nets)} nets leave column {column} to the {way}, where switches have {most} streams",
                "refuses it too: no way is left",
                "Move kernels nearer to what they exchange data with, or use packets.",
                _COLUMN,
                "report",
                {"needed": len(nets), "available": most},
            )
            return


def _crossed(subject: Subject, net: Wiring) -> Iterator[tuple[int, str]]:
    """Columns that a net leaves, and to which side, wherever its ends have places; memory takes no stream."""
    ports = [subject.objects.ports[tap.port] for tap in (*net.sources, *net.targets)]
    columns = [_column(subject, port) for port in ports]
    first = columns[0]
    far = [column for column in columns[1:] if column is not None]
    if first is None or not far or len(net.sources) > 1 or ports[0].kind == "cascade":
        return
    near = 1 if all(port.kind in ("buffer", "window", "async_buffer") for port in ports) else 0
    for column in range(first, max(far) - near):
        yield column, "east"
    for column in range(first, min(far) + near, -1):
        yield column, "west"


def _column(subject: Subject, port: Port) -> int | None:
    """The column that the graph gives to the owner of a port."""
    spot = subject.core(port.owner)
    if spot:
        return spot[0]
    places = (*subject.places("PLIO", port.owner), *subject.places("GMIO", port.owner))
    return next((place.column for place in places if place.kind == "shim"), None)


def ways_of_packets(subject: Subject) -> Iterator[Verdict]:
    """A split or a merge with more ways than a header has numbers."""
    for packets in subject.objects.description.packets:
        ways = max(len(packets.inputs), len(packets.outputs))
        if ways > IDS:
            yield Verdict(
                "",
                subject.objects.where(packets.id),
                f"it has {ways} ways, a packet's header has {IDS} numbers",
                _REFUSED,
                f"Use several of at most {IDS} ways.",
                "UG1079: Packet Split and Merge Connections",
                "manual",
                {"needed": ways, "available": IDS},
            )


def inputs_of_ordered_merges(subject: Subject) -> Iterator[Verdict]:
    """A pktorderedmerge with more inputs than one switch merges in order."""
    for merge in subject.objects.description.packets:
        if merge.kind == "ordered_merge" and len(merge.inputs) > MERGE_POSITIONS:
            yield Verdict(
                "",
                subject.objects.where(merge.id),
                f"the merge has {len(merge.inputs)} inputs; users found no route for more than "
                f"{MERGE_POSITIONS}",
                "merges them in several switches on their way (DEV-ADF-100)",
                "Merge fewer, and what kernels make of them in a further merge.",
                "AM025: Stream_Switch_Deterministic_Merge; measured in a public design",
                "report",
                {"needed": len(merge.inputs), "available": MERGE_POSITIONS},
            )


RULES: tuple[Rule, ...] = (
    runtime_ratios,
    kernels_of_device,
    cascades,
    memory_of_cores,
    channels_of_cores,
    gmio_channels,
    streams_of_logic,
    streams_between_columns,
    ways_of_packets,
    inputs_of_ordered_merges,
)
