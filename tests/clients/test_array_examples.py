"""Do the examples with several tiles do what their first lines say?"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from memtile import Array, Status
from memtile.design.router import Tree

EXAMPLES = Path(__file__).parents[2] / "examples"


def made(name: str) -> Array:
    array = runpy.run_path(str(EXAMPLES / name))["design"]()
    assert isinstance(array, Array)
    return array


def hops(tree: Tree) -> int:
    return sum(port.is_master for port in tree)


@pytest.mark.feature("F18", "F19")
def test_distribute_and_join_bring_every_frame_back_through_four_compute_tiles() -> None:
    array = made("distribute_join.py")
    result = array.run()
    assert result.status is Status.FINISHED
    assert result.exact
    assert [check.elements for check in result.checks] == [4 * 32 * 64]
    assert len(result.channels) == 10 + 8
    assert all(sum(use.spent.values()) == result.cycles for use in result.channels)
    assert [hops(tree) for tree in array.route().values()] == [2, 2, 3, 3, 4, 4, 5, 5]


def test_distribute_and_join_without_a_clock_give_the_same_frames() -> None:
    result = made("distribute_join.py").run(untimed=True)
    assert result.exact
    assert result.cycles == 0


def test_the_transpose_lies_in_the_compute_tiles_without_a_core() -> None:
    array = made("transpose.py")
    result = array.run()
    assert result.good
    assert [check.port for check in result.checks] == [
        f"compute(0,{row}) buffer band" for row in (2, 3, 4, 5)
    ]
    matrix = np.arange(64 * 64, dtype=np.int32).reshape(64, 64)
    words = array.door.block_read32(array.door.address(0, 3), 16 * 64)
    np.testing.assert_array_equal(words.view(np.int32).reshape(16, 64), matrix.T[16:32])


@pytest.mark.feature("F19", "F44")
def test_packets_fan_out_and_in_over_one_link_each_way() -> None:
    array = made("packets.py")
    result = array.run()
    assert result.good
    assert len(result.checks) == 5
    links = {port for tree in array.route().values() for port in tree if port.is_master and port.row == 1}
    assert {port.name for port in links} == {"NORTH0", "DMA0"}


@pytest.mark.feature("F36")
@pytest.mark.parametrize("columns", [1, 4])
def test_a_product_of_512_x_512_is_exact_on_one_column_and_on_four(columns: int) -> None:
    array = runpy.run_path(str(EXAMPLES / "gemm.py"))["design"](columns)
    result = array.run()
    assert result.status is Status.FINISHED
    assert [check.elements for check in result.checks if check.exact] == [512 * 512]
    assert result.cycles < 1.2e6 / columns
