"""Do C++ kernels compute in cores what plain arithmetic says, and do they wait in simulated time?"""

from __future__ import annotations

import gc
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from left_out import needs
from memtile.cpp.compilers import Compiler
from memtile.importers.design import load
from memtile.kernels import cpp
from support.designs.cpp_designs import CALL, FOUND, TWO, WORDS, Kernel, compilers, through_core

pytestmark = needs("c++", FOUND)
ADD_ONE = """
extern "C" void f(int32_t *__restrict in, int32_t *__restrict out, int32_t n) {
  for (int32_t i = 0; i < n; i++) out[i] = in[i] + 1;
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path)


@compilers()
def test_each_compiler_makes_a_kernel_that_runs(
    compiler: Compiler, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", compiler.name)
    done = kernel.run(ADD_ONE)
    np.testing.assert_array_equal(done.arrays["1"], np.arange(WORDS) + 1)


@compilers()
def test_each_compiler_makes_a_checked_kernel(
    compiler: Compiler, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", compiler.name)
    done = kernel.run(ADD_ONE, sanitize=True)
    np.testing.assert_array_equal(done.arrays["1"], np.arange(WORDS) + 1)


CLASH = """
template <typename T> struct Turns {{ static inline int n = 0; }};
__attribute__((always_inline)) int helper(int x) {{ return x * {}; }}
__attribute__((noinline)) int called(int x) {{ Turns<int>::n++; return helper(x) + Turns<int>::n; }}
extern "C" int dup(int x) {{ return called(x); }}
extern "C" void f(int *in, int *out, int n) {{ for (int i = 0; i < n; i++) out[i] = dup(in[i]); }}
"""


def test_kernels_with_functions_of_the_same_names_do_not_meet(tmp_path: Path) -> None:
    """Libraries of kernels share a process with each other and with libc's ``dup``; each calls its own.

    GCC by itself refuses to inline what another library could replace, ``always_inline`` of mlir-aie too,
    and lets all libraries have one static member of a template.
    """
    made = {}
    for factor in (3, 5):
        (tmp_path / str(factor)).mkdir()
        made[factor] = Kernel(tmp_path / str(factor)).loaded(CLASH.format(factor))
    for factor in (3, 5):
        done = made[factor].run(*Kernel.arrays())
        np.testing.assert_array_equal(done.arrays["1"], factor * np.arange(WORDS) + np.arange(1, WORDS + 1))


def test_one_function_by_name(kernel: Kernel) -> None:
    made = load(kernel.design, functions={"f": kernel.cpp(ADD_ONE)})
    np.testing.assert_array_equal(made.run(*kernel.arrays()).arrays["1"], np.arange(WORDS) + 1)


def test_a_function_with_a_mangled_name(kernel: Kernel) -> None:
    done = kernel.run(ADD_ONE.replace('extern "C"', ""))
    np.testing.assert_array_equal(done.arrays["1"], np.arange(WORDS) + 1)


def test_sources_that_call_each_other(kernel: Kernel) -> None:
    other = kernel.folder / "twice.cc"
    other.write_text("int32_t twice(int32_t value) { return 2 * value; }")
    source = kernel.write(
        'int32_t twice(int32_t); extern "C" void f(int32_t *a, int32_t *b, int32_t n) '
        "{ for (int32_t i = 0; i < n; i++) b[i] = twice(a[i]); }"
    )
    done = load(kernel.design, functions=cpp(source, other)).run(*kernel.arrays())
    np.testing.assert_array_equal(done.arrays["1"], 2 * np.arange(WORDS))


def test_macros_and_folders_of_headers(kernel: Kernel) -> None:
    folder = kernel.folder / "own"
    folder.mkdir()
    (folder / "step.h").write_text("#define STEP 5\n")
    text = '#include "step.h"\n' + ADD_ONE.replace("+ 1", "+ STEP + MORE")
    done = kernel.run(text, include=[folder], defines={"MORE": 3})
    np.testing.assert_array_equal(done.arrays["1"], np.arange(WORDS) + 8)


def test_a_function_that_is_added_is_found_in_the_same_process(kernel: Kernel) -> None:
    first = 'extern "C" void g(int *a) {}\n'
    assert [*kernel.cpp(first).compiled("AIE-ML")] == ["g"]
    assert [*kernel.cpp(f'{first}extern "C" void h(int *a) {{}}\n').compiled("AIE-ML")] == ["g", "h"]


def test_the_core_is_compiled_once_for_kernels_with_the_same_options(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Macros and folders of the user are for the user's sources."""
    kernel.run(ADD_ONE)
    compiled: list[str] = []

    class Noted(subprocess.Popen[str]):
        def __init__(self, words: Sequence[str], **options: Any) -> None:
            compiled.extend(Path(word).name for word in words if word.endswith(".cc"))
            super().__init__(words, **options)

    monkeypatch.setattr("memtile.cpp.build.Popen", Noted)
    done = kernel.run(ADD_ONE.replace("+ 1", "+ STEP"), include=[kernel.folder], defines={"STEP": 2})
    np.testing.assert_array_equal(done.arrays["1"], np.arange(WORDS) + 2)
    assert compiled == ["kernel.cc"]


