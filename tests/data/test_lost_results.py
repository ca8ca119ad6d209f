"""Is a function of cores that writes nowhere what it computes reported, and no other one?"""

# ruff: noqa: F841, ARG001 - what functions lose is not used

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check
from memtile.check.checked_program import of_design, of_mlir
from memtile.corelib.library import library
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text
from memtile.kernels import Action, Core
from memtile.sim.kernels.lost_results import lost_result
from support.mlir.mlir_designs import copied, device, host, loaded

HERE = __file__


def rebinds(a, b, c):  # type: ignore[no-untyped-def]
    c = a * 2 + b


def rebinds_in_a_branch(a, b):  # type: ignore[no-untyped-def]
    if b.size > 4:
        b = np.maximum(a, 0)
        b[0] = 1


def rebinds_what_it_views(a, b):  # type: ignore[no-untyped-def]
    tile = b.reshape(4, -1)
    tile = a.reshape(4, -1).astype(np.float32) @ np.eye(16)


def computes_only(a, b):  # type: ignore[no-untyped-def]
    total = a.sum() + math.sqrt(2)
    for row in a:
        total += row.max()


def returns_it(a, b):  # type: ignore[no-untyped-def]
    return a + b


LOSE = [(rebinds, "c", 1), (rebinds_in_a_branch, "b", 2), (rebinds_what_it_views, "tile", 2)]
LOSE += [(computes_only, "", 0), (returns_it, "", 0)]


@pytest.mark.parametrize(
    ("function", "name", "line"), LOSE, ids=lambda each: getattr(each, "__name__", str(each))
)
def test_what_is_lost_is_found_with_its_line(function: Callable[..., Any], name: str, line: int) -> None:
    found = lost_result(function)
    first = function.__code__.co_firstlineno
    assert found == (function.__name__, f"{HERE}:{first + line}", name)


seen: list[Any] = []


def helper(a, b):  # type: ignore[no-untyped-def]
    b[...] = a


def writes_a_part(a, b):  # type: ignore[no-untyped-def]
    b[: a.size] = a


def writes_in_place(a, b):  # type: ignore[no-untyped-def]
    b += a


def writes_by_a_view(a, b):  # type: ignore[no-untyped-def]
    flat = b.reshape(-1)
    flat[0] = a[0, 0]


def writes_rows(a, b):  # type: ignore[no-untyped-def]
    for x, y in zip(a, b):  # noqa: B905
        y[:] = x


def writes_by_out(a, b):  # type: ignore[no-untyped-def]
    np.add(a, 1, out=b)


def writes_by_a_third_argument(a, b, c):  # type: ignore[no-untyped-def]
    np.add(a, b, c)


def writes_by_copyto(a, b):  # type: ignore[no-untyped-def]
    np.copyto(b, a)


def writes_by_a_method(a, b):  # type: ignore[no-untyped-def]
    b.fill(3)


def writes_by_flat(a, b):  # type: ignore[no-untyped-def]
    b.flat = 3


def writes_by_a_helper(a, b):  # type: ignore[no-untyped-def]
    helper(a, b)


def writes_before_it_rebinds(a, b):  # type: ignore[no-untyped-def]
    b[...] = a
    b = b * 2


def takes_notes(a, b):  # type: ignore[no-untyped-def]
    seen.append(a.sum())


def prints(a, b):  # type: ignore[no-untyped-def]
    print(a.sum())


def converts_its_input(a, b):  # type: ignore[no-untyped-def]
    a = a.astype(np.float32)
    b[...] = a


def writes_after_a_loop(a, b):  # type: ignore[no-untyped-def]
    out = np.zeros(4)
    for _ in range(2):
        out[0] = 1
        out = b
    out[1] = 2


def writes_what_a_branch_takes(a, b):  # type: ignore[no-untyped-def]
    out = np.zeros(4)
    if a.size > 4:
        out = b
    out[...] = a


def is_a_stub(a, b):  # type: ignore[no-untyped-def]
    """Nothing is meant to happen."""


