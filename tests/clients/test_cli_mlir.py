"""Does ``memtile run`` take MLIR designs as people have them, and say what is wrong with theirs?"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import memtile
from memtile.cli.main import app
from memtile.importers.build_comparison import compare
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.programs import Header, Transaction, transaction_bytes
from memtile.runs.array_names import Given, Wanted
from support.formats.programs import cdo_of
from support.mlir import mlir_texts

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = np.arange(4096, dtype=np.int32)


def run(*args: object) -> Any:
    done = CliRunner().invoke(app, ["run", *map(str, args)], env={"COLUMNS": "150"})
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


@pytest.fixture
def arrays(tmp_path: Path) -> list[object]:
    np.save(tmp_path / "in.npy", DATA)
    functions = EXAMPLES / "scale_functions.py"
    into, out = f"0={tmp_path / 'in.npy'}", f"1:int32:4096={tmp_path / 'out.npy'}"
    return ["--kernels", functions, "--in", into, "--out", out]


def test_a_design_with_a_function_of_the_user(tmp_path: Path, arrays: list[object]) -> None:
    done = run(EXAMPLES / "scale.mlir", *arrays)
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), 3 * DATA)
    assert "sums of assumed costs of operations" in done.output


def test_an_array_has_the_shape_and_type_that_the_text_declares() -> None:
    """Also where the array writes a part of it, or more."""
    text = (EXAMPLES / "scale.mlir").read_text()
    for declared, shape in (("64x128xi16", (64, 128)), ("3x4096xi32", (3, 4096)), ("8xi32", (4096,))):
        changed = text.replace("%b: memref<4096xi32>", f"%b: memref<{declared}>")
        changed = changed.replace(" : memref<4096xi32>\n", f" : memref<{declared}>\n", 1)
        made = load(Text("d", changed), functions={"scale": lambda *_: None})
        done = made.run_with([Given("0", np.arange(4096, dtype=np.int32))], [Wanted("1")])
        assert done.arrays["1"].shape == shape, declared


def test_json_has_the_result_and_the_notes(arrays: list[object]) -> None:
    data = json.loads(run("--json", EXAMPLES / "scale.mlir", *arrays).output)
    assert (data["status"], data["device"]) == ("finished", "npu1_1col")
    assert any("assumed costs" in note for note in data["notes"])


def test_another_device_and_dearer_operations(tmp_path: Path, arrays: list[object]) -> None:
    (costs := tmp_path / "costs.json").write_text('{"loop": 8, "call": 64}')
    plain = json.loads(run("--json", EXAMPLES / "scale.mlir", *arrays).output)
    dear = json.loads(
        run("--json", "--cost", costs, "--device", "npu2", EXAMPLES / "scale.mlir", *arrays).output
    )
    assert dear["device"] == "npu2"
    running = [data["cores"][0]["cycles"]["running"] for data in (plain, dear)]
    assert running[1] > running[0]
    costs.write_text('{"lod": 8}')
    refused = run("--cost", costs, EXAMPLES / "scale.mlir", *arrays)
    assert refused.exit_code == 2
    assert "lod; classes of operations are load, store" in refused.output


def test_the_tired_person(tmp_path: Path, arrays: list[object]) -> None:
    text = (EXAMPLES / "scale.mlir").read_text()
    for change, says in (
        (("npu1_1col", "NPUDEVICE"), "leaves the device open: NPUDEVICE"),
        (("aie.objectfifo.release @block", "aie.nonsense @block"), "nothing is known of this operation"),
        (
            ("@scale(memref<256xi32>, memref<256xi32>, i32, index)\n", "@other(i32)\n"),
            "no function has the name",
        ),
        (("metadata = @in}", "metadata = @im}"), "no channel has the name im"),
        (("aie.tile(0, 2)", "aie.tile(0, 2"), "cannot close"),
        (("module {", "module {{"), "never closed"),
    ):
        assert change[0] in text
        (file := tmp_path / "broken.mlir").write_text(text.replace(*change))
        done = run(file, *arrays)
        assert done.exit_code == 2, (change, done.output)
        assert says in done.output
    assert run(EXAMPLES / "scale.mlir", *arrays[2:]).exit_code == 2  # without the function
    assert "def scale(a0, a1, a2, a3)" in run(EXAMPLES / "scale.mlir", *arrays[2:]).output
    assert run(EXAMPLES / "absent.mlir").exit_code == 2


def test_a_loaded_design_runs_as_often_as_one_likes_and_has_its_names() -> None:
    def scale(source: np.ndarray, target: np.ndarray, factor: int, size: int) -> None:
        target[:size] = factor * source[:size]

    design = memtile.load(EXAMPLES / "scale.mlir", functions={"scale": scale})
    names = {buffer.name for tile in design.array.tiles for buffer in tile.buffers}
    assert names == {f"{fifo}_buff_{n}" for fifo in ("in_cons", "block_cons", "out") for n in range(2)}
    done = design.run(DATA)
    np.testing.assert_array_equal(done.arrays["1"], 3 * DATA)
    with pytest.raises(memtile.InputFileError, match="3 arrays"):
        design.run(DATA, DATA, DATA)


def test_a_build_is_compared_register_by_register(tmp_path: Path) -> None:
    """A build made of the design itself by our exporter: nothing differs until the text does."""
    text = (EXAMPLES / "scale.mlir").read_text()
    design = load(Text("d", text), functions={"scale": lambda *_: None})
    kind = design.array.memory_tile(0).kind
    door = design.array.engine.door(design.array.memory_tile(0).index)
    words = door.block_read32(kind.bd_base, kind.bds * kind.bd_words).tolist()
    at = memtile.programs.address_of(0, 1, kind.bd_base)
    (tmp_path / "aie_cdo_init.bin").write_bytes(cdo_of([memtile.programs.BlockWrite(at, tuple(words))]))
    assert compare(design, tmp_path).differences == []
    assert design.sequence is not None
    header = Header(version=(1, 0), generation=3, rows=6, columns=4, memory_tile_rows=1)
    first = Transaction(header, design.sequence.steps[:1])
    (tmp_path / "insts.bin").write_bytes(transaction_bytes(first))
    assert compare(design, tmp_path).differences == ["the host has 8 steps here and 1 in the build"]
    other = load(Text("d", text.replace("1, 4096]", "1, 2048]", 1)), functions={"scale": lambda *_: None})
    assert "step 0 of the host" in compare(other, tmp_path).text
    (tmp_path / "insts.bin").unlink()
    smaller = text.replace("1024xi32", "512xi32")
    differs = compare(load(Text("d", smaller), functions={"scale": lambda *_: None}), tmp_path)
    assert "memory tile (0,1) DMA_BD" in differs.text


class Printed:
    """As an operation of MLIR's Python bindings: it prints itself, generic if it is told so."""

    def get_asm(self, *, print_generic_op_form: bool = False) -> str:
        return GENERIC if print_generic_op_form else "pretty {"


