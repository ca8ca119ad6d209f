"""What no plan may break, computed anew from the plan and the tables of the hardware."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from memtile.adf.plan import Blocks, End, Plan, Tile
from memtile.arch.devices import Device, device

WIDE_PLIO = 128


def faults(plan: Plan) -> list[str]:
    """Everything that a plan breaks."""
    chip = device(plan.device)
    return [
        *_overlaps(plan, chip),
        *_out_of_reach(plan, chip),
        *_channels(plan, chip),
        *_streams_of_logic(plan),
        *_volumes(plan),
        *_cascades(plan),
    ]


def _all_blocks(plan: Plan) -> Iterator[tuple[str, Blocks]]:
    yield from ((f"memory {m.memory}", m.blocks) for m in plan.memories if m.blocks)
    yield from ((f"parameter {p}", b) for p, b in plan.parameters.items())
    yield from ((f"table {t}", b) for t, b in plan.tables.items())
    yield from {k.tile: (f"stack of {k.tile}", k.stack) for k in plan.kernels if k.stack}.values()
    owners = _kernel_ports(plan)
    for net in plan.nets:
        for end in (*net.sources, *net.targets):
            if end.blocks and end.port in owners:
                yield f"port {end.port}", end.blocks


def _kernel_ports(plan: Plan) -> dict[int, int]:
    kernels = {kernel.id for kernel in plan.description.kernels}
    return {port.id: port.owner for port in plan.description.ports if port.owner in kernels}


def _pieces(blocks: Blocks, chip: Device) -> Iterator[tuple[Tile, int, int]]:
    for number, start in enumerate(blocks.offsets):
        tile = blocks.tiles[number] if blocks.tiles else blocks.tile
        memory = tile[1] in chip.memory_rows
        size = chip.kind("memory" if memory else "compute").memory_bytes
        yield tile, start, min(start + blocks.nbytes, size)
        if start + blocks.nbytes > size:
            yield (tile[0] + 1, tile[1]), 0, start + blocks.nbytes - size


def _overlaps(plan: Plan, chip: Device) -> Iterator[str]:
    taken: dict[Tile, list[tuple[int, int, str]]] = defaultdict(list)
    for name, blocks in _all_blocks(plan):
        for tile, start, stop in _pieces(blocks, chip):
            taken[tile].append((start, stop, name))
    for tile, pieces in taken.items():
        memory = tile[1] in chip.memory_rows
        size = chip.kind("memory" if memory else "compute").memory_bytes
        for one, other in pairwise(sorted(pieces)):
            if other[0] < one[1]:
                yield f"{one[2]} and {other[2]} overlap in {tile}"
        if max(stop for _, stop, _ in pieces) > size or not (memory or tile[1] in chip.compute_rows):
            yield f"{tile} has no such bytes"


def _reached(core: Tile) -> set[Tile]:
    """Own, north, south and west data memory (AM020 chapter 4)."""
    column, row = core
    return {core, (column, row + 1), (column, row - 1), (column - 1, row)}


def _out_of_reach(plan: Plan, chip: Device) -> Iterator[str]:
    cores = {kernel.kernel: kernel.tile for kernel in plan.kernels}
    owners = _kernel_ports(plan)
    for net in plan.nets:
        ends = (*net.sources, *net.targets)
        for end in ends:
            blocks = net.targets[0].blocks if net.transport == "memory" else end.blocks
            if end.port in owners and blocks:
                tiles = set(blocks.tiles) or {blocks.tile}
                if not tiles <= _reached(cores[owners[end.port]]):
                    yield f"port {end.port} does not reach its buffer"
    for port, blocks in plan.parameters.items():
        if blocks.tile not in _reached(cores[owners[port]]):
            yield f"parameter {port} is out of reach"
    for kernel in plan.kernels:
        if kernel.tile[1] not in chip.compute_rows or not 0 <= kernel.tile[0] < chip.columns:
            yield f"kernel {kernel.kernel} has no core"


def _dma(end: End, owners: dict[int, int]) -> Tile:
    return end.blocks.tile if end.blocks and end.port in owners else end.tile


def _channels(plan: Plan, chip: Device) -> Iterator[str]:
    used: dict[tuple[Tile, str, int], int] = {}
    owners = _kernel_ports(plan)
    for net in plan.nets:
        for way, ends in (("MM2S", net.sources), ("S2MM", net.targets)):
            for end in ends:
                if end.channel < 0:
                    continue
                tile = _dma(end, owners)
                role = "interface" if tile[1] == 0 else "memory" if tile[1] in chip.memory_rows else "compute"
                if end.channel >= chip.kind(role).channels:
                    yield f"{tile} has no channel {end.channel}"
                if (
                    end.blocks
                    and end.port not in owners
                    and _leaves(end.blocks, tile, chip)
                    and end.channel > 3
                ):
                    yield f"channel {end.channel} of {tile} reaches no neighbour"
                if used.setdefault((tile, way, end.channel), end.port) != end.port:
                    yield f"two ports have {way} {end.channel} of {tile}"


def _leaves(blocks: Blocks, tile: Tile, chip: Device) -> bool:
    return any(piece[0] != tile for piece in _pieces(blocks, chip))


def _streams_of_logic(plan: Plan) -> Iterator[str]:
    """Eight streams into a column, six out of it; a wide one is a pair (AM020 chapter 6)."""
    widths = {plio.port: plio.width for plio in plan.description.plios}
    used: set[tuple[int, bool, int]] = set()
    for net in plan.nets:
        for into, ends in ((True, net.sources), (False, net.targets)):
            for end in ends:
                dma = {True: {0: 3, 1: 7}, False: {0: 2, 1: 3}}[into]
                ports = [dma[end.channel]] if end.tile[1] == 0 and end.channel >= 0 else []
                if end.shim_port >= 0:
                    ports = [end.shim_port, *([end.shim_port + 1] if widths[end.port] == WIDE_PLIO else [])]
                for port in ports:
                    if (end.tile[0], into, port) in used or port >= (8 if into else 6):
                        yield f"stream {port} of column {end.tile[0]} is not free"
                    used.add((end.tile[0], into, port))


def _volumes(plan: Plan) -> Iterator[str]:
    for net in plan.nets:
        if not net.packets:
            volumes = {e.elements * e.turns for e in (*net.sources, *net.targets) if e.elements}
            if len(volumes) > 1:
                yield f"{net.name} has volumes {volumes}"


def _cascades(plan: Plan) -> Iterator[str]:
    for net in plan.nets:
        if net.transport == "cascade":
            (column, row), to = net.sources[0].tile, net.targets[0].tile
            if to not in ((column + 1, row), (column, row - 1)):
                yield f"the cascade {net.name} goes from {(column, row)} to {to}"
