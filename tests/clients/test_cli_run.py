"""Does ``memtile run`` run a design file, and answer a bad one in a line?"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.cli.design_file import load_design
from memtile.cli.main import app
from memtile.errors import InputFileError, SimulationError
from memtile.importers.design_file import load_module
from support.commands import warm
from support.designs.severe import severe

GOOD = """
import numpy as np
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    source = tile.buffer("b", 8, data=np.arange(8))
    tile.mm2s[3].start(tile.read(source))
    tile.mm2s[3].expect(np.arange(8, dtype=np.int32){wrong})
    return tile
"""
ENDLESS = """
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 4096)), loop=True)
    tile.mm2s[0].collect()
    print("designed", flush=True)
    return tile
"""


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "design_under_test.py"
        path.write_text(text)
        return str(path)

    return write


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["run", *args], env={"COLUMNS": "150"})


def test_a_good_design_ends_with_its_table_and_bit_exact(written: Any) -> None:
    done = run(written(GOOD.format(wrong="")))
    assert (done.exit_code, done.stderr) == (0, "")
    assert "MM2S 3" in done.stdout
    assert done.stdout.startswith("status: finished in ")
    assert done.stdout.splitlines()[0].endswith("; bit-exact: yes")
    assert "\x1b" not in done.stdout


RACE = """
import numpy as np
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    block = tile.buffer("block", 8, np.int32)
    for channel in (0, 1):
        tile.s2mm[channel].start(tile.write(block))
        tile.s2mm[channel].feed(np.arange(8, dtype=np.int32))
    return tile
