"""Does the playground show the design of a program with what a browser has, no Numba and no processes?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile

ROOT = Path(__file__).parents[2]
PLAYGROUND = ROOT / "web" / "playground"
EXAMPLE = json.loads((PLAYGROUND / "examples.json").read_text(encoding="utf-8"))[-1]
GEMM = (ROOT / "examples" / "iron" / "gemm.py").read_text(encoding="utf-8")
CPP = """\
import aie.iron as iron, numpy as np
from ml_dtypes import bfloat16
from aie.iron import ExternalFunction, ObjectFifo, Program, Runtime, Worker
from aie.utils.config import cxx_header_path
kind = np.ndarray[(64,), np.dtype[bfloat16]]
source = cxx_header_path() + "/aie_kernels/none.cc"
scale = ExternalFunction("scale", source_file=source, object_file_name="scale.o", arg_types=[kind, kind])
one, two = ObjectFifo(kind, name="one"), ObjectFifo(kind, name="two")
def core(a, b, f):
    f(a.acquire(1), b.acquire(1)), a.release(1), b.release(1)
worker = Worker(core, [one.cons(), two.prod(), scale])
host = Runtime(lambda a, b, f, d: (f.fill(a), d.drain(b, wait=True)), [kind, kind, one.prod(), two.cons()])
print(Program(iron.get_current_device(), host, workers=[worker]).resolve_program())
"""
MLIR = "aie.device(npu1_1col) {\n %t = aie.tile(0, 1)\n %b = aie.buffer(%t) : memref<8x16xi32>\n"
MLIR += " aie.memtile_dma(%t) {\n"
MLIR += "  %0 = aie.dma_start(MM2S, 0, ^a, ^end)\n ^a:\n  aie.dma_bd(%b : memref<8x16xi32>, 0, 128,\n"
MLIR += "   [<size = 16, stride = 1>, <size = 8, stride = 16>])\n  aie.next_bd ^a\n ^end:\n  aie.end\n }\n}"
ASKED = {
    "program": (EXAMPLE["text"], "--rows 4"),
    "gemm": (GEMM, "--M 128"),
    "cpp": (CPP, ""),
    "cpp changed": (CPP.replace('"scale.o"', '"scale.o", compile_flags=["-DX"]'), ""),
    "mlir": (MLIR, ""),
    "name": ("import aie.iron\n\nfrom aie.iron import ObjectFiFo\n", ""),
    "option": (EXAMPLE["text"], "--row"),
    "line": ("import aie.iron as iron\n\niron.zeros(4)[9] = 1\n", ""),
    "fence": ("```python\nimport aie.iron\n\niron\n```", ""),
    "relative": ("import aie.iron\nfrom . import helpers\n", ""),
    "words": ("clang++ -O2 kernel.cc", ""),
    "mlir place": ("\naie.device(npu1) {\n  %0 = aie.tile(0, 9)\n}", ""),
    "syntax": ("import aie.iron\nfor\n", ""),
    "package": ("import aie.iron\nimport torch\n", ""),
    "nothing": ("import aie.iron\nprint('hello')\n", ""),
    "arithmetic": (
        "import aie.iron as iron\nfrom ml_dtypes import bfloat16\niron.ones(4, dtype=bfloat16).numpy() * 2",
        "",
    ),
    "arguments": (EXAMPLE["text"], "python3 gemm.py --rows 4"),
    "quotes": (EXAMPLE["text"], "--rows '4"),
    "command": ("$ memtile run gemm.py --M 128", ""),
    "python": ("from memtile import Array\n\narray = Array()", ""),
    "graph": ("#include <adf.h>\nclass G : public adf::graph {};", ""),
}
BROWSER = """
import json, subprocess, sys
absent = "numba llvmlite rustworkx ml_dtypes msgspec typer elftools torch resource"
for name in absent.split():
    sys.modules[name] = None
def no_process(*given, **more):
    raise OSError("there are no processes")
subprocess.Popen = no_process
import absent
absent.install()
import answers
found = {}
for name, (text, arguments) in json.load(sys.stdin).items():
    found[name] = json.loads(answers.answer(text, arguments=arguments))
    found[name]["shown"] = [json.loads(answers.part(n)) for n in range(len(found[name].get("parts", ())))]
