"""A description into an array: memory, locks, DMA work, streams. Nothing of it takes time.

What the design declares is claimed by its names through the design's own methods; what it writes goes through
the doors of the tiles, so an array configured from MLIR has the registers that a CDO file would write.

It also has cascades of a device: which side each tile's core gets values from, and which it puts them to.

It also says what a text calls the channels of its DMAs: by object FIFOs, allocations or buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import prod

import numpy as np

from memtile.arch import switch_registers
from memtile.arch.ports import PORTS, SOUTH_ATTACHMENT
from memtile.arch.register_map import register_at, register_named
from memtile.arch.registers import packed
from memtile.arch.tiles import DIRECTIONS, MM2S, S2MM, WORD_BYTES, TileName
from memtile.bd.codec import encode
from memtile.bd.windows import DmaLock
from memtile.design.array import Array
from memtile.design.buffers import Buffer
from memtile.design.channels import StreamPort
from memtile.design.circuits import End
from memtile.design.events import SwitchEnd
from memtile.design.locks import Lock
from memtile.design.other_tiles import CASCADE_CONTROL, ComputeTile
from memtile.design.packet_switches import PacketSwitch, Slot, drops_header
from memtile.design.tile import Tile
from memtile.errors import DesignError, InputFileError
from memtile.importers.mlir.buffer_addresses import place_buffers
from memtile.importers.mlir.description import (
    BdDescription,
    BufferDescription,
    CascadeSides,
    ChainDescription,
    DeviceDescription,
    EndDescription,
    FlowDescription,
    LockUse,
    Place,
    SwitchDescription,
)
from memtile.importers.mlir.descriptors import BufferPlace, descriptor
from memtile.importers.mlir.fifos import LoweredFifos, lower
from memtile.importers.mlir.flow_senders import check_senders, raise_at_flow
from memtile.importers.mlir.forms.dense_constants import array_of
from memtile.importers.mlir.forms.operand_faults import operation_error, reading
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.overlay import add_overlay, give_ids
from memtile.importers.mlir.packet_flows import ask, switches, ways
from memtile.importers.mlir.placing import number_bds, number_locks
from memtile.importers.mlir.references import check_references
from memtile.importers.mlir.set_circuits import is_routed, open_flows
from memtile.importers.mlir.tile_placement import place_tiles
from memtile.importers.mlir.tree import Operation
from memtile.limits import how_to_raise, limit
from memtile.sim.loop.fifo_names import FifoLock, where

_KEPT = 4096  # words of tasks: sequences have the same ones again and again


def name_channels(
    device: DeviceDescription, tiles: Mapping[str, Tile], buffers: Mapping[str, Buffer]
) -> None:
    """Give channels their names, and say which buffers those without a name read or write.

    Args:
        device: the text.
        tiles: by the name of their value.
        buffers: by the name of their value.
    """
    names: dict[StreamPort, dict[str, None]] = {}  # two FIFOs may share a channel
    for channel, name in (*_of_chains(device, tiles), *_of_allocations(device, tiles)):
        names.setdefault(channel, {})[name] = None
    for channel, found in names.items():
        channel.named(", ".join(found))
    for chain in device.chains:
        channel = _channel(tiles[chain.tile], chain.direction, chain.channel)
        used = (buffers[bd.buffer] for bd in chain.bds if bd.buffer in buffers)
        channel.moves = {**channel.moves, **{buffer.name: buffer.dtype for buffer in used}}


def _of_chains(device: DeviceDescription, tiles: Mapping[str, Tile]) -> Iterator[tuple[StreamPort, str]]:
    """Those of object FIFOs."""
    for chain in device.chains:
        if chain.name in device.fifos:
            yield _channel(tiles[chain.tile], chain.direction, chain.channel), chain.name


def _of_allocations(device: DeviceDescription, tiles: Mapping[str, Tile]) -> Iterator[tuple[StreamPort, str]]:
    by_place = {tile.place: tile for tile in tiles.values()}
    for allocation in device.allocations.values():
        place = (allocation.column, 0) if allocation.column is not None else None
        tile = tiles.get(allocation.tile) or by_place.get(place)
        if tile is not None and tile.kind.role == "interface":
            yield _channel(tile, allocation.direction, allocation.channel), allocation.name


def _channel(tile: Tile, direction: str, number: int) -> StreamPort:
    return (tile.s2mm if direction == "S2MM" else tile.mm2s)[number]


_INPUTS, _OUTPUTS = {"North": 0, "West": 1}, {"South": 0, "East": 1}  # AM025 Accumulator_Control


def configure_cascades(device: DeviceDescription, tiles: Mapping[str, Tile]) -> None:
    """Bring what the device says of cascades into the registers of its tiles.

    Args:
        device: with its tiles placed.
        tiles: of the array, by the name of their value.

    Raises:
        InputFileError: a cascade that the array does not have, or two that use one side of a tile.
    """
    for sides in device.cascade_sides:
        _sides(sides, tiles[sides.tile])
    for flow in device.cascades:
        source, target = tiles[flow.source], tiles[flow.target]
        try:
            _compute(source, OperationForm(flow.operation)).cascade_to(
                _compute(target, OperationForm(flow.operation))
            )
        except DesignError as error:
            raise _at(OperationForm(flow.operation), error) from None


def _sides(sides: CascadeSides, tile: Tile) -> None:
    form = OperationForm(sides.operation)
    _compute(tile, form)
    for given, allowed in ((sides.input, _INPUTS), (sides.output, _OUTPUTS)):
        if given not in allowed:
            which = "input" if allowed is _INPUTS else "output"
            text = f"the {which} of a cascade cannot be {given}"
            raise form.error(text, " or ".join(allowed), reason="mlir_cascade", given=given)
    word = CASCADE_CONTROL.pack(Input=_INPUTS[sides.input], Output=_OUTPUTS[sides.output])
    tile.post_word(CASCADE_CONTROL.offset, word)


def _compute(tile: Tile, form: OperationForm) -> ComputeTile:
    if not isinstance(tile, ComputeTile):
        raise form.error(f"{tile.title} has no core, so no cascade", "compute tiles", reason="mlir_cascade")
    return tile


def _at(form: OperationForm, error: DesignError) -> InputFileError:
    """What the design refuses, at its place in the text."""
    problem = error.problems[0]
    return form.error(problem.says, problem.allowed, reason="mlir_cascade", given=problem.given)


CORE_CONTROL = register_named("core", "Core_Control")
TILE_CONTROL = "TileControl"
FIRMWARE = ("South", 0)  # port of an interface tile behind which firmware is
_PORT_NAMES = {TILE_CONTROL: "CTRL"}
_BESIDE = {"PLIO": "programmable logic", "NOC": "the network on chip"}
_WINDOWS = {(-1, 0): "west", (0, 0): "own", (1, 0): "east"}


@dataclass(slots=True)
class Configured:
    """What became of the values of a description.

    Attributes:
        array: that has it.
        device: the description.
        tiles: by the name of their value.
        buffers: by the name of their value.
        locks: by the name of their value.
        fifos: ends of the object FIFOs.
        external: arrays that the external buffers of the text are, by name; runs change them in place.
        packet_switches: what the packet flows need of the switches, by place.
    """

    array: Array
    device: DeviceDescription
    tiles: dict[str, Tile] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    locks: dict[str, Lock] = field(default_factory=dict)
    fifos: LoweredFifos = field(default_factory=LoweredFifos)
    external: dict[str, np.ndarray] = field(default_factory=dict)
    packet_switches: dict[Place, PacketSwitch] = field(default_factory=dict)


def configure(device: DeviceDescription, array: Array) -> Configured:
    """Bring a device into an array.

    Args:
        device: with a place for every tile.
        array: that nothing was done to.

    Raises:
        InputFileError: what the array does not have or cannot do, at its place in the text.
        DesignError: no room, names used twice, streams that cannot be routed.
    """
    made = Configured(array, device)
    check_references(device)
    place_tiles(device, array.device, array.columns)
    _new_tiles(made)
    kinds = {name: tile.kind for name, tile in made.tiles.items()}
    declared = list(device.buffers)
    made.fifos = lower(device, kinds, array.columns)
    add_overlay(device, array.device)
    _new_tiles(made)
    give_ids(device, array.device)
    _stacks(made)
    number_locks(device, kinds)
    number_bds(device, kinds)
    place_buffers(device, kinds, declared)
    for name, buffer in device.buffers.items():
        with reading(buffer.operation):
            made.buffers[name] = _buffer(made, buffer) if buffer.tile else _external(made, buffer)
    for name, lock in device.locks.items():
        with reading(lock.operation):
            initial = lock.initial + _added_by_host(made.fifos, name)
            made.locks[name] = made.tiles[lock.tile].lock(initial, lock.name, id=lock.number)
            _name_lock(made, name, made.tiles[lock.tile])
    for switch in device.switches:
        with reading(switch.operation):
            _switch(made.tiles[switch.tile], switch)
    if is_routed(device):
        _token_circuits(made)
    else:
        _fixed(made)
        _streams(made)
    configure_cascades(device, made.tiles)
    for chain in device.chains:
        with reading(chain.operation):
            _chain(made, chain)
    name_channels(device, made.tiles, made.buffers)
    _cores(made)
    made.tiles |= {name: made.tiles[kept] for name, kept in device.aliases.items()}
    return made


def _name_lock(made: Configured, name: str, tile: Tile) -> None:
    """Have messages say which end of an object FIFO a lock belongs to."""
    if name in made.fifos.locks:
        fifo, end, full = made.fifos.locks[name]
        number = int(tile.engine.spec.tiles.lock_base[tile.index]) + made.locks[name].id
        tile.engine.fifo_locks[number] = FifoLock(fifo, end, where(tile.kind.role, tile.place), full)


def _added_by_host(fifos: LoweredFifos, lock: str) -> int:
    """By how much a host changes a lock before all begins: it has filled the buffers that are sent."""
    taken = sum(many for free, many in fifos.filled.values() if free == lock)
    return (fifos.filled[lock][1] if lock in fifos.filled else 0) - taken


def _new_tiles(made: Configured) -> None:
    """The tiles of the array for those of the description that have none yet."""
    for name, tile in made.device.tiles.items():
        if tile.place is None:
            raise OperationForm(tile.operation).error("this tile has no place", "a tile with column and row")
        with reading(tile.operation):
            made.tiles.setdefault(name, made.array.tile(*tile.place))


def _stacks(made: Configured) -> None:
    """A core has its stack at the beginning of its tile's memory, and no heap; other tiles have neither."""
    cores = {core.tile: core for core in made.device.cores}
    for name, tile in made.tiles.items():
        if isinstance(tile, ComputeTile):
            core = cores.get(name)
            with reading(core.operation if core else made.device.operation):
                tile.reserve(stack=core.stack if core else 0, heap=0)