def test_a_header_that_changes_is_compiled_again(kernel: Kernel) -> None:
    header = kernel.folder / "step.h"
    for step in (5, 7):
        header.write_text(f"#define STEP {step}\n")
        done = kernel.run('#include "step.h"\n' + ADD_ONE.replace("+ 1", "+ STEP"))
        np.testing.assert_array_equal(done.arrays["1"], np.arange(WORDS) + step)


SCALARS = [
    ("i8", "int8_t", -7, -7),
    ("i8", "uint8_t", -7, 249),
    ("i16", "int16_t", -300, -300),
    ("i32", "uint32_t", -1, 0xFFFF_FFFF),
    ("i64", "int64_t", -(1 << 40), -(1 << 40)),
    ("index", "int64_t", 11, 11),
    ("f32", "float", 2.5, 2.5),
    ("f64", "double", -2.25, -2.25),
]


NUMBERS = "#include <cstring>\n" + "".join(
    f"""extern "C" void f_{type_}(int32_t *a, int32_t *b, {type_} value, float half, int32_t n) {{
  double given = static_cast<double>(value);
  std::memcpy(b, &given, sizeof given);
  b[2] = static_cast<int32_t>(4 * half);
  b[3] = n;
}}
"""
    for type_ in dict.fromkeys(type_ for _, type_, _, _ in SCALARS)
)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A function for each type, compiled once."""
    return Kernel(tmp_path_factory.mktemp("numbers"))


@pytest.mark.parametrize(("kind", "type_", "given", "expected"), SCALARS)
def test_numbers_arrive_by_width_and_sign(
    numbers: Kernel, kind: str, type_: str, given: float, expected: float
) -> None:
    constant = f"%v = arith.constant {given} : {kind}"
    objects = f"memref<{WORDS}xi32>, memref<{WORDS}xi32>"
    declared = f"func.func private @f_{type_}({objects}, {kind}, f32, i32)"
    call = (
        f"{constant}\n%h = arith.constant 0.5 : f32\n"
        f"func.call @f_{type_}(%a, %b, %v, %h, %n) : ({objects}, {kind}, f32, i32) -> ()"
    )
    numbers.design.write_text(through_core(call, declared))
    found = numbers.run(NUMBERS).arrays["1"]
    assert found[:2].view(np.float64)[0] == expected
    assert found[2:4].tolist() == [2, WORDS]


@pytest.mark.parametrize(
    ("kind", "text", "store"),
    [
        ("i32", "int32_t f(int32_t *a) { return a[3] - 10; }", "memref.store %r, %b[%c0]"),
        (
            "f32",
            "float f(int32_t *a) { return a[3] - 10.5f; }",
            "%s = arith.fptosi %r : f32 to i32\nmemref.store %s, %b[%c0]",
        ),
    ],
)
def test_what_a_function_gives_back(kernel: Kernel, kind: str, text: str, store: str) -> None:
    object_ = f"memref<{WORDS}xi32>"
    call = (
        f"%c0 = arith.constant 0 : index\n%r = func.call @f(%a) : ({object_}) -> {kind}\n{store} : {object_}"
    )
    kernel.design.write_text(through_core(call, f"func.func private @f({object_}) -> {kind}"))
    assert kernel.run(f'extern "C" {text}').arrays["1"][0] == -7


def test_a_function_that_gives_nothing_back_in_brackets(kernel: Kernel) -> None:
    kernel.design.write_text(through_core(CALL, f'{TWO} -> () attributes {{link_with = "f.o"}}'))
    np.testing.assert_array_equal(kernel.run(ADD_ONE).arrays["1"], np.arange(WORDS) + 1)


def test_more_arguments_than_registers(kernel: Kernel) -> None:
    numbers = "\n".join(f"%v{n} = arith.constant {n + 1} : i32" for n in range(12))
    kinds = f"memref<{WORDS}xi32>, memref<{WORDS}xi32>" + ", i32" * 12
    call = f"{numbers}\nfunc.call @f(%a, %b, {', '.join(f'%v{n}' for n in range(12))}) : ({kinds}) -> ()"
    kernel.design.write_text(through_core(call, f"func.func private @f({kinds})"))
    names = [f"v{n}" for n in range(12)]
    body = "".join(f"b[{n}] = {name};" for n, name in enumerate(names))
    found = kernel.run(
        f'extern "C" void f(int32_t *a, int32_t *b, {", ".join(f"int32_t {n}" for n in names)}) {{ {body} }}'
    )
    assert found.arrays["1"][:12].tolist() == list(range(1, 13))


def test_each_core_has_globals_of_its_own_and_each_run_new_ones(kernel: Kernel) -> None:
    counting = (
        'static int32_t calls = 0; extern "C" void f(int32_t *a, int32_t *b, int32_t n) { b[0] = ++calls; }'
    )
    made = kernel.loaded(counting)
    assert made.run(*kernel.arrays()).arrays["1"][0] == 1
    assert load(kernel.design, functions=kernel.cpp(counting)).run(*kernel.arrays()).arrays["1"][0] == 1


LOCKS = """
#include <memtile/core.h>
extern "C" void f(int32_t *a, int32_t *b, int32_t n) {
  memtile::acquire(48 + 10, 1);   // exactly 1, as the design has it; it stays 1
  memtile::acquire_greater_equal(48 + 11, 2);
  memtile::release(48 + 10, 1);
  b[0] = static_cast<int32_t>(memtile::column() * 100 + memtile::row());
  memtile::delay(500);
  b[1] = static_cast<int32_t>(memtile::get_cycles());
}
"""
TWO_LOCKS = """
  %l10 = aie.lock(%t02, 10) {init = 1 : i32}
  %l11 = aie.lock(%t02, 11) {init = 2 : i32}