class Module:
    operation = Printed()


GENERIC = mlir_texts.PASSTHROUGH.replace(
    "aiex.npu.dma_wait {symbol = @out}", '"aiex.npu.dma_wait"() {symbol = @out} : () -> ()'
)


def test_a_module_is_taken_through_its_generic_print() -> None:
    done = memtile.load(Module()).run(DATA[:64])
    np.testing.assert_array_equal(done.arrays["2"], DATA[:64])


def test_arguments_that_nobody_uses_stay_as_they_were() -> None:
    design = load(Text("p.mlir", mlir_texts.PASSTHROUGH))
    assert design.used_arguments == {0, 2}
    done = design.run(DATA[:64], DATA[64:128])
    assert list(done.arrays) == ["0", "1", "2"]
    for name, expected in (("0", DATA[:64]), ("1", DATA[64:128]), ("2", DATA[:64])):
        np.testing.assert_array_equal(done.arrays[name], expected)


def test_a_text_instead_of_a_file_is_told() -> None:
    with pytest.raises(memtile.InputFileError, match="the text of a design was given"):
        memtile.load(mlir_texts.PASSTHROUGH)


def test_what_is_missing_has_its_whole_name() -> None:
    for text, given in ((mlir_texts.UNKNOWN, "aie.teleport"), (mlir_texts.CALL, "work")):
        with pytest.raises(memtile.InputFileError) as error:
            load(Text("p.mlir", text))
        assert [problem.given for problem in error.value.problems] == [given]


