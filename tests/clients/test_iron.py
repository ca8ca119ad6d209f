"""Does an IRON program run unchanged, with the twin as its NPU?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtile
from memtile import InputFileError, Status
from memtile.hosts.iron import RUNNERS, KernelFiles, Options, Ran, install
from support.mlir import iron_programs, mlir_texts
from support.mlir.iron_programs import DATA, cache, kernel
from support.mlir.mlir_builds import write_build

STAND_IN = Path(__file__).parents[1] / "stand_in"


def double(x: Any, y: Any) -> None:
    y[...] = 2 * x


@pytest.fixture
def aie(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``aie.utils`` of the stand-in, as a program has it."""
    monkeypatch.syspath_prepend(STAND_IN)
    import aie.utils

    yield aie.utils
    for name in [name for name in sys.modules if name.split(".")[0] == "aie"]:
        del sys.modules[name]


def tensors(utils: Any, count: int) -> list[Any]:
    zeros = [utils.tensor((64,), dtype=np.int32) for _ in range(count - 1)]
    return [utils.tensor(DATA.copy(), dtype=np.int32), *zeros]


def test_a_kernel_runs_from_the_text_beside_it(aie: Any, tmp_path: Path) -> None:
    runtime = install()
    assert aie.DefaultNPURuntime is runtime
    run = kernel(aie, cache(tmp_path, aie=mlir_texts.PASSTHROUGH))
    given = tensors(aie, 3)
    _, result = run(*given)
    np.testing.assert_array_equal(given[2].numpy(), DATA)
    assert result.is_success()
    assert result.npu_time == round(result.done.result.cycles * 1000 / 1250)
    assert result.done.result.status is Status.FINISHED
    assert run(*given)[1].npu_time == pytest.approx(result.npu_time, rel=0.01)
    assert runtime.device() == ("npu1", None)


@pytest.mark.parametrize("program", ["tensors_of_all_kinds", "residency", "state_persists", "numbers"])
def test_programs(aie: Any, tmp_path: Path, program: str) -> None:
    """What is there in the next run is DEV-HOST-4."""
    install()
    getattr(iron_programs, program)(aie, tmp_path)


def test_a_kernel_whose_files_changed_is_another_one(aie: Any, tmp_path: Path) -> None:
    install()
    given, out = tensors(aie, 2)
    for text, wanted in ((iron_programs.COUNTING, 0), (iron_programs.COUNTING + " ", 0)):
        run = kernel(aie, cache(tmp_path, aie=text))
        for before in (wanted, wanted + 4):
            run(given, out)
            np.testing.assert_array_equal(out.numpy(), iron_programs.counted(before))
        os.utime(tmp_path / "insts.bin", ns=(0, 0))


def test_only_so_many_kernels_keep_their_arrays(aie: Any, tmp_path: Path) -> None:
    """Six of them on Phoenix; the one that was loaded longest ago begins anew, handles of it too."""
    runtime = install()
    given, out = tensors(aie, 2)
    runs = [kernel(aie, cache(tmp_path / str(n), aie=iron_programs.COUNTING)) for n in range(7)]
    handle, _ = runs[0](given, out)
    runs[1](given, out)
    for run in runs[2:]:
        runtime.load(run)
    runtime.run(handle, [given, out])
    np.testing.assert_array_equal(out.numpy(), iron_programs.counted(0))
    runs[1](given, out)
    np.testing.assert_array_equal(out.numpy(), iron_programs.counted(4))


def test_the_kernel_that_ran_longest_ago_goes_first(aie: Any, tmp_path: Path) -> None:
    install()
    given, out = tensors(aie, 2)
    runs = [kernel(aie, cache(tmp_path / str(n), aie=iron_programs.COUNTING)) for n in range(7)]
    for n in (0, 1, 2, 3, 4, 5, 0, 6, 0):
        runs[n](given, out)
    np.testing.assert_array_equal(out.numpy(), iron_programs.counted(8))