"""


def test_check_finds_what_nothing_orders(written: Any) -> None:
    assert run(written(RACE)).exit_code == 0
    done = run("--check", "--json", written(RACE))
    assert done.exit_code == 1
    (finding,) = severe(json.loads(done.stdout)["findings"])
    assert (finding["code"], finding["count"]) == ("MT0202", 8)
    assert "buffer 'block'" in run("--check", written(RACE)).stdout


def test_an_untimed_run_is_not_checked(written: Any) -> None:
    done = run("--check", "--untimed", written(RACE))
    assert done.exit_code == 2
    assert "an untimed run has no time" in done.stderr


@pytest.mark.parametrize("untimed", [False, True])
def test_json_has_the_same_facts(written: Any, untimed: bool) -> None:
    done = run("--json", *["--untimed"] * untimed, written(GOOD.format(wrong="")))
    data = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (data["status"], data["bit_exact"], data["timed"]) == ("finished", True, not untimed)
    channel = data["channels"][0]
    assert (channel["channel"], channel["words"], channel["bds"]) == ("MM2S 3", 8, 1)
    if untimed:
        assert data["cycles"] is None
        assert channel["cycles"] is None
    else:
        assert sum(channel["cycles"].values()) == data["cycles"]


def test_a_wrong_result_is_exit_code_one(written: Any) -> None:
    done = run(written(GOOD.format(wrong=" + 1")))
    assert done.exit_code == 1
    assert (
        "MM2S 3: 8 wrong, the first is element 0 (0 came, 1 was expected), 0 missing of 8 elements"
        in done.stdout
    )
    assert "; bit-exact: no; 1 error" in done.stdout.splitlines()[0]


def test_the_limit_is_exit_code_one_and_says_who_waits(written: Any) -> None:
    done = run("--max-cycles", "1000", written(ENDLESS))
    assert done.exit_code == 1
    assert done.stdout.startswith("status: limit after 1,000 cycles")
    assert "raise --max-cycles; a ring without end always meets its limit" in done.stdout
    assert "waiting: MM2S 0, BD 0, word" in done.stdout


@pytest.mark.parametrize("command", ["run", "faults"])
def test_no_number_and_no_name_is_cut_where_lines_are_short(written: Any, command: str) -> None:
    file = written(GOOD.format(wrong=""))
    words = ["run", "--all"] if command == "run" else [command]
    shown = [
        CliRunner().invoke(app, [*words, file], env={"COLUMNS": width}).stdout for width in ("30", "500")
    ]
    assert shown[0].split() == shown[1].split() or command == "run"  # where the heads of columns are broken
    assert "\u2026" not in shown[0]


def test_a_picture_is_drawn(written: Any, tmp_path: Path) -> None:
    file = written(GOOD.format(wrong=""))
    picture = tmp_path / "cycles.svg"
    assert run("--picture", str(picture), file).exit_code == 0
    assert "moving" in picture.read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--picture", "cycles.doc"],
            "cycles.doc: the name of a picture must end in one of .png, .svg, .pdf.",
        ),
        (["--untimed", "--picture", "cycles.svg"], "cycles.svg: an untimed run has no cycles to draw. Run w"),
        (
            ["--picture", "none/cycles.svg"],
            "none/cycles.svg: the file cannot be written: there is no such folder.",
        ),
        (["--picture", "a.svg"], "a.svg: the file cannot be written: it is a folder."),
        (["--vcd", "none/run.vcd"], "none/run.vcd: the file cannot be written: there is no such folder."),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_run(
    written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str
) -> None:
    file = written(GOOD.format(wrong=""))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.svg").mkdir()
    done = run(*args, file)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {message}")
    assert done.stdout == ""


def test_without_matplotlib_a_picture_of_cycles_says_how_to_get_it(
    written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtile.report.cycles_picture.find_spec", lambda _name: None)
    done = run("--picture", str(tmp_path / "cycles.svg"), written(GOOD.format(wrong="")))
    assert done.exit_code == 2
    message = 'error: Pictures need matplotlib, which is not installed: pip install "matplotlib".\n'
    assert done.stderr == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def design(:\n", "line 1: this is not Python: "),
        ("x = 1\n", "there is no function design(), which the command calls to get the design."),
        ("def design():\n    return 5\n", "design() returned int; it must return a MemoryTile or an Array ("),
        ("class D:\n    run = print\n\ndef design():\n    return D()\n", "design() returned D; it must ret"),
        (
            "import memtile\ndef design():\n    return memtile.MemoryTile\n",
            "design() returned the class MemoryTile; it must",
        ),
        ("def design():\n    x = 1\n    return y\n", "line 3: NameError: name 'y' is not defined"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        (
            "import memtile\ndef design():\n    memtile.MemoryTile('xcv9')\n",
            "xcv9",
        ),
    ],
)
def test_a_file_that_is_not_a_design_is_told_in_a_line(written: Any, text: str, message: str) -> None:
    done = run(written(text))
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_design_file_may_have_dataclasses_and_modules_beside_it(written: Any) -> None:
    config = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    config += "@dataclass\nclass Size:\n    words: int\n"
    file = written(f"{config}\nimport beside_the_design\n{GOOD.format(wrong='')}")
    (Path(file).parent / "beside_the_design.py").write_text("WORDS = 8\n")
    done = run(file)
    assert (done.exit_code, done.stderr) == (0, "")


def test_cycles_limit_an_untimed_run_to_what_could_be_moved_in_them(written: Any) -> None:
    done = run("--untimed", "--max-cycles", "1000", written(ENDLESS))
    assert done.exit_code == 1
    assert done.stdout.startswith("status: limit (untimed)")
    assert run("--untimed", "--max-cycles", "100", written(GOOD.format(wrong=""))).exit_code == 0


KERNEL = """
from memtile import Array
def design():
    array = Array("npu1", columns=1)
    def kernel(core):
        yield core.cycles(5)
        raise ValueError("no such weight")
    array.compute_tile(0, 2).run_kernel(kernel)
    return array
