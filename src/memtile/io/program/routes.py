"""The ways of words through the stream switches, as their registers say: where from, where to, which ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memtile.arch.ports import (
    DEMUX_BITS,
    DMA_MASTERS,
    DMA_SLAVES,
    MUX_BITS,
    PORTS,
    SLOTS_PER_SLAVE,
    SOUTH_ATTACHMENT,
    WIRES,
    port_kind,
)
from memtile.arch.register_map import tile_register
from memtile.arch.registers import field_of
from memtile.arch.switch_registers import (
    CIRCUIT_CONFIGURATION,
    MASTER_CONFIG,
    PACKET_CONFIGURATION,
    SLAVE_CONFIG,
    SLAVE_CONFIG_OFFSET,
    SLOT,
    SLOT_OFFSET,
)
from memtile.arch.tiles import DIRECTIONS, MM2S, S2MM, TILE_KINDS, WORD_BYTES
from memtile.io.program.register_image import Place, RegisterImage

_ALL_BITS = field_of(SLOT, "mask").get(0xFFFF_FFFF)
_ANY = (0, 0)  # an id and the bits of it that matter: all ids


@dataclass(frozen=True, slots=True)
class Route:
    """A way through the switches.

    Attributes:
        source: where words enter, such as ``memory(0,1) MM2S 0``.
        target: where they leave.
        packets: id and mask of the packets that take it; None = a circuit.
    """

    source: str
    target: str
    packets: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The route for people."""
        if self.packets is None:
            return f"{self.source} -> {self.target}"
        number, mask = self.packets
        ids = f"packets of id {number}" if mask == _ALL_BITS else f"packets, id {number} in bits {mask:#x}"
        return f"{self.source} -> {self.target} ({ids if mask else 'packets of any id'})"


def routes(image: RegisterImage) -> list[Route]:
    """All routes that begin where a tile sends, by place and port."""
    found = []
    for place in image.places:
        for slave in PORTS[image.kind(place)].slaves:
            if (source := _source(image, place, slave)) is not None:
                found += [
                    Route(source, target, ids) for target, ids in _ways(image, place, slave, None, set())
                ]
    return list(dict.fromkeys(found))


def _ways(
    image: RegisterImage, place: Place, slave: str, ids: tuple[int, int] | None, seen: set[tuple[Place, str]]
) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Ends of the ways from a slave port, and which packets come there."""
    if (place, slave) in seen:
        return
    for master, narrowed in _masters(image, place, slave, ids):
        kind = port_kind(master)
        if kind in WIRES:
            opposite, columns, rows = WIRES[kind]
            there, entry = (place[0] + columns, place[1] + rows), opposite + master.removeprefix(kind)
            name = image.shape.tile(*there)
            if name is not None and entry in PORTS[name].slaves:
                if there in image.places:
                    yield from _ways(image, there, entry, narrowed, seen | {(place, slave)})
                continue
        yield _target(image, place, master), narrowed


def _masters(
    image: RegisterImage, place: Place, slave: str, ids: tuple[int, int] | None
) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Master ports that a slave port feeds."""
    ports = PORTS[image.kind(place)]
    number = ports.slaves.index(slave)
    config = image.read(place, ports.base + SLAVE_CONFIG_OFFSET + number * WORD_BYTES)
    if not field_of(SLAVE_CONFIG, "Slave_Enable").get(config):
        return
    slots: list[int | None] = [None]
    if field_of(SLAVE_CONFIG, "Packet_Enable").get(config):
        first = ports.base + SLOT_OFFSET + number * SLOTS_PER_SLAVE * WORD_BYTES
        words = [image.read(place, first + slot * WORD_BYTES) for slot in range(SLOTS_PER_SLAVE)]
        slots = _in_order([word for word in words if field_of(SLOT, "enable").get(word)])
    for index, master in enumerate(ports.masters):
        word = image.read(place, ports.base + index * WORD_BYTES)
        if not field_of(MASTER_CONFIG, "Master_Enable").get(word):
            continue
        for slot in slots:
            if slot is None and _is_circuit(word, number):
                yield master, ids
            elif slot is not None and _takes(word, slot):
                number, mask = _packets(slot)
                if ids is None or not (number ^ ids[0]) & mask & ids[1]:
                    yield master, _narrowed(ids, slot)


