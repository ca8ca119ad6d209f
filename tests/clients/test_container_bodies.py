"""Do the cores of containers do what the MLIR text beside them says, and is it told where that is missing?"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from support.formats.container_files import Code, full_elf_of, pdi_of
from support.mlir.mlir_builds import configuration, write_build
from support.mlir.mlir_designs import NUMBERS
from support.mlir.mlir_texts import CALL

ADD = """%v = memref.load %x[%i] : memref<16xi32>
          %r = arith.addi %v, %k : i32
          memref.store %r, %y[%i] : memref<16xi32>"""
BODY = CALL.replace("    func.func private @work(memref<16xi32>, memref<16xi32>)\n", "").replace(
    "        func.call @work(%x, %y) : (memref<16xi32>, memref<16xi32>) -> ()\n",
    "        %k = arith.constant 7 : i32\n        %c16 = arith.constant 16 : index\n"
    f"        scf.for %j = %c0 to %c16 step %c1 {{\n          {ADD.replace('%i', '%j')}\n        }}\n",
)
DATA = NUMBERS


def call(*args: object) -> Any:
    done = CliRunner().invoke(app, ["run", *map(str, args)], env={"COLUMNS": "250"})
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.fixture
def arrays(tmp_path: Path) -> list[object]:
    np.save(tmp_path / "in.npy", DATA)
    return ["--in", f"0={tmp_path / 'in.npy'}", "--out", f"1:int32:64={tmp_path / 'out.npy'}"]


def ran(tmp_path: Path, arrays: list[object], *args: object, plus: int = 7) -> dict[str, Any]:
    """The JSON of a run that finished with the right array."""
    done = call("--json", *args, *arrays)
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), DATA + plus)
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def bodies(data: dict[str, Any]) -> list[str]:
    return [note for note in data["notes"] if "bodies of" in note or note.startswith("warning")]


def test_the_text_beside_an_xclbin_has_the_bodies(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "a build", BODY)
    for files in (
        [build],
        [build / "final.xclbin", build / "insts.bin"],
        [build / "insts.bin", build / "final.xclbin"],
    ):
        data = ran(tmp_path, arrays, *files)
        assert bodies(data) == [f"bodies of core (0, 2) are those of {build / 'aie.mlir'}"]
        assert data["unsimulated"] == []


def test_a_build_takes_the_cycles_of_its_text(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY)
    cycles = {ran(tmp_path, arrays, file)["cycles"] for file in (build, build / "aie.mlir")}
    assert len(cycles) == 1


def test_text_in_the_project_folder_and_lines_of_words(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY, named="aie.mlir.prj/input_with_addresses.mlir")
    words = (build / "insts.bin").read_bytes()
    (build / "insts.bin").unlink()
    (build / "insts.txt").write_text("".join(f"{word:08x}\n" for (word,) in struct.iter_unpack("<I", words)))
    text = build / "aie.mlir.prj" / "input_with_addresses.mlir"
    for files in ([build], [build / "final.xclbin", build / "insts.txt"]):
        assert bodies(ran(tmp_path, arrays, *files)) == [f"bodies of core (0, 2) are those of {text}"]


def test_a_pdi_in_the_project_finds_the_text_above(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY)
    (project := build / "aie.mlir.prj").mkdir()
    (project / "main.pdi").write_bytes(pdi_of(configuration(BODY)))
    assert bodies(ran(tmp_path, arrays, project / "main.pdi", build / "insts.bin"))


def test_of_several_texts_the_nearest_is_taken(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY, named="z.mlir")
    (build / "a.mlir").write_text(
        BODY.replace("{%core}, 2", "{%core}, 1").replace("constant 7", "constant 9")
    )
    (build / "input_physical.mlir").write_text(BODY.replace("aie.tile(0, 2)", "aie.tile(0, 3)"))
    assert bodies(ran(tmp_path, arrays, build)) == [f"bodies of core (0, 2) are those of {build / 'z.mlir'}"]


def test_a_text_that_disagrees_is_named(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY, named="")
    more = "    %other = aie.tile(1, 2)\n    %o = aie.core(%other) {\n      aie.end\n    }\n"
    text = BODY.replace("    %body = aie.core(%core)", f"{more}    %body = aie.core(%core)")
    (build / "aie.mlir").write_text(text.replace("npu1_1col", "npu1"))
    assert bodies(ran(tmp_path, arrays, build))[1:] == [
        f"warning: {build / 'aie.mlir'} has core (1, 2) too, which the program never enables"
    ]
    (build / "aie.mlir").write_text(BODY.replace("16xi32", "32xi32"))
    done = call(build, *arrays)
    warning = [line for line in done.output.splitlines() if line.startswith("note: warning")]
    assert " words of BDs and locks differ between " in warning[0]
    assert "compute tile (0,2) DMA_BD0_0 is " in warning[0]


def test_text_of_other_cores_is_no_body(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY, named="")
    (build / "aie.mlir").write_text(BODY.replace("aie.tile(0, 2)", "aie.tile(0, 3)"))
    done = call(build, *arrays)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1].startswith("core (0, 2) was enabled; its program is not simulated")
    assert "note: no text beside the files has core (0, 2)" in done.stdout
    (build / "aie.mlir").write_text(BODY.replace("scf.for %i", "scf.for %i {"))
    done = call(build, *arrays)
    assert done.exit_code == 1
    assert "It gives no core its program." in done.stdout


def test_a_function_that_nobody_gave_is_named_and_the_run_goes_on(
    tmp_path: Path, arrays: list[object]
) -> None:
    build = write_build(tmp_path / "build", CALL)
    done = call(build, *arrays)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1].startswith("core (0, 2) was enabled; its program is not simulated")
    assert "core (0, 2) has no program: " in done.stdout
    assert "no implementation was given for function work(memref<16xi32>, memref<16xi32>)" in done.stdout
    (functions := tmp_path / "functions.py").write_text("def work(a, b):\n    b[:] = a + 5\n")
    ran(tmp_path, arrays, build, "--kernels", functions, plus=5)


def test_the_users_kernels_come_first(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY)
    (kernels := tmp_path / "kernels.py").write_text("def core_0_2(core):\n    yield core.cycles(1)\n")
    done = call("--json", build, *arrays, "--kernels", kernels)
    assert bodies(json.loads(done.stdout)) == []
    assert done.exit_code == 1
    (kernels).write_text("X = 1\n")
    refused = call(build, *arrays, "--kernels", kernels)
    assert refused.exit_code == 2
    assert "there is no kernel in the file" in refused.stderr


def test_a_text_may_be_given_as_the_kernels(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY, named="")
    (text := tmp_path / "elsewhere.mlir").write_text(BODY)
    data = ran(tmp_path, arrays, build / "final.xclbin", build / "insts.bin", "--kernels", text)
    assert bodies(data) == [f"bodies of core (0, 2) are those of {text}"]
    done = call(build, "--kernels", tmp_path / "nowhere.mlir")
    assert "nowhere.mlir: the file cannot be read" in done.output
    text.write_text("module {\n}\n")
    done = call(build, "--kernels", text)
    assert "elsewhere.mlir: there is no aie.device in the text." in done.output


def test_what_the_programs_of_cores_would_bring_comes_from_the_text(
    tmp_path: Path, arrays: list[object]
) -> None:
    table = 'aie.buffer(%core) {sym_name = "table"} : memref<16xi32> = dense<11>'
    text = BODY.replace("    %body = aie.core", f"    %b = {table}\n    %body = aie.core").replace(
        "load %x", "load %b"
    )
    build = write_build(tmp_path / "build", text, named="")
    (build / "aie.mlir").write_text(text)
    done = call("--json", build, *arrays)
    assert done.exit_code == 0, done.output
    assert (np.load(tmp_path / "out.npy") == 18).all()
    assert (
        f"contents at the start of table are those of {build / 'aie.mlir'}"
        in json.loads(done.stdout)["notes"]
    )


TWO = """module {
  aie.device(npu1) @main {
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.configure @one {
        aiex.run @part(%a, %b) : (memref<64xi32>, memref<64xi32>)
      }
      aiex.configure @two {
        aiex.run @part(%b, %b) : (memref<64xi32>, memref<64xi32>)
      }
    }
  }
