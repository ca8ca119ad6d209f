"""How many cycles does a call of a graph's kernel take?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from left_out import needs
from memtile.adf.kernel_calls import KernelCode, KernelOptions, LockUse
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine
from support.adf.kernel_graphs import Declared, Memory, described, kernel_of, port
from support.designs.cpp_designs import FOUND

pytestmark = needs("c++", FOUND)
SOURCE = """#include <adf.h>
using namespace adf;
using namespace aie;
void vectors(adf::input_buffer<int32>& in, adf::output_buffer<int32>& out) {
  auto from = aie::begin_vector<16>(in);
  auto to = aie::begin_vector<16>(out);
  for (unsigned i = 0; i < in.size() / 16; ++i) {
    vector<int32, 16> one = *from++;
    *to++ = add(one, 1);
  }
}
void waits(adf::input_async_buffer<int32>& in, adf::output_buffer<int32>& out) {
  in.acquire();
  out.data()[0] = in.data()[0];
  in.release();
}
"""
KERNELS = {
    "gr.counted": Declared("vectors", "buffer >buffer"),
    "gr.stated": Declared("vectors", "buffer >buffer"),
    "gr.waits": Declared("waits", "async >buffer"),
}
WAIT = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The kernels for given cycles of a call, compiled once."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "k.cc").write_text(SOURCE)
    graph = described(KERNELS, source=Path("k.cc"))
    return lambda cycles: KernelCode(graph, KernelOptions(root=folder, cycles=cycles))


def cycles_of(code: KernelCode, number: int) -> int:
    """Cycles of the second call of a kernel."""
    return calls_of(code, number)[0][1]


def calls_of(code: KernelCode, number: int) -> tuple[list[int], list[int]]:
    """Cycles of two calls of a kernel, and the cycles in which the giver of its input has it back."""
    found, back = list[int](), list[int]()

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        caller, out = code.caller(number, core), port(memory(64))
        lock = LockUse(1, -1), LockUse(0, 1)
        given = port(memory(64), locks=(lock,)) if number == 2 else port(memory(64))
        for _ in range(2):
            began = core.now
            yield from caller([given, out])
            found.append(core.now - began)

    def gives(core: Any, _memory: Memory) -> Iterator[Any]:
        for _ in range(2):
            yield core.cycles(WAIT)
            yield core.release(1, 1, tile=(0, 3))
            if number == 2:
                yield core.acquire(0, -1, tile=(0, 3))
            back.append(core.now)

    engine = Engine([Placed("compute", column=c, row=3) for c in (0, 1)])
    engine.attach_kernel(0, kernel_of(body, lambda: None))
    engine.attach_kernel(1, kernel_of(gives, lambda: None))
    engine.run(2000)
    return found, back


def test_a_call_takes_what_is_stated_by_name_or_else_by_function(made: Any) -> None:
    code = made({"gr.stated": 123, "vectors": 45})
    assert [cycles_of(code, number) for number in (0, 1)] == [45, 123]
    assert [[*map(str, code.charged[number])] for number in (0, 1)] == [["45 (given)"], ["123 (given)"]]


def test_a_call_takes_what_its_vector_operations_take(made: Any) -> None:
    """Four vectors: each is added in a cycle."""
    code = made({})
    assert cycles_of(code, 0) == 4
    assert [each.basis for each in code.charged[0]] == ["lower bound by counted vector operations"]


def test_a_kernel_works_when_it_has_its_buffer_and_before_it_gives_it_away(made: Any) -> None:
    """DEV-ADF-42: the wait for the buffer comes on top."""
    for work in (0, 40, 100):
        calls, back = calls_of(made({"waits": work}), 2)
        assert all(WAIT + work <= each < WAIT + work + 12 for each in calls)
        assert WAIT + work <= back[0] < WAIT + work + 12
