"""Do values, buffers and functions of an IRON program compute in a core what NumPy computes?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile import iron
from memtile.iron.controlflow import else_, if_, range_
from memtile.iron.device import NPU2Col1
from memtile.iron.dialects import aie
from memtile.iron.extras import types as T  # noqa: N812 - the name that programs give it
from memtile.iron.extras.context import mlir_mod_ctx
from memtile.iron.extras.dialects import arith, memref
from memtile.iron.helpers.dialects.func import func
from support.mlir.mlir_designs import loaded

N = 16
LINE: Any = np.ndarray[(N,), np.dtype[np.int32]]  # type: ignore[misc]
SMALL = np.array([3, -4, 0, 7, 11, -9, 100, 5, 5, 5, -1, 2, 30, 8, 6, 12], np.int32)


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    iron.set_current_device(NPU2Col1())
    yield
    iron.set_current_device(None)


def _computed(body: Callable[..., None], results: int, *given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What ``body(*inputs, out)`` puts into ``out``, which has the type of the first input."""
    dtype = given[0].dtype.type
    line, all_of_them = (np.ndarray[(size,), np.dtype[dtype]] for size in (N, results * N))
    into = [iron.ObjectFifo(line, name=f"in{at}") for at in range(len(given))]
    back = iron.ObjectFifo(all_of_them, name="out")

    def core(*ends: Any) -> None:
        values = [end.acquire(1) for end in ends]
        body(*values)
        for end in ends:
            end.release(1)

    worker = iron.Worker(core, [*(fifo.cons() for fifo in into), back.prod()])

    def sequence(*all_given: Any) -> None:
        for at in range(len(given)):
            all_given[len(given) + 1 + at].fill(all_given[at])
        all_given[-1].drain(all_given[len(given)], wait=True)

    def design(_a: iron.In, _b: iron.In, _c: iron.Out) -> object:
        types = [*[line] * len(given), all_of_them, *(fifo.prod() for fifo in into), back.cons()]
        runtime = iron.Runtime(sequence, types)
        return iron.Program(iron.get_current_device(), runtime, workers=[worker]).resolve_program()

    def of_one(_a: iron.In, _b: iron.Out) -> object:
        return design(None, None, None)

    out = iron.zeros(results * N, dtype=dtype)
    iron.jit(design if len(given) == 2 else of_one)(*map(iron.tensor, given), out)
    return np.array(out.numpy()).reshape(N, results)


