"""How long do calls of C++ kernels take, and is what nobody knows said first?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from left_out import needs
from memtile.arch.core_costs import CoreCosts
from memtile.importers.design import load
from memtile.model.state.causes import CoreCause
from support.designs.cpp_designs import CALL, FOUND, TWO, WORDS, Kernel, through_core

pytestmark = needs("c++", FOUND)
HEAD = '#include <memtile/core.h>\nextern "C" void f(int32_t *a, int32_t *b, int32_t n) {\n'
SCALAR = f"{HEAD} for (int i = 0; i < n; i++) b[i] = a[i];\n}}\n"
COUNTED = f"""{HEAD}
  for (int i = 0; i < 9; i++) memtile::before_load(a, 32, 32);
  memtile::before_store(b, 32, 32);
  memtile::count(memtile::Unit::mac, a[0]);
}}"""


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A kernel that is compiled once; what it is given first says how many multiplications it counts."""
    kernel = Kernel(tmp_path_factory.mktemp("counted"))
    kernel.write(COUNTED)
    return kernel


@pytest.fixture(scope="module")
def uncounted(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The cycles in which the core of the same design works without such a kernel."""
    return running(Kernel(tmp_path_factory.mktemp("uncounted")).run(SCALAR))


def running(done: Any) -> int:
    """Cycles in which the core worked."""
    return int(done.result.cores[0].spent[CoreCause.RUNNING])


def test_a_kernel_without_any_cost_is_named_in_the_first_lines(kernel: Kernel) -> None:
    done = kernel.run(SCALAR)
    assert done.result.cost_unknown == ("f",)
    lines = str(done.result).splitlines()
    assert lines[1] == "Cost unknown, counted as 0 cycles: f. Give it with cycles= or --cost."
    assert json.loads(json.dumps(done.result.as_json()))["cost_unknown"] == ["f"]


@pytest.mark.parametrize(("macs", "cycles"), [(0, 5), (5, 5), (6, 6), (100, 100)])
def test_counted_operations_are_a_lower_bound_by_the_busiest_unit(
    counted: Kernel, uncounted: int, macs: int, cycles: int
) -> None:
    done = counted.run(COUNTED, [macs] * WORDS)
    assert running(done) - uncounted == cycles
    assert done.result.cost_unknown == ()
    assert f"cycles of a call: f {cycles} (lower bound by counted vector operations)" in done.notes


def test_cycles_of_the_user_come_first(counted: Kernel, uncounted: int) -> None:
    stated = counted.run(COUNTED, cycles={"f": 321})
    assert running(stated) - uncounted == 321
    functions = counted.cpp(COUNTED, cycles={"f": 321})
    done = load(counted.design, functions=functions, costs=CoreCosts(functions={"f": 77})).run(
        *counted.arrays()
    )
    assert running(done) - uncounted == 77
    assert "cycles of a call: f 77 (given)" in done.notes


def test_a_published_count_of_a_kernel_of_that_name(kernel: Kernel) -> None:
    name, object_ = "eltwise_add_bf16_vector", "memref<1024xbf16>"
    text = through_core(CALL, TWO, words=512).replace("memref<512xi32>", object_)
    text = text.replace("[1,1,1,512]", "[1,1,1,1024]")
    call = f"func.call @{name}(%a, %b, %b) : ({object_}, {object_}, {object_}) -> ()"
    old = "func.call @f(%a, %b, %n) : (memref<16xi32>, memref<16xi32>, i32) -> ()"
    text = text.replace(old, call).replace(
        "func.func private @f(memref<16xi32>, memref<16xi32>, i32)",
        f"func.func private @{name}({object_}, {object_}, {object_})",
    )
    kernel.design.write_text(text)
    source = f'extern "C" void {name}(uint16_t *a, uint16_t *b, uint16_t *c) {{ c[0] = a[0]; }}'
    functions = kernel.cpp(source)
    given = np.zeros(1024, ml_dtypes.bfloat16)
    own = load(kernel.design).run(given, given.copy())
    done = load(kernel.design, functions=functions).run(given, given.copy())
    assert running(done) == running(own) > 50
    assert any(f"{name} " in note and "(measured)" in note for note in done.notes)