def takes_anything(*a):  # type: ignore[no-untyped-def]
    return a


WRITE = [
    each
    for name, each in list(globals().items())
    if name.startswith(("writes", "takes", "prints", "conv", "is_a"))
]


@pytest.mark.parametrize("function", WRITE, ids=lambda each: each.__name__)
def test_who_may_write_is_not_reported(function: Callable[..., Any]) -> None:
    assert lost_result(function) is None


def test_no_function_of_the_library_is_reported() -> None:
    names = [lost_result(each) for name in ("npu1", "npu2") for each in library(name).values()]
    assert set(names) == {None}


CALLS = """
  func.func private @work(memref<64xi32>, memref<64xi32>)
  aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
  aie.core(%c) {
    %v = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<64xi32>>
    %a = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>
    %w = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<64xi32>>
    %b = aie.objectfifo.subview.access %w[0] : !aie.objectfifosubview<memref<64xi32>> -> memref<64xi32>
    func.call @work(%a, %b) : (memref<64xi32>, memref<64xi32>) -> ()
    aie.objectfifo.release @in(Consume, 1)
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  }
"""
TEXT = device(CALLS, host(copied("out", "b", 1), copied("in", "a", 0), "aiex.npu.dma_wait {symbol = @out}"))


def work(a, b):  # type: ignore[no-untyped-def]
    b = a + 1


def test_a_run_of_a_text_reports_it_with_the_cores() -> None:
    result = loaded(TEXT, {"work": work}).run(np.arange(64, dtype=np.int32)).result
    (finding,) = [each for each in result.findings if each.code == "MT0407"]
    assert finding.message == (
        "Function 'work' of core (0, 2) rebinds 'b' instead of writing into it, so what it computes is lost."
    )
    assert finding.fix == "Write into the array: b[...] = what it computes."
    assert finding.sides[0].place == f"{HERE}:{work.__code__.co_firstlineno + 1}"
    assert not [
        each for each in loaded(TEXT, {"work": helper}).run().result.findings if each.code == "MT0407"
    ]


def test_a_check_of_a_text_reports_it_as_its_run_does() -> None:
    result = loaded(TEXT, {"work": work}).run().result
    before = check("d", lambda: of_mlir(load_still(Text("d", TEXT), functions={"work": work})))
    (found,) = [each for each in before.findings if each.code == "MT0407"]
    assert found == next(each for each in result.findings if each.code == "MT0407")
    assert before.good
    after = check("d", lambda: of_mlir(load_still(Text("d", TEXT), functions={"work": helper})))
    assert not [each for each in after.findings if each.code == "MT0407"]


def kernel_design(*, into: bool) -> Array:
    array = Array("npu1", 1)
    tile = array.compute_tile(0, 2)
    came, goes = tile.buffer("came", 8), tile.buffer("goes", 8)

    def doubles(core: Core) -> Iterator[Action]:
        a, b = core.view(came), core.view(goes)
        yield core.cycles(4)
        b = a * 2

    def writes(core: Core) -> Iterator[Action]:
        a, b = core.view(came), core.view(goes)
        yield core.cycles(4)
        b[...] = a * 2

    tile.run_kernel(writes if into else doubles)
    return array


def test_a_kernel_that_assigns_a_view_anew_is_reported_by_run_and_check() -> None:
    found = [each.code for each in kernel_design(into=False).run().findings]
    assert found == ["MT0407"]
    before = check("d", lambda: of_design(kernel_design(into=False)))
    assert [each.code for each in before.findings] == ["MT0407"]
    assert kernel_design(into=True).run().findings == ()
    assert check("d", lambda: of_design(kernel_design(into=True))).findings == ()


def waits_only(core: Core) -> Iterator[Action]:
    """A kernel of locks alone has nothing to write."""
    yield core.acquire(0, -1)
    yield core.release(1, 1)


def test_a_kernel_without_views_is_not_reported() -> None:
    assert lost_result(waits_only) is None