def test_a_run_that_failed_takes_its_array_with_it(aie: Any, tmp_path: Path) -> None:
    runtime = install()
    text = iron_programs.NUMBERED.replace("(%a[0, 0, 0, 0][1, 1, 1, %n]", "(%a[0, 0, 0, 0][1, 1, 1, 32]")
    handle = runtime.load(kernel(aie, cache(tmp_path, aie=text)))
    given, out = tensors(aie, 2)
    for words, good in ((64, False), (32, True), (16, True)):
        done = runtime.run(handle, [given, words, out], fail_on_error=False)
        assert done.is_success() == good, words
        if words == 32:
            np.testing.assert_array_equal(out.numpy(), np.where(np.arange(64) < 32, DATA, 0))


def test_a_build_without_text_goes_on_where_it_was(aie: Any, tmp_path: Path) -> None:
    """The configuration is done once, the instructions in each run; 16 words of each wait for the next."""
    install()
    given = tensors(aie, 3)
    text = mlir_texts.PASSTHROUGH.replace("(%c[0, 0, 0, 0][1, 1, 1, 64]", "(%c[0, 0, 0, 0][1, 1, 1, 48]")
    assert text != mlir_texts.PASSTHROUGH
    folder, sent = write_build(tmp_path / "build", text, named=""), np.zeros(0, np.int32)
    for n in range(2):
        given[0][...] = DATA + 100 * n
        sent = np.concatenate([sent, DATA + 100 * n])
        kernel(aie, folder)(*given)
        np.testing.assert_array_equal(given[2].numpy()[:48], sent[48 * n : 48 * n + 48])
    with pytest.raises(Exception, match="argument 1 is the number 5, and compiled instructions take tensors"):
        kernel(aie, folder)(given[0], 5, given[2])


class Traced:
    """A configuration of the trace, as IRON has it."""

    trace_size = 256

    def __init__(self) -> None:
        self.words: Any = None

    def write_trace(self, words: Any) -> None:
        self.words = words


def test_a_trace_that_the_text_does_not_have_is_a_note(aie: Any, tmp_path: Path) -> None:
    install()
    traced = Traced()
    given = tensors(aie, 3)
    _, result = kernel(aie, cache(tmp_path, aie=mlir_texts.PASSTHROUGH), trace_config=traced)(*given)
    np.testing.assert_array_equal(given[2].numpy(), DATA)
    assert result.trace_config is traced
    assert traced.words.tolist() == [0] * 64
    assert "the text has no argument for the trace: its buffer stays as it is" in result.done.notes
    text = mlir_texts.PASSTHROUGH.replace("%c: memref<64xi32>)", "%c: memref<64xi32>, %t: memref<256xi8>)")
    assert text != mlir_texts.PASSTHROUGH
    _, result = kernel(aie, cache(tmp_path, aie=text), trace_config=traced)(*given)
    assert not any("trace" in note for note in result.done.notes)


def test_functions_are_given_by_name_or_by_a_file(aie: Any, tmp_path: Path) -> None:
    run = kernel(aie, cache(tmp_path, aie=mlir_texts.CALL))
    (file := tmp_path / "functions.py").write_text("def work(x, y):\n    y[...] = 2 * x\n")
    for functions in ({"work": double}, file, str(file)):
        install(functions=functions)
        given = tensors(aie, 2)
        run(*given, double)  # IRON passes functions on; they are no arguments
        np.testing.assert_array_equal(given[1].numpy(), 2 * DATA)
    install()
    with pytest.raises(Exception, match=r"no implementation was given for function work") as error:
        run(*tensors(aie, 2))
    assert type(error.value).__name__ == "HostRuntimeError"


def test_host_and_device_have_copies_of_their_own(aie: Any) -> None:
    install()
    tensor = aie.tensor((4, 32), dtype=np.int16)
    tensor.data[...] = 5
    assert not tensor.buffer_object().any()
    tensor._sync_to_device()
    tensor.buffer_object().view(np.int16)[64:96] = 7
    view = tensor.subview(128, (32,))
    assert (view.shape, view.data[0], view.buffer_object().nbytes) == ((32,), 5, 64)
    view._sync_from_device()
    np.testing.assert_array_equal(tensor.data[:, 0], [5, 5, 7, 5])
    view.data[...] = 9
    view._sync_to_device()
    np.testing.assert_array_equal(tensor.buffer_object().view(np.int16)[[63, 64, 95, 96]], [5, 9, 9, 5])