def _is_circuit(master: int, slave: int) -> bool:
    circuit = not field_of(MASTER_CONFIG, "Packet_Enable").get(master)
    return circuit and field_of(CIRCUIT_CONFIGURATION, "Slave").get(master) == slave


def _takes(master: int, slot: int) -> bool:
    """Whether a packet of the slot goes to the master port."""
    if not field_of(MASTER_CONFIG, "Packet_Enable").get(master):
        return False
    arbiter = field_of(PACKET_CONFIGURATION, "Arbiter").get(master) == field_of(SLOT, "arbit").get(slot)
    msels = field_of(PACKET_CONFIGURATION, "Msel_Enable").get(master)
    return arbiter and bool(msels >> field_of(SLOT, "msel").get(slot) & 1)


def _in_order(slots: list[int]) -> list[int | None]:
    """Slots for which packets are left: the first one that fits takes a packet."""
    left: list[int | None] = []
    for number, slot in enumerate(slots):
        ids, mask = _packets(slot)
        before = map(_packets, slots[:number])
        if not any(
            other_mask & ~mask == 0 and not (ids ^ other) & other_mask for other, other_mask in before
        ):
            left.append(slot)
    return left


def _packets(slot: int) -> tuple[int, int]:
    """The id that a slot takes, and the bits of it that count."""
    return field_of(SLOT, "id").get(slot), field_of(SLOT, "mask").get(slot)


def _narrowed(ids: tuple[int, int] | None, slot: int) -> tuple[int, int]:
    """The packets that a slot lets through, of those that come."""
    number, mask = ids or _ANY
    own, own_mask = _packets(slot)
    return number & mask | own & own_mask, mask | own_mask


def _source(image: RegisterImage, place: Place, slave: str) -> str | None:
    """What sends into a slave port; None where only another switch does."""
    kind, tile = image.kind(place), _tile(image, place)
    if TILE_KINDS[kind].role == "interface" and port_kind(slave) == "SOUTH":
        if slave in DMA_SLAVES and _attached(image, place, "Mux_Config", MUX_BITS[slave]):
            return f"{tile} {DIRECTIONS[MM2S]} {DMA_SLAVES.index(slave)}"
        return f"{tile} {slave}"
    if port_kind(slave) in WIRES:
        return None
    if port_kind(slave) == "DMA":
        return f"{tile} {DIRECTIONS[MM2S]} {slave.removeprefix('DMA')}"
    return f"{tile} {slave}"


def _target(image: RegisterImage, place: Place, master: str) -> str:
    kind, tile = image.kind(place), _tile(image, place)
    below = TILE_KINDS[kind].role == "interface" and master in DMA_MASTERS
    if below and _attached(image, place, "Demux_Config", DEMUX_BITS[master]):
        return f"{tile} {DIRECTIONS[S2MM]} {DMA_MASTERS.index(master)}"
    if port_kind(master) == "DMA":
        return f"{tile} {DIRECTIONS[S2MM]} {master.removeprefix('DMA')}"
    return f"{tile} {master}"


def _attached(image: RegisterImage, place: Place, register: str, bits: tuple[int, int]) -> bool:
    msb, lsb = bits
    offset = tile_register(image.kind(place), register).offset
    value = image.read(place, offset) >> lsb & (1 << msb - lsb + 1) - 1
    return value == SOUTH_ATTACHMENT["DMA"]


def _tile(image: RegisterImage, place: Place) -> str:
    return f"{image.kind(place)}({place[0]},{place[1]})"
