"""Do devices and tile kinds agree with mlir-aie's device model and with the register map?"""

from __future__ import annotations

import pytest

from memtile.arch.devices import DEVICES, PARTITIONS, device
from memtile.arch.grades import Grade
from memtile.errors import DesignError
from memtile.io.program.transaction_format import GENERATIONS
from support.formats.oracle_files import load

ORACLE = load("devices")["devices"]


def test_which_devices():
    assert list(DEVICES) == ["xcve2802", "xcve2302", "npu1", "npu2", "xc2ve3858"]
    assert set(ORACLE) <= set(DEVICES)
    assert set(DEVICES) - set(ORACLE) == {"xc2ve3858"}  # not in that version of the device model


def test_the_device_of_aie_ml_v2():
    """mlir-aie's VE3858: 36 columns, 7 rows; AMD counts 144 compute tiles. DEV-V2-5: DMA in every column."""
    ours = device("xc2ve3858")
    assert (ours.columns, ours.rows, list(ours.memory_rows)) == (36, 7, [1, 2])
    assert ours.columns * len(ours.compute_rows) == 144
    assert [ours.tile(0, row) for row in range(7)] == [
        "interface_v2",
        *["memory_v2"] * 2,
        *["compute_v2"] * 4,
    ]
    assert all(ours.has_interface_dma(column) for column in range(36))
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
            [f"interface{SUFFIX[ours.generation]}"] * facts["interface_rows"]
            + [f"memory{SUFFIX[ours.generation]}"] * facts["memory_tile_rows"]
            + [f"compute{SUFFIX[ours.generation]}"] * facts["compute_rows"]
        )


SUFFIX = {"AIE-ML": "", "AIE2P": "_2p"}


def test_transactions_number_the_generation_as_the_driver_and_mlir_aie_do():
    numbers = {name: [GENERATIONS[n] for n in DEVICES[name].transaction_generations] for name in DEVICES}
    assert numbers == {
        "xcve2802": ["AIE-ML"],
        "xcve2302": ["AIE-ML"],
        "npu1": ["AIE-ML", "NPU1"],
        "npu2": ["NPU2", "NPU2, Strix A0", "NPU2, Strix B0"],
        "xc2ve3858": ["AIE2PS"],
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


DRIVER_PATTERN, VC1902_COLUMNS, VC1902_NOC = (2, 3), 50, 16  # aie-rt; UG1076


@pytest.mark.parametrize(("name", "own", "driver"), [("xcve2802", 12, 18), ("xcve2302", 6, 8)])
def test_the_driver_takes_more_columns_for_ones_with_dma(name, own, driver):
    """DEV-NOC-1: its pattern contains our columns, and gives the VC1902 more than AMD counts."""
    pattern = {column for column in range(device(name).columns) if column % 4 in DRIVER_PATTERN}
    assert len(device(name).noc_columns) == own
    assert len(pattern) == driver
    assert pattern > set(device(name).noc_columns)
    assert sum(column % 4 in DRIVER_PATTERN for column in range(VC1902_COLUMNS)) > VC1902_NOC


def test_names_are_found_in_any_case():
    assert device("XCVE2802") is DEVICES["xcve2802"]


def test_an_unknown_device_is_an_error_that_lists_the_known():
    with pytest.raises(DesignError) as caught:
        device("xcve280")
    assert str(caught.value) == (
        "device table: device is 'xcve280'; it must be one of xcve2802, xcve2302, npu1, npu2, xc2ve3858 "
        "or a partition such as npu2_4col (mlir-aie device model). Did you mean xcve2802?"
    )
    with pytest.raises(DesignError, match=r"npu2_4col \(mlir-aie device model\)\.$"):
        device("zz")


@pytest.mark.feature("F34")
def test_partitions_have_mlir_aies_names() -> None:
    """mlir-aie: npu1_1col..3col, npu1 is four columns; npu2_1col..7col, npu2 is eight."""
    whole = {"npu1": range(1, 4), "npu2": range(1, 8)}
    names = [f"{name}_{count}col" for name, counts in whole.items() for count in counts]
    assert [name for name in PARTITIONS if device(name).name == name] == names
    for name in names:
        part, parent = device(name), device(name.partition("_")[0])
        assert part.columns == int(name[5]) == len(part.noc_columns)
        assert (part.rows, part.generation, part.family) == (parent.rows, parent.generation, parent.family)
        assert part.transaction_generations == parent.transaction_generations
        assert part.has_east_neighbour(part.columns - 1)
        assert part.has_west_neighbour(0) == parent.has_west_neighbour(0)
    assert device("npu1_4col") is device("NPU1")
    assert device("npu2_8col") is device("npu2")
    assert set(ORACLE["npu2"]["sizes"]) == {device(n).columns for n in (*names, "npu2") if "npu2" in n}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("strix", "The name strix is an NPU of AIE2P; take npu2."),
        ("Strix Halo", "The name strix halo is an NPU of AIE2P; take npu2."),
        ("krackan", "take npu2."),
        ("phoenix", "The name phoenix is an NPU of AIE-ML; take npu1."),
        ("hawk-point", "take npu1."),
        ("npu4", "The name npu4 is the kernel driver's and IREE's name of the NPU of Strix; take npu2."),
        ("npu3", "is a later NPU, of which no public register description is known here."),
        ("aie2p", "The name aie2p is a generation; take npu2."),
        ("aie2ps", "take xc2ve3858."),
        ("npu1_5col", "of which designs get four; take npu1."),
        ("VCK190", "is a board of the first generation, AIE, which has no memory tiles."),
        ("npu2_9col", "Did you mean npu2_8col?"),
        ("nup2", "Did you mean npu2?"),
    ],
)
def test_names_that_people_type_are_explained(name: str, text: str) -> None:
    with pytest.raises(DesignError) as caught:
        device(name)
    assert str(caught.value).endswith(text)


def test_npu2_is_eight_columns_with_interface_dma() -> None:
    npu2 = device("npu2")
    assert npu2.noc_columns == tuple(range(8))
    assert [npu2.has_east_neighbour(column) for column in range(8)] == [True] * 7 + [False]
    assert not npu2.has_west_neighbour(0)
    assert {kind.generation for kind in (npu2.kind(r) for r in ("memory", "compute", "interface"))} == {
        "AIE2P"
    }


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
