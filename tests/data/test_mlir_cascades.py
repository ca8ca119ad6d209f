"""Do cascades and streams of cores in MLIR text carry what they say, and do designs without sense say why?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from memtile import Status
from memtile.errors import InputFileError
from memtile.sim.kernels.kernel_core import Core

CONTROL = 0x36060
NUMBERS = np.arange(64, dtype=np.int32)
WHOLE = "[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]"
SEQUENCE = f"""
aie.runtime_sequence(%in: memref<64xi32>, %out: memref<64xi32>) {{
  aiex.npu.dma_memcpy_nd(%out{WHOLE}) {{id = 1 : i64, metadata = @out}} : memref<64xi32>
  aiex.npu.dma_memcpy_nd(%in{WHOLE}) {{id = 0 : i64, metadata = @in}} : memref<64xi32>
  aiex.npu.dma_wait {{symbol = @out}}
}}
"""


def fifos(first: str, last: str) -> str:
    return f"""
aie.objectfifo @in(%s, {{{first}}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @out({last}, {{%s}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
"""


VIEW = "!aie.objectfifosubview<memref<16xi32>>"


def core(tile: str, body: str, name: str = "", port: str = "") -> str:
    """A core that does something four times, with an object of a FIFO if it has one."""
    take = give = ""
    if name:
        take = f"""%v = aie.objectfifo.acquire @{name}({port}, 1) : {VIEW}
        %o = aie.objectfifo.subview.access %v[0] : {VIEW} -> memref<16xi32>"""
        give = f"aie.objectfifo.release @{name}({port}, 1)"
    return f"""
aie.core({tile}) {{
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {{
    {take}
    {body}
    {give}
  }}
  aie.end
}}
"""


def design(*parts: str, columns: int = 2) -> str:
    tiles = "%s = aie.tile(0, 0)\n%a = aie.tile(0, 3)\n%b = aie.tile(1, 3)\n%c = aie.tile(1, 2)\n"
    return f"module {{ aie.device(npu1_{columns}col) {{ {tiles} {' '.join(parts)} {SEQUENCE} }} }}"


def loaded(text: str, tmp_path: Path, **functions: Any) -> Any:
    file = tmp_path / "design.mlir"
    file.write_text(text)
    return memtile.load(file, functions=functions)


def ran(text: str, tmp_path: Path, **functions: Any) -> np.ndarray:
    done = loaded(text, tmp_path, **functions).run(NUMBERS, np.zeros(64, np.int32))
    assert done.result.status is Status.FINISHED, done.result
    return np.asarray(done.arrays["1"])


def sends(memory: np.ndarray, *, core: Core) -> Any:
    yield core.put_cascade(memory)


def takes(memory: np.ndarray, *, core: Core) -> Any:
    memory[...] = yield core.get_cascade()


def passes(*, core: Core) -> Any:
    given = yield core.get_cascade()
    yield core.put_cascade(10 * given)


FUNCTIONS = {"sends": sends, "takes": takes, "passes": passes}
DECLARED = """
func.func private @sends(memref<16xi32>)
func.func private @takes(memref<16xi32>)
func.func private @passes()
"""
CALLS = (
    core("%a", "func.call @sends(%o) : (memref<16xi32>) -> ()", "in", "Consume"),
    core("%b", "func.call @passes() : () -> ()"),
    core("%c", "func.call @takes(%o) : (memref<16xi32>) -> ()", "out", "Produce"),
)
PASSED = core("%b", "%w = aie.get_cascade() : vector<16xi32>\n aie.put_cascade(%w : vector<16xi32>)")
PASSED_WIDE = core("%b", "%w = aie.get_cascade() : i512\n aie.put_cascade(%w : i512)")
PASSED_BF16 = core("%b", "%w = aie.get_cascade() : vector<32xbf16>\n aie.put_cascade(%w : vector<32xbf16>)")
PASSED_GENERIC = core(
    "%b",
    '%w = "aie.get_cascade"() : () -> vector<16xi32>\n "aie.put_cascade"(%w) : (vector<16xi32>) -> ()',
)
PASSED_OLD = core("%b", "%w = aie.getCascade() : i512\n aie.putCascade(%w : i512)")
FLOWS = "aie.cascade_flow(%a, %b)\n aie.cascade_flow(%b, %c)"
SIDES = "aie.configure_cascade(%a, North, East)\n aie.configure_cascade(%b, West, South)"
GENERIC = (
    '"aie.configure_cascade"(%a) <{inputDir = 5 : i32, outputDir = 6 : i32}> : (index) -> ()\n'
    '"aie.configure_cascade"(%b) <{inputDir = 4 : i32, outputDir = 3 : i32}> : (index) -> ()'
)


@pytest.mark.parametrize("sides", [FLOWS, SIDES, GENERIC], ids=["flows", "sides", "generic"])
def test_functions_of_the_user_use_the_cascade(sides: str, tmp_path: Path) -> None:
    text = design(sides, DECLARED, fifos("%a", "%c"), *CALLS)
    assert np.array_equal(ran(text, tmp_path, **FUNCTIONS), 10 * NUMBERS)


@pytest.mark.parametrize(
    "middle",
    [PASSED, PASSED_WIDE, PASSED_BF16, PASSED_GENERIC, PASSED_OLD],
    ids=["vector", "integer", "bf16", "generic", "old names"],
)
def test_operations_of_the_body_use_the_cascade(middle: str, tmp_path: Path) -> None:
    text = design(FLOWS, DECLARED, fifos("%a", "%c"), CALLS[0], middle, CALLS[2])
    negative = loaded(text, tmp_path, **FUNCTIONS).run(-NUMBERS, np.zeros(64, np.int32))
    assert np.array_equal(negative.arrays["1"], -NUMBERS)


def test_registers_are_those_that_the_open_driver_writes(tmp_path: Path) -> None:
    """mlir-aie: input 0 north, 1 west in bit 0; output 0 south, 1 east in bit 1."""
    design_ = loaded(design(FLOWS, DECLARED, fifos("%a", "%c"), *CALLS), tmp_path, **FUNCTIONS)
    words = [design_.array.compute_tile(*p).own_door.read32(CONTROL) for p in ((0, 3), (1, 3), (1, 2))]
    assert words == [2, 1, 0]


STREAMED = """
aie.flow(%a, Core : 0, %b, Core : 0)
"""


@pytest.mark.parametrize("kind", ["i32", "i128", "f32"])
def test_streams_of_cores(kind: str, tmp_path: Path) -> None:
    step, cast, back = {
        "i32": (
            "%n1",
            "%x = memref.load %o[%k] : memref<16xi32>",
            "memref.store %y, %o[%k] : memref<16xi32>",
        ),
        "i128": (
            "%n4",
            "%l = memref.load %o[%k] : memref<16xi32>\n%x = arith.extui %l : i32 to i128",
            "%t = arith.trunci %y : i128 to i32\n memref.store %t, %o[%k] : memref<16xi32>",
        ),
        "f32": (
            "%n1",
            "%l = memref.load %o[%k] : memref<16xi32>\n%x = arith.sitofp %l : i32 to f32",
            "%t = arith.fptosi %y : f32 to i32\n memref.store %t, %o[%k] : memref<16xi32>",
        ),
    }[kind]
    loop = f"scf.for %k = %n0 to %n16 step {step}"
    puts = f"{loop} {{ {cast}\n aie.put_stream(%port : i32, %x : {kind}) }}"
    gets = f"{loop} {{ %y = aie.get_stream(%port : i32) : {kind}\n {back} }}"
    text = design(
        STREAMED, fifos("%a", "%b"), core("%a", puts, "in", "Consume"), core("%b", gets, "out", "Produce")
    )
    got = ran(text, tmp_path)
    wanted = np.where(NUMBERS % 4 == 0, NUMBERS, 0) if kind == "i128" else NUMBERS
    assert np.array_equal(got, wanted)


NEIGHBOUR = "a cascade goes to the compute tile in the east or in the south"
BESIDE = "%d = aie.tile(0, 2)\n"


@pytest.mark.parametrize(
    ("sides", "middle", "says"),
    [
        (
            "aie.cascade_flow(%b, %a)",
            PASSED,
            NEIGHBOUR,
        ),
        (
            "aie.cascade_flow(%a, %c)",
            PASSED,
            NEIGHBOUR,
        ),
        ("aie.cascade_flow(%s, %a)", PASSED, r"interface tile \(0,0\) has no core, so no cascade"),
        (
            f"{FLOWS}\n%d = aie.tile(0, 2)\naie.cascade_flow(%a, %d)",
            PASSED,
            r"has tile \(1, 3\) at its other end",
        ),
        (
            "%d = aie.tile(0, 2)\naie.cascade_flow(%d, %c)\n aie.cascade_flow(%b, %c)",
            PASSED,
            "the cascade input",
        ),
        ("aie.configure_cascade(%a, East, South)", PASSED, "the input of a cascade cannot be East"),
        ("aie.configure_cascade(%a, North, West)", PASSED, "the output of a cascade cannot be West"),
        (FLOWS, PASSED.replace("16xi32", "8xi32"), "the type on the cascade is vector<8xi32>"),
        (FLOWS, PASSED_WIDE.replace("i512", "i64"), "the type on the cascade is i64"),
        (FLOWS, core("%b", "%w = aie.get_stream(%port : i32) : i64"), "the type in the stream is i64"),
        (
            FLOWS,
            core("%b", "%p = arith.constant 1 : i32\n%w = aie.get_stream(%p : i32) : i32"),
            "the stream port is 1; a core has one port in and one out",
        ),
    ],
)
def test_what_the_array_does_not_have_is_refused_at_its_place(
    sides: str, middle: str, says: str, tmp_path: Path
) -> None:
    text = design(sides, DECLARED, fifos("%a", "%c"), CALLS[0], middle, CALLS[2])
    with pytest.raises(InputFileError, match=says) as error:
        loaded(text, tmp_path, **FUNCTIONS).run(NUMBERS, np.zeros(64, np.int32))
    assert "design.mlir:" in str(error.value)


def test_a_design_whose_registers_do_not_meet_says_who_waits_for_whom(tmp_path: Path) -> None:
    sides = "aie.cascade_flow(%a, %b)\n aie.configure_cascade(%c, West, South)"
    text = design(sides, DECLARED, fifos("%a", "%c"), *CALLS)
    done = loaded(text, tmp_path, **FUNCTIONS).run(NUMBERS, np.zeros(64, np.int32))
    told = str(done.result) + done.stopped
    assert (
        "core (1, 2), kernel 'kernel': waits for a value on its cascade from core (0, 2) in the west, "
        "which puts its values to the south" in told
    )


def test_a_put_without_a_get_at_the_end_finishes(tmp_path: Path) -> None:
    more = CALLS[0].replace("aie.end", "func.call @passes_none() : () -> ()\n aie.end")

    def passes_none(*, core: Core) -> Any:
        yield core.put_cascade(np.zeros(16, np.int32))

    text = design(FLOWS, DECLARED, "func.func private @passes_none()", fifos("%a", "%c"), more, *CALLS[1:])
    got = ran(text, tmp_path, passes_none=passes_none, **FUNCTIONS)
    assert np.array_equal(got, 10 * NUMBERS)
