"""Are the stream switch ports, their order and their legal connections those of the driver's tables?"""

from __future__ import annotations

import pytest

from memtile.arch.ports import (
    DEMUX_BITS,
    DMA_MASTERS,
    DMA_SLAVES,
    MERGE_ARBITERS,
    MERGE_POSITIONS,
    MUX_BITS,
    PORTS,
    SLOTS_PER_SLAVE,
    SOUTH_ATTACHMENT,
    circuit_allowed,
)
from memtile.arch.register_map import TILE_MODULES, register_named
from memtile.arch.switch_registers import (
    MASTER_CONFIG,
    MERGE_STRIDE,
    PACKET_CONFIGURATION,
    SLAVE_CONFIG,
    SLOT,
)
from memtile.errors import DesignError
from support.formats.oracle_files import load

ORACLE = load("ports")
TILES = ("memory", "compute", "interface")


def bits(layout):
    return {field.name: [field.msb, field.lsb] for field in layout}


@pytest.mark.feature("F18")
@pytest.mark.parametrize("tile", TILES)
def test_ports_are_numbered_as_in_the_driver(tile):
    assert list(PORTS[tile].masters) == ORACLE[tile]["masters"]
    assert list(PORTS[tile].slaves) == ORACLE[tile]["slaves"]
    assert [PORTS[tile].master(name) for name in ORACLE[tile]["masters"]] == list(
        range(len(PORTS[tile].masters))
    )
    assert [PORTS[tile].slave(name) for name in ORACLE[tile]["slaves"]] == list(
        range(len(PORTS[tile].slaves))
    )


@pytest.mark.feature("F18")
@pytest.mark.parametrize("tile", TILES)
def test_every_pair_may_connect_or_not_as_in_the_driver(tile):
    ours = {s: [m for m in PORTS[tile].masters if circuit_allowed(tile, s, m)] for s in PORTS[tile].slaves}
    assert ours == ORACLE[tile]["circuit"]
    assert sum(len(masters) for masters in ours.values()) == ORACLE[tile]["circuit_pairs"]


@pytest.mark.parametrize("tile", TILES)
def test_register_blocks_start_where_the_driver_says(tile):
    module, facts, ports = TILE_MODULES[tile][-1], ORACLE[tile], PORTS[tile]
    assert ports.base == facts["master_config"]
    spelled = {"memory": "DMA", "compute": "AIE_Core", "interface": "Tile_Ctrl"}[tile]
    first = {"memory": f"{spelled}_0", "compute": f"{spelled}0", "interface": spelled}[tile]
    assert register_named(module, f"Stream_Switch_Slave_Config_{first}").offset == facts["slave_config"]
    assert register_named(module, f"Stream_Switch_Slave_{first}_Slot0").offset == facts["slot_config"]
    assert facts["slots_per_slave"] == SLOTS_PER_SLAVE
    merge = facts["deterministic_merge"]
    assert (merge["arbiters"], merge["positions"]) == (MERGE_ARBITERS, MERGE_POSITIONS)
    assert merge["arbiter_stride"] == MERGE_STRIDE
    pair = register_named(module, "Stream_Switch_Deterministic_Merge_arb0_slave0_1")
    assert pair.offset == merge["base"]
    assert pair.field("Packet_Count_0").maximum == merge["max_packet_count"]


def test_configuration_bits():
    facts = ORACLE["fields"]
    assert list(bits(MASTER_CONFIG).values()) == list(facts["master_config"].values())
    assert list(bits(SLAVE_CONFIG).values()) == list(facts["slave_config"].values())
    assert bits(SLOT) == {"arbit" if k == "arbiter" else k: v for k, v in facts["slot"].items()}
    assert list(bits(PACKET_CONFIGURATION).values()) == list(facts["packet_configuration"].values())
    assert {f.name: f.maximum for f in SLOT if f.name in ("id", "mask")} == {
        "id": ORACLE["max_packet_id"],
        "mask": ORACLE["max_packet_mask"],
    }


def test_interface_dma_is_wired_to_the_south_ports():
    facts = ORACLE["interface"]["dma_attachment"]
    assert list(DMA_SLAVES) == [f"SOUTH{n}" for n in facts["dma_to_array_south_slaves"]]
    assert list(DMA_MASTERS) == [f"SOUTH{n}" for n in facts["array_to_dma_south_masters"]]
    assert {port: list(pair) for port, pair in MUX_BITS.items()} == facts["mux_fields"]
    assert {port: list(pair) for port, pair in DEMUX_BITS.items()} == facts["demux_fields"]
    assert dict(SOUTH_ATTACHMENT) == facts["values"]
    assert register_named("noc", "Mux_Config").offset == facts["mux_register"]
    assert register_named("noc", "Demux_Config").offset == facts["demux_register"]
    assert set(DMA_SLAVES) <= set(MUX_BITS) <= set(PORTS["interface"].slaves)
    assert set(DMA_MASTERS) <= set(DEMUX_BITS) <= set(PORTS["interface"].masters)


@pytest.mark.feature("F18")
def test_memory_tile_switch_has_17_masters_18_slaves_no_sideways_port_and_no_fifo():
    assert (len(PORTS["memory"].masters), len(PORTS["memory"].slaves)) == (17, 18)
    names = {*PORTS["memory"].masters, *PORTS["memory"].slaves}
    assert not [name for name in names if name.startswith(("WEST", "EAST", "FIFO"))]
    assert [PORTS[tile].fifos for tile in TILES] == [0, 1, 1]


def test_an_unknown_port_is_an_error():
    with pytest.raises(DesignError) as caught:
        circuit_allowed("memory", "DMA6", "NORTH0")
    assert str(caught.value) == (
        "stream switch: slave port is 'DMA6'; it must be one of DMA0, DMA1, DMA2, DMA3, DMA4, DMA5, "
        "CTRL0, SOUTH0, SOUTH1, SOUTH2, SOUTH3, SOUTH4, SOUTH5, NORTH0, NORTH1, NORTH2, NORTH3, TRACE0 "
        "(AM025 stream switch registers). Did you mean DMA5?"
    )
    with pytest.raises(
        DesignError,
        match=(
            "master port is 'SOUTH4'; it must be one of DMA0, DMA1, DMA2, DMA3, DMA4, DMA5, CTRL0, SOUTH0, "
            "SOUTH1, SOUTH2, SOUTH3, NORTH0, NORTH1, NORTH2, NORTH3, NORTH4, NORTH5"
        ),
    ):
        circuit_allowed("memory", "DMA0", "SOUTH4")
