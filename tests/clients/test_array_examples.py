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
    (band,) = array.compute_tile(0, 3).buffers
    words = array.door.block_read32(array.door.address(0, 3) + band.offset, 16 * 64)
    np.testing.assert_array_equal(words.view(np.int32).reshape(16, 64), matrix.T[16:32])


@pytest.mark.feature("F19", "F44")
def test_packets_fan_out_and_in_over_one_link_each_way() -> None:
    array = made("packets.py")
    result = array.run()
    assert result.good
    assert len(result.checks) == 5
    links = {port for tree in array.route().values() for port in tree if port.is_master and port.row == 1}
    assert {port.name for port in links} == {"NORTH0", "DMA0"}


@pytest.mark.slow
@pytest.mark.feature("F36")
@pytest.mark.parametrize("columns", [1, 4])
def test_a_product_of_512_x_512_is_exact_on_one_column_and_on_four(columns: int) -> None:
    array = runpy.run_path(str(EXAMPLES / "gemm.py"))["design"](columns)
    result = array.run()
    assert result.status is Status.FINISHED
    assert [check.elements for check in result.checks if check.exact] == [512 * 512]
    assert result.cycles < 1.2e6 / columns


def test_a_product_of_any_int32_is_exact_modulo_2_to_32() -> None:
    """As flipped bits make them: sums of products far beyond what a float64 holds exactly."""
    example = runpy.run_path(str(EXAMPLES / "gemm.py"))
    for a, b in ((-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1), (2**31 - 1, -(2**31)), (-1, 2**31 - 1)):
        left, right = np.full((32, 16), a, np.int32), np.full((16, 128), b, np.int32)
        sums = sum(example["halves"](left, right) for _ in range(32))
        assert (example["joined"](sums) == np.array(a * b * 512 % 2**32, np.uint32).view(np.int32)).all()
    result = example["design"](4, limit=2**31).run()
    assert result.good
    assert result.cycles == 292257


def requantised(image: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The layer of the example once more, over windows and in float64, which holds every sum exactly."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(image, ((1, 1), (1, 1), (0, 0))), (3, 3), (0, 1)
    )
    sums = np.einsum("rcikl,klio->rco", windows.astype(np.float64), weights.astype(np.float64))
    return np.clip(np.floor(sums / 256 + 0.5), 0, 127).astype(np.int8)


@pytest.mark.feature("F07", "F26", "F36", "F40")
def test_two_layers_of_a_convolution_are_exact_with_halos_and_zeros_around_the_border() -> None:
    array = made("convolution.py")
    result = array.run()
    assert result.good
    random = np.random.default_rng(seed=33)
    images = random.integers(-128, 128, (3, 32, 32, 8), dtype=np.int8)
    weights = random.integers(-20, 20, (2, 3, 3, 8, 8), dtype=np.int8)
    expected = [requantised(requantised(image, weights[0]), weights[1]) for image in images]
    assert np.mean(expected[0] > 0) > 0.1
    np.testing.assert_array_equal(array.engine.external.buffers["results"].array, expected)
    words = {use.name: use.words for use in result.channels}
    assert words["memory(0,1) MM2S 1"] == 3 * 18 * 18 * 8 // 4


@pytest.mark.feature("F07", "F26")
def test_24_channels_are_padded_to_32_for_a_kernel_that_takes_16_at_a_time() -> None:
    array = made("channel_padding.py")
    result = array.run()
    assert result.good
    random = np.random.default_rng(seed=26)
    images = random.integers(-128, 128, (4, 128, 24), dtype=np.int8)
    weights = random.integers(-128, 128, (32, 16), dtype=np.int8)
    assert weights[24:].any()  # what the zeros are multiplied with
    expected = np.einsum("ipc,cl->ipl", images.astype(np.int64), weights[:24].astype(np.int64))
    np.testing.assert_array_equal(array.engine.external.buffers["sums"].array, expected)
    words = {use.name: use.words for use in result.channels}
    assert words["memory(0,1) S2MM 0"] == 4 * 128 * 24 // 4
    assert words["memory(0,1) MM2S 0"] == 4 * 128 * 32 // 4


@pytest.mark.feature("F08")
def test_compressed_weights_are_expanded_where_they_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    array = made("compressed_weights.py")
    result = array.run()
    assert result.good
    assert [check.elements for check in result.checks] == [128, *[32 * 256] * 4]
    words = {use.name: use.words for use in result.channels}
    up = sum(words[f"memory(0,1) MM2S {n}"] for n in range(4))
    stored = array.engine.external.buffers["weights"].words
    assert up == words["interface(0,0) MM2S 0"] == stored < 0.45 * 128 * 256 / 4
    runpy.run_path(str(EXAMPLES / "compressed_weights.py"), run_name="__main__")
    text = f"8192 words of weights were {stored} in memory and on the streams: 58% saved\n"
    assert capsys.readouterr().out == text


@pytest.mark.feature("F20", "F24")
def test_a_traced_run_says_how_long_each_waited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLES / "trace_a_run.py"))
    assert example["design"]().run().good
    example["main"](tmp_path / "trace.json")
    shown = capsys.readouterr().out
    assert shown.startswith("finished\n")
    assert "INSTR_EVENT_0                    4 times, 4 cycles" in shown
    assert "DMA_S2MM_0_STALLED_LOCK          3 times, 195 cycles" in shown
    assert "core_trace for tile2,0" in (tmp_path / "trace.json").read_text()


def test_sixteen_cores_multiply_matrices_as_numpy_does() -> None:
    done, exact = runpy.run_path(str(EXAMPLES / "matmul_16_cores.py"))["run"]()
    assert done.result.status is Status.FINISHED
    assert exact
    assert len(done.result.cores) == 16