def _cores(made: Configured) -> None:
    """Enable the cores that have a program."""
    for core in made.device.cores:
        tile = made.tiles[core.tile]
        if tile.kind.role != "compute":
            says = f"the {tile.title} has no core"
            raise OperationForm(core.operation).error(says, "a compute tile", reason="mlir_core")
        if core.operation.regions:
            tile.post_word(CORE_CONTROL.offset, CORE_CONTROL.pack(Enable=1))


def _buffer(made: Configured, buffer: BufferDescription) -> Buffer:
    form, tile, dtype = OperationForm(buffer.operation), made.tiles[buffer.tile], _dtype(buffer)
    most = tile.kind.memory_bytes
    data = None if buffer.initial is None else array_of(form, buffer.initial, buffer.shape, most)
    shape = buffer.shape.shape or (1,)
    size = prod(shape) * dtype.itemsize
    if size % WORD_BYTES == 0:
        return tile.buffer(buffer.name, shape, dtype, at=buffer.address, data=data)
    whole = tile.buffer(buffer.name, size + -size % WORD_BYTES, np.uint8, at=buffer.address)
    placed = replace(whole, shape=shape, dtype=dtype)
    if data is not None:
        tile.store(placed, data)
    return placed


def _external(made: Configured, buffer: BufferDescription) -> Buffer:
    """An external buffer: an array of the host, zeros at first."""
    size, dtype = buffer.shape.elements, _dtype(buffer)
    if not 0 < size * dtype.itemsize <= limit("external_bytes"):
        says = f"its type has {size * dtype.itemsize} bytes"
        allowed, step = f"1..{limit('external_bytes')} bytes", how_to_raise("external_bytes")
        raise OperationForm(buffer.operation).error(says, allowed, reason="mlir_external", step=step)
    data: np.ndarray = np.zeros(buffer.shape.shape or (1,), dtype)
    made.external[buffer.name] = data
    return made.array.external(buffer.name, data, buffer.address)


