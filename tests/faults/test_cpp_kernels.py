"""Does every mistake in a C++ kernel get its message, with the user's line, and does memtile survive it?"""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from left_out import needs
from memtile.cpp import compilers, kernel_calls
from memtile.errors import DesignError, InputFileError
from memtile.importers.design import load, load_still
from memtile.kernels import cpp
from support.designs.cpp_designs import CALL, FOUND, TWO, WORDS, Kernel, calling, through_core

pytestmark = needs("c++", FOUND)
HEAD = '#include <memtile/core.h>\nextern "C" void f(int32_t *a, int32_t *b, int32_t n) {\n'


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.chdir(tmp_path)
    return Kernel(tmp_path)


MISTAKES = {
    "writes one element too many": (
        "  for (int32_t i = 0; i <= n; i++)\n    b[i] = a[i % n];",
        "kernel.cc:4: the kernel writes 4 bytes at index 16 of argument 1 (16 x i32), outside of its buffers",
    ),
    "reads one element before": (
        "  b[0] = 0;\n  b[0] = a[-1];",
        "kernel.cc:4: the kernel reads 4 bytes at index -1 of argument 0 (16 x i32), outside of its buffers",
    ),
    "copies too much": (
        "  __builtin_memcpy(b, a, 4 * n + 4);",
        "kernel.cc:3: the kernel reads 68 bytes at index 0 of argument 0 (16 x i32), outside of its buffers",
    ),
    "a vector that is not aligned": (
        "  b[0] = 0;\n  memtile::before_load(a + 1, 32, 32);",
        "kernel.cc:4: a vector access of 32 bytes at index 1 of argument 0 (16 x i32) is not aligned to 32",
    ),
    "a vector store beyond": (
        "  memtile::before_store(b + 8, 64, 32);",
        "kernel.cc:3: the kernel writes 64 bytes at index 8 of argument 1 (16 x i32), outside of its buffers",
    ),
    "the window of an unaligned store": (
        "  memtile::before_store_window(b + 15, 4, 128);",
        "kernel.cc:3: the kernel reads 128 bytes at index 0 of argument 1 (16 x i32), outside of its buffers",
    ),
    "more stack than the core has": (
        "  volatile int32_t local[600];\n  for (int i = 0; i < 600; i++) local[i] = i;\n  b[0] = local[n];",
        "bytes of stack on the host, its core has 1024",
    ),
    "a sum that overflows": (
        "  int32_t most = 0x7fffffff;\n  b[0] = most - 1 + a[2];",
        "kernel.cc:4: a sum of signed integers does not fit their type",
    ),
    "a shift by all bits": (
        "  b[0] = a[1] << (n + 16);",
        "kernel.cc:3: an integer is shifted by a negative number of bits, or by more than it has",
    ),
    "a division by zero": (
        "  b[0] = n / a[0];",
        "kernel.cc:3: an integer is divided by zero, or its quotient does not fit its type",
    ),
    "an index outside of a local array": (
        "  int32_t local[4] = {1, 2, 3, 4};\n  b[0] = local[n];",
        "kernel.cc:4: an index is outside of its array",
    ),
    "a null pointer": (
        "  int32_t *nothing = nullptr;\n  *(n ? nothing : b) = 1;",
        "kernel.cc:4: a pointer is null or not aligned for its type",
    ),
    "a condition of a header": (
        '  if (n > 1) memtile::fail("the core has no such mode");\n  b[0] = 1;',
        "kernel.cc:3: the core has no such mode",
    ),
    "an assertion of the AIE API": (
        '  RUNTIME_ASSERT(n > 0, "nothing to do");\n  RUNTIME_ASSERT(n == 0, "too much to do");\n  b[0] = 1;',
        "kernel.cc:4: too much to do",
    ),
}


def function(name: str) -> str:
    """What a function with one of the mistakes, or of the calls, is called."""
    return f"f_{name.replace(' ', '_')}"


