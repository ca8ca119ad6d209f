"""What mlir-aie's verifiers refuse of a device, before anything is configured.

One function a subject; each gives the operation, what is wrong, and what is allowed. What the front end of
the array, the encoder of BDs or a form of ``forms`` refuses anyway is not looked at
again. Source: AIEDialect.cpp and AIEXDialect.cpp of mlir-aie (2026-08-14), whose operation or trait each
docstring names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from memtile.arch.core import CORE, SIDE_STEPS
from memtile.arch.devices import Device
from memtile.arch.ports import PORTS, circuit_allowed
from memtile.arch.tiles import WORD_BYTES, Role, TileKind
from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.mlir.attributes import attributes
from memtile.importers.mlir.configure import port_name
from memtile.importers.mlir.description import (
    BdDescription,
    ChainDescription,
    DeviceDescription,
    SwitchDescription,
)
from memtile.importers.mlir.forms.operand_faults import operation_error
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.trace_rules import trace_faults
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.types import Shaped, shaped
from memtile.importers.mlir.value_types import operands_of, types_of, uses

_ROLES = {
    "aie.core": "compute",
    "aie.mem": "compute",
    "aie.memtile_dma": "memory",
    "aie.shim_dma": "interface",
    "aie.shim_mux": "interface",
    "aie.shim_dma_allocation": "interface",
}
"""Operations that are of one kind of tile."""
_KINDS: tuple[Role, ...] = ("compute", "memory", "interface")
_CASCADES = ("aie.put_cascade", "aie.get_cascade", "aie.putCascade", "aie.getCascade")
_OWNED = ("aie.buffer", "aie.lock")
_DMAS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
_LARGEST_SIZE, _LARGEST_STRIDE = 1 << 9, (1 << 19) - 1  # of mlir-aie's verifier, below those of the registers
_ITERATIONS = 64
_LOCAL_CHANNELS = 4  # of a memory tile; those from here on reach its own memory and locks only
_FIELD_BITS = {
    "d0_stride": 20,
    "d1_size": 10,
    "d1_stride": 20,
    "d2_stride": 20,
    "iteration_size": 6,
    "packet_id": 5,
    "packet_type": 3,
}
"""Bits of numbers of ``aiex.npu.writebd``."""
_PADS = tuple(f"d{n}_zero_{side}" for n in range(3) for side in ("before", "after"))


class Fault(NamedTuple):
    """What is wrong with an operation.

    Attributes:
        operation: that is wrong.
        says: what is wrong.
        allowed: instead.
    """

    operation: Operation
    says: str
    allowed: str


class Rules:
    """The rules for a device.

    Args:
        device: as its text has it.
        chip: that it is for.
    """

    def __init__(self, device: DeviceDescription, chip: Device) -> None:
        self.device, self.chip = device, chip

    def kind(self, tile: str) -> TileKind | None:
        """The kind of a tile; None of one that is nowhere yet, or not on the chip."""
        found = self.device.tiles.get(tile)
        if found is None:
            return None
        column, row = found.place or (0, -1)
        if 0 <= row < self.chip.rows and 0 <= column < self.chip.columns:
            interface, memory = row == 0, row in self.chip.memory_rows
            return self.chip.kind("interface" if interface else "memory" if memory else "compute")
        return next((self.chip.kind(role) for role in _KINDS if role == found.role), None)

    def owners(self) -> Iterator[Fault]:
        """IsCoreTile, IsMemTile, IsShimTile, ShimDMAAllocationOp."""
        for operation in _inside(self.device.operation):
            role, values = _ROLES.get(operation.name), OperationForm(operation).values
            kind = self.kind(values[0]) if role and values else None
            if kind is not None and kind.role != role:
                yield Fault(operation, f"its tile is of kind {kind.role}", f"tiles of kind {role}")

    def cores(self) -> Iterator[Fault]:
        """DeviceOp, CoreOp."""
        seen: dict[object, Operation] = {}
        for core in self.device.cores:
            tile = self.device.tiles.get(core.tile)
            place = core.tile if tile is None or tile.place is None else tile.place
            if place in seen:
                yield Fault(
                    core.operation,
                    f"its tile has a core already, in line {seen[place].line}",
                    "one core a tile",
                )
            seen.setdefault(place, core.operation)
            given = attributes(core.operation)
            lists = {name: given[name] for name in ("link_files", "link_merge_files") if name in given}
            if "link_with" in given and lists:
                yield Fault(core.operation, f"it has link_with and {next(iter(lists))}", "one of them")
            both = {*map(str, lists.get("link_files", ()))} & {*map(str, lists.get("link_merge_files", ()))}
            if both:
                yield Fault(core.operation, f"{min(both)} is linked and merged", "one of both")
            kind = self.chip.kind("compute")
            if core.stack >= kind.memory_bytes:
                yield Fault(
                    core.operation, f"its stack has {core.stack} bytes", f"less than {kind.memory_bytes}"
                )

    def bodies(self) -> Iterator[Fault]:
        """PutCascadeOp, GetCascadeOp, HasValidAccess: what a core does with cascades, buffers and locks."""
        for core in self.device.cores:
            for operation in core.operation.walk():
                if operation.name in _CASCADES:
                    used = uses(operation, operands_of(operation))
                    kinds = [*types_of(operation).results, *(use.kind for use in used)]
                    bits = _bits(kinds[0]) if kinds else None
                    if bits not in (None, CORE.cascade_bits):
                        says = f"the type on the cascade is {kinds[0]}"
                        yield Fault(operation, says, f"types of {CORE.cascade_bits} bits")
                yield from self._reached(operation, core.tile)

    def _reached(self, operation: Operation, tile: str) -> Iterator[Fault]:
        """Buffers and locks that a core uses are in its tile or in one beside it."""
        for name in OperationForm(operation).values:
            owner = self.device.buffers.get(name) or self.device.locks.get(name)
            if owner is None or operation.parent is None:
                continue
            found = operation.parent.region.find(name)
            one, other = (self._place(each) for each in (tile, owner.tile))
            if not isinstance(found, Operation) or found.name not in _OWNED or one is None or other is None:
                continue  # a value of the body that has the name
            kind, near = self.kind(owner.tile), (other[0] - one[0], other[1] - one[1]) in SIDE_STEPS.values()
            if kind is not None and not (near and kind.role == "compute"):
                says = f"the core of the tile at {one} does not reach {name} of the tile at {other}"
                yield Fault(operation, says, "its own tile, and compute tiles in the west, north and south")

    def _place(self, tile: str) -> tuple[int, int] | None:
        found = self.device.tiles.get(tile)
        return None if found is None else found.place

    def links(self) -> Iterator[Fault]:
        """AIEAssignCoreLinkFiles: an object file is linked in one way."""
        modes: dict[str, tuple[str, str]] = {}
        for symbol, function in self.device.functions.items():
            given = attributes(function)
            mode, file = given.get("link_with_mode"), given.get("link_with")
            if mode is not None and file is None:
                yield Fault(function, "it has link_with_mode without link_with", "both")
            elif mode not in (None, "merge"):
                yield Fault(function, f"its link_with_mode is {mode}", "merge")
            elif file is not None:
                modes[symbol] = str(file), "merged" if mode else "linked"
        ways: dict[str, str] = {}
        for core in self.device.cores:
            for file, way in _linked(core.operation, modes):
                if ways.setdefault(file, way) != way:
                    yield Fault(core.operation, f"{file} is merged and linked", "one of both in a device")

    def blocks(self) -> Iterator[Fault]:
        """HasValidBDs, DMAOp."""
        for dma in (each for each in _inside(self.device.operation) if each.name in _DMAS):
            for ring in (
                each
                for region in dma.regions
                for each in _operations(region.blocks)
                if each.name == "aie.dma"
            ):
                starts = any(
                    each.name == "aie.dma_start"
                    for region in dma.regions
                    for each in _operations(region.blocks)
                )
                if starts or any(len(region.blocks) > 1 for region in dma.regions):
                    yield Fault(ring, "aie.dma_start or blocks are beside it", "aie.dma alone, in one block")
                for region in ring.regions:
                    yield from _block(ring, list(_operations(region.blocks)), least=1)
            for region in dma.regions:
                for block in region.blocks:
                    yield from _block(dma, block.operations, least=0)

    def descriptors(self) -> Iterator[Fault]:
        """DMABDOp, MemTileDMAOp, DMAStartOp."""
        for chain in self.device.chains:
            kind = self.kind(chain.tile)
            if kind is None:
                continue
            yield from _channel(chain.operation, chain.channel, kind)
            for bd in chain.bds:
                buffer = self.device.buffers.get(bd.buffer)
                if buffer is not None:
                    yield from _pattern(bd, buffer.shape, kind)
                    yield from _numbers(bd, kind)
                    yield from self._near(chain, bd, buffer.tile, kind)

    def allocations(self) -> Iterator[Fault]:
        """ShimDMAAllocationOp."""
        for each in self.device.allocations.values():
            yield from _channel(each.operation, each.channel, self.chip.kind("interface"))

    def _near(self, chain: ChainDescription, bd: BdDescription, tile: str, kind: TileKind) -> Iterator[Fault]:
        """What a channel must not reach."""
        if kind.role != "memory" or chain.channel < _LOCAL_CHANNELS:
            return
        locks = [use.lock for use in (bd.acquire, bd.release) if use is not None]
        owners = [tile, *(self.device.locks[lock].tile for lock in locks if lock in self.device.locks)]
        if any(owner != chain.tile for owner in owners):
            says = f"channel {chain.channel} does not reach other tiles"
            yield Fault(bd.operation, says, "buffers and locks of its own tile")

    def switches(self) -> Iterator[Fault]:
        """SwitchboxOp, ShimMuxOp, TileOp."""
        seen: set[str] = set()
        for switch in self.device.switches:
            kind = self.kind(switch.tile)
            if not switch.mux and switch.tile in seen:
                yield Fault(switch.operation, "its tile has a switch already", "one for a tile")
            if not switch.mux:
                seen.add(switch.tile)
            if kind is not None and not switch.mux:
                for source, target in sorted(_connected(switch)):
                    if source not in PORTS[kind.name].slaves or target not in PORTS[kind.name].masters:
                        continue  # refused when it is configured
                    if not circuit_allowed(kind.name, source, target):
                        says = f"its tile does not connect {source} to {target}"
                        yield Fault(switch.operation, says, "connections of AM020, chapter 2")

    def objects(self) -> Iterator[Fault]:
        """LogicalTileOp; those of object FIFOs are in ``fifo_rules``."""
        for operation in self.device.operation.walk():
            if operation.name == "aie.logical_tile":
                found = self.device.tiles.get(OperationForm(operation).result)
                kind = self.kind(found.name) if found is not None and found.place else None
                if found is not None and kind is not None and kind.role != found.role:
                    yield Fault(
                        operation,
                        f"the tile at {found.place} is of kind {kind.role}",
                        f"tiles of kind {found.role}",
                    )

    def host(self) -> Iterator[Fault]:
        """NpuWriteBdOp."""
        for sequence in self.device.sequences.values():
            for operation in sequence.walk():
                if operation.name in ("aiex.npu.writebd", "aiex.npu.writebd_shimtile"):
                    yield from self._raw(operation)

    def traces(self) -> Iterator[Fault]:
        """TraceOp and what is in it; see ``trace_rules``."""
        return (Fault(*each) for each in trace_faults(self.device, self.chip, self.kind))

    def _raw(self, operation: Operation) -> Iterator[Fault]:
        given = attributes(operation)
        for name, bits in _FIELD_BITS.items():
            most = (1 << bits) - 1
            if isinstance(given.get(name), int) and given[name] > most:
                yield Fault(operation, f"its {name} is {given[name]}", f"0..{most}")
        if given.get("row") == 0:
            for name in ("d2_size", *_PADS):
                if given.get(name, 0):
                    yield Fault(operation, f"its {name} is {given[name]} on an interface tile", "0")
        elif "row" in given and given.get("burst_length", 0):
            yield Fault(operation, "only interface tiles have a burst_length", "0")


def check_rules(device: DeviceDescription, chip: Device) -> None:
    """Refuse what mlir-aie's verifiers refuse.

    Args:
        device: as its text has it.
        chip: that it is for.

    Raises:
        InputFileError: all that they would refuse.
    """
    rules = Rules(device, chip)
    found: list[Problem] = []
    for rule in RULES:
        for operation, says, allowed in rule(rules):
            found += operation_error(operation, says, allowed, reason="mlir_rule").problems
    raise_if(found, InputFileError)


RULES: tuple[Callable[[Rules], Iterator[Fault]], ...] = (
    Rules.owners,
    Rules.cores,
    Rules.bodies,
    Rules.links,
    Rules.blocks,
    Rules.descriptors,
    Rules.allocations,
    Rules.switches,
    Rules.objects,
    Rules.host,
    Rules.traces,
)


def _linked(core: Operation, modes: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Object files of a core, and whether they are merged or linked."""
    given = attributes(core)
    for name, way in (("link_files", "linked"), ("link_merge_files", "merged")):
        yield from ((str(file), way) for file in given.get(name, ()))
    if "link_with" in given:
        yield str(given["link_with"]), "linked"
    for operation in core.walk():
        if operation.name in ("func.call", "call"):
            form = OperationForm(operation)
            name = str(form.attributes.get("callee", form.symbol))
            if name in modes:
                yield modes[name]