def test_numbers_of_the_host_that_no_step_uses_need_not_be_given() -> None:
    """Triton-XDNA hands the sizes of its grid to every sequence (its examples/elementwise_arith)."""
    text = mlir_texts.PASSTHROUGH.replace("%unused: memref<64xi32>", "%unused: i32")
    design = load(Text("p.mlir", text))
    for given in ((DATA[:64],), (DATA[:64], 5)):
        assert design.run(*given).result.status == "finished"
    assert design.sequence is not None
    assert design.sequence.steps  # so that memtile check sees the tasks


@pytest.mark.parametrize("names", [("in", "out"), ("0", "1")])
def test_external_buffers_by_name_and_by_number(tmp_path: Path, names: tuple[str, str]) -> None:
    (text := tmp_path / "design.mlir").write_text(mlir_texts.EXTERNAL)
    np.save(tmp_path / "a.npy", DATA[:64])
    given = ["--in", f"{names[0]}={tmp_path / 'a.npy'}"]
    for form, dtype in (("", np.int32), (":uint8", np.uint8), (":int16:8x4", np.int16)):
        done = run(text, *given, "--out", f"{names[1]}{form}={tmp_path / 'b.npy'}")
        assert done.exit_code == 0, done.output
        found, whole = np.load(tmp_path / "b.npy"), DATA[:64].view(dtype)
        np.testing.assert_array_equal(found.reshape(-1), whole[: found.size])
        assert found.shape == ((8, 4) if "x" in form else whole.shape)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--in", "x=FILE"], "array is x; it must be in, out"),
        (["--in", "in=FILE", "--out", "y=OUT"], "array is y; it must be in, out"),
        (["--in", "in=SHORT"], "external buffer in is 4 bytes; it must be 256 bytes"),
        (["--in", "in=FILE", "--out", "out:int32:65=OUT"], "external buffer out is 260 bytes wanted"),
    ],
)
def test_external_buffers_that_do_not_fit(tmp_path: Path, arguments: list[str], says: str) -> None:
    (text := tmp_path / "design.mlir").write_text(mlir_texts.EXTERNAL)
    np.save(tmp_path / "a.npy", DATA[:64])
    np.save(tmp_path / "short.npy", DATA[:1])
    files = {"FILE": "a.npy", "SHORT": "short.npy", "OUT": "b.npy"}
    for word, file in files.items():
        arguments = [each.replace(word, str(tmp_path / file)) for each in arguments]
    done = run(text, *arguments)
    assert done.exit_code != 0
    assert says in " ".join(done.output.split())


def test_external_buffers_beside_a_host_sequence(tmp_path: Path) -> None:
    host = "aie.runtime_sequence(%x: memref<64xi32>) { }\n"
    head, tail = mlir_texts.EXTERNAL[:-6], mlir_texts.EXTERNAL[-6:]
    (text := tmp_path / "design.mlir").write_text(head + host + tail)
    np.save(tmp_path / "a.npy", DATA[:64])
    done = run(text, "--in", f"in={tmp_path / 'a.npy'}", "--out", f"out={tmp_path / 'b.npy'}")
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), DATA[:64])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def scale(a):\n    pass\n", "that was given takes (a), cores call it with 4 arguments"),
        ("def scale(a, b, c, d, e):\n    pass\n", "It may begin so: def scale(a0, a1, a2, a3):"),
        ("def scale(a, b, c, d):\n    return a * c\n", "returns an array, and the text declares no result"),
        ("def scale(a, b, c, d):\n    b[...] = a\n\nscale.cycles = 'many'\n", "cycles of the function scale"),
        ("def scale(a, b, c, d):\n    b[...] = a\n\nscale.cycles = -5\n", "cycles of the function scale"),
    ],
    ids=["few", "many", "returns", "text", "negative"],
)
def test_functions_that_do_not_fit_are_told(
    tmp_path: Path, arrays: list[object], body: str, says: str
) -> None:
    (file := tmp_path / "wrong.py").write_text(body)
    done = run(EXAMPLES / "scale.mlir", "--kernels", file, *arrays[2:])
    assert done.exit_code == 2, done.exception
    assert says in done.output