def each(first: int, bodies: Mapping[str, str]) -> str:
    """A function for each body; its own line is ``first``."""
    head = HEAD.splitlines()[1]
    texts = [
        f"#line {first}\n{head.replace(' f(', f' {function(name)}(')}\n{body}\n}}\n"
        for name, body in bodies.items()
    ]
    return "#include <memtile/core.h>\n" + "".join(texts)


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A source with all mistakes, compiled once."""
    return Kernel(tmp_path_factory.mktemp("mistakes"))


def run_mistake(mistakes: Kernel, name: str, core: str = "") -> Any:
    mistakes.design.write_text(calling(function(name), core=core))
    return mistakes.run(each(2, {name: body for name, (body, _) in MISTAKES.items()}), sanitize=True)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_checked_kernel_names_the_line(mistakes: Kernel, name: str) -> None:
    with pytest.raises(DesignError) as caught:
        run_mistake(mistakes, name)
    assert MISTAKES[name][1] in str(caught.value)
    assert f"core (0, 2), kernel 'kernel', {function(name)}, cycle " in str(caught.value)


def test_frames_of_the_host_may_be_twice_as_large_as_the_stack(mistakes: Kernel) -> None:
    done = run_mistake(mistakes, "more stack than the core has", core="{stack_size = 2048 : i32}")
    assert done.arrays["1"][0] == WORDS


def findings(done: Any) -> str:
    return "\n".join(map(str, done.result.findings))


def test_a_read_of_memory_that_nothing_has_written(kernel: Kernel) -> None:
    made = kernel.loaded(f"{HEAD}  int32_t sum = a[0];\n  sum += b[5];\n  b[0] = sum;\n}}\n", sanitize=True)
    said = findings(made.run(*kernel.arrays(), check=True))
    assert "kernel.cc:4 reads word 5 of buffer 'out_buff_0'" in said
    assert "nothing has written them" in said


def test_memory_that_is_written_first_is_no_finding(kernel: Kernel) -> None:
    body = "  for (int i = 0; i < n; i++) b[i] = a[i];\n  b[0] += b[5];"
    made = kernel.loaded(f"{HEAD}{body}\n}}\n", sanitize=True)
    assert not made.run(*kernel.arrays(), check=True).result.findings


TWO_CORES = f"""module {{ aie.device(npu1_1col) {{
  %t02 = aie.tile(0, 2)
  %t03 = aie.tile(0, 3)
  %shared = aie.buffer(%t02) {{sym_name = "shared"}} : memref<{WORDS}xi32>
  func.func private @f(memref<{WORDS}xi32>)
  func.func private @g(memref<{WORDS}xi32>)
  aie.core(%t02) {{ func.call @f(%shared) : (memref<{WORDS}xi32>) -> () aie.end }}
  aie.core(%t03) {{ func.call @g(%shared) : (memref<{WORDS}xi32>) -> () aie.end }}
  aie.runtime_sequence() {{ }}
}} }}"""


def test_two_kernels_that_no_lock_orders(kernel: Kernel) -> None:
    kernel.design.write_text(TWO_CORES)
    source = (
        "#include <memtile/core.h>\n"
        'extern "C" void f(int32_t *a) {\n  a[3] = 1; }\n'
        'extern "C" void g(int32_t *a) {\n  memtile::delay(100);\n  a[3] = 2; }\n'
    )
    said = findings(kernel.loaded(source, sanitize=True).run(check=True))
    assert "kernel.cc:3" in said
    assert "kernel.cc:6" in said


def test_a_wild_address_ends_the_call_and_not_the_process(kernel: Kernel) -> None:
    with pytest.raises(DesignError) as caught:
        kernel.run(f"{HEAD}  *reinterpret_cast<volatile int *>(64) = n;\n}}\n")
    said = str(caught.value)
    assert "kernel.cc:3: the kernel accesses address 0x40, where it has no memory (SIGSEGV)" in said
    assert "Run it with --sanitize" in said


def test_a_kernel_that_aborts(kernel: Kernel) -> None:
    with pytest.raises(DesignError, match=r"kernel\.cc:3: the kernel stops with SIG(ILL|TRAP)"):
        kernel.run(f"{HEAD}  if (n) __builtin_trap();\n}}\n")


PROCESSES = {
    "exit": ("<cstdlib>", "exit(0);", "calls exit: a core has no process that could end"),
    "_exit": ("<unistd.h>", "_exit(0);", "calls _exit: a core has no process that could end"),
    "abort": ("<cstdlib>", "abort();", "calls abort"),
    "assert": ("<cassert>", "assert(n == 3);", "assertion 'n == 3' fails"),
    "fork": ("<unistd.h>", "b[0] = fork();", "calls fork: a core cannot make processes"),
    "vfork": ("<unistd.h>", "b[0] = vfork();", "calls vfork: a core cannot make processes"),
    "system": ("<cstdlib>", 'b[0] = system("true");', "calls system: a core cannot make processes"),
    "thread": ("<thread>", "std::thread([] {}).join();", "makes a thread: a core has one"),
    "at": (
        "<array>",
        "b[0] = std::array<int, 4>{}.at(n);",
        "throws std::out_of_range: array::at: __n (which is 16) >= _Nm (which is 4)",
    ),
    "memory": ("<new>", "b[0] = *new int[(1UL << 60) + n];", "throws std::bad_alloc"),
}


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A source with all of these calls, compiled once with checks and once without."""
    return Kernel(tmp_path_factory.mktemp("processes"))


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize("sanitize", [False, True])
def test_a_kernel_cannot_end_or_copy_the_process(processes: Kernel, name: str, sanitize: bool) -> None:
    headers = "".join(f"#include {header}\n" for header in {header: 0 for header, _, _ in PROCESSES.values()})
    bodies = {name: f"  if (n)\n    {body}" for name, (_, body, _) in PROCESSES.items()}
    processes.design.write_text(calling(function(name)))
    with pytest.raises(DesignError) as caught:
        processes.run(headers + each(3, bodies), sanitize=sanitize)
    said = str(caught.value)
    assert PROCESSES[name][2] in said
    assert f"{function(name)}, cycle " in said
    assert "kernel.cc:5: " in said  # not a line of a header of the system