def _dtype(buffer: BufferDescription) -> np.dtype[np.generic]:
    if buffer.shape.dtype is None:
        says = f"elements of {buffer.shape.element} have no NumPy type"
        raise OperationForm(buffer.operation).error(says, "i8 to i64, bf16, f16, f32")
    return buffer.shape.dtype


def _chain(made: Configured, chain: ChainDescription) -> None:
    tile = made.tiles[chain.tile]
    if not chain.bds:
        raise OperationForm(chain.operation).error(
            "its chain has no BD", "aie.dma_bd in its block", reason="mlir_bds"
        )
    lock_of = partial(seen_lock, made, tile)
    for bd in chain.bds:
        following = None if bd.next is None else chain.bds[bd.next].number
        assert bd.number is not None
        tokens = bd.operation.tokens
        place = tokens.text.where(tokens.offset(bd.operation.at))
        tile.engine.bd_places[tile.index, bd.number] = place
        words = encode(descriptor(bd, tile.kind, memory_of(made, tile, bd), lock_of, following), bd.number)
        tile.post_block(tile.kind.bd_base + bd.number * tile.kind.bd_stride, words)
    first = chain.bds[0].number
    if first is None:
        return
    channel = (tile.s2mm if chain.direction == "S2MM" else tile.mm2s)[chain.channel]
    if chain.pad_value:
        channel.pad_with(chain.pad_value)
    tile.post_word(
        *start_word(tile, (chain.direction, chain.channel), first, chain.repeat + 1, token=chain.token)
    )