def _bits(kind: str) -> int | None:
    """Bits of a type; None if that is not known."""
    found = shaped(kind)
    read = re.fullmatch(r"[a-z]+(\d+)", kind if found is None else found.element)
    return int(read[1]) * (1 if found is None else found.elements) if read else None


def _inside(operation: Operation) -> Iterator[Operation]:
    return (each for region in operation.regions for each in _operations(region.blocks))


def _operations(blocks: Iterable[OperationBlock]) -> Iterator[Operation]:
    return (each for block in blocks for each in block.operations)


def _channel(operation: Operation, channel: int, kind: TileKind) -> Iterator[Fault]:
    if not 0 <= channel < kind.channels:
        yield Fault(operation, f"the {kind.title} has no channel {channel}", f"0..{kind.channels - 1}")


def _block(owner: Operation, operations: Sequence[Operation], *, least: int) -> Iterator[Fault]:
    """A block of a BD: one BD, and each side of its locks once."""
    names = Counter(each.name for each in operations)
    if not least <= names["aie.dma_bd"] <= 1:
        says = f"a block of it has {names['aie.dma_bd']} BDs"
        yield Fault(owner, says, "one aie.dma_bd a block")
    uses = [each for each in operations if each.name == "aie.use_lock"]
    actions = Counter("release" if _releases(each) else "acquire" for each in uses)
    if names["aie.dma_bd"]:
        for action, many in actions.items():
            if many > 1:
                yield Fault(uses[-1], f"its block has {many} of {action}", f"one {action} a block")


