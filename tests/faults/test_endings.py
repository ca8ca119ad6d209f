"""Does every command end with a sentence and the right exit code, whatever happens to its process?"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.cli import exit_codes, failure
from memtile.cli.main import app
from memtile.cli.terminal_streams import PipeClosedError
from memtile.errors import is_out_of_memory
from support.commands import warm
from support.commands.file_faults import DESIGN
from support.commands.interruptions import campaign

ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
COMMANDS = (["run", "d.py"], ["info"], ["--help"], ["run", "--help"], ["info", "--json"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.py").write_text(DESIGN)
    return tmp_path


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "memtile", *args]


def run(folder: Path, *args: str, **how: Any) -> subprocess.CompletedProcess[str]:
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run(command(*args), cwd=folder, text=True, **how)


def close(*descriptors: int) -> Any:
    return lambda: [os.close(each) for each in descriptors]


# Standard streams.


@pytest.mark.parametrize(
    "args", [["run", "d.py"], ["info"], ["--help"], ["run", "--help"], ["info", "--json"]]
)
def test_a_closed_standard_output_is_an_error(folder: Path, args: list[str]) -> None:
    done = run(folder, *args, preexec_fn=close(1), stdout=None)
    assert done.returncode == 2
    assert done.stderr == "error: standard output: the file cannot be written: Bad file descriptor.\n"


@pytest.mark.parametrize("args", [["run", "d.py"], ["--help"], ["info", "--json"]])
def test_a_full_standard_output_is_an_error(folder: Path, args: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = run(folder, *args, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "error: standard output: the file cannot be written: No space left on device.\n"


def test_closed_standard_input_and_error(folder: Path) -> None:
    assert run(folder, "run", "d.py", preexec_fn=close(0, 2), stderr=None).returncode == 0
    refused = run(folder, "run", "none.py", preexec_fn=close(0, 2), stderr=None)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert run(folder, "lower", "-", preexec_fn=close(0)).returncode == 2


def test_a_file_is_not_written_into_a_closed_stream(folder: Path) -> None:
    """A closed descriptor would be the next one that a file gets."""
    done = run(
        folder, "run", "d.py", "--record", "r.json", preexec_fn=close(0, 1, 2), stdout=None, stderr=None
    )
    assert done.returncode == 2
    assert json.loads((folder / "r.json").read_text())


@pytest.mark.parametrize("args", [["run", "d.py"], ["--help"], ["info", "--json"], ["run", "none.py"]])
def test_a_pipe_that_nobody_reads_ends_the_command_silently(folder: Path, args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    broken = {"stderr": writing} if args[-1] == "none.py" else {"stdout": writing}
    done = run(folder, *args, **broken)
    os.close(writing)
    assert done.returncode == 141
    assert (done.stdout or "") + (done.stderr or "") == ""


def test_an_encoding_without_a_letter_shows_its_escape(folder: Path) -> None:
    (folder / "d.py").write_text(DESIGN.replace('"a"', '"\N{GREEK SMALL LETTER ALPHA}"'))
    done = run(folder, "run", "d.py", env=os.environ | ASCII)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u03b1" in done.stdout
    assert " us at 1,250 MHz" in done.stdout, "units have no escapes"


def test_a_name_of_another_encoding(folder: Path) -> None:
    """A file system of Latin-1 under a locale of UTF-8, and one of ASCII."""
    name = b"gr\xfc\xdfe.py"
    (folder / os.fsdecode(name)).write_text(DESIGN)
    for how in ({}, ASCII):
        words = [
            *map(os.fsencode, command("run")),
            name,
            b"--report",
            name + b".html",
            b"--record",
            b"r.json",
        ]
        done = in_bytes(words, folder, how)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"gr\\\\udcfc\\\\udcdfe.py" in (folder / os.fsdecode(name + b".html")).read_bytes()
        refused = in_bytes([*words[:4], b"n\xfc.py"], folder, how)
        assert (refused.returncode, refused.stderr.count(b"\n")) == (2, 1)
        assert b"n\\udcfc.py" in refused.stderr


def in_bytes(words: list[bytes], folder: Path, how: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, cwd=folder, capture_output=True, env=os.environ | how)


# Memory, nesting, the system, and what nobody expected.


@pytest.mark.parametrize("megabytes", [60, 150, 280, 380])
def test_too_little_memory_is_a_sentence(folder: Path, megabytes: int) -> None:
    limit = megabytes << 20
    done = run(
        folder, "run", "d.py", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    )
    assert done.returncode == 2
    assert done.stderr.endswith(
        "more memory is needed than is allowed. Raise the limit (ulimit -v, --sandbox-memory) or run less.\n"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "reason", "text"),
    [
        (MemoryError(), 2, "memory", "error: d.py: more memory is needed"),
        (OSError(12, "Cannot allocate memory"), 2, "memory", "error: d.py: more memory is needed"),
        (RecursionError("x"), 2, "nesting", "error: d.py: the input is nested too deeply"),
        (PermissionError(13, "Permission denied", "x.bin"), 2, "system", "error: x.bin: the system refuses"),
        (KeyboardInterrupt(), 130, "interrupted", "interrupted before"),
        (KeyboardInterrupt("nothing yet"), 130, "interrupted", "nothing yet"),
        (ValueError("of ours\x1b[2J"), 70, "internal", "memtile failed: ValueError: of ours\\x1b[2J\n"),
    ],
)
def test_ends_that_are_no_result(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    error: BaseException,
    code: int,
    reason: str,
    text: str,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.chdir(folder)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr("memtile.cli.design_file.load_design", fail)
    done = CliRunner().invoke(app, ["run", "d.py", "--json"])
    assert done.exit_code == code
    assert done.stderr.startswith(text)
    assert "Traceback" not in done.output
    assert json.loads(done.stdout)["error"]["reason"] == reason
    written = list(folder.glob("memtile-traceback-*.txt"))
    assert len(written) == (code == exit_codes.ExitCode.INTERNAL)
    if written:
        assert "raise error" in written[0].read_text()
        assert str(written[0]) in done.stderr
        monkeypatch.setenv("MEMTILE_TRACEBACK", "1")
        assert "Traceback" in CliRunner().invoke(app, ["run", "d.py"]).stderr
        assert list(folder.glob("memtile-traceback-*.txt")) == written


def test_out_of_memory_is_known_by_what_led_to_it() -> None:
    caused = ImportError("no x")
    caused.__cause__ = OSError("x.so: failed to map segment from shared object")
    assert is_out_of_memory(caused)
    assert not is_out_of_memory(ImportError("no x"))
    assert not is_out_of_memory(ValueError("words are out of memory tile 3"))


def test_a_closed_pipe_is_no_error_of_a_design() -> None:
    assert not issubclass(PipeClosedError, Exception)
    assert failure.tell_end(PipeClosedError(), []) == 141


# Signals.


def started(folder: Path, *args: str, **how: Any) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        warm.memtile(*args), cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True, **how
    )


def until(path: Path) -> None:
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


BEGUN = """
import hashlib, time