def start_word(tile: Tile, port: tuple[str, int], bd: int, runs: int, *, token: bool) -> tuple[int, int]:
    """Offset and value of the write that starts a BD on a channel, direction and number."""
    direction, channel = DIRECTIONS.index(port[0]), port[1]
    offset = tile.kind.queue_base + (direction * tile.kind.channels + channel) * tile.kind.channel_stride
    return offset, _task_word(tile.kind.name, offset, bd, runs, token)


@lru_cache(maxsize=_KEPT)
def _task_word(tile: TileName, offset: int, bd: int, runs: int, token: bool) -> int:
    """The word that a queue takes for a task."""
    register = register_at(tile, offset)
    assert register is not None  # the tables of registers and of tile kinds agree, by test
    return register.pack(Start_BD_ID=bd, Repeat_Count=runs - 1, Enable_Token_Issue=int(token))


def memory_of(made: Configured, tile: Tile, bd: BdDescription) -> BufferPlace:
    """Where a tile's DMA sees the buffer of a BD.

    Raises:
        InputFileError: no buffer, or one that the DMA does not reach.
    """
    name = bd.buffer
    buffer = made.buffers.get(name)
    if buffer is None:
        says = f"{name} is no buffer of a tile"
        raise operation_error(bd.operation, says, "aie.buffer", reason="mlir_buffer", given=name)
    if not made.device.buffers[name].tile and tile.kind.role == "interface":
        return BufferPlace(buffer.offset, made.device.buffers[name].shape)
    one, other = buffer.place or (0, 0), tile.place or (0, 0)  # alone, a tile has its own buffers only
    window = _WINDOWS.get((one[0] - other[0], one[1] - other[1]), "")
    if window not in tile.kind.memory_windows:
        says = f"the DMA of the {tile.title} does not reach buffer {buffer.name!r}"
        allowed = "buffers of its tile, and of tiles beside a memory tile"
        raise operation_error(bd.operation, says, allowed, reason="mlir_reach")
    return BufferPlace(tile.kind.memory_windows[window] + buffer.offset, made.device.buffers[name].shape)


def seen_lock(made: Configured, tile: Tile, form: OperationForm, use: LockUse) -> DmaLock:
    """Return the id of the lock that a BD of a tile uses, as the tile's DMA sees it.

    Raises:
        InputFileError: the DMA does not reach the lock.
    """
    lock = made.locks.get(use.lock)
    if lock is None or not _sees(tile, lock):
        reached = ", ".join(name for name, each in made.locks.items() if _sees(tile, each))
        says, allowed = f"the DMA does not reach lock {use.lock}", reached or "locks of its tile"
        raise form.error(says, allowed, reason="mlir_lock", given=use.lock)
    return tile.seen(lock).dma_id