GLOBALS = {
    "abort": ("  __builtin_abort();", "the kernel calls abort"),
    "throw": ("  return std::vector<int>(2).at(5);", "the kernel throws std::out_of_range: vector::_M_range"),
    "fault": ("  return *reinterpret_cast<volatile int *>(64);", "it stops with SIGSEGV"),
}


@pytest.mark.parametrize("name", GLOBALS)
def test_a_global_that_fails_does_not_end_the_process(kernel: Kernel, name: str) -> None:
    body, says = GLOBALS[name]
    source = (
        f"#include <vector>\nint first() {{\n{body}\n}}\nint global = first();\n{HEAD}  b[0] = global;\n}}\n"
    )
    for _ in range(2):  # also from the cache
        with pytest.raises(InputFileError) as caught:
            kernel.run(source)
        assert f"kernel.cc:3: a global of the kernels fails before any call: {says}" in str(caught.value)


def test_a_library_is_tried_once(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.run(f"{HEAD}  b[0] = n; // once\n}}\n")
    monkeypatch.setattr("memtile.cpp.trial.subprocess.run", never)
    assert kernel.run(f"{HEAD}  b[0] = n; // once\n}}\n").arrays["1"][0] == WORDS


def test_a_function_of_the_user_may_have_the_name_of_one_of_the_library(kernel: Kernel) -> None:
    done = kernel.run(
        f'extern "C" int posix_spawn(int n) {{ return n + 1; }}\n{HEAD}  b[0] = posix_spawn(n);\n}}\n'
    )
    assert done.arrays["1"][0] == WORDS + 1


def test_a_checked_kernel_may_have_virtual_functions(kernel: Kernel) -> None:
    classes = (
        "struct Scale { virtual int32_t of(int32_t value) { return 2 * value; } };\n"
        "struct Third : Scale { int32_t of(int32_t value) override { return 3 * value; } };\n"
        "Third third;\nScale *used = &third;\n"
    )
    done = kernel.run(f"{classes}{HEAD}  b[0] = used->of(n);\n}}\n", sanitize=True)
    assert done.arrays["1"][0] == 3 * WORDS


ENDLESS = f'{HEAD}  while (n) {{\n    asm volatile("");\n  }}\n}}\n'


def test_a_kernel_without_an_end(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_calls, "SECONDS", 1)
    with pytest.raises(DesignError, match=r"kernel\.cc:[34]: the kernel works for 1 s of processor time"):
        kernel.run(ENDLESS)


ENTERED = """#include <fcntl.h>
#include <unistd.h>
{head}  close(creat("{file}", 0600));
  while (n) {{
    asm volatile("");
  }}
}}
"""


def test_ctrl_c_ends_a_kernel_without_an_end(kernel: Kernel, tmp_path: Path) -> None:
    """The signal comes once the kernel has begun, which its file says."""
    entered, source = tmp_path / "entered", tmp_path / "kernel.cc"
    kernel.loaded(ENTERED.format(head=HEAD, file=entered))
    line = ["run", str(kernel.design), "--kernels", str(source), "--pad-arguments"]
    running = subprocess.Popen(
        [sys.executable, "-m", "memtile", *line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    until = time.monotonic() + 120
    while not entered.exists() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert entered.exists()
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=30)
    assert "status: interrupted" in said, said
    assert running.returncode == 130


def copies() -> set[str]:
    """The addresses at which this process has copies of libraries."""
    lines = Path("/proc/self/maps").read_text("utf-8").splitlines()
    return {line.split()[0] for line in lines if "/memtile-" in line}


def test_another_run_after_a_failed_one_and_nothing_stays_loaded(kernel: Kernel) -> None:
    gc.collect()
    before = copies()
    with pytest.raises(DesignError):
        kernel.run(f"{HEAD}  *reinterpret_cast<volatile int *>(64) = n;\n}}\n")
    done = kernel.run(f"{HEAD}  b[0] = n;\n}}\n")
    assert done.arrays["1"][0] == WORDS
    assert copies() - before
    del done
    gc.collect()
    assert copies() <= before  # those of other tests may go as well


REACH = """
#include <memtile/core.h>
extern "C" void f(int32_t *a, int32_t *b, int32_t n) { memtile::release(64, 1); }
"""


def test_a_lock_that_the_core_does_not_have(kernel: Kernel) -> None:
    with pytest.raises(DesignError, match=r"f uses lock 64, which the core does not reach") as caught:
        kernel.run(REACH)
    assert "Locks of the core's own tile begin at 48." in str(caught.value)


def test_an_exact_acquire_waits_for_exactly_that(kernel: Kernel) -> None:
    lock = "%l = aie.lock(%t02, 12) {init = 2 : i32}"
    kernel.design.write_text(through_core(CALL, TWO, more=lock))
    done = kernel.run(f"{HEAD}  memtile::acquire_equal(48 + 12, 1);\n}}\n")
    assert not done.result.good
    assert "at kernel.cc:3: waits for lock 12" in str(done.result)


# sources that are none --------------------------------------------------------------------------------------


def test_errors_of_the_compiler_have_the_users_line(kernel: Kernel) -> None:
    with pytest.raises(InputFileError) as caught:
        kernel.run(f"{HEAD}  b[0] = nothing; // \x1b[2J\n" + "  missing();\n" * 200 + "}\n")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("kernel.cc: the kernel does not compile.")
    assert "kernel.cc:3:" in lines[1]
    assert "nothing" in lines[1]
    assert "\x1b" not in str(caught.value)
    assert len(lines) <= 22


def test_a_function_that_nothing_defines(kernel: Kernel) -> None:
    with pytest.raises(InputFileError, match=r"other.* is called and not defined") as caught:
        kernel.run(f'extern "C" int other(int);\n{HEAD}  b[0] = other(n);\n}}\n')
    assert "--kernels for each" in str(caught.value)


def test_a_function_that_is_defined_twice(kernel: Kernel) -> None:
    source = kernel.write(f"{HEAD}}}\n")
    (kernel.folder / "again.cc").write_text(source.read_text())
    with pytest.raises(InputFileError, match=r"f is defined twice"):
        load(kernel.design, functions=cpp(source, kernel.folder / "again.cc"))


def test_a_function_that_the_sources_do_not_have(kernel: Kernel) -> None:
    source = kernel.cpp('extern "C" void g(int32_t *a) {}')
    with pytest.raises(InputFileError, match=r"there is no function f; its functions are g\."):
        load(kernel.design, functions={"f": source})


def test_overloaded_functions(kernel: Kernel) -> None:
    both = "void f(int32_t *, int32_t *, int32_t) {}\nvoid f(float *, float *, int32_t) {}"
    with pytest.raises(
        InputFileError, match=r"f cannot be called: .*kernel\.cc has 2 functions of this name"
    ):
        kernel.run(both)


def test_types_that_no_register_holds(kernel: Kernel) -> None:
    text = through_core(CALL, TWO).replace(", i32)", ", i128)")
    kernel.design.write_text(text.replace("constant 16 : i32", "constant 16 : i128"))
    with pytest.raises(InputFileError, match="i128"):
        kernel.run(f"{HEAD}}}\n")


@pytest.mark.parametrize("name", ["kernel.h", "kernel.py", "kernel"])
def test_names_of_sources(name: str) -> None:
    with pytest.raises(InputFileError, match=rf"{name}: this is no C\+\+ source; its name must end in \.cc"):
        cpp(name)


def test_no_source_and_a_source_that_is_not_there(kernel: Kernel) -> None:
    with pytest.raises(InputFileError, match="no source is given"):
        cpp()
    with pytest.raises(InputFileError, match=r"nowhere\.cc: there is no such file"):
        load(kernel.design, functions=cpp("nowhere.cc"))


def test_no_compiler(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(compilers, "candidates", lambda: iter([("/bin/false",)]))
    with pytest.raises(InputFileError) as caught:
        kernel.run(f"{HEAD}}}\n")
    assert str(caught.value) == (
        "C++ kernels need a compiler of C++20, and there is none here. "
        "Install g++ 11 or clang 14, or get one as a Python package by pip install ziglang."
    )


def test_a_compiler_is_probed_once_for_each_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    version, asked = "", list[str]()

    def run(command: list[str]) -> str:
        asked.append(command[-1])
        return version

    monkeypatch.setattr(compilers, "_run", run)
    monkeypatch.setattr(compilers, "cache_folder", lambda _: tmp_path)
    for version, runs in (("fake 1.0", 2), ("fake 1.0", 1), ("fake 2.0", 2)):
        asked.clear()
        found = compilers.tried.__wrapped__(("fake",))
        assert found is not None
        assert (found.version, len(asked)) == (version, runs)


def test_a_compiler_that_is_named_and_is_none(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/bin/false")
    with pytest.raises(InputFileError, match=r"CXX=/bin/false: this is no compiler of C\+\+20"):
        kernel.run(f"{HEAD}}}\n")


# a text is no program ---------------------------------------------------------------------------------------


def never(*_: Any) -> Any:
    raise AssertionError("something was compiled")


def test_looking_at_a_design_compiles_nothing(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtile.cpp.kernels.built", never)
    load_still(kernel.design, functions=kernel.cpp("no C++"))
    load_still(kernel.design, functions={"f": kernel.cpp("no C++")})


@pytest.mark.parametrize("name", ["../secret.o", "/secret.o", "sub/secret.o", "secret.cc", "..o"])
def test_a_text_names_no_source_outside_of_its_folder(kernel: Kernel, name: str) -> None:
    inner = kernel.folder / "inner"
    (inner / "sub").mkdir(parents=True)
    for place in (kernel.folder, inner / "sub"):
        (place / "secret.cc").write_text(f"{HEAD}}}\n")
    design = inner / "design.mlir"
    design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "{name}"}}'))
    with pytest.raises(InputFileError, match="no implementation was given for function f"):
        load(design, sources_beside=True)


def test_sources_beside_are_used_only_when_that_is_asked_for(kernel: Kernel) -> None:
    kernel.write(f"{HEAD}  b[0] = 77;\n}}\n")
    kernel.design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "kernel.o"}}'))
    with pytest.raises(
        InputFileError, match=r"or its C\+\+ source, --kernels KERNEL\.cc, as kernel\.o holds code"
    ):
        load(kernel.design)
    made = load(kernel.design, sources_beside=True)
    assert made.run(*kernel.arrays()).arrays["1"][0] == 77
    assert made.notes == (f"C++ kernels beside the design: f of {kernel.source}",)


@pytest.mark.parametrize("build", ["build", "aie.mlir.prj"])
def test_sources_beside_a_build_folder(kernel: Kernel, build: str) -> None:
    kernel.write(f"{HEAD}  b[0] = 78;\n}}\n")
    (kernel.folder / build).mkdir()
    design = kernel.folder / build / "design.mlir"
    design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "kernel.o"}}'))
    made = load(design, sources_beside=True)
    assert made.run(*kernel.arrays()).arrays["1"][0] == 78


def test_a_function_of_the_user_comes_before_a_source_beside(kernel: Kernel) -> None:
    kernel.write("this is no C++")
    kernel.design.write_text(through_core(CALL, f'{TWO} attributes {{link_with = "kernel.o"}}'))

    def f(a: Any, b: Any, n: int) -> None:
        b[0] = n + len(a)

    done = load(kernel.design, functions={"f": f}, sources_beside=True).run(*kernel.arrays())
    np.testing.assert_array_equal(done.arrays["1"][:1], [2 * WORDS])