Calculation = Callable[[Any, Any], Any]
WHOLE: list[tuple[Calculation, Calculation]] = [
    (lambda a, b: a + b, np.add),
    (lambda a, b: a - b, np.subtract),
    (lambda a, b: a * b, np.multiply),
    (lambda a, b: a // b, np.floor_divide),
    (lambda a, b: a % b, np.fmod),
    (lambda a, b: a & b, np.bitwise_and),
    (lambda a, b: a | b, np.bitwise_or),
    (lambda a, b: a ^ b, np.bitwise_xor),
    (lambda a, _: a << 3, lambda a, _: a << 3),
    (lambda a, _: a >> 3, lambda a, _: a >> 3),
    (lambda a, _: -a, lambda a, _: -a),
    (lambda a, _: 7 + a, lambda a, _: 7 + a),
    (lambda a, _: 7 - a, lambda a, _: 7 - a),
    (lambda a, _: 7 * a, lambda a, _: 7 * a),
    (lambda _, b: 1000 // b, lambda _, b: np.floor_divide(1000, b)),
    (lambda _, b: 1000 % b, lambda _, b: np.fmod(1000, b)),
    (lambda a, _: 12 & a, lambda a, _: 12 & a),
    (lambda a, _: 12 | a, lambda a, _: 12 | a),
]
FLOATS: list[tuple[Calculation, Calculation]] = [
    *WHOLE[:3],
    (lambda a, b: a / b, np.divide),
    (lambda _, b: 2.5 / b, lambda _, b: np.float32(2.5) / b),
    (lambda a, _: 2.5 - a, lambda a, _: np.float32(2.5) - a),
    (lambda a, _: -a, lambda a, _: -a),
]
COMPARED: list[tuple[Calculation, Calculation]] = [
    (lambda a, b: a < b, np.less),
    (lambda a, b: a <= b, np.less_equal),
    (lambda a, b: a > b, np.greater),
    (lambda a, b: a >= b, np.greater_equal),
    (lambda a, b: a == b, np.equal),
    (lambda a, b: a != b, np.not_equal),
    (lambda a, _: a < 3, lambda a, _: a < 3),
    (lambda a, _: a == 3, lambda a, _: a == 3),
]


def _all_of(calculations: list[tuple[Calculation, Calculation]], *, choose: bool) -> Callable[..., None]:
    def body(a: Any, b: Any, out: Any) -> None:
        for at in range_(N):
            for number, (made, _) in enumerate(calculations):
                value = made(a[at], b[at])
                if choose:
                    value = arith.select(value, a[at], b[at])
                out[at * len(calculations) + number] = value

    return body


SIGNED = np.array([0, 1, -1, 3, 3, -7, 7, -8, 2**31 - 1, -(2**31), 5, 100, -100, 12345, -3, 6], np.int32)
OTHER = np.array([1, 1, 2, 3, -3, 2, -2, 5, 7, 3, 5, 99, -99, 77, 3, -6], np.int32)
REAL = np.linspace(-7.5, 8.25, N, dtype=np.float32)
OTHERS = np.where(np.arange(N) % 3, REAL[::-1] * np.float32(1.5), REAL)


@pytest.mark.parametrize(
    ("calculations", "a", "b"),
    [(WHOLE, SIGNED, OTHER), (FLOATS, REAL, OTHERS)],
    ids=["int32", "float32"],
)
def test_operators_of_python_compute_in_a_core(
    calculations: list[tuple[Calculation, Calculation]], a: Any, b: Any
) -> None:
    made = _computed(_all_of(calculations, choose=False), len(calculations), a, b)
    with np.errstate(over="ignore"):
        expected = np.array([right(a, b).astype(a.dtype) for _, right in calculations]).T
    assert np.array_equal(made, expected)


@pytest.mark.parametrize(("a", "b"), [(SIGNED, OTHER), (REAL, OTHERS)], ids=["int32", "float32"])
def test_comparisons_choose_in_a_core(a: Any, b: Any) -> None:
    made = _computed(_all_of(COMPARED, choose=True), len(COMPARED), a, b)
    expected = np.array([np.where(right(a, b), a, b) for _, right in COMPARED]).T
    assert np.array_equal(made, expected)


def test_branches_and_loops_of_values() -> None:
    """A turn has the sum of the turns before it; a branch has two ways."""

    def body(a: Any, out: Any) -> None:
        out[0] = 0
        for at in range_(1, N):
            out[at] = out[at - 1] + a[at]
        for at in range_(0, N, 3):
            with if_(a[at] > 4) as branch:
                out[at] = 77
            with else_(branch):
                out[at] = out[at] * 2

    given = np.array([0, 3, 5, 8, 1, 2, 9, 4, 4, 4, 5, 6, 2, 9, 11, 3], np.int32)
    sums = np.concatenate([[0], np.cumsum(given[1:])])
    expected = np.where(np.arange(N) % 3, sums, np.where(given > 4, 77, 2 * sums))
    assert np.array_equal(_computed(body, 1, given)[:, 0], expected)


def test_a_function_of_a_program_is_called_in_a_core() -> None:
    """Its arguments are values, numbers and indices; it is built once, before its first call."""
    built: list[object] = []

    @func
    def weighed(value: T.i32(), factor: T.i32(), place: T.i32()):  # type: ignore[no-untyped-def, valid-type]
        built.append(value)
        return value * factor + place

    def body() -> None:
        tile = aie.tile(0, 2)
        given = aie.buffer(tile, LINE, "given", initial_value=SMALL)
        out = aie.buffer(tile, LINE, "out")
        weighed.emit()

        @aie.core(tile)  # type: ignore[untyped-decorator]
        def _() -> None:
            for at in range_(N):
                out[at] = weighed(given[at], 3, at) + weighed(given[at], np.int32(100), at)

    with mlir_mod_ctx() as context:
        aie.device(aie.AIEDevice["npu2_1col"])(body)
    design = loaded(str(context.module))
    design.run(max_cycles=20_000)
    found = {each.name: each for each in design.configured.buffers.values()}
    made = design.array.tile(0, 2).load(found["out"])
    assert made.tolist() == (103 * SMALL + 2 * np.arange(N)).tolist()
    assert len(built) == 1
    with mlir_mod_ctx(), pytest.raises(ValueError, match="weighed takes 3 arguments, not 2"):
        weighed(1, 2)
    with mlir_mod_ctx(), pytest.raises(ValueError, match=r"'x' is no argument of a function"):
        weighed(1, 2, "x")


def test_a_buffer_of_a_core_has_dimensions() -> None:
    def body(a: Any, out: Any) -> None:
        square = memref.alloc((4, 4), T.i32())
        for row in range_(4):
            for column in range_(4):
                square[row, column] = a[row * 4 + column]
        for row in range_(4):
            for column in range_(4):
                out[row * 4 + column] = square[column, row] + memref.load(square, (row, 0))

    square = SIGNED.reshape(4, 4)
    with np.errstate(over="ignore"):
        expected = square.T + square[:, :1]
    assert np.array_equal(_computed(body, 1, SIGNED)[:, 0], expected.reshape(-1))


def test_values_change_their_type() -> None:
    casts: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
        (lambda a: arith.extsi(T.i32(), arith.trunci(T.i8(), a)), lambda a: a.astype(np.int8)),
        (lambda a: arith.extui(arith.trunci(a, to=T.i8()), to=T.i32()), lambda a: a.astype(np.uint8)),
        (lambda a: arith.fptosi(T.i32(), arith.sitofp(T.f32(), a)), lambda a: a.astype(np.float32)),
        (lambda a: arith.index_cast(arith.index_cast(a), to=T.i32()), lambda a: a),
        (lambda a: arith.maxsi(a, arith.constant(5)), lambda a: np.maximum(a, 5)),
        (lambda a: arith.minsi(a, arith.constant(5, T.i32())), lambda a: np.minimum(a, 5)),
        (lambda a: arith.shrui(a, arith.constant(28)), lambda a: a.view(np.uint32) >> 28),
    ]

    def body(a: Any, out: Any) -> None:
        for at in range_(N):
            for number, (made, _) in enumerate(casts):
                out[at * len(casts) + number] = made(a[at])

    given = np.clip(SIGNED, -(2**23), 2**23).astype(np.int32)
    expected = np.array([right(given).astype(np.int32) for _, right in casts]).T
    assert np.array_equal(_computed(body, len(casts), given), expected)
