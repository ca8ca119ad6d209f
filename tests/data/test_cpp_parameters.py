"""Does a C++ function get each number as its own type has it, with every compiler, and is that type known?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from left_out import needs
from memtile.cpp.compilers import Compiler
from memtile.cpp.kernels import CompiledKernels
from memtile.cpp.parameter_types import CppSignature
from support.designs.cpp_designs import FOUND, Kernel, compilers, through_core

pytestmark = needs("c++", FOUND)
TYPES = ("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "bool", "Small")
BYTES = 256
WORDS = BYTES * len(TYPES)
EACH = f"""
enum Small : uint8_t {{}};
extern "C" void f(int32_t *all, {", ".join(f"{kind} v{n}" for n, kind in enumerate(TYPES))}, int32_t at) {{
  int32_t *own = all + {len(TYPES)} * at;
  {" ".join(f"own[{n}] = static_cast<int32_t>(v{n});" for n in range(len(TYPES)))}
}}
"""
OBJECT = f"memref<{WORDS}xi32>"


ARGUMENTS = f"{OBJECT}, {', '.join(['i8'] * len(TYPES))}, i32"
EVERY_BYTE = f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = arith.constant {BYTES} : index
    scf.for %i = %c0 to %c step %c1 {{
      %at = arith.index_cast %i : index to i32
      %v = arith.trunci %at : i32 to i8
      func.call @f(%b, {", ".join(["%v"] * len(TYPES))}, %at) : ({ARGUMENTS}) -> ()
    }}"""


@compilers()
def test_each_byte_arrives_as_the_type_of_its_parameter_has_it(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte has its sign in wider types, as GCC's callees see it; an enumeration of bytes has none."""
    monkeypatch.setenv("CXX", compiler.name)
    kernel = Kernel(tmp_path)
    kernel.design.write_text(through_core(EVERY_BYTE, f"func.func private @f({ARGUMENTS})", words=WORDS))
    done = kernel.loaded(EACH).run(*[np.zeros(WORDS, np.int32)] * 2)
    found = done.arrays["1"].reshape(BYTES, len(TYPES))
    given = np.arange(BYTES).astype(np.uint8)
    for number, kind in enumerate(TYPES):
        wide = given if kind == "Small" else given.view(np.int8).astype(np.dtype(kind.removesuffix("_t")))
        np.testing.assert_array_equal(found[:, number], wide.astype(np.int32), kind)


KINDS = """
#include <aie_api/aie.hpp>
typedef const bfloat16 *__restrict Numbers;
enum Mode { one, two };
struct Pair { int32_t a, b; };
namespace inner {
extern "C" int32_t f(Numbers in, float *const out, volatile uint8_t &flag, Mode mode, bool on, Pair *pairs,
                     const void *any, int16_t list[4]) { return on; }
}
uint8_t plain(double value) { return value > 0; }
static int32_t hidden(float value) { return value > 0; }
extern "C" void no_parameters() { (void)hidden(1); }
"""


@pytest.fixture(scope="module", params=FOUND, ids=lambda each: str(each.is_clang))
def kinds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CompiledKernels:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXX", request.param.name)
        return Kernel(tmp_path_factory.mktemp("kinds")).cpp(KINDS).compiled("AIE-ML")


def test_types_are_those_of_the_source(kinds: CompiledKernels) -> None:
    """By hand: names as they are written, kinds and bytes through typedefs, arrays as pointers."""
    f = kinds["f"].source
    assert f is not None
    assert f.text == (
        "Numbers, float *const, volatile uint8_t &, Mode, bool, Pair *, const void *, int16_t *"
    )
    assert f.place == "kernel.cc:7"
    assert f.result is not None
    assert (f.result.kind, f.result.size) == ("signed", 4)
    assert [(each.kind, each.size) for each in f.parameters if each.element is None] == [
        ("unsigned", 4),
        ("bool", 1),
    ]
    elements = [each.element for each in f.parameters if each.element is not None]
    assert [(each.kind, each.is_const) for each in elements] == [
        ("bf16", True),
        ("float", False),
        ("unsigned", False),
        ("class", False),
        ("void", True),
        ("signed", False),
    ]


def test_functions_without_parameters_and_with_names_of_cpp(kinds: CompiledKernels) -> None:
    assert kinds["no_parameters"].source == CppSignature((), None, "kernel.cc:12")
    plain = kinds["plain"].source
    assert plain is not None
    assert (plain.text, plain.place) == ("double", "kernel.cc:10")
    assert "hidden" not in kinds


def test_a_source_that_changes_has_other_types(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    for kind in ("int32_t", "float"):
        source = kernel.cpp(f'extern "C" void f({kind} a) {{}}').compiled("AIE-ML")["f"].source
        assert source is not None
        assert source.text == kind


@pytest.mark.parametrize(
    ("flags", "says"), [(("-g0",), "without debug information"), (("-gdwarf-3",), "DWARF 3")]
)
def test_without_types_a_function_is_called_as_declared(
    tmp_path: Path, flags: tuple[str, ...], says: str
) -> None:
    kernel = Kernel(tmp_path)
    source = 'extern "C" void f(int32_t *a, int32_t *b, int32_t n) { b[0] = n; }'
    made = kernel.loaded(source, flags=flags)
    (note,) = [each for each in made.notes if "is not known" in each]
    assert note.startswith("what f takes is not known, so it is called as declared: ")
    assert says in note
    assert made.run(*kernel.arrays()).arrays["1"][0] == 16


@pytest.mark.parametrize("flags", [("-gdwarf-4", "-gz=zlib"), ("-gdwarf-5",)])
def test_forms_of_debug_information(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Compressed, and both versions that compilers of today write."""
    source = (
        Kernel(tmp_path).cpp('extern "C" void f(const int8_t *a) {}', flags=flags).compiled("AIE-ML")["f"]
    )
    assert source.source is not None
    assert (source.source.text, source.source.place) == ("const int8_t *", "kernel.cc:1")
