"""Do circuits that a switch does not have stay dead when registers ask for them, and is it told?"""

from __future__ import annotations

import pytest

from memtile import Array
from memtile.arch.ports import PORTS, circuit_allowed
from memtile.arch.tiles import TileName

KINDS: tuple[TileName, ...] = ("memory", "compute", "interface")
PAIRS = {"memory": 176, "compute": 471, "interface": 446}
ROWS = {"memory": 1, "compute": 2, "interface": 0}
ENABLE = 1 << 31


def connect(array: Array, kind: TileName, slave: int, master: int) -> None:
    """As the driver does it, without its check: the master names the slave, then the slave is enabled."""
    door, base = array.tile(0, ROWS[kind]).door, PORTS[kind].base
    door.write32(base + 4 * master, ENABLE | slave)
    door.write32(base + 0x100 + 4 * slave, ENABLE)


def disconnect(array: Array, kind: TileName, slave: int, master: int) -> None:
    door, base = array.tile(0, ROWS[kind]).door, PORTS[kind].base
    door.write32(base + 4 * master, 0)
    door.write32(base + 0x100 + 4 * slave, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_of_ports_is_a_circuit_or_none(kind: TileName) -> None:
    """DEV-PKT-7: what is joined in the model is what the driver allows."""
    array = Array("npu1", 1)
    tile = array.tile(0, ROWS[kind]).index
    tiles, ports = array.engine.spec.tiles, PORTS[kind]
    joined = 0
    for s, slave in enumerate(ports.slaves):
        for m, master in enumerate(ports.masters):
            connect(array, kind, s, m)
            switch = array.engine.state.switch
            feeds = int(switch.feeds[tiles.slave_base[tile] + s])
            barred = int(switch.barred[tiles.master_base[tile] + m])
            allowed = circuit_allowed(kind, slave, master)
            assert (feeds >= 0, barred == 0) == (allowed, allowed), (slave, master)
            joined += allowed
            disconnect(array, kind, s, m)
            assert not array.engine.state.switch.barred.any()
    assert joined == PAIRS[kind]


def looping(mm2s: int, s2mm: int) -> Array:
    """A memory tile that sends to itself over registers alone: channel to channel."""
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    tile.door.block_write32(0, [11, 12, 13, 14])
    for bd, address in ((24 * (mm2s % 2), 0x20000), (24 * (s2mm % 2) + 1, 0x20000 + 0x100)):
        tile.door.block_write32(0xA0000 + 0x20 * bd, [4, address, 0, 0, 0, 0, 0, ENABLE])
    connect(array, "memory", mm2s, s2mm)
    return array


def start(array: Array, mm2s: int, s2mm: int) -> None:
    """Start both channels."""
    door = array.memory_tile(0).door
    door.write32(0xA0604 + 8 * s2mm, 24 * (s2mm % 2) + 1)
    door.write32(0xA0634 + 8 * mm2s, 24 * (mm2s % 2))


@pytest.mark.parametrize("untimed", [False, True])
@pytest.mark.parametrize(("mm2s", "s2mm"), [(1, 2), (0, 5), (3, 3)])
def test_the_channels_of_a_memory_tile_are_joined_to_their_own_number_alone(
    mm2s: int, s2mm: int, untimed: bool
) -> None:
    array = looping(mm2s, s2mm)
    start(array, mm2s, s2mm)
    result = array.run(untimed=untimed)
    moved = array.memory_tile(0).door.block_read32(0x400, 4).tolist()
    if mm2s == s2mm:
        assert result.good
        assert moved == [11, 12, 13, 14]
        return
    assert moved == [0] * 4
    assert not result.good
    assert result.errors == (
        f"master port DMA{s2mm} of tile (0, 1): its register names slave DMA{mm2s}; the switch has no such "
        f"circuit, nothing passes. Slaves that reach it are {reach(s2mm)}",
    )


def reach(master: int) -> str:
    ports = PORTS["memory"]
    name = ports.masters[master]
    return ", ".join(slave for slave in ports.slaves if circuit_allowed("memory", slave, name))


def test_a_number_that_no_slave_has() -> None:
    array = Array("npu1", 1)
    array.memory_tile(0).door.write32(0xB0008, ENABLE | 31)
    (error,) = array.run().errors
    assert "names slave 31, which is none" in error


def test_a_master_whose_slave_is_off_or_in_packet_mode_is_no_error() -> None:
    """Half of a configuration is not a circuit yet."""
    array = Array("npu1", 1)
    door = array.memory_tile(0).door
    door.write32(0xB0008, ENABLE | 1)
    assert array.run().errors == ()
    door.write32(0xB0104, ENABLE | 1 << 30)
    assert array.run().errors == ()
    door.write32(0xB0104, ENABLE)
    assert len(array.run().errors) == 1
    door.write32(0xB0008, 0)
    assert array.run().errors == ()


def test_packets_go_from_any_slave_to_any_master() -> None:
    """DEV-PKT-7."""
    array = looping(1, 2)
    door = array.memory_tile(0).door
    packet, drop = 1 << 30, 1 << 7
    door.write32(0xA0000 + 0x20 * 24, 4 | ENABLE)  # with a header
    door.write32(0xB0000 + 4 * 2, ENABLE | packet | drop | 1 << 3)
    door.write32(0xB0100 + 4 * 1, ENABLE | packet)
    door.write32(0xB0200 + 0x10 * 1, 0x1F << 16 | 1 << 8)
    start(array, 1, 2)
    assert array.run().good
    assert door.block_read32(0x400, 4).tolist() == [11, 12, 13, 14]
