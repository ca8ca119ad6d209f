"""What a configured array is told to do, read from its registers: descriptors, tasks, switches, cascades.

A design in Python, a text in MLIR and a graph all end in the same register writes, so what the registers say
is what the text has to say. Nothing has run yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memtile.arch.ports import PORTS, SLOTS_PER_SLAVE
from memtile.arch.register_map import register_at
from memtile.arch.registers import Field, Register
from memtile.arch.switch_registers import (
    CIRCUIT_CONFIGURATION,
    MASTER_CONFIG,
    PACKET_CONFIGURATION,
    SLAVE_CONFIG,
    SLAVE_CONFIG_OFFSET,
    SLOT,
    SLOT_OFFSET,
)
from memtile.arch.tiles import MM2S, S2MM, WORD_BYTES
from memtile.bd.codec import decode
from memtile.bd.descriptor import Descriptor
from memtile.design.array import Array
from memtile.design.tile import Tile
from memtile.mlir_writer.refusals import refused


@dataclass(frozen=True, slots=True)
class Task:
    """A push to the queue of a channel.

    Attributes:
        first: number of its first BD.
        runs: of the chain.
        token: it reports its end.
    """

    first: int
    runs: int
    token: bool


@dataclass(frozen=True, slots=True)
class ChannelWork:
    """What a DMA channel was given to do.

    Attributes:
        tile: of the channel.
        direction: ``arch.tiles.S2MM`` or ``MM2S``.
        channel: its number.
        tasks: pushed, in order.
        pad_value: word that it pads with.
    """

    tile: Tile
    direction: int
    channel: int
    tasks: tuple[Task, ...]
    pad_value: int = 0

    def chain(self, task: Task) -> list[tuple[int, Descriptor]]:
        """The BDs that a task comes to, each with its number, the first one first."""
        found: dict[int, Descriptor] = {}
        number: int | None = task.first
        while number is not None and number not in found:
            found[number] = descriptor_at(self.tile, number)
            number = found[number].next
        return list(found.items())


def descriptor_at(tile: Tile, number: int) -> Descriptor:
    """The descriptor that a BD of a tile holds."""
    kind = tile.kind
    words = tile.own_door.block_read32(kind.bd_base + number * kind.bd_stride, kind.bd_words)
    return decode(kind.name, [int(word) for word in words], number)


def has_dma(tile: Tile) -> bool:
    """Whether a tile has a DMA: not every interface tile has one."""
    assert tile.place is not None
    return tile.kind.role != "interface" or tile.device.has_interface_dma(tile.place[0])


def channel_work(tile: Tile, *, without_bench: bool = False) -> Iterator[ChannelWork]:
    """The channels of a tile that have work, with what they have to do.

    Args:
        tile: of an array that has not run.
        without_bench: leave out what a test bench feeds and collects.

    Raises:
        DesignError: a channel with settings that no text of mlir-aie has.
    """
    channels = tile.engine.state.channels
    if not has_dma(tile):
        return
    for direction in (S2MM, MM2S):
        for channel in tile.s2mm if direction == S2MM else tile.mm2s:
            index = channel.index
            if (channel.fed or channel.taken) and not without_bench:
                what = "fed with words" if channel.fed else "collected"
                raise refused(
                    channel.name,
                    f"{channel.name} is {what} by the test bench, which MLIR does not have",
                    "channels that are joined to others, and external buffers",
                    "Join it to an interface tile (array.connect, array.external), or leave the test bench "
                    "out: --without-bench, to_mlir(design, without_bench=True).",
                )
            words = [int(each) for each in channels.queue[index, : channels.queue_count[index]]]
            if not words:
                continue
            number = channel.number
            offset = (
                tile.kind.queue_base + (direction * tile.kind.channels + number) * tile.kind.channel_stride
            )
            queue = _register(tile, offset)
            _check_control(tile, channel.name, direction, number)
            tasks = tuple(_task(queue.unpack(word)) for word in words)
            yield ChannelWork(tile, direction, number, tasks, _pad_value(tile, direction, number))


def _register(tile: Tile, offset: int) -> Register:
    found = register_at(tile.kind.name, offset)
    assert found is not None  # the tables of registers and of tile kinds agree, by test
    return found


def _task(fields: dict[str, int]) -> Task:
    return Task(fields["Start_BD_ID"], fields["Repeat_Count"] + 1, bool(fields["Enable_Token_Issue"]))


def _check_control(tile: Tile, name: str, direction: int, number: int) -> None:
    """Refuse settings of a channel that no operation has."""
    offset = tile.kind.control_base + (direction * tile.kind.channels + number) * tile.kind.channel_stride
    register = _register(tile, offset)
    fields = register.unpack(tile.own_door.read32(offset))
    resets = register.unpack(register.reset)
    for field, value in fields.items():
        if value != resets[field] and field not in ("Controller_ID",):
            raise refused(
                name,
                f"{name} has {field} = {value}, for which mlir-aie has no operation",
                f"{field} = {resets[field]}",
                "Leave it out, or write the registers with `memtile disasm` instead of MLIR.",
            )


def _pad_value(tile: Tile, direction: int, number: int) -> int:
    if direction == S2MM or not tile.kind.pad_value_base:
        return 0
    return tile.own_door.read32(tile.kind.pad_value_base + number * WORD_BYTES)


@dataclass(frozen=True, slots=True)
class PacketMaster:
    """A master of packets: its port, arbiter and msels, and whether it drops headers."""

    port: str
    arbiter: int
    msels: tuple[int, ...]
    drops: bool


SlaveRules = tuple[str, tuple[tuple[int, int, int, int], ...]]
"""A slave of packets and its slots in order: mask, id, arbiter, msel."""


@dataclass(frozen=True, slots=True)
class SwitchSettings:
    """What a stream switch is configured to do.

    Attributes:
        circuits: slave and master, by name.
        masters: of packets.
        rules: by slave its slots in order: mask, id, arbiter, msel.
    """

    circuits: tuple[tuple[str, str], ...]
    masters: tuple[PacketMaster, ...]
    rules: tuple[SlaveRules, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing passes the switch."""
        return not (self.circuits or self.masters or self.rules)


