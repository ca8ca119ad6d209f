"""Do devices and tile kinds agree with mlir-aie's device model and with the register map?"""

from __future__ import annotations

import pytest

from memtile.arch.devices import DEVICES, device
from memtile.arch.grades import Grade
from memtile.errors import DesignError
from memtile.io.program.transaction_format import GENERATIONS
from oracle_files import load

ORACLE = load("devices")["devices"]


def test_which_devices():
    assert list(DEVICES) == ["xcve2802", "xcve2302", "npu1", "xc2ve3858"]
    assert set(ORACLE) - set(DEVICES) == {"npu2"}  # AIE2P, another generation
    assert set(DEVICES) - set(ORACLE) == {"xc2ve3858"}  # not in that version of the device model


def test_the_device_of_aie_ml_v2():
    """mlir-aie's VE3858: 36 columns, 7 rows; AMD counts 144 compute tiles. DEV-V2-5: no interface DMA."""
    ours = device("xc2ve3858")
    assert (ours.columns, ours.rows, list(ours.memory_rows)) == (36, 7, [1, 2])
    assert ours.columns * len(ours.compute_rows) == 144
    assert [ours.tile(0, row) for row in range(7)] == [
        "interface_v2",
        *["memory_v2"] * 2,
        *["compute_v2"] * 4,
    ]
    assert not any(ours.has_interface_dma(column) for column in range(36))
    assert (ours.generation, ours.source.grade) == ("AIE-ML v2", Grade.DRIVER)


@pytest.mark.feature("F34")
@pytest.mark.parametrize("name", sorted(set(DEVICES) & set(ORACLE)))
def test_shape_is_the_device_models(name):
    ours, facts = device(name), ORACLE[name]
    assert (ours.columns, ours.rows) == (facts["columns"], facts["rows"])
    assert ours.memory_tile_rows == facts["memory_tile_rows"]
    assert list(ours.memory_rows) == facts["memory_rows"]
    assert len(ours.compute_rows) == facts["compute_rows"]
    assert list(ours.noc_columns) == facts["noc_columns"]
    assert (ours.generation, ours.family) == (facts["generation"], facts["family"])
    assert ours.physical_columns == facts.get("physical_columns", facts["columns"])
    assert ours.first_column == facts.get("first_usable_physical_column", 0)


@pytest.mark.feature("F34")
@pytest.mark.parametrize("name", sorted(set(DEVICES) & set(ORACLE)))
def test_kind_of_every_tile(name):
    ours, facts = device(name), ORACLE[name]
    for column in range(ours.columns):
        kinds = [ours.tile(column, row) for row in range(ours.rows)]
        assert kinds == (
            ["interface"] * facts["interface_rows"]
            + ["memory"] * facts["memory_tile_rows"]
            + ["compute"] * facts["compute_rows"]
        )


def test_transactions_number_the_generation_as_the_driver_and_mlir_aie_do():
    numbers = {name: [GENERATIONS[n] for n in DEVICES[name].transaction_generations] for name in DEVICES}
    assert numbers == {
        "xcve2802": ["AIE-ML"],
        "xcve2302": ["AIE-ML"],
        "npu1": ["AIE-ML", "NPU1"],
        "xc2ve3858": [],  # no number is known
    }


@pytest.mark.parametrize("name", ["xcve2802", "xcve2302"])
def test_edges_of_the_array_have_no_neighbour(name):
    ours = device(name)
    west = [ours.has_west_neighbour(column) for column in range(ours.columns)]
    east = [ours.has_east_neighbour(column) for column in range(ours.columns)]
    assert west == [False] + [True] * (ours.columns - 1)
    assert east == [True] * (ours.columns - 1) + [False]


def test_npu1_has_a_column_west_of_the_designs_first():
    npu1 = device("npu1")
    assert [npu1.has_west_neighbour(column) for column in range(4)] == [True] * 4
    assert [npu1.has_east_neighbour(column) for column in range(4)] == [True, True, True, False]
    assert npu1.physical_source.grade is Grade.SILICON


def test_interface_dma_only_in_noc_columns():
    assert [column for column in range(17) if device("xcve2302").has_interface_dma(column)] == [
        2,
        3,
        6,
        7,
        10,
        11,
    ]


def test_names_are_found_in_any_case():
    assert device("XCVE2802") is DEVICES["xcve2802"]


def test_an_unknown_device_is_an_error_that_lists_the_known():
    with pytest.raises(DesignError) as caught:
        device("xcve280")
    assert str(caught.value) == (
        "device table: device is 'xcve280'; it must be one of xcve2802, xcve2302, npu1, xc2ve3858 "
        "(mlir-aie device model). Did you mean xcve2802?"
    )
    with pytest.raises(DesignError, match=r"xc2ve3858 \(mlir-aie device model\)\.$"):
        device("zz")


@pytest.mark.parametrize(
    ("column", "row", "text"),
    [
        (4, 0, "npu1: column is 4, allowed are 0..3 (mlir-aie device model)."),
        (-1, 0, "npu1: column is -1, allowed are 0..3 (mlir-aie device model)."),
        (0, 6, "npu1: row is 6, allowed are 0..5 (mlir-aie device model)."),
    ],
)
def test_a_place_outside_the_device_is_an_error(column, row, text):
    with pytest.raises(DesignError) as caught:
        device("npu1").tile(column, row)
    assert str(caught.value) == text