def design():
    open("begun", "w").close()
    {}
"""
BUSY = {
    "in Python": "while True: pass",
    "in code from a text": "exec('while True: pass')",
    "asleep": "time.sleep(1000)",
    "in one call that does not look at signals": "hashlib.pbkdf2_hmac('sha256', b'a', b'b', 1 << 30)",
    "in a destructor": "Slow()\n    while True: pass\n\nclass Slow:\n    def __del__(self): time.sleep(1000)",
}
ENDS = ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129))


@pytest.mark.parametrize("body", BUSY.values(), ids=BUSY)
@pytest.mark.parametrize(("number", "code"), ENDS)
def test_a_signal_ends_a_command_whatever_it_does(tmp_path: Path, body: str, number: int, code: int) -> None:
    (tmp_path / "d.py").write_text(BEGUN.format(body))
    process = started(tmp_path, "run", "d.py", "--report", "r.html")
    until(tmp_path / "begun")
    time.sleep(0.2)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == ""
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "r.html").exists()
    assert not list(tmp_path.glob(".memtile*"))


def test_ctrl_c_in_the_code_of_a_text_is_no_end_by_the_signal(tmp_path: Path) -> None:
    """CPython notes such an exception, as of the code of data classes, and would end by the signal later."""
    (tmp_path / "typer.py").write_text("exec('raise KeyboardInterrupt')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = run(tmp_path, "info", env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 130
    assert done.stderr == "interrupted before there was anything to show\n"


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """``nohup`` has SIGHUP ignored."""
    (tmp_path / "d.py").write_text(
        DESIGN.replace(
            "    array = Array", "    open('begun', 'w').close()\n    time.sleep(1)\n    array = Array"
        ).replace("import numpy", "import time\n\nimport numpy")
    )
    how = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    process = started(tmp_path, "run", "d.py", **how)
    until(tmp_path / "begun")
    os.killpg(process.pid, signal.SIGHUP)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")


def test_the_codes_are_in_the_help_and_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "stability.md").read_text()
    for code in exit_codes.ExitCode:
        assert f" {int(code)} " in exit_codes.HELP
        assert f"\n  | {int(code)} | " in page


@pytest.mark.chance
def test_interruptions_at_random_moments() -> None:
    """A sample; all of them by ``PYTHONPATH=tests python tests/support/commands/interruptions.py``."""
    ends = list(campaign(4, 7, ["run", "sweep"]))
    assert [end for end in ends if end.wrong] == []