def _sees(tile: Tile, lock: Lock) -> bool:
    if lock.kind != tile.kind or tile.place is None or lock.place is None:
        return False
    away = (lock.place[0] - tile.place[0], lock.place[1] - tile.place[1])
    return away == (0, 0) or (tile.kind.role == "memory" and away in ((-1, 0), (1, 0)))


def _exchange(made: Configured, end: EndDescription, *, receives: bool) -> str:
    """The repair of a flow whose tiles are in each other's place; empty if they are not."""
    ends = [
        (flow.targets, flow.sources) if receives else (flow.sources, flow.targets)
        for flow in made.device.flows
    ]
    for other in (other for own, others in ends if end in own for other in others):
        there, here = len(made.tiles[other.tile].mm2s), len(made.tiles[end.tile].mm2s)  # S2MM as many
        if other.bundle == end.bundle and end.channel < there and other.channel < here:
            return "Exchange the tiles of the flow: the other one has such a channel."
    return ""


def _end(made: Configured, end: EndDescription, *, receives: bool = False) -> End:
    """The channel or port of the switch that an end of a flow is."""
    tile = made.tiles[end.tile]
    if end.bundle in _BESIDE:
        raise DesignError.of(
            "end",
            f"{end.bundle} : {end.channel}",
            "DMA, South and other ports of the tile",
            f"{end.bundle} : {end.channel} leads to {_BESIDE[end.bundle]}, which is not part of the model",
            reason="mlir_bundle",
            where=tile.title,
            source="mlir-aie, WireBundle",
        )
    if end.bundle == "DMA":
        channels = tile.s2mm if receives else tile.mm2s
        try:
            return channels[end.channel]
        except DesignError as error:
            step = _exchange(made, end, receives=receives)
            raise DesignError([replace(each, next_step=step) for each in error.problems]) from None
    return SwitchEnd(tile, port_name(end.bundle, end.channel), receives)


def port_name(bundle: str, channel: int) -> str:
    """The name that a switch has for a port of mlir-aie."""
    return f"{_PORT_NAMES.get(bundle, bundle.upper())}{channel}"


def _streams(made: Configured) -> None:
    """Find ways for the flows: circuits from one source are one circuit, packets share their links."""
    circuits: dict[EndDescription, list[FlowDescription]] = {}
    asked: dict[str, Operation] = {}
    packets = [flow for flow in made.device.flows if flow.packet is not None]
    named = partial(_end_name, made)
    check_senders(made.device, [*open_flows(made.device), *packets], named)
    for flow in open_flows(made.device):
        circuits.setdefault(flow.sources[0], []).append(flow)
    for source, flows in circuits.items():
        ends: dict[EndDescription, End] = {}
        for flow in flows:
            with reading(flow.operation):
                ends |= {target: _end(made, target, receives=True) for target in flow.targets}
        with reading(flows[0].operation):
            asked[str(made.array.connect(_end(made, source), *ends.values()))] = flows[0].operation
    _packets(made, asked)


def _end_name(made: Configured, end: EndDescription, receives: bool) -> str:
    """The name of an end of a flow as messages have it."""
    tile = made.tiles[end.tile]
    place = "" if tile.place is None else "({},{})".format(*tile.place)
    port = f"{DIRECTIONS[S2MM if receives else MM2S]} {end.channel}"
    return f"{tile.kind.name}{place} {port if end.bundle == 'DMA' else port_name(end.bundle, end.channel)}"


def _packets(made: Configured, asked: dict[str, Operation]) -> None:
    """Packet flows, and those that bring tokens of interface tiles to the firmware.

    A build adds these whatever packet flows the text has (aie-generate-column-control-overlay), so headers
    are kept there. A circuit from the control port takes their place, as everywhere in mlir-aie's router.
    """
    ends = [flow.sources[0] for flow in made.device.flows if flow.packet is None]
    circuits = {end.tile for end in ends if end.bundle == TILE_CONTROL}
    tokens = [
        FlowDescription(
            [EndDescription(name, TILE_CONTROL, 0)],
            [EndDescription(name, *FIRMWARE)],
            made.device.tiles[name].operation,
            made.device.tiles[name].controller or 0,
            keep_header=True,
            priority=True,
        )
        for name, tile in made.tiles.items()
        if tile.kind.role == "interface" and name not in circuits
    ]
    flows = [*made.device.flows, *tokens]
    found = ways(flows)
    ask(found, made.array.circuits, lambda end, receives: _end(made, end, receives=receives))
    asked |= {str(way.demand): way.flow.operation for way in found.values()}
    try:
        made.array.route()
    except DesignError as error:
        raise_at_flow(error, asked)
        raise
    for place, switch in switches(flows, found, made.array.circuits).items():
        made.packet_switches[place] = switch
        made.array.circuits.take_arbiters(place, switch.arbiters, "packet flows")
        _packet_words(made.array.tile(*place), switch)