"""


@pytest.mark.parametrize("sanitize", [False, True])
def test_locks_and_time_of_a_kernel_are_those_of_the_array(kernel: Kernel, sanitize: bool) -> None:
    kernel.design.write_text(through_core(CALL, TWO, more=TWO_LOCKS))
    made = kernel.loaded(LOCKS, sanitize=sanitize)
    done = made.run(*kernel.arrays())
    assert done.arrays["1"][0] == 2
    assert 500 < done.arrays["1"][1] < done.result.cycles
    bases = made.array.engine.spec.tiles.lock_base
    base = int(bases[made.array.compute_tile(0, 2).index])
    assert made.array.engine.state.locks.value[base + 10 : base + 12].tolist() == [2, 0]


def stream_design(sent: int) -> str:
    """A core that gets words from a DMA and sends words back, without locks: its function waits inside."""
    words = f"memref<{WORDS}xi32>"
    return f"""module {{ aie.device(npu1_1col) {{
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  aie.flow(%t00, DMA : 0, %t02, Core : 0)
  aie.flow(%t02, Core : 0, %t00, DMA : 0)
  aie.shim_dma_allocation @to(%t00, MM2S, 0)
  aie.shim_dma_allocation @from(%t00, S2MM, 0)
  func.func private @f(i32)
  aie.core(%t02) {{
    %n = arith.constant {WORDS} : i32
    func.call @f(%n) : (i32) -> ()
    aie.end
  }}
  aie.runtime_sequence(%x : {words}, %y : {words}) {{
    aiex.npu.dma_memcpy_nd(%y[0,0,0,0][1,1,1,{WORDS}][0,0,0,1]) {{metadata = @from, id = 1 : i64}} : {words}
    aiex.npu.dma_memcpy_nd(%x[0,0,0,0][1,1,1,{sent}][0,0,0,1]) {{metadata = @to, id = 0 : i64}} : {words}
    aiex.npu.dma_wait {{symbol = @from}}
  }}
}} }}"""


STREAM = """
#include <memtile/core.h>
static void pass(int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    uint32_t word = memtile::get_ss(0);
    memtile::put_ms(0, 3 * word, i + 1 == n);
  }
}
extern "C" void f(int32_t n) { pass(n); }
"""


@pytest.mark.parametrize("sanitize", [False, True])
def test_a_kernel_waits_for_streams_in_simulated_time(kernel: Kernel, sanitize: bool) -> None:
    kernel.design.write_text(stream_design(WORDS))
    done = kernel.run(STREAM, sanitize=sanitize)
    np.testing.assert_array_equal(done.arrays["1"], 3 * np.arange(WORDS))
    assert done.result.good


def test_the_same_cycles_each_time(kernel: Kernel) -> None:
    kernel.design.write_text(stream_design(WORDS))
    assert len({kernel.run(STREAM).result.cycles for _ in range(4)}) == 1


POLLS = """
extern "C" void f(int32_t n) {
  int failed = 0;
  bool got = false, last = false, put = false;
  for (int at = 0; at < n; at++) {
    unsigned long long before = get_cycles();
    int word, asked = 0;
    do { word = get_ss_nb(got, last); asked++; } while (!got && word == 0 && !last);
    if (get_cycles() - before != asked) word = -1;
    failed += asked - 1;
    if (last) word = failed;
    do put_ms_nb(3 * word, last, put); while (!put);
  }
}
"""


def test_a_stream_access_that_does_not_wait_says_whether_it_succeeded(kernel: Kernel) -> None:
    """DEV-INTRINSIC-6: each takes a cycle; a word that cannot be put stays with the kernel."""
    kernel.design.write_text(stream_design(WORDS))
    failed = set()
    for how in ({}, {"fast_forward": False}, {"check": True}, {"untimed": True}):
        done = kernel.loaded(POLLS).run(*kernel.arrays(), **how)
        assert done.result.good
        np.testing.assert_array_equal(done.arrays["1"][:-1], 3 * np.arange(WORDS - 1))
        failed.add(int(done.arrays["1"][-1]) if "untimed" not in how else max(failed))
    assert len(failed) == 1
    assert min(failed) > 3


ADF = """
#include <aie_api/aie_adf.hpp>
void graph_kernel(input_stream<int32> *in, output_stream<int32> *out) {
  bool last = false;
  int32 first = readincr(in);
  writeincr(out, 3 * first);
  aie::vector<int32, 4> four = readincr_v<4>(in);
  writeincr(out, aie::mul(four, 3).to_vector<int32>());
  int64 two = readincr((input_stream<int64> *)in);
  writeincr((output_stream<int64> *)out, 3 * two);
  aie::vector<int32, 8> eight = readincr_v<8>(in, last);
  if (last) return;
  writeincr(out, aie::mul(eight, 3).to_vector<int32>());
  int32 value = readincr(in, last);
  writeincr(out, last ? 3 * value : 0, true);
}
extern "C" void f(int32_t n) {
  input_stream<int32> in;
  adf::output_stream<int32> out;
  graph_kernel(&in, &out);
}
"""


def test_a_kernel_of_a_graph_reads_and_writes_its_streams(kernel: Kernel) -> None:
    """DEV-INTRINSIC-7: values of several words go lowest word first."""
    kernel.design.write_text(stream_design(WORDS))
    np.testing.assert_array_equal(kernel.run(ADF).arrays["1"], 3 * np.arange(WORDS))


def test_a_kernel_that_waits_for_ever_is_found_with_its_line(kernel: Kernel) -> None:
    kernel.design.write_text(stream_design(WORDS - 1))
    done = kernel.run(STREAM)
    assert not done.result.good
    waits = "core (0, 2), kernel 'kernel' at kernel.cc:5: waits for a word of its stream"
    assert waits in str(done.result)


OBJECT = f"memref<{WORDS}xi32>"
SUBVIEW = f"!aie.objectfifosubview<{OBJECT}>"


def copy(array: str, name: str, number: int) -> str:
    """The copy between an argument of the host and an object FIFO."""
    sizes = f"[0,0,0,0][1,1,1,{WORDS}][0,0,0,1]"
    return f"aiex.npu.dma_memcpy_nd({array}{sizes}) {{metadata = @{name}, id = {number} : i64}} : {OBJECT}"


CASCADE = f"""module {{ aie.device(npu1_1col) {{
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  %t03 = aie.tile(0, 3)
  aie.objectfifo @in(%t00, {{%t03}}, 2 : i32) : !aie.objectfifo<{OBJECT}>
  aie.objectfifo @out(%t02, {{%t00}}, 2 : i32) : !aie.objectfifo<{OBJECT}>
  aie.cascade_flow(%t03, %t02)
  func.func private @first({OBJECT})
  func.func private @second({OBJECT})
  aie.core(%t03) {{
    %sa = aie.objectfifo.acquire @in(Consume, 1) : {SUBVIEW}
    %a = aie.objectfifo.subview.access %sa[0] : {SUBVIEW} -> {OBJECT}
    func.call @first(%a) : ({OBJECT}) -> ()
    aie.objectfifo.release @in(Consume, 1)
    aie.end
  }}
  aie.core(%t02) {{
    %sb = aie.objectfifo.acquire @out(Produce, 1) : {SUBVIEW}
    %b = aie.objectfifo.subview.access %sb[0] : {SUBVIEW} -> {OBJECT}
    func.call @second(%b) : ({OBJECT}) -> ()
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  }}
  aie.runtime_sequence(%x : {OBJECT}, %y : {OBJECT}) {{
    {copy("%y", "out", 1)}
    {copy("%x", "in", 0)}
    aiex.npu.dma_wait {{symbol = @out}}
  }}
}} }}"""


def test_two_cores_by_their_cascade(kernel: Kernel) -> None:
    kernel.design.write_text(CASCADE)
    source = """