"""


@pytest.mark.parametrize("options", [["run"], ["run", "--untimed"], ["faults"]])
def test_what_fails_in_a_kernel_is_told_in_a_line(written: Any, options: list[str], monkeypatch: Any) -> None:
    file = Path(written(KERNEL))
    monkeypatch.chdir(file.parent)
    done = CliRunner().invoke(app, [*options, file.name])
    assert done.exit_code == 2
    told = (
        rf"{file.name}, line 7: ValueError: no such weight; in core \(0, 2\), kernel 'kernel', before cycle"
    )
    assert re.search(told, " ".join(done.stderr.split()))


def test_a_file_changed_within_a_second_is_read_anew(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "design.py"
    for words in (16, 32):
        file.write_text(f"words = {words}\n")
        os.utime(file, (10**9, 10**9))
        module = load_module(str(file))
        assert module.words == words


def test_a_missing_file_is_told() -> None:
    done = run("no_such_design.py")
    assert done.exit_code == 2
    assert (
        "no_such_design.py: there is no such file. Give a Python file with a design() function."
    ) in done.stderr


def test_no_data_finds_cycles_without_words() -> None:
    example = str(Path(__file__).parents[2] / "examples" / "halo_tiling.py")
    done = run("--no-data", "--json", example)
    found, with_words = json.loads(done.stdout), json.loads(run("--json", example).stdout)
    assert found["words"] == {"moved": False, "needed_by": []}
    assert found["cycles"] == with_words["cycles"]
    for files in (["--untimed", example], ["scale.txn"]):
        refused = run("--no-data", *files)
        assert refused.exit_code == 2
        assert "--no-data is for designs that run with a clock." in " ".join(refused.stderr.split())


@pytest.mark.slow
def test_ctrl_c_keeps_and_marks_what_is_done(written: Any) -> None:
    steps = ["--no-fast-forward", "--max-cycles", "100000000000"]
    command = warm.memtile("run", *steps, written(ENDLESS))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "designed\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "status: interrupted" in out
    assert "MM2S 0" in out
    assert "Traceback" not in err


STUCK = """
import numpy as np
from memtile import Array

def design():
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    lock = tile.lock(0, "a lock with quite a long name that says what it is for")
    buffer = tile.buffer("b", 64)
    tile.mm2s[0].start(tile.read(buffer).guarded(lock.acquire(), None))
    tile.s2mm[0].start(tile.write(buffer), tile.write(buffer).guarded(None, lock.release()))
    tile.mm2s[0].collect()
    return array
"""


def test_piped_text_has_whole_lines_without_blanks_at_their_ends(written: Any) -> None:
    done = CliRunner().invoke(app, ["run", "--all", written(STUCK)], env={"COLUMNS": "60"})
    lines = done.stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    (waiting,) = [line for line in lines if line.startswith("waiting: memory(0,1) MM2S 0")]
    assert waiting.endswith("released by memory(0,1) S2MM 0 (BD 2)")
    assert len(waiting) > 150
    shown = CliRunner().invoke(app, ["info"], env={"COLUMNS": "300"}).stdout.splitlines()
    assert [line for line in shown if line != line.rstrip()] == []


def test_words_that_nobody_asks_for_need_no_room_and_those_that_do_are_an_error(written: Any) -> None:
    many, file = ["--max-cycles", str(2 * 10**12)], written(ENDLESS)
    assert run(*many, file).exit_code == 1
    outputs = load_design(file).run(2 * 10**12).outputs
    tracemalloc.start()
    try:
        with pytest.raises(SimulationError, match=r"output: words is \d+; it must be \d+ or fewer: .* TMP"):
            outputs["MM2S 0"]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # places of TLAST alone would be 4 GB
    finally:
        tracemalloc.stop()


def test_a_misspelt_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "typo.py"
    file.write_text("from memtile import MemoryTile\n\n\ndef design():\n    MemoryTile().bufer('x', 8)\n")
    with pytest.raises(InputFileError, match=r"typo\.py, line 5: .* 'bufer'\. Did you mean 'buffer'\?$"):
        load_design(str(file), ())