def test_a_write_without_a_sync_is_not_seen(aie: Any, tmp_path: Path) -> None:
    install()
    given = tensors(aie, 3)
    given[0].data[...] = 0
    kernel(aie, cache(tmp_path, aie=mlir_texts.PASSTHROUGH))(*given)
    np.testing.assert_array_equal(given[2].numpy(), DATA)


def test_tensors_that_share_memory(aie: Any, tmp_path: Path) -> None:
    """An argument that is only read does not undo what another one of the same memory was given."""
    install(functions={"work": double})
    arguments = "%a: memref<64xi32>, %c: memref<64xi32>"
    assert arguments in mlir_texts.CALL
    text = mlir_texts.CALL.replace(arguments, "%c: memref<64xi32>, %a: memref<64xi32>")
    tensor = aie.tensor(np.concatenate([DATA, DATA]), dtype=np.int32)
    high, same = tensor.subview(256, (64,)), tensor.subview(256, (64,))
    kernel(aie, cache(tmp_path, aie=text))(high, same)
    np.testing.assert_array_equal(tensor.numpy(), np.concatenate([DATA, 2 * DATA]))


def test_bytes_that_are_no_whole_words(aie: Any, tmp_path: Path) -> None:
    install()
    given = tensors(aie, 3)
    given[1] = aie.tensor((5,), dtype=np.int8)
    kernel(aie, cache(tmp_path, aie=mlir_texts.PASSTHROUGH))(*given)
    np.testing.assert_array_equal(given[2].numpy(), DATA)


def test_the_text_with_as_many_arguments_as_the_kernel(aie: Any, tmp_path: Path) -> None:
    install(functions={"work": double})
    folder = cache(tmp_path, aie=mlir_texts.CALL, input_with_addresses=mlir_texts.PASSTHROUGH)
    given = tensors(aie, 3)
    kernel(aie, folder, num_host_bos=3)(*given)
    np.testing.assert_array_equal(given[2].numpy(), DATA)


def test_texts_of_projects_and_makefiles(aie: Any, tmp_path: Path) -> None:
    install()
    for place in ("final_4x4.prj/aie.mlir", "aie_4x4.mlir", "aie_4x4.mlir.prj/input_with_addresses.mlir"):
        (folder := tmp_path / place.replace("/", "-")).mkdir()
        for name in ("final_4x4.xclbin", "insts.bin"):
            (folder / name).touch()
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(mlir_texts.PASSTHROUGH)
        given = tensors(aie, 3)
        aie.NPUKernel(folder / "final_4x4.xclbin", folder / "insts.bin")(*given)
        np.testing.assert_array_equal(given[2].numpy(), DATA)


def test_a_full_elf_names_device_and_sequence(aie: Any, tmp_path: Path) -> None:
    install()
    (tmp_path / "aie.mlir").write_text(mlir_texts.TWO.replace("sequence(", "sequence @go("))
    (tmp_path / "final.elf").touch()
    given = tensors(aie, 3)
    aie.NPUKernel(elf_path=tmp_path / "final.elf", kernel_name="other:go")(*given)
    np.testing.assert_array_equal(given[2].numpy(), DATA)
    with pytest.raises(Exception, match="go away"):
        aie.NPUKernel(elf_path=tmp_path / "final.elf", kernel_name="other:go away")(*given)


def test_what_does_not_finish_says_why(aie: Any, tmp_path: Path) -> None:
    runtime = install()
    run = kernel(aie, cache(tmp_path, aie=mlir_texts.STUCK))
    with pytest.raises(Exception, match=r"the kernel is stuck after [0-9]+ cycles(?s:.)*stream starved"):
        run(*tensors(aie, 3))
    result = runtime.run(runtime.load(run), tensors(aie, 3), fail_on_error=False)
    assert not result.is_success()