#include <memtile/core.h>
extern "C" void first(int32_t *a) { memtile::put_mcd(reinterpret_cast<uint32_t *>(a), 16); }
extern "C" void second(int32_t *b) {
  uint32_t words[16];
  memtile::get_scd(words, 16);
  for (int i = 0; i < 16; i++) b[i] = static_cast<int32_t>(words[i]) - 100;
}"""
    np.testing.assert_array_equal(kernel.run(source).arrays["1"], np.arange(WORDS) - 100)


def test_ten_thousand_calls_take_no_more_memory(kernel: Kernel) -> None:
    object_ = f"memref<{WORDS}xi32>"
    loop = f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = arith.constant 5000 : index
    scf.for %i = %c0 to %c step %c1 {{ func.call @f(%a, %b, %n) : ({object_}, {object_}, i32) -> () }}"""
    kernel.design.write_text(through_core(loop, TWO))
    source = (
        "#include <memtile/core.h>\nstatic int32_t calls = 0;\n"
        'extern "C" void f(int32_t *a, int32_t *b, int32_t n) { memtile::delay(1); b[0] = ++calls; }'
    )
    made = kernel.loaded(source)
    before = _resident()
    assert made.run(*kernel.arrays()).arrays["1"][0] == 5000
    middle = _resident()
    assert kernel.loaded(source).run(*kernel.arrays()).arrays["1"][0] == 5000
    gc.collect()
    assert _resident() - middle < max(middle - before, 0) + 8_000_000


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_modes_of_the_core_stay_from_call_to_call(kernel: Kernel) -> None:
    object_ = f"memref<{WORDS}xi32>"
    call = f"func.call @set(%n) : (i32) -> ()\nfunc.call @f(%a, %b, %n) : ({object_}, {object_}, i32) -> ()"
    kernel.design.write_text(through_core(call, f"{TWO}\nfunc.func private @set(i32)"))

    def of_python(_n: int, *, core: Any) -> None:
        core.set_rounding("conv_even")
        core.set_saturation("symmetric")

    source = kernel.cpp(
        "#include <memtile/core.h>\n"
        'extern "C" void f(int32_t *a, int32_t *b, int32_t n) '
        "{ b[0] = memtile::rounding(); b[1] = memtile::saturation(); }"
    )
    done = load(kernel.design, functions={"set": of_python, "f": source}).run(*kernel.arrays())
    assert done.arrays["1"][:2].tolist() == [12, 3]
