"""Is a design that calls a C++ function not as its source has it told so, with both lines, and no other?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from left_out import needs
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.cli.main import app
from memtile.errors import InputFileError
from memtile.importers.design import load, load_still
from support.designs.cpp_designs import FOUND, WORDS, Kernel, through_core

pytestmark = needs("c++", FOUND)
SOURCE = """#include <aie_api/aie.hpp>
extern "C" {
void fits(const int32_t *__restrict a, int32_t *__restrict b, int32_t n) { b[0] = n; }
void two(int32_t *a, int32_t *b) {}
void number_first(int32_t n, int32_t *a, int32_t *b) {}
void fraction(int32_t *a, int32_t *b, float n) {}
void short_float(int32_t *a, int32_t *b, bfloat16 n) {}
void bytes(const int8_t *a, float *b, int32_t n) {}
void any(const void *a, uint32_t *b, uint16_t n) {}
void vectors(const aie::vector<int8, 32> *a, aie::vector<int8, 32> *b, bool n) {}
void exchanged(int32_t *__restrict b, const int32_t *__restrict a, int32_t n) { b[0] = n; }
void reads(const int32_t *a, const int32_t *b, int32_t n) {}
void writes(int32_t *b) { b[0] = 7; }
void gives() {}
}
"""
OBJECT = f"memref<{WORDS}xi32>"
USUAL = f"{OBJECT}, {OBJECT}, i32"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """One source of all functions, compiled once."""
    made = Kernel(tmp_path_factory.mktemp("parameters"))
    made.write(SOURCE)
    return made


def calling(
    name: str, kinds: str = USUAL, values: str = "%a, %b, %n", before: str = "", result: str = "()"
) -> str:
    """A design whose core calls a function of the source."""
    more = "func.func private @writes(memref<16xi32>)" if "@writes" in before else ""
    call = f"func.call @{name}({values}) : ({kinds}) -> {result}"
    if result != "()":
        call = f"%r = {call}"
    return through_core(f"{before}\n{call}", f"func.func private @{name}({kinds}) -> {result}", more=more)


def loaded(kernel: Kernel, text: str) -> Any:
    kernel.design.write_text(text)
    return load(kernel.design, functions=kernel.cpp(SOURCE))


REFUSED = {
    "another number": (
        calling("two"),
        "the function two (kernel.cc:4) takes 2 parameters (int32_t *, int32_t *), the design passes 3 "
        f"({USUAL})",
    ),
    "memory for a number": (
        calling("number_first"),
        f"the function number_first (kernel.cc:5) takes int32_t as argument 0, the design passes {OBJECT}",
    ),
    "a number for memory": (
        calling("number_first"),
        "the function number_first (kernel.cc:5) takes int32_t * as argument 2, the design passes i32",
    ),
    "a whole number for a fraction": (
        calling("fraction"),
        "the function fraction (kernel.cc:6) takes float as argument 2, the design passes i32",
    ),
    "a whole number for a bfloat16": (
        calling("short_float", f"{OBJECT}, {OBJECT}, i8", "%a, %b, %v", "%v = arith.constant 1 : i8"),
        "the function short_float (kernel.cc:7) takes bfloat16 as argument 2, the design passes i8",
    ),
    "a fraction for a whole number": (
        calling("fits", f"{OBJECT}, {OBJECT}, f32", "%a, %b, %v", "%v = arith.constant 1.0 : f32"),
        "the function fits (kernel.cc:3) takes int32_t as argument 2, the design passes f32",
    ),
    "a result that is not there": (
        calling("gives", "", "", result="i32"),
        "the function gives (kernel.cc:14) gives nothing back, the design takes i32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_registers_cannot_carry_is_refused(kernel: Kernel, name: str) -> None:
    text, says = REFUSED[name]
    with pytest.raises(InputFileError) as caught:
        loaded(kernel, text)
    assert f"design.mlir:6:3: func.func: {says} (" in str(caught.value)
    assert "Declare it in the design as its source has it, or change the source." in str(caught.value)


FITS = {
    "the same types": calling("fits"),
    "void, another sign, and a narrower number": calling("any"),
    "vectors, and a truth value": calling("vectors"),
    "an output that a call wrote before": calling(
        "reads", before=f"func.call @writes(%b) : ({OBJECT}) -> ()"
    ),
    "an output that the core writes": calling(
        "reads", before=f"%c0 = arith.constant 0 : index\nmemref.store %n, %b[%c0] : {OBJECT}"
    ),
    "a bfloat16": calling(
        "short_float", f"{OBJECT}, {OBJECT}, bf16", "%a, %b, %v", "%v = arith.constant 1.0 : bf16"
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_what_kernels_do_on_purpose_is_no_finding(kernel: Kernel, name: str) -> None:
    kernel.design.write_text(FITS[name])
    made = load_still(kernel.design, functions=kernel.cpp(SOURCE), compiles=True)
    assert made.findings == ()


def test_memory_as_another_type_is_a_note(kernel: Kernel) -> None:
    result = loaded(kernel, calling("bytes")).run(*kernel.arrays()).result
    assert [str(each) for each in result.findings] == [
        f"MT0408 note: Function 'bytes' (kernel.cc:8) takes {kind} as argument {number}, "
        f"the design passes {OBJECT}."
        for number, kind in enumerate(("const int8_t *", "float *"))
    ]
    assert result.good
    assert [side.place for side in result.findings[0].sides] == ["kernel.cc:8", f"{kernel.design}:6:3"]


EXCHANGED = (
    "MT0409 warning: The design passes its output, object FIFO 'out', as argument 1, which exchanged "
    "(kernel.cc:11) takes as const int32_t *, and its input 'in' as argument 0, which it takes as int32_t *: "
    "exchanged does not write that output. Pass the arguments in the order of the source: "
    "exchanged(int32_t *, const int32_t *, int32_t)."
)


@pytest.mark.parametrize("before", ["", f"func.call @writes(%b) : ({OBJECT}) -> ()"])
def test_arguments_in_the_wrong_order(kernel: Kernel, before: str) -> None:
    """Also where another call has written the output before, as kernels that set a sum to zero do."""
    (found,) = loaded(kernel, calling("exchanged", before=before)).run(*kernel.arrays()).result.findings
    assert str(found) == EXCHANGED
    assert found.sides[0].place == f"{kernel.design}:15:1"


def test_an_output_that_nothing_writes(kernel: Kernel) -> None:
    (found,) = loaded(kernel, calling("reads")).run(*kernel.arrays()).result.findings
    assert found.message == (
        "The design passes its output, object FIFO 'out', as argument 1, which reads (kernel.cc:12) takes as "
        "const int32_t *: reads does not write that output."
    )


def test_through_views_of_an_object(kernel: Kernel) -> None:
    view = (
        f"%w = memref.collapse_shape %b [[0]] : {OBJECT} into {OBJECT}\n"
        f"%v = memref.cast %w : {OBJECT} to {OBJECT}"
    )
    made = loaded(kernel, calling("exchanged", values="%a, %v, %n", before=view))
    assert [each.code for each in made.run(*kernel.arrays()).result.findings] == ["MT0409"]


def test_check_compiles_what_it_is_given_and_says_the_same(kernel: Kernel) -> None:
    kernel.design.write_text(calling("exchanged"))
    still = load_still(kernel.design, functions=kernel.cpp(SOURCE), compiles=True)
    assert EXCHANGED in [str(each) for each in check("d", lambda: of_mlir(still)).findings]


def test_commands_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sources that are linked with each other, too."""
    monkeypatch.chdir(tmp_path)
    Path("set.cc").write_text("void set(int32_t *b) { b[0] = VALUE; }\n")
    Path("kernel.cc").write_text(
        "void set(int32_t *);\n"
        'extern "C" void exchanged(int32_t *b, const int32_t *a, int32_t n) { set(b); }\n'
        'extern "C" void two(int32_t *a, int32_t *b) {}\n'
    )
    Path("design.mlir").write_text(calling("exchanged"))
    line = ["design.mlir", "--kernels", "kernel.cc", "--kernels", "set.cc", "-D", "VALUE=7"]
    says = "as argument 1, which exchanged (kernel.cc:2) takes as const int32_t *, and its input 'in'"
    said = CliRunner().invoke(app, ["check", *line])
    assert says in said.output
    assert said.exit_code == 0
    said = CliRunner().invoke(app, ["run", *line, "--sanitize", "--pad-arguments"])
    assert says in " ".join(said.output.split())
    Path("design.mlir").write_text(calling("two"))
    said = CliRunner().invoke(app, ["check", *line])
    assert "the function two (kernel.cc:3) takes 2 parameters" in said.output
    assert said.exit_code == 1