def test_a_function_may_give_back_an_argument(tmp_path: Path, arrays: list[object]) -> None:
    (file := tmp_path / "right.py").write_text(
        "import numpy as np\n\ndef scale(a, b, c, d):\n    return np.multiply(a, c, out=b)\n"
    )
    assert run(EXAMPLES / "scale.mlir", "--kernels", file, *arrays[2:]).exit_code == 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--in", "5=@in"], "array 5 is no argument: the host sequence has 2 (0: 4096xi32, 1: 4096xi32)"),
        (["--in", "2=@in"], "array 2 is no argument"),
        (["--in", "-1=@in"], "array -1 is no argument"),
        (["--out", "c.npy=1:int32:4096"], "the name before the file"),
        (["--set", "x=3"], "the module has no parameter x"),
    ],
    ids=["far", "next", "negative", "swapped", "parameter"],
)
def test_arguments_that_the_design_does_not_have_are_told(
    tmp_path: Path, arrays: list[object], more: list[str], says: str
) -> None:
    np.save(tmp_path / "in.npy", np.zeros(4096, dtype=np.int32))
    given = [each.replace("@in", str(tmp_path / "in.npy")) for each in more]
    done = run(EXAMPLES / "scale.mlir", *arrays, *given)
    assert done.exit_code == 2, done.output
    assert says in done.output


def test_numbers_of_another_type_are_noted(tmp_path: Path, arrays: list[object]) -> None:
    np.save(tmp_path / "f.npy", np.zeros(4096, dtype=np.float32))
    done = run(EXAMPLES / "scale.mlir", *arrays[:2], "--in", f"0={tmp_path / 'f.npy'}")
    assert done.exit_code == 0, done.output
    assert "array 0 is float32 and i32 in the text: its bytes are taken as they are" in done.output


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("d.mlir", lambda data: data.replace(b"\n", b"\r\n"), ""),
        ("d.mlir", lambda data: data.replace(b"\n", b"\r"), ""),
        ("d.mlir", lambda data: b"\xef\xbb\xbf" + data, ""),
        ("d.mlir", lambda data: data.replace(b"  ", b"\t"), ""),
        ("d.mlir", gzip.compress, "the file is compressed by gzip"),
        ("d.mlir.gz", gzip.compress, "the file is compressed by gzip"),
        ("d.mlir", lambda data: data.decode().encode("utf-16"), "the file is UTF-16 text"),
        ("d.mlir", lambda data: b"// caf\xe9\n" + data, "byte 6 is not UTF-8 text"),
        ("d.mlir", lambda _: b"", "Give a text with aie.device"),
        ("d.txt", lambda data: data, "Give it a name that ends in .mlir"),
    ],
)
def test_files_as_other_systems_leave_them(
    tmp_path: Path, arrays: list[object], name: str, change: Callable[[bytes], bytes], says: str
) -> None:
    (file := tmp_path / name).write_bytes(change((EXAMPLES / "scale.mlir").read_bytes()))
    done = run(file, *arrays)
    assert (done.exit_code, says in done.output) == (2 if says else 0, True), done.output


