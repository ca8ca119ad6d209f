"""Does what a design writes into the pipe of its process count as no answer?"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtile.explore.line_process import LineProcess, NoAnswerError
from support.commands import warm

CODE = """
import os, sys, time
from memtile.explore.line_answers import answer_lines

def answer(asked):
    names = {"os": os, "sys": sys, "time": time, "said": None, "pipe": pipe}
    exec(asked, names)
    return names["said"]

def pipe(data):
    for each in os.listdir("/proc/self/fd"):
        try:
            os.write(int(each) if int(each) > 2 else -1, data)
        except OSError:
            pass  # is not open for writing

answer_lines(answer)
"""
STRAY = (
    b"no JSON\n",
    b"{}\n",
    b"[" * 9_000 + b"\n",  # several times of them fit into a pipe that nobody reads
    b"without an end",
    b"\xff\xfe\n",
    b"\n\n",
    b"0-1 {}\n",
)
TELLS = """
import os
from memtile import MemoryTile

for each in range(3, 60):
    try:
        os.write(each, {data!r})
    except OSError:
        pass

def design(n: int = 1) -> MemoryTile:
    return MemoryTile()
"""


@pytest.fixture
def process() -> Iterator[LineProcess]:
    found = LineProcess(CODE)
    yield found
    found.end()


@pytest.mark.parametrize("data", STRAY)
def test_the_answer_is_that_of_the_question(process: LineProcess, data: bytes) -> None:
    for number in range(3):
        assert process.ask(f"pipe({data!r}); said = {number}; pipe({data!r})", 60) == number


def test_what_is_printed_or_read_is_no_part_of_it(process: LineProcess) -> None:
    assert process.ask("print('no'); said = sys.stdin.read()", 60) == ""
    assert process.ask("sys.stdin.close(); said = 1", 60) == 1
    assert process.ask("said = sys.stdin.read()", 60) == ""


def test_an_answer_that_comes_too_late_is_not_that_of_the_next_question(process: LineProcess) -> None:
    assert process.ask("said = 0", 60) == 0
    with pytest.raises(NoAnswerError, match="limit"):
        process.ask("time.sleep(1); said = 1", 0.2)
    assert process.ask("said = 2", 60) == 2


def test_no_more_is_kept_than_was_asked_for(process: LineProcess) -> None:
    later = "(time.sleep(0.2), pipe(b'much\\n' * 100), os._exit(0))"
    assert process.ask(f"said = 1 if os.fork() else {later}", 60) == 1
    time.sleep(1)
    assert process._answers.empty()


def test_an_answer_to_another_question_is_not_taken(process: LineProcess) -> None:
    """A design that knows the mark of its process, as one of the same process might."""
    assert process.ask("said = 0", 60) == 0
    forged = f"{process._mark}-1 0\n".encode()
    assert process.ask(f"pipe({forged!r}); said = 1", 60) == 1


@pytest.mark.parametrize(
    ("command", "data"), [(("test",), STRAY[0]), (("sweep", "--vary", "n=1,2"), STRAY[1])]
)
def test_a_design_that_writes_into_the_pipe_is_tried(
    tmp_path: Path, command: tuple[str, ...], data: bytes
) -> None:
    (tmp_path / "tells.py").write_text(TELLS.format(data=data), encoding="utf-8")
    line = warm.memtile(*command, "tells.py")
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert "memtile failed" not in done.stderr
    assert "nested" not in done.stderr
    assert "tells" in done.stdout
