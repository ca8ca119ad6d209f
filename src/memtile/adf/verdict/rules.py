"""The rules of AMD's compiler that are public: each yields what it would refuse.

A rule asks only what the graph fixes; what AMD's mapper is free to choose refuses nothing, but for the DMA
channels of a memory tile, whose choice is published (DEV-ADF-61).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from memtile.adf.description import MemoryObject, Place, Port
from memtile.adf.objects import BUFFERS
from memtile.adf.rates import access_of
from memtile.adf.verdict.allocation import Use, memory_tile_uses
from memtile.adf.verdict.descriptors import SOURCE as COUNTING
from memtile.adf.verdict.descriptors import compiler_bds
from memtile.adf.verdict.ours import our_bds
from memtile.adf.verdict.subject import Rule, Subject
from memtile.adf.verdict.verdicts import Verdict
from memtile.arch.ports import PORTS, port_kind
from memtile.arch.tiles import WORD_BYTES

FIRST_GENERATION_STREAMS = 2
"""Streams of a core of the first generation in each direction (AM009 chapter 4)."""
CORE_STREAMS = sum(port_kind(name) == "CORE" for name in PORTS["compute"].masters)
"""Streams of a core in each direction (AM020 chapter 3)."""


def memory_tile_descriptors(subject: Subject) -> Iterator[Verdict]:
    """77-4352: more descriptors than the channels of one parity reach."""
    kind = subject.device.kind("memory")
    banks: dict[tuple[object, int], list[Use]] = defaultdict(list)
    for use in memory_tile_uses(subject.objects, subject.device, subject.places):
        banks[use.tile, use.channel % len(kind.bd_banks)].append(use)
    refused: set[int] = set()
    for (_, parity), uses in banks.items():
        most, taken = len(kind.bd_bank(parity)), 0
        for number, use in enumerate(uses):
            taken += use.bds
            memory = use.memory
            if taken > most and memory.id not in refused:
                refused.add(memory.id)
                yield _too_many_descriptors(subject, uses[: number + 1], memory, parity, most)


def _too_many_descriptors(
    subject: Subject, uses: list[Use], memory: MemoryObject, parity: int, most: int
) -> Verdict:
    kind, taken = subject.device.kind("memory"), sum(use.bds for use in uses)
    channels = ", ".join(map(str, range(parity, kind.channels, len(kind.bd_banks))))
    parts = ", ".join(f"{use.port.name} {use.bds} on {use.direction} {use.channel}" for use in uses)
    own = [our_bds(subject.objects, subject.objects.ports[p]) for p in (*memory.inputs, *memory.outputs)]
    needs = f"needs {sum(own)} descriptors for {memory.name}" if all(own) else "does not count descriptors so"
    alone = max(use.bds for use in uses) > most
    known = alone or all(use.fixed for use in uses)
    step = (
        "Traverse fewer dimensions or larger tiles" if alone else "Put its ports on channels of both parities"
    )
    return Verdict(
        "77-4352",
        subject.objects.where(memory.id),
        f"the buffers of the tile need {taken} descriptors of {most} that channels {channels} reach: {parts}",
        needs,
        f"{step}.",
        f"{COUNTING}; Memory Tiles, test cases 1 and 4",
        "manual" if known else "assumed",
        {"needed": taken, "available": most},
    )


def kernel_descriptors(subject: Subject) -> Iterator[Verdict]:
    """77-4352 at a core: tilings of its ports that take more descriptors than a tile has."""
    kind = subject.device.kind("compute")
    for kernel in subject.objects.description.kernels:
        ports = [subject.objects.ports[p] for p in kernel.ports]
        tiled = [p for p in ports if p.kind in BUFFERS and access_of(p)]
        counts = [compiler_bds(access_of(p), p.dimensions, kind.dimensions) for p in tiled]
        if sum(counts) > kind.bds:
            parts = ", ".join(f"{p.name} {n}" for p, n in zip(tiled, counts, strict=True))
            yield Verdict(
                "77-4352",
                subject.objects.where(kernel.id),
                f"the tilings of the kernel need {sum(counts)} descriptors of {kind.bds}: {parts}",
                "lowers each tiling to the fewest descriptors",
                "Traverse fewer dimensions or larger tiles.",
                COUNTING,
                "assumed",
                {"needed": sum(counts), "available": kind.bds},
            )


def streams_of_kernels(subject: Subject) -> Iterator[Verdict]:
    """77-4280 and 77-4281: more streams than a core has; kernels with equally many are one verdict."""
    for number, direction, what in (("77-4280", "in", "input"), ("77-4281", "out", "output")):
        crowded: dict[int, list[int]] = defaultdict(list)
        for kernel in subject.objects.description.kernels:
            ports = [subject.objects.ports[p] for p in kernel.ports]
            count = sum(port.direction == direction and port.kind == "stream" for port in ports)
            crowded[count].append(kernel.id)
        for count, (first, *others) in sorted(crowded.items()):
            if count > CORE_STREAMS:
                more = f", as have {len(others)} other kernels" if others else ""
                yield Verdict(
                    number,
                    subject.objects.where(first),
                    f"the kernel has {count} {what} streams{more}; an AIE-ML core has {CORE_STREAMS}",
                    "refuses it too, because the core has no other port",
                    _fewer_streams(count),
                    "AM020 chapter 3: streams of a core; message published for the first generation",
                    "report",
                    {"needed": count, "available": CORE_STREAMS, "kernels": 1 + len(others)},
                )


def _fewer_streams(count: int) -> str:
    """What to do; whoever wrote for two streams learns where they are."""
    step = "use buffers, or packets on one stream."
    if count > FIRST_GENERATION_STREAMS:
        return step.capitalize()
    return f"Cores of the first generation have {FIRST_GENERATION_STREAMS}; for AIE-ML, {step}"


def whole_words(subject: Subject) -> Iterator[Verdict]:
    """77-23295: a buffer of a kernel that a DMA moves, and that is no whole number of words."""
    for port in _moved_by_dma(subject):
        nbytes = subject.rates.blocks.get(port.id, 0) * port.element_bytes
        if nbytes % WORD_BYTES:
            yield Verdict(
                "77-23295",
                subject.objects.where(port.id),
                f"the buffer has {nbytes:,} bytes, which is no multiple of {WORD_BYTES}",
                "refuses it too, because a DMA moves words of 4 bytes",
                "Round the dimensions up.",
                "message published by a user of aiecompiler",
                "report",
                {"needed": nbytes, "available": nbytes // WORD_BYTES * WORD_BYTES},
            )


def _moved_by_dma(subject: Subject) -> Iterator[Port]:
    """Ports of kernels whose net leads elsewhere than to kernels: two kernels may share a memory."""
    for net in subject.nets:
        ports = [subject.objects.ports[tap.port] for tap in (*net.sources, *net.targets)]
        if any(port.kind not in BUFFERS for port in ports):
            yield from (port for port in ports if port.kind in BUFFERS)


def reach_of_channels(subject: Subject) -> Iterator[Verdict]:
    """77-5767: a DMA channel that does not reach the buffer that its port is for."""
    near = subject.device.kind("memory").neighbour_channels
    for memory in subject.objects.description.memories:
        tiles = [p for p in subject.places("buffer", memory.id) if p.kind in ("address", "bank")]
        for number in (*memory.inputs, *memory.outputs) if not memory.external else ():
            for dma in subject.places("dma", number):
                wrong = [t for t in tiles if not _reaches(dma, t, near)]
                if dma.kind == "dma_channel" and dma.tile_kind == "memory_tile" and wrong:
                    yield _out_of_reach(subject, subject.objects.ports[number], dma, wrong[0])


def _reaches(dma: Place, tile: Place, near: tuple[int, ...]) -> bool:
    distance = abs(dma.column - tile.column)
    return dma.row == tile.row and (not distance or (distance == 1 and dma.number in near))


def _out_of_reach(subject: Subject, port: Port, dma: Place, tile: Place) -> Verdict:
    near = subject.device.kind("memory").neighbour_channels
    return Verdict(
        "77-5767",
        subject.objects.where(port.id),
        f"channel {dma.number} of memory tile ({dma.column}, {dma.row}) does not reach the buffer in "
        f"({tile.column}, {tile.row}); channels {near[0]} to {near[-1]} reach the tiles beside theirs too",
        "refuses it too, because the channel has no such address",
        "Change location<dma> or location<buffer>.",
        "AM020 chapter 5: access to neighbouring memory tiles; message published by a user of aiecompiler",
        "report",
        {"needed": abs(dma.column - tile.column), "available": int(dma.number in near)},
    )


def same_channel(subject: Subject) -> Iterator[Verdict]:
    """Two ports that the graph puts on one DMA channel."""
    taken: dict[tuple[object, ...], Port] = {}
    for port in subject.objects.description.ports:
        for dma in subject.places("dma", port.id):
            key = (dma.tile_kind, dma.column, dma.row, port.direction, dma.number)
            other = taken.setdefault(key, port)
            if other.id != port.id:
                yield Verdict(
                    "",
                    subject.objects.where(port.id),
                    f"{port.name} and {other.name} are on channel {dma.number} of one tile and direction",
                    "refuses it too",
                    "Give one of them another channel.",
                    "UG1603: DMA Channel Location",
                    "manual",
                    {"needed": 2, "available": 1},
                )


def overlapping_buffers(subject: Subject) -> Iterator[Verdict]:
    """77-23879: shared buffers that the graph puts on the same bytes of a memory tile."""
    spans = []
    for memory in subject.objects.description.memories:
        nbytes = subject.objects.buffer_bytes(subject.objects.ports[(*memory.inputs, *memory.outputs)[0]])
        for place in subject.places("buffer", memory.id):
            if place.kind == "address" and not memory.external:
                spans.append((memory, place, range(place.number, place.number + nbytes)))
    for (one, at, a), (other, there, b) in combinations(spans, 2):
        meets = (at.column, at.row) == (there.column, there.row) and a.start < b.stop and b.start < a.stop
        if meets and one.id != other.id:
            yield Verdict(
                "77-23879",
                subject.objects.where(other.id),
                f"bytes {b.start:,} to {b.stop - 1:,} of memory tile ({at.column}, {at.row}) overlap "
                f"{one.name}, "
                f"which has {a.start:,} to {a.stop - 1:,}",
                "refuses it too",
                "Move one of them.",
                "message published by a user of aiecompiler: overlap of buffers in memory tiles",
                "report",
                {"needed": b.stop, "available": a.start},
            )


def access_patterns(subject: Subject) -> Iterator[Verdict]:
    """77-5379: a port of a shared buffer without a tiling."""
    for memory in subject.objects.description.memories:
        for number in (*memory.inputs, *memory.outputs) if not memory.external else ():
            port = subject.objects.ports[number]
            if not access_of(port):
                which = "write_access" if number in memory.inputs else "read_access"
                yield Verdict(
                    "77-5379",
                    subject.objects.where(number, memory.line),
                    f"the port has no {which}",
                    "runs it: all elements in order",
                    f"Give the port a {which}, of one tile as large as the buffer.",
                    "UG1603: AI Engine-ML Memory Tile Access; message published by a user of aiecompiler",
                    "report",
                )


def size_of_memory_tiles(subject: Subject) -> Iterator[Verdict]:
    """Shared buffers of a memory tile that are larger than it together."""
    most = subject.device.kind("memory").memory_bytes
    used: dict[tuple[int, int], int] = defaultdict(int)
    for memory in subject.objects.description.memories:
        nbytes = subject.objects.buffer_bytes(subject.objects.ports[(*memory.inputs, *memory.outputs)[0]])
        for place in subject.places("buffer", memory.id) if not memory.external else ():
            if place.kind not in ("address", "bank"):
                continue
            used[place.column, place.row] += nbytes
            if used[place.column, place.row] > 2 * most:
                yield Verdict(
                    "",
                    subject.objects.where(memory.id),
                    f"the buffers of memory tile ({place.column}, {place.row}) have "
                    f"{used[place.column, place.row]:,} bytes; with its neighbour it has {2 * most:,}",
                    "refuses it too",
                    "Move buffers to another tile.",
                    "UG1603: Up to 1 MB Shared Buffer",
                    "manual",
                    {"needed": used[place.column, place.row], "available": 2 * most},
                )


def unequal_volumes(subject: Subject) -> Iterator[Verdict]:
    """Both ends of a connection pass another volume in an iteration."""
    for problem in subject.problems:
        yield Verdict(
            "",
            problem.where,
            problem.says or f"{problem.field} is {problem.given}",
            "refuses it too",
            problem.next_step,
            problem.source,
            "manual",
        )


RULES: tuple[Rule, ...] = (
    unequal_volumes,
    memory_tile_descriptors,
    kernel_descriptors,
    reach_of_channels,
    same_channel,
    overlapping_buffers,
    size_of_memory_tiles,
    streams_of_kernels,
    whole_words,
    access_patterns,
)