assert not [name for name in sys.modules if name.startswith("memtile.sandbox")]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """What is answered to each text, in one process that has what a browser has."""
    paths = os.pathsep.join((str(PLAYGROUND), str(Path(memtile.__file__).parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", BROWSER],
        input=json.dumps(ASKED),
        env={**os.environ, "PYTHONPATH": paths, "MEMTILE_JIT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def part(design: dict[str, Any], begins: str) -> dict[str, Any]:
    """The only descriptor of a design whose label begins so."""
    (found,) = [
        each for each, label in zip(design["shown"], design["parts"], strict=True) if label.startswith(begins)
    ]
    return found


def walk(found: dict[str, Any]) -> list[int]:
    return [int(each) for each in found["walk"].split()]


def test_a_program_is_shown_with_its_array_and_the_walk_of_each_descriptor(shown: dict[str, Any]) -> None:
    design = shown["program"]
    assert design["array"].startswith("<svg")
    assert "npu2: 2 tiles in use, 0 cores" in design["text"]
    assert "object FIFO leaves: memory_2p(0,1) -> interface_2p(0,0), 4x16xi32, depth 2" in design["text"]
    assert "memtile run program.py --rows 4" in design["text"]
    assert "parameters of transpose: rows = 4, columns = 16" in design["text"]
    transposed = part(design, "memory_2p(0,1) MM2S 0 'leaves' BD 2: arrives_cons_buff_0")
    assert walk(transposed) == np.arange(64).reshape(4, 16).T.reshape(-1).tolist()
    assert transposed["picture"].count("<rect") > 64
    assert walk(part(design, "memory_2p(0,1) S2MM 0 'arrives' BD 1:")) == [*range(64)]


def test_tasks_of_the_host_sequence_are_shown_at_their_place_in_the_argument(shown: dict[str, Any]) -> None:
    design = shown["gemm"]
    assert [label for label in design["parts"] if "'a' BD" in label and "argument" in label] == [
        f"interface_2p(0,0) MM2S 0 'a' BD 0: argument 0 from byte {32 * 64 * 2 * n} on, 2 times"
        for n in range(4)
    ]
    second = part(design, f"interface_2p(0,0) MM2S 0 'a' BD 0: argument 0 from byte {32 * 64 * 2} on")
    tiles = np.arange(128 * 64).reshape(4, 32, 2, 32).transpose(0, 2, 1, 3)[1].reshape(-1)
    assert walk(second) == [*tiles, *tiles]
    assert "kernels, of which only the names are used here: zero_i32," in design["text"]


def test_a_program_with_kernels_in_cpp_is_shown_without_their_source(shown: dict[str, Any]) -> None:
    assert (
        shown["cpp changed"]["parts"] == shown["cpp"]["parts"]
    )  # kernels of the program before are forgotten
    design = shown["cpp"]
    assert "kernels, of which only the names are used here: scale" in design["text"]
    assert design["printed"].startswith("module")
    assert "64xbf16" in design["printed"]
    assert walk(part(design, "compute_2p(0,2) S2MM 0 'one' BD 0:")) == [*range(64)]


def test_a_text_of_mlir_is_shown_as_a_design(shown: dict[str, Any]) -> None:
    (only,) = shown["mlir"]["shown"]
    assert walk(only) == np.arange(128).reshape(8, 16).T.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "name",
            [
                "program.py:3: ",
                "has no aie.iron.ObjectFiFo. Did you mean aie.iron.ObjectFifo?",
                "The list is below.",
            ],
        ),
        (
            "option",
            ["the program ends with code 2", "The program prints:\nusage: program.py [-h] [--rows ROWS]"],
        ),
        ("line", ["program.py:3: IndexError"]),
        ("fence", ["program.py:4: NameError"]),
        ("relative", ["program.py:2: . is another file of the program"]),
        ("words", ["this is nothing that the playground takes"]),
        ("mlir place", ["design.mlir:3:8: array npu1: row is 9"]),
        ("syntax", ["program.py, line 2: this is not Python"]),
        ("package", ["program.py:2: ModuleNotFoundError", "The browser has NumPy, memtile and this file"]),
        ("nothing", ["program.py: the program builds no design", "The program prints:\nhello"]),
        ("arithmetic", ["program.py:3: ", "no arithmetic of bfloat16"]),
        ("arguments", ["the arguments begin with python3. Give only what stands behind the program's name"]),
        ("quotes", ["the arguments cannot be split into words: No closing quotation"]),
        ("command", ["this is a command line", "the line for arguments"]),
        ("python", ["imports no aie"]),
        ("graph", ["this is C++ without a tiling"]),
    ],
)
def test_what_is_no_design_is_refused_with_its_place(
    name: str, says: list[str], shown: dict[str, Any]
) -> None:
    error = shown[name]["error"]
    assert [each for each in says if each not in error] == [], error
    assert "/tmp" not in error