def test_a_folder_that_has_the_text_alone_names_it(tmp_path: Path, arrays: list[object]) -> None:
    (tmp_path / "aie.mlir").write_text((EXAMPLES / "scale.mlir").read_text())
    done = run(tmp_path, *arrays[2:])
    assert done.exit_code == 2
    assert "There is MLIR text in it: give " in done.output


def test_one_of_several_host_sequences_is_chosen_by_name(tmp_path: Path) -> None:
    text = mlir_texts.PASSTHROUGH.replace("aiex.runtime_sequence(", "aie.runtime_sequence @copy(")
    first = text.index("aie.runtime_sequence")
    last = text.index("\n    }", first) + len("\n    }")
    other = text[first:last].replace("@copy", "@nothing").splitlines()
    path = tmp_path / "two.mlir"
    path.write_text(f"{text[:last]}\n{other[0]}\n}}\n{text[last:]}")
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(source, DATA[:64])
    arguments = [path, "--in", f"0={source}", "--out", f"2:int32:64={target}"]
    refused = run(*arguments)
    assert refused.exit_code != 0
    assert "has 2 host sequences: copy, nothing" in " ".join(refused.output.split())
    assert "--kernel :copy" in " ".join(refused.output.split())
    for chosen in ("copy", ":copy", "npu1_1col:copy"):
        done = run(*arguments, "--kernel", chosen)
        assert done.exit_code == 0, done.output
        np.testing.assert_array_equal(np.load(target), DATA[:64])
    assert "one of copy, nothing" in " ".join(run(*arguments, "--kernel", "copied").output.split())
    checked = CliRunner().invoke(app, ["check", str(path)], env={"COLUMNS": "150"})
    assert "two.mlir (copy)" in checked.output
    assert "two.mlir (nothing)" in checked.output


def test_a_text_with_the_bodies_of_emptied_cores_is_named(tmp_path: Path) -> None:
    body, emptied = tmp_path / "bodies.mlir", tmp_path / "with_elfs.mlir"
    body.write_text(BODIES)
    emptied.write_text(BODIES.replace(BODIES[BODIES.index("      %z") : BODIES.index("      aie.end")], ""))
    emptied.write_text(emptied.read_text().replace("aie.end\n    }", 'aie.end\n    } {elf_file = "c.elf"}'))
    asked = run(emptied)
    assert asked.exit_code == 2
    assert f"--kernels {body}" in asked.output.replace("\n", "")
    done = run("--kernels", body, emptied)
    assert done.exit_code == 0, done.output
    assert f"bodies of cores that have ELF files are those of {body}" in done.output.replace("\n", " ")


BODIES = """module {
  aie.device(npu1_1col) {
    %c = aie.tile(0, 2)
    %own = aie.buffer(%c) {address = 1024 : i32, sym_name = "own"} : memref<16xi32>
    aie.core(%c) {
      %z = arith.constant 0 : index
      %k = arith.constant 9 : i32
      memref.store %k, %own[%z] : memref<16xi32>
      aie.end
    }
    aie.runtime_sequence() {
    }
  }
}
"""


def test_cycles_of_a_call_are_the_users(tmp_path: Path, arrays: list[object]) -> None:
    (costs := tmp_path / "costs.json").write_text('{"functions": {"scale": 5000}}')
    plain, own = (
        json.loads(run("--json", *more, EXAMPLES / "scale.mlir", *arrays).output)["cores"][0]["cycles"][
            "running"
        ]
        for more in ([], ["--cost", costs])
    )
    assert own > plain + 4000
    for text, says in (
        ('{"functions": {"scalee": 5}}', "cycles of scalee are given, and no core calls it"),
        (
            '{"functions": {"scale": -1}}',
            "functions.scale is -1; it must be a whole number of cycles from 0 on",
        ),
        ('{"functions": 7}', "functions is 7; it must be cycles of one call by name of a function"),
    ):
        costs.write_text(text)
        refused = run("--cost", costs, EXAMPLES / "scale.mlir", *arrays)
        assert refused.exit_code == 2, refused.output
        assert says in " ".join(refused.output.split()), refused.output