@pytest.mark.parametrize(
    ("text", "device", "says"),
    [
        (mlir_texts.UNKNOWN, "npu1", "nothing is known of this operation"),
        (mlir_texts.PASSTHROUGH, "npu2", "the design is for npu1_1col, and the NPU is npu2"),
        ("", "npu1", "MLIR text beside it|format"),
    ],
)
def test_what_cannot_run_says_why(aie: Any, tmp_path: Path, text: str, device: str, says: str) -> None:
    runtime = install(device=device)
    folder = cache(tmp_path, **({"aie": text} if text else {}))
    with pytest.raises(Exception, match=says) as error:
        runtime.load(kernel(aie, folder))
    assert type(error.value).__name__ == "HostRuntimeError"


def test_the_tired_person(aie: Any, tmp_path: Path) -> None:
    run = kernel(aie, cache(tmp_path, aie=mlir_texts.PASSTHROUGH))
    install()
    before = tensors(aie, 3)
    install()
    for arguments, says in (
        (before, "Install memtile before the first tensor is made"),
        (tensors(aie, 4), "arguments is 4 tensors; it must be up to 3"),
        ([aie.tensor((8,), dtype=np.int32), *tensors(aie, 2)], "32 bytes"),
    ):
        with pytest.raises(Exception, match=says) as error:
            run(*arguments)
        assert type(error.value).__name__ == "HostRuntimeError"
    (tmp_path / "insts.bin").unlink()
    with pytest.raises(Exception, match="there is no file"):
        run(*tensors(aie, 3))
    with pytest.raises(memtile.DesignError):
        install(device="npu9")
    with pytest.raises(InputFileError, match="cannot be had"):
        install(functions=tmp_path / "none.py")


def test_a_runner_of_ones_own(aie: Any, tmp_path: Path) -> None:
    install()
    seen: list[KernelFiles] = []

    def mine(files: KernelFiles, options: Options) -> Any:
        assert options.device == "npu1"
        seen.append(files)
        return lambda arguments: Ran(memtile.load(text).run(DATA), {2: arguments[0] + 1})

    text = cache(tmp_path, other=mlir_texts.PASSTHROUGH) / "other.mlir"
    RUNNERS.insert(0, mine)
    try:
        given = tensors(aie, 3)
        kernel(aie, tmp_path)(*given)
    finally:
        RUNNERS.remove(mine)
    assert seen[0].xclbin == tmp_path / "final.xclbin"
    np.testing.assert_array_equal(given[2].numpy().view(np.uint8), DATA.view(np.uint8) + 1)


def python_path() -> str:
    """The stand-in before what is there already."""
    return os.pathsep.join(filter(None, [str(STAND_IN), os.environ.get("PYTHONPATH", "")]))


PROGRAM = """
import sys
import numpy as np
from aie.utils import NPUKernel, tensor

a = tensor(np.arange(64, dtype=np.int32), dtype=np.int32)
b, c = tensor((64,), dtype=np.int32), tensor((64,), dtype=np.int32)
_, result = NPUKernel(sys.argv[1] + "/final.xclbin", sys.argv[1] + "/insts.bin")(a, b, c)
print(c.numpy()[:4], result.npu_time > 0)
"""