def _releases(operation: Operation) -> bool:
    form = OperationForm(operation)
    return form.attributes.get("action") == 1 if form.generic else "Release" in form.texts()[1]


def _pattern(bd: BdDescription, shape: Shaped, kind: TileKind) -> Iterator[Fault]:
    """Sizes, strides and padding of a BD."""
    levels, elements = bd.levels, shape.elements
    last = sum(level.stride * (level.size - 1) for level in levels)
    if levels and 0 <= elements <= last:
        says = f"its sizes and strides reach element {last} of {elements}"
        yield Fault(bd.operation, says, f"elements 0..{elements - 1}")
    linear = kind.role == "interface" and _is_contiguous(bd)
    for size, stride in levels:
        if not 1 <= stride <= _LARGEST_STRIDE:
            yield Fault(bd.operation, f"it has a stride of {stride}", f"1..{_LARGEST_STRIDE}")
        if size > _LARGEST_SIZE and not linear:
            yield Fault(bd.operation, f"it has a size of {size}", f"up to {_LARGEST_SIZE}")
    width = shape.dtype.itemsize if shape.dtype is not None else WORD_BYTES
    if levels and levels[-1].stride != 1 and width != WORD_BYTES:
        says = f"its innermost stride is {levels[-1].stride} on elements of {width} bytes"
        yield Fault(bd.operation, says, "1")
    if bd.padding and len(bd.padding) == len(levels):
        padded = prod(pad[0] + pad[1] + level.size for pad, level in zip(bd.padding, levels, strict=True))
        if bd.length is not None and padded > bd.length:
            says = f"its sizes and padding make {padded} elements, more than its length of {bd.length}"
            yield Fault(bd.operation, says, f"up to {bd.length}")


