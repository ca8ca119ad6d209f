"""Do kernels of ``memtile.iron.kernels`` take arrays of the sizes of their mathematics, and compute so?

Sizes are those of a convolution: lines of width x channels, weights of inputs x outputs x area.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import iron
from memtile.iron import kernels
from memtile.iron.compiled_design import KernelSource
from memtile.iron.device import NPU1Col1, NPU2Col1
from memtile.iron.kernels._common import whole_words
from memtile.iron.library_kernels import library_kernel

I8, U8, U16 = np.int8, np.uint8, np.uint16
W, I, O = 8, 16, 24  # noqa: E741 - width of a line, its channels, and those of the output
SIZES = {"input_width": W, "input_channels": I, "output_channels": O}


@pytest.fixture(autouse=True)
def _device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MEMTILE_MLIR_AIE", "")
    iron.set_current_device(NPU1Col1())
    yield
    iron.set_current_device(None)


def _arrays(kernel: Any) -> list[tuple[Any, int]]:
    """Types and sizes of the arrays that a kernel takes, without the numbers behind them."""
    found = []
    for at, kind in enumerate(kernel.arg_types()):
        if kind is np.int32:
            break
        found.append((kernel.arg_dtype(at).type, int(np.prod(kernel.arg_shape(at)))))
    return found


CONVOLUTIONS = [
    ("conv2dk1", {}, [(I8, W * I), (I8, I * O), (U8, W * O)], 4),
    ("conv2dk1", {"act_dtype": U8}, [(U8, W * I), (I8, I * O), (U8, W * O)], 4),
    ("conv2dk3", {}, [*[(I8, W * I)] * 3, (I8, 9 * I * O), (U8, W * O)], 8),
    ("conv2dk3", {"weight_output_channels": 64}, [*[(I8, W * I)] * 3, (I8, 9 * I * 64), (U8, W * O)], 8),
    ("conv2dk1_skip", {}, [*[(U8, W * I // 2)] * 2, (I8, I * O), (U8, W * O), (I8, W * O)], 5),
    ("conv2dk1_i8", {}, [(I8, W * I), (I8, I * O), (I8, W * O)], 4),
    (
        "conv2dk1_skip_init",
        {"skip_input_channels": 40},
        [*[(U8, W * I // 2)] * 2, (I8, (I + 40) * O), (U8, W * O), (I8, W * 40)],
        7,
    ),
    (
        "conv2dk1_skip_init",
        {"act_dtype": U8},
        [*[(U8, W * I // 2)] * 2, (I8, 2 * I * O), (U8, W * O), (U8, W * I)],
        7,
    ),
    ("bn_conv2dk1_relu", {}, [(I8, W * I), (I8, I * O), (U8, W * O)], 4),
    ("bn_conv2dk3", {}, [*[(I8, W * I)] * 3, (I8, 9 * I * O), (U8, W // 2 * O)], 8),
    ("bn_conv2dk1_i8", {}, [(U8, W * I), (I8, I * O), (I8, W * O)], 4),
    ("bn_conv2dk1_skip", {}, [(U8, W * I), (I8, I * O), (I8, W * O), (U8, W * O)], 5),
    ("bn_conv2dk1_skip", {"skip_dtype": I8}, [(U8, W * I), (I8, I * O), (I8, W * O), (I8, W * O)], 5),
    ("bn_conv2dk3_dw", {}, [*[(U8, W * I)] * 3, (I8, 9 * I), (U8, W * O)], 8),
    ("bn_conv2dk3_dw", {"stride": 2}, [*[(U8, W * I)] * 3, (I8, 9 * I), (U8, W // 2 * O)], 8),
    ("bn_conv2dk1_relu_xy_pool_padded", {}, [(I8, W * I), (I8, I * O), (U16, O)], 8),
    (
        "bn_conv2dk1_relu_xy_pool_padded",
        {"weight_chunk_count": 48},
        [(I8, W * I), (I8, 48), (U16, O)],
        8,
    ),
]


@pytest.mark.parametrize(("name", "more", "arrays", "numbers"), CONVOLUTIONS)
def test_a_convolution_takes_lines_weights_and_an_output(
    name: str, more: dict[str, Any], arrays: list[Any], numbers: int
) -> None:
    made = getattr(kernels, name)(**SIZES, **more)
    assert _arrays(made) == arrays
    assert made.arg_types()[len(arrays) :] == [np.int32] * numbers
    assert set(library_kernel(KernelSource.of(made), "npu1")) == {made.name}


def test_other_convolutions_have_their_own_sizes() -> None:
    pixels = 14 * 14 * 4  # RGBA
    made = kernels.conv2dk14(28, 16, 8, 14)
    assert _arrays(made) == [(U8, 2 * pixels), (I8, 8 * pixels), (I8, 8 * 2 * 8)]
    assert _arrays(kernels.bn_fc_relu_ui16_pad(I, O)) == [(U16, I), (I8, I * O), (U16, O)]
    assert _arrays(kernels.bn_fc_relu_ui16_pad(I, O, 48)) == [(U16, I), (I8, 48), (U16, O)]
    with pytest.raises(ValueError, match=r"bn_conv2dk3_dw\(\): stride is 1 or 2, not 3"):
        kernels.bn_conv2dk3_dw(stride=3)
    with pytest.raises(ValueError, match=r"conv2dk1\(\): act_dtype is int8, uint8, not"):
        kernels.conv2dk1(act_dtype=np.int32)


SPLIT = [
    ("bn_conv2dk1_partial_put_i8", (W, I, 48), [(I8, W * I), (I8, 48)], 7),
    ("bn_conv2dk1_partial_get_relu_i8", (W, I, O, 48), [(I8, W * I), (I8, 48), (U8, W * O)], 9),
    ("bn_conv2dk3_dw_out_split", (W, I, O), [*[(U8, W * I)] * 3, (I8, 9 * I), *[(U8, W * O)] * 2], 8),
    ("bn_conv2dk1_input_split_partial_put_ui8", (W, I, 48), [(U8, W * I), (I8, 48)], 7),
    (
        "bn_conv2dk1_input_split_partial_skip_get",
        (W, I, O, 48),
        [(U8, W * I), (I8, 48), *[(I8, W * O)] * 2],
        10,
    ),
]


@pytest.mark.parametrize(("name", "sizes", "arrays", "numbers"), SPLIT)
@pytest.mark.parametrize("block", [13, 14])
def test_a_convolution_of_two_cores_is_of_a_block(
    name: str, sizes: Any, arrays: list[Any], numbers: int, block: int
) -> None:
    made = getattr(kernels, name)(*sizes, block_index=block)
    assert _arrays(made) == arrays
    assert len(made.arg_types()) == len(arrays) + numbers
    assert str(block) in made.name
    for wrong in (12, 15):
        with pytest.raises(ValueError, match=r"block_index is 13 or 14, as the C.. has it, not"):
            getattr(kernels, name)(*sizes, block_index=wrong)


PAIRS: list[tuple[Any, Any]] = [
    (np.int8, np.int8),
    (np.int8, np.int16),
    (np.int8, np.int32),
    (np.int16, np.int16),
    (np.int16, np.int32),
    (ml_dtypes.bfloat16, np.float32),
]


def _tiled(matrix: Any, rows: int, columns: int) -> Any:
    """A matrix in tiles, one after the other, each row by row."""
    m, n = matrix.shape
    cut = matrix.reshape(m // rows, rows, n // columns, columns)
    return np.ascontiguousarray(cut.transpose(0, 2, 1, 3)).reshape(-1)


@pytest.mark.parametrize("device", [NPU1Col1, NPU2Col1])
@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("vectorized", [True, False])
def test_a_product_of_matrices_is_numpys(device: Any, pair: tuple[Any, Any], vectorized: bool) -> None:
    """In tiles of one multiplication, or as they are; in the library as in NumPy."""
    iron.set_current_device(device())
    m, k, n = 16, 32, 24 if device is NPU1Col1 else 16
    into, out = pair
    made = kernels.mm(m, k, n, into, out, vectorized)
    assert _arrays(made) == [(into, m * k), (into, k * n), (out, m * n)]
    rng = np.random.default_rng(4)
    a, b = rng.integers(-2, 3, (m, k)).astype(into), rng.integers(-2, 3, (k, n)).astype(into)
    r, s, t = made.mac_dims if vectorized else (m, k, n)
    c = np.ones(m * n, out)
    found = library_kernel(KernelSource.of(made), "npu1" if device is NPU1Col1 else "npu2")
    found[made.name](_tiled(a, r, s), _tiled(b, s, t), c)
    expected = a.astype(np.float64) @ b.astype(np.float64) + 1
    assert np.array_equal(c.astype(np.float64), _tiled(expected, r, t))
    assert _arrays(made.zero) == [(out, m * n)]


def test_sizes_of_one_multiplication() -> None:
    """Of mmul in the AIE API: i8 4x8x8, i16 4x4x4, bf16 4x8x4 on AIE-ML."""
    sizes = {pair: kernels.mm(16, 16, 16, *pair).mac_dims for pair in PAIRS}
    assert sizes[np.int8, np.int32] == (4, 8, 8)
    assert sizes[np.int16, np.int16] == (4, 4, 4)
    assert sizes[PAIRS[-1]] == (4, 8, 4)
    with pytest.raises(ValueError, match=r"mm\(\): types of in and out are i8 to i8"):
        kernels.mm(16, 16, 16, np.int32, np.int32)


def test_a_product_with_a_vector_is_numpys() -> None:
    made = kernels.mv(16, 24, vectorized=False)
    assert _arrays(made) == [(np.int16, 16 * 24), (np.int16, 24), (np.int32, 16)]
    assert _arrays(made.zero) == [(np.int32, 16)]
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-99, 99, shape).astype(np.int16) for shape in ((16, 24), (24,)))
    c = np.ones(16, np.int32)
    library_kernel(KernelSource.of(made), "npu1")[made.name](a.reshape(-1), b, c)
    assert c.tolist() == (a.astype(np.int64) @ b + 1).tolist()
    assert kernels.mv(16, 24).name.endswith("matvec_vectorized_i16_i32")
    with pytest.raises(ValueError, match=r"mv\(\): types of in and out are i16 to i32"):
        kernels.mv(16, 24, np.int8)


def test_products_of_cores_in_a_cascade_have_three_parts() -> None:
    made = kernels.cascade_mm(16, 24, 8, np.int16, np.int32)
    arrays = [(np.int16, 16 * 24), (np.int16, 24 * 8), (np.int32, 16 * 8)]
    assert made.get_only is made
    assert made.mac_dims == (1, 1, 1)
    for part, word in ((made, "get_only"), (made.put_only, "put_only"), (made.put_get, "put_get")):
        assert _arrays(part) == arrays
        assert part.name.endswith(f"matmul_scalar_cascade_{word}_i16_i32")
    assert _arrays(made.zero) == arrays[2:]


def test_elements_are_copied_scaled_and_added() -> None:
    data = np.arange(-64, 64).astype(np.int32)
    for dtype in (np.uint8, np.int16, np.int32):
        made = kernels.passthrough(128, dtype)
        assert _arrays(made) == [(dtype, 128)] * 2
        out = np.zeros(128, dtype)
        library_kernel(KernelSource.of(made), "npu1")[made.name](data.astype(dtype), out, 128)
        assert np.array_equal(out, data.astype(dtype))
    with pytest.raises(
        ValueError, match=r"passthrough\(\) has elements of uint8, int16 or int32, not float32"
    ):
        kernels.passthrough(128, np.float32)
    for vectorized, word in ((True, "vector"), (False, "scalar")):
        made = kernels.scale(128, np.int32, vectorized)
        assert made.name.endswith(f"vector_scalar_mul_{word}")
        assert _arrays(made) == [(np.int32, 128), (np.int32, 128), (np.int32, 1)]
        out = np.zeros(128, np.int32)
        library_kernel(KernelSource.of(made), "npu1")[made.name](data, out, np.array([3], np.int32), 128)
        assert np.array_equal(out, 3 * data)
    numbers = np.arange(1024).astype(ml_dtypes.bfloat16) / 8
    for name, expected in (("add", numbers + numbers), ("mul", numbers * 2)):
        made = getattr(kernels, name)()
        out, other = np.zeros_like(numbers), numbers if name == "add" else np.full_like(numbers, 2)
        library_kernel(KernelSource.of(made), "npu1")[made.name](numbers, other, out)
        assert np.array_equal(out, expected)
        with pytest.raises(ValueError, match=rf"{name}\(\) has 1024 elements in its C.., not 512"):
            getattr(kernels, name)(512)


def test_kernels_of_equal_arguments_are_one() -> None:
    assert kernels.passthrough(128) is kernels.passthrough(128)
    assert kernels.passthrough(128) is not kernels.passthrough(256)
    assert kernels.passthrough(128).name != kernels.passthrough(128, np.int16).name
    assert [whole_words(each) for each in (np.int8, np.int16, np.int32, np.int64)] == [4, 2, 1, 1]


def test_a_kernel_knows_its_arguments() -> None:
    line: Any = np.ndarray[(4, 8), np.dtype[np.int16]]  # type: ignore[misc]
    made = iron.ExternalFunction("f", source_string="", arg_types=[line, np.int32])
    assert (made.arg_shape(0), made.arg_dtype(0), made.tile_size()) == ((4, 8), np.int16, 4)
    for ask in (made.arg_shape, made.arg_dtype):
        with pytest.raises(ValueError, match="argument 1 of kernel f is a number, no array"):
            ask(1)
        for outside in (2, -1):
            with pytest.raises(ValueError, match=f"kernel f has 2 arguments, none with number {outside}"):
                ask(outside)
    with pytest.raises(ValueError, match="kernel f expects 2 arguments, 1 were passed"):
        made(1)
    with pytest.raises(ValueError, match="argument 1 of kernel f: expected scalar"):
        made(1, "x")
    with pytest.raises(ValueError, match="kernel f is not built: give it to the Worker as an argument"):
        made(1, 2)
    with pytest.raises(ValueError, match="a kernel needs a name, that of its function"):
        iron.Kernel("", "f.o", [])
    with pytest.raises(ValueError, match="ExternalFunction g needs its source: source_file or source_string"):
        iron.ExternalFunction("g")
    with pytest.raises(ValueError, match="g: inline goes with neither use_chess nor symbol_prefix"):
        iron.ExternalFunction("g", source_string="", inline=True, use_chess=True)
    with pytest.raises(ValueError, match="With inline=True the file has LLVM IR"):
        iron.ExternalFunction("g", "g.o", source_string="", inline=True)


@pytest.mark.parametrize(("device", "folder"), [(None, "aie2"), (NPU1Col1, "aie2"), (NPU2Col1, "aie2p")])
def test_a_kernel_is_that_of_the_device_that_a_program_chose(
    device: Any, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it has chosen none, the device of the twin counts no more than an NPU does for mlir-aie."""
    monkeypatch.setenv("MEMTILE_DEVICE", "npu2")
    iron.set_current_device(device() if device else None)
    assert f"aie_kernels/{folder}/" in str(kernels.conv2dk1(**SIZES)._source_file)