def test_a_program_as_it_is(tmp_path: Path) -> None:
    cache(tmp_path / "cache", aie=mlir_texts.PASSTHROUGH)
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": python_path(), "MEMTILE_DEVICE": "npu1"}
    command = [sys.executable, "-m", "memtile.iron", "program.py", str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "[0 1 2 3] True\n", done.stderr


@pytest.mark.parametrize(
    ("call", "code", "says"),
    [
        ("(a, b, c)", 0, ""),
        ("(a, b, c, c)", 1, "arguments is 4 tensors; it must be up to 3"),
        ("(a, 5, c)", 1, "argument 1 is memory, and the number 5 was given"),
        ("(a, sys.argv, c)", 1, "one is a list. Make a tensor of it"),
        ("(a, b[99], c)", 1, "IndexError"),
    ],
)
def test_what_a_program_has_wrong_is_told_with_its_line(
    tmp_path: Path, call: str, code: int, says: str
) -> None:
    cache(tmp_path / "cache", aie=mlir_texts.PASSTHROUGH)
    (tmp_path / "program.py").write_text(PROGRAM.replace("(a, b, c)\n", f"{call}\n"))
    environment = {**os.environ, "PYTHONPATH": python_path(), "MEMTILE_DEVICE": "npu1"}
    command = [sys.executable, "-m", "memtile.iron", "program.py", str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert ("Traceback" in done.stderr) == (says == "IndexError")
    if "argument" in says:
        assert done.stderr.startswith("program.py:8: ")


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memtile.iron", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "memtile.iron: there is no file 'program.py'.\n")


@pytest.mark.parametrize(("device", "says"), [("npu1", "[0 1 2 3] True\n"), ("npu2", "the NPU is npu2")])
def test_the_npu_by_a_variable(tmp_path: Path, device: str, says: str) -> None:
    cache(tmp_path / "cache", aie=mlir_texts.PASSTHROUGH)
    (tmp_path / "program.py").write_text(f"import memtile.iron.install\n{PROGRAM}")
    environment = {**os.environ, "PYTHONPATH": python_path(), "MEMTILE_DEVICE": device}
    command = [sys.executable, "program.py", str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert says in done.stdout + done.stderr


GENERATED = """import sys
import numpy as np
from aie.utils import NPUKernel, tensor
from aie.utils.compile.jit.compilabledesign import CompilableDesign

files = CompilableDesign(open("design.mlir").read()).compile()
a = tensor(np.arange(64, dtype=np.int32), dtype=np.int32)
b, c = tensor((64,), dtype=np.int32), tensor((64,), dtype=np.int32)
NPUKernel(*files)(a, b, c)
print(c.numpy()[:4])
"""


def test_the_text_is_taken_before_the_compiler_of_mlir_aie_begins(tmp_path: Path) -> None:
    """The stand-in's compile() fails, as it does where Peano is not installed."""
    (tmp_path / "design.mlir").write_text(mlir_texts.PASSTHROUGH)
    (tmp_path / "program.py").write_text(GENERATED)
    environment = {**os.environ, "PYTHONPATH": python_path(), "MEMTILE_DEVICE": "npu1"}
    command = [sys.executable, "-m", "memtile.iron", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "[0 1 2 3]\n", done.stderr
    alone = [sys.executable, "program.py"]
    done = subprocess.run(alone, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "FileNotFoundError: Peano" in done.stderr


def test_functions_by_a_variable(tmp_path: Path) -> None:
    cache(tmp_path / "cache", aie=mlir_texts.CALL)
    (tmp_path / "f.py").write_text("def work(x, y):\n    y[...] = x + 2\n")
    program = PROGRAM.replace("(a, b, c)", "(a, c)")
    (tmp_path / "program.py").write_text(program)
    environment = {
        **os.environ,
        "PYTHONPATH": python_path(),
        "MEMTILE_DEVICE": "npu1",
        "MEMTILE_IRON_FUNCTIONS": "f.py",
    }
    command = [sys.executable, "-m", "memtile.iron", "program.py", str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "[2 3 4 5] True\n", done.stderr


def test_nothing_of_aie_is_imported_before_it_is_needed() -> None:
    code = "import memtile.hosts.iron, sys\n"
    code += "import memtile.hosts.iron.backend_switch as s\ns.arm(); print([*sys.modules])"
    environment = {**os.environ, "PYTHONPATH": python_path(), "MEMTILE_DEVICE": "npu1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert not {"aie", "numpy", "numba"} & {name.strip("' ") for name in done.stdout.strip("[]\n").split(",")}
    with pytest.raises(ModuleNotFoundError, match="aie"):
        install()