def _packet_words(tile: Tile, switch: PacketSwitch) -> None:
    for offset, word in switch.words(tile.kind.name):
        tile.post_word(PORTS[tile.kind.name].base + offset, word)


def _fixed(made: Configured) -> None:
    """Keep the router away from circuits that the text sets by hand beside its flows."""
    for switch in made.device.switches:
        place = made.tiles[switch.tile].place
        with reading(switch.operation):
            if switch.rules or switch.masters:
                says = (
                    "packets are set by hand in a switch that flows may pass, which mlir-aie does not check"
                )
                allowed = "switches with aie.connect alone, or a text without aie.flow"
                raise OperationForm(switch.operation).error(says, allowed, reason="mlir_switch")
            for source, number, target, to in [] if switch.mux else switch.circuits:
                assert place is not None
                slave, masters = port_name(source, number), [port_name(target, to)]
                made.array.circuits.by_hand(*place, slave, masters)


def _token_circuits(made: Configured) -> None:
    """A way for tokens where a routed text has none, which builds of such texts add (DEV-MLIR-2)."""
    for name, tile in made.tiles.items():
        own = [each for each in made.device.switches if each.tile == name and not each.mux]
        if tile.kind.role != "interface" or not own:
            continue
        sources = {source for each in own for source, *_ in (*each.circuits, *each.rules)}
        targets = {(to, n) for each in own for _, _, to, n in each.circuits}
        targets |= {(to, n) for each in own for to, n, *_ in each.masters}
        if TILE_CONTROL not in sources and FIRMWARE not in targets:
            _switch(tile, SwitchDescription(name, own[0].operation, circuits=[(TILE_CONTROL, 0, *FIRMWARE)]))


def _switch(tile: Tile, switch: SwitchDescription) -> None:
    """Write what is configured of a switch by hand."""
    ports = PORTS[tile.kind.name]

    def slave_at(bundle: str, channel: int) -> int:
        return ports.slave(port_name(bundle, channel))

    def master_at(bundle: str, channel: int) -> int:
        return ports.master(port_name(bundle, channel))

    if switch.mux:
        _mux(tile, switch)
        return
    for source, number, target, to in switch.circuits:
        slave = slave_at(source, number)
        tile.post_word(
            ports.base + switch_registers.SLAVE_CONFIG_OFFSET + slave * WORD_BYTES,
            packed(switch_registers.SLAVE_CONFIG, Slave_Enable=1),
        )
        word = packed(switch_registers.MASTER_CONFIG, Master_Enable=1, Configuration=slave)
        tile.post_word(ports.base + master_at(target, to) * WORD_BYTES, word)
    packets = PacketSwitch()
    for bundle, number, arbiter, msels, keep in switch.masters:
        name = port_name(bundle, number)
        drop = drops_header(tile.kind.name, name) if keep is None else not keep
        packets.masters[name] = arbiter, msels, drop
    for bundle, number, slots in switch.rules:
        packets.slots[port_name(bundle, number)] = [
            Slot(mask, packet, arbiter, msel) for mask, packet, arbiter, msel in slots
        ]
    _packet_words(tile, packets)


def _mux(tile: Tile, switch: SwitchDescription) -> None:
    """Give ports of an interface tile's switch to its DMA."""
    for source, number, target, to in switch.circuits:
        inward = source == "DMA"
        port, name = (f"SOUTH{to}", "Mux_Config") if inward else (f"SOUTH{number}", "Demux_Config")
        if "DMA" in (source, target):
            register = register_named("noc", name)
            entry = register.field(port.capitalize())
            tile.post_mask(register.offset, entry.mask, SOUTH_ATTACHMENT["DMA"] << entry.lsb)
