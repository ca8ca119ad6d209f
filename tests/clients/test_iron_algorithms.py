"""Do the designs of ``memtile.iron.algorithms`` compute what NumPy computes, and refuse what does not fit?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile import iron
from memtile.iron import algorithms
from memtile.iron.controlflow import range_
from memtile.iron.device import NPU1Col1, NPU1Col2

N, TILE, COLUMNS = 256, 16, 2
ALL = np.ndarray[(N,), np.dtype[np.int32]]
LINE = np.ndarray[(TILE,), np.dtype[np.int32]]
A, B = np.arange(N, dtype=np.int32) - 40, np.arange(N, dtype=np.int32)[::-1] * 3
LOOP = "for (int i = 0; i < n; i++)"


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    iron.set_current_device(NPU1Col2())
    yield
    iron.set_current_device(None)


def _kernel(name: str, arguments: str, statement: str, types: list[Any]) -> iron.ExternalFunction:
    source = f'extern "C" void {name}({arguments}) {{ {statement} }}'
    return iron.ExternalFunction(name, source_string=source, arg_types=types)


def _run(made: Callable[[], object], *given: Any) -> np.ndarray[Any, Any]:
    """Run a design with one or two inputs; the tensor behind them, zeros before, is its output."""
    out = iron.zeros(N, dtype=np.int32)

    def one(_a: iron.In, _b: iron.Out) -> object:
        return made()

    def two(_a: iron.In, _b: iron.In, _c: iron.Out) -> object:
        return made()

    iron.jit(one if len(given) == 1 else two)(*map(iron.tensor, given), out)
    return np.array(out.numpy())


def _odd(a: Any) -> Any:
    return 2 * a + 1


@pytest.mark.parametrize("size", [TILE, 2 * TILE])
def test_a_function_of_elements_goes_over_a_tensor(size: int) -> None:
    assert np.array_equal(_run(lambda: algorithms.transform(_odd, ALL, tile_size=size), A), 2 * A + 1)


def test_a_function_of_two_elements_goes_over_two_tensors() -> None:
    made = _run(lambda: algorithms.transform_binary(lambda a, b: a - b, ALL), A, B)
    assert np.array_equal(made, A - B)


@pytest.mark.parametrize("channels", [1, 2])
def test_each_core_has_its_share_of_the_tensors(channels: int) -> None:
    """In column-major order of columns and channels, each core has one part of every tensor."""
    one = _run(lambda: algorithms.transform_parallel(_odd, ALL, num_channels=channels), A)
    assert np.array_equal(one, 2 * A + 1)
    text = str(algorithms.transform_parallel(_odd, ALL, num_channels=channels))
    assert len(re.findall(r"aie\.core\(", text)) == COLUMNS * channels
    share = N // (COLUMNS * channels)
    offsets = re.findall(rf"offset = (\d+) len = {share} sizes = \[1, 1, 1, {share}\]", text)
    assert sorted(map(int, offsets)) == sorted(
        2 * [share * at for at in range(1, COLUMNS * channels)] + [0, 0]
    )


def test_each_core_has_its_share_of_two_tensors() -> None:
    two = _run(lambda: algorithms.transform_parallel_binary(lambda a, b: a - b, ALL), A, B)
    assert np.array_equal(two, A - B)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_kernel_of_tiles_takes_numbers_and_its_size(parallel: bool) -> None:
    scale = _kernel(
        "scale", "int *a, int *b, int f, int n", f"{LOOP} b[i] = f * a[i];", [LINE, LINE, np.int32, np.int32]
    )
    design = algorithms.transform_parallel if parallel else algorithms.transform
    assert np.array_equal(_run(lambda: design(scale, ALL, 7), A), 7 * A)


def test_a_kernel_may_leave_its_size_out() -> None:
    kernel = _kernel("twice", "int *a, int *b", f"{LOOP.replace('n;', '16;')} b[i] = 2 * a[i];", [LINE, LINE])
    made = _run(lambda: algorithms.transform_parallel(kernel, ALL, pass_size_to_kernel=False), A)
    assert np.array_equal(made, 2 * A)


def test_a_kernel_of_two_tiles() -> None:
    kernel = _kernel(
        "minus",
        "int *a, int *b, int *c, int n",
        f"{LOOP} c[i] = a[i] - b[i];",
        [LINE, LINE, LINE, np.int32],
    )
    assert np.array_equal(_run(lambda: algorithms.transform_binary(kernel, ALL), A, B), A - B)


def test_a_tensor_beside_the_tiles_is_the_same_for_all_of_them() -> None:
    factors = np.array([2, 3, 5, 7], np.int32)
    kind = np.ndarray[(4,), np.dtype[np.int32]]
    kernel = _kernel(
        "weigh",
        "int *a, int *b, int *f, int n",
        f"{LOOP} b[i] = f[i % 4] * a[i];",
        [LINE, LINE, kind, np.int32],
    )
    out, more = iron.zeros(N, dtype=np.int32), iron.tensor(factors)

    @iron.jit
    def weighed(_a: iron.In, _b: iron.Out, _f: iron.In) -> object:
        return algorithms.transform(kernel, ALL, kind)

    weighed(iron.tensor(A), out, more)
    assert np.array_equal(out.numpy(), np.tile(factors, N // 4) * A)


def test_a_tensor_changes_in_its_place() -> None:
    @iron.jit
    def odd(_a: iron.InOut) -> object:
        return algorithms.for_each(_odd, ALL)

    data = iron.tensor(A.copy())
    odd(data)
    assert np.array_equal(data.numpy(), 2 * A + 1)


def test_one_call_reduces_a_tensor() -> None:
    one = np.ndarray[(1,), np.dtype[np.int32]]
    total = _kernel("total", "int *a, int *b, int n", f"b[0] = 0; {LOOP} b[0] += a[i];", [ALL, one, np.int32])

    @iron.jit
    def reduced(_a: iron.In, _b: iron.Out) -> object:
        return algorithms.reduce(total, ALL, one)

    out = iron.zeros(1, dtype=np.int32)
    reduced(iron.tensor(A), out)
    assert out.numpy().tolist() == [A.sum()]
    with pytest.raises(TypeError, match="reduce takes a kernel, which keeps what it has so far"):
        algorithms.reduce(_odd, ALL, one)


@pytest.mark.parametrize("design", [algorithms.transform, algorithms.transform_parallel])
def test_a_trace_is_of_the_cores(design: Any) -> None:
    assert "trace" not in str(design(_odd, ALL))
    assert "trace" in str(design(_odd, ALL, trace_size=8192))


def test_tiles_that_do_not_divide_a_tensor_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"256 elements must be a multiple of tile size 48 in each of 1 cores"
    ):
        algorithms.transform(_odd, ALL, tile_size=48)
    with pytest.raises(ValueError, match=r"256 in each of 2 cores, that is of 512"):
        algorithms.transform_parallel(_odd, ALL, tile_size=256)
    algorithms.transform_parallel(_odd, ALL, tile_size=128)
    kernel = _kernel("twice", "int *a, int *b, int n", f"{LOOP} b[i] = 2 * a[i];", [LINE, LINE, np.int32])
    with pytest.raises(ValueError, match=r"tile_size 32 does not match kernel twice, which has tiles of 16"):
        algorithms.transform(kernel, ALL, tile_size=32)


def test_what_cores_of_all_columns_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match="an interface tile has 1 or 2 channels each way, not 3"):
        algorithms.transform_parallel(_odd, ALL, num_channels=3)
    kernel = _kernel(
        "scale", "int *a, int *b, int f, int n", f"{LOOP} b[i] = f * a[i];", [LINE, LINE, np.int32, np.int32]
    )
    with pytest.raises(ValueError, match="parameters go with num_channels=1 alone"):
        algorithms.transform_parallel(kernel, ALL, 7, num_channels=2)


def test_a_kind_of_tensor_is_a_type_of_numpy() -> None:
    kind = algorithms.make_param_descriptor(np.ndarray[(2, 8), np.dtype[np.int16]])
    assert (kind.shape, kind.dtype, kind.size) == ((2, 8), np.int16, 16)
    assert kind.type == np.ndarray[(2, 8), np.dtype[np.int16]]
    assert kind.flat == np.ndarray[(16,), np.dtype[np.int16]]
    for wrong in (np.int32, np.ndarray, list[int], dict[str, int]):
        with pytest.raises(TypeError, match="is no type of a tensor: write"):
            algorithms.make_param_descriptor(wrong)


ROWS, WIDTH = 6, 16
ROW = np.ndarray[(WIDTH,), np.dtype[np.int32]]
PICTURE = np.ndarray[(ROWS * WIDTH,), np.dtype[np.int32]]


def _picture(body: Callable[..., None], sources: int, weights: int = 0) -> Any:
    """A design that brings rows of pictures to a core, and rows of another one back."""
    into = [iron.ObjectFifo(ROW, depth=4, name=f"in{at}") for at in range(sources)]
    out = iron.ObjectFifo(ROW, name="out")
    kind = np.ndarray[(weights or 1,), np.dtype[np.int32]]
    fifo = iron.ObjectFifo(kind, depth=1, name="weights")
    extra = [fifo] if weights else []
    worker = iron.Worker(body, [*(each.cons() for each in (*into, *extra)), out.prod()])

    def sequence(*given: Any) -> None:
        count = sources + len(extra)
        for buffer, end in zip(given[:count], given[count + 1 : -1], strict=True):
            end.fill(buffer)
        given[-1].drain(given[count], wait=True)

    ends = [*(each.prod() for each in (*into, *extra)), out.cons()]
    types = [*[PICTURE] * sources, *([kind] if weights else []), PICTURE, *ends]
    runtime = iron.Runtime(sequence, types)
    return iron.Program(NPU1Col1(), runtime, workers=[worker]).resolve_program()


IMAGE = np.arange(ROWS * WIDTH, dtype=np.int32).reshape(ROWS, WIDTH) ** 2


def _drawn(design: Callable[..., object], *given: Any) -> np.ndarray[Any, Any]:
    out = iron.zeros(ROWS * WIDTH, dtype=np.int32)
    iron.jit(design)(*(iron.tensor(each.reshape(-1)) for each in given), out)
    return out.numpy().reshape(ROWS, WIDTH)


def test_rows_come_one_at_a_time_with_weights() -> None:
    def work(row: Any, out: Any, weights: Any) -> None:
        for at in range_(WIDTH):
            out[at] = row[at] * weights[1] + weights[0]

    def body(of_in: Any, of_wts: Any, of_out: Any) -> None:
        algorithms.row_at_a_time(of_in, of_out, n_rows=ROWS, do_kernel=work, of_wts=of_wts)

    def design(_a: iron.In, _w: iron.In, _b: iron.Out) -> object:
        return _picture(body, 1, weights=2)

    assert np.array_equal(_drawn(design, IMAGE, np.array([5, 3], np.int32)), 3 * IMAGE + 5)


def test_rows_of_two_pictures_come_together() -> None:
    def work(row: Any, out: Any, skip: Any, weights: Any) -> None:
        assert weights is None
        for at in range_(WIDTH):
            out[at] = row[at] - skip[at]

    def body(of_in: Any, of_skip: Any, of_out: Any) -> None:
        algorithms.row_at_a_time_with_skip(of_in, of_out, of_skip, n_rows=ROWS, do_kernel=work)

    def design(_a: iron.In, _s: iron.In, _b: iron.Out) -> object:
        return _picture(body, 2)

    other = IMAGE[::-1].copy()
    assert np.array_equal(_drawn(design, IMAGE, other), IMAGE - other)


def test_tiles_of_rows_come_one_at_a_time() -> None:
    def work(row: Any, out: Any, _weights: Any) -> None:
        for at in range_(WIDTH):
            out[at] = row[at] + 1

    def body(of_in: Any, of_out: Any) -> None:
        algorithms.row_at_a_time_tiled(of_in, of_out, n_rows=ROWS // 2, n_tiles_per_row=2, do_kernel=work)

    def design(_a: iron.In, _b: iron.Out) -> object:
        return _picture(body, 1)

    assert np.array_equal(_drawn(design, IMAGE), IMAGE + 1)


def test_three_rows_slide_and_edges_stand_for_what_is_outside() -> None:
    def work(above: Any, row: Any, below: Any, out: Any, _weights: Any, border: int) -> None:
        for at in range_(WIDTH):
            out[at] = above[at] + 100 * row[at] + 10000 * below[at] + 1000000 * border

    def body(of_in: Any, of_out: Any) -> None:
        algorithms.sliding_3row(of_in, of_out, n_out_rows=ROWS, do_kernel=work)

    def design(_a: iron.In, _b: iron.Out) -> object:
        return _picture(body, 1)

    image = np.arange(ROWS * WIDTH, dtype=np.int32).reshape(ROWS, WIDTH) % 97
    padded = np.vstack([image[:1], image, image[-1:]])
    border = np.array([0, *[1] * (ROWS - 2), 2], np.int32)[:, None]
    expected = padded[:-2] + 100 * padded[1:-1] + 10000 * padded[2:] + 1000000 * border
    assert np.array_equal(_drawn(design, image), expected)