def switch_settings(tile: Tile) -> SwitchSettings:
    """What the stream switch of a tile does."""
    layout = PORTS[tile.kind.name]

    def words(offset: int, many: int) -> list[int]:
        return [int(word) for word in tile.own_door.block_read32(layout.base + offset, many)]

    circuits, masters = [], []
    for name, word in zip(layout.masters, words(0, len(layout.masters)), strict=True):
        fields = unpacked(MASTER_CONFIG, word)
        if not fields["Master_Enable"]:
            continue
        inner = fields["Configuration"]
        if fields["Packet_Enable"]:
            chosen = unpacked(PACKET_CONFIGURATION, inner)
            msels = tuple(n for n in range(4) if chosen["Msel_Enable"] >> n & 1)
            masters.append(PacketMaster(name, chosen["Arbiter"], msels, bool(fields["Drop_Header"])))
        else:
            circuits.append((layout.slaves[unpacked(CIRCUIT_CONFIGURATION, inner)["Slave"]], name))
    return SwitchSettings(tuple(circuits), tuple(masters), _rules(layout.slaves, words))


def _rules(slaves: Sequence[str], words: Callable[[int, int], list[int]]) -> tuple[SlaveRules, ...]:
    configs = words(SLAVE_CONFIG_OFFSET, len(slaves))
    slots = words(SLOT_OFFSET, len(slaves) * SLOTS_PER_SLAVE)
    found = []
    for n, (name, word) in enumerate(zip(slaves, configs, strict=True)):
        config = unpacked(SLAVE_CONFIG, word)
        if config["Slave_Enable"] and config["Packet_Enable"]:
            mine = [unpacked(SLOT, each) for each in slots[n * SLOTS_PER_SLAVE : (n + 1) * SLOTS_PER_SLAVE]]
            found.append(
                (name, tuple((e["mask"], e["id"], e["arbit"], e["msel"]) for e in mine if e["enable"]))
            )
    return tuple(found)


def unpacked(fields: Sequence[Field], word: int) -> dict[str, int]:
    """Values of the fields of a word, by name."""
    return {each.name: (word & each.mask) >> each.lsb for each in fields}


def check_not_run(array: Array) -> None:
    """Refuse an array that has run: its text is that of its beginning.

    Raises:
        DesignError: it has run.
    """
    if array.engine.now:
        raise refused(
            f"array {array.device.name}",
            f"the array has run {array.engine.now:,} cycles, and memories and locks have changed",
            "an array before its first run",
            "Export the design before it runs.",
        )