def _is_contiguous(bd: BdDescription) -> bool:
    """Whether the elements of a pattern lie behind each other."""
    expected = 1
    for level in reversed(bd.levels):
        if level.stride != expected and (level.size > 1 or expected == 1):
            return False
        expected *= level.size
    return True


def _numbers(bd: BdDescription, kind: TileKind) -> Iterator[Fault]:
    """Number of the BD behind it, and iteration."""
    following = attributes(bd.operation).get("next_bd_id")
    if isinstance(following, int) and not 0 <= following < kind.bds:
        yield Fault(bd.operation, f"its next_bd_id is {following}", f"0..{kind.bds - 1}")
    if bd.iteration is not None:
        size, _, current = bd.iteration
        if not 1 <= size <= _ITERATIONS:
            yield Fault(bd.operation, f"its iteration has a size of {size}", f"1..{_ITERATIONS}")
        elif not 0 <= current < size:
            yield Fault(bd.operation, f"its iteration is at {current} of {size}", f"0..{size - 1}")


def _connected(switch: SwitchDescription) -> set[tuple[str, str]]:
    """Ports that a switch connects: circuits, and packets by arbiter and msel."""
    found = {(port_name(one, n), port_name(to, m)) for one, n, to, m in switch.circuits}
    for bundle, n, slots in switch.rules:
        for to, m, arbiter, msels, _ in switch.masters:
            if any(slot[2] == arbiter and slot[3] in msels for slot in slots):
                found.add((port_name(bundle, n), port_name(to, m)))
    return found