"""


def test_each_load_has_the_bodies_of_its_device(tmp_path: Path, arrays: list[object]) -> None:
    inner = (
        BODY.removeprefix("module {\n")
        .removesuffix("}\n")
        .replace("runtime_sequence(", "runtime_sequence @part(")
    )
    parts = {
        name: inner.replace("npu1_1col)", f"npu1) @{name}").replace("constant 7", f"constant {what}")
        for name, what in (("one", 3), ("two", 40))
    }
    parts["two"] = parts["two"].replace("aie.tile(0, 2)", "aie.tile(0, 3)")
    text = TWO + "".join(parts.values()) + "}\n"
    pdis = {n: pdi_of(configuration(text, name)) for n, name in enumerate(parts)}
    steps = load(Text("d.mlir", text), name="main").instructions()
    (tmp_path / "both.mlir").write_text(text)
    (tmp_path / "full.elf").write_bytes(full_elf_of(pdis, [Code("main", "sequence", steps)]))
    data = ran(tmp_path, arrays, tmp_path / "full.elf", plus=43)
    found = tmp_path / "both.mlir"
    assert bodies(data) == [
        f"bodies of core (0, 2) are those of {found}, device one",
        f"bodies of core (0, 3) are those of {found}, device two",
    ]


def test_two_texts_that_do_other_things_are_asked_about(tmp_path: Path, arrays: list[object]) -> None:
    build = write_build(tmp_path / "build", BODY, named="seven.mlir")
    ran(tmp_path, arrays, build)
    (build / "again.mlir").write_text(
        BODY.replace("%k = arith", "  %k = arith")
    )  # the same with a blank more
    ran(tmp_path, arrays, build)
    (build / "nine.mlir").write_text(BODY.replace("arith.constant 7", "arith.constant 9"))
    done = call(build, *arrays)
    assert done.exit_code == 2
    assert "nine.mlir have the same BDs and locks, and cores that do other things" in done.output
    ran(tmp_path, arrays, build, "--kernels", build / "nine.mlir", plus=9)
    (build / "final.mlir").write_text(BODY.replace("arith.constant 7", "arith.constant 5"))
    ran(tmp_path, arrays, build, plus=5)  # called like the xclbin
    for name, number in (("one", 3), ("two", 4)):
        text = BODY.replace("arith.constant 7", f"arith.constant {number}")
        (build / f"{name}_input_with_addresses.mlir").write_text(text)
    assert "one_input_with_addresses.mlir" in call(build, *arrays).output
    (build / "two_input_with_addresses.mlir").unlink()
    ran(tmp_path, arrays, build, plus=3)


def test_a_build_without_arrays_runs_with_zeros_in_a_survey(tmp_path: Path) -> None:
    write_build(tmp_path / "designs" / "build", BODY, named="")
    write_build(tmp_path / "designs" / "whole", BODY)
    done = CliRunner().invoke(app, ["survey", "--json", str(tmp_path / "designs")])
    found = {each["design"]: each["bucket"] for each in json.loads(done.stdout)["designs"]}
    assert found == {"build": "stuck", "whole": "finished", "whole/aie.mlir": "finished"}
