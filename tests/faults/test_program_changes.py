"""Is a change of what a program of IRON prints made where it stands in the program, and only there?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.errors import InputFileError
from memtile.explain.findings import Change, Repair
from memtile.explain.repairs import Tried
from memtile.explain.results import Result, Status
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text
from memtile.importers.python.program_changes import ProgramChanges
from memtile.importers.python.program_repairs import ProgramRepairs
from memtile.importers.repairs import Repairs
from memtile.iron.program_file import run, source_instead

_PROGRAM = """DEPTH = 3
SIZE = 5
SIZE = 6

def body(source, other, count=7):
    for _ in range_(4):
        given = source.acquire(1)
        kernel(
            given, 16,
        )
        pair(8, 8)
        make(depth=DEPTH, size=SIZE, count=count)
        both(source.acquire(2), other.acquire(2))
"""
_PRINTED = Text(
    "module",
    "aie.objectfifo.acquire @in(Consume, 1)\naie.objectfifo.acquire @x(Consume, 2)\nend",
    places=("p.py:7", "p.py:13", "p.py:8"),
)


def _changed(line: int, old: str, new: str, *, file: str = "p.py") -> str:
    """The line of the program that is another one; empty if there is none."""
    changes = ProgramChanges(_PROGRAM, "p.py", _PRINTED).of([Change(file, line, 0, old, new)])
    if not changes:
        return ""
    made = applied(Text("p.py", _PROGRAM), changes).splitlines()
    (found,) = [each for each in made if each not in _PROGRAM.splitlines()]
    return found


@pytest.mark.parametrize(
    ("line", "old", "new", "found"),
    [
        (6, "4", "5", "    for _ in range_(5):"),
        (7, "1", "2", "        given = source.acquire(2)"),
        (8, "16", "12", "            given, 12,"),
        (12, "3", "2", "DEPTH = 2"),
        (12, "7", "9", "def body(source, other, count=9):"),
        (11, "8", "9", ""),  # one of two
        (12, "6", "9", ""),  # a name that is given two values
        (6, "1", "2", ""),  # in a line below the head
        (7, "3", "2", ""),
    ],
)
def test_a_number_is_changed_where_one_literal_has_it(line: int, old: str, new: str, found: str) -> None:
    assert _changed(line, old, new) == found


@pytest.mark.parametrize(
    ("line", "fifo", "found"),
    [
        (8, "in", "        source.release(1)"),
        (6, "in", ""),  # behind the head of a loop
        (8, "x", ""),  # two handles
        (8, "y", ""),
    ],
)
def test_a_release_is_put_behind_the_statement_with_the_handle_of_the_acquire(
    line: int, fifo: str, found: str
) -> None:
    assert _changed(line, "", f"\n      aie.objectfifo.release @{fifo}(Consume, 1)") == found


def test_what_is_not_found_is_said_by_name() -> None:
    changes = ProgramChanges(_PROGRAM, "p.py", _PRINTED)
    assert changes.missing([Change("p.py", 11, 0, "8", "9")]) == ("line 11 has no literal 8 for this alone")
    assert changes.missing([Change("q.py", 6, 0, "4", "5")]) == "q.py is another file"
    assert _changed(6, "4", "5", file="q.py") == ""


@dataclass(frozen=True)
class _Printed:
    """What tries repairs of a text, with an answer for each question."""

    text: Text = _PRINTED
    candidates: Any = None

    def repairs(self) -> Tried:
        return Tried(tuple(self.candidates(self.text, ())), 3)


def _search(*repairs: Repair, good: str = "") -> tuple[Tried, str]:
    def once(source: str, _options: object) -> tuple[Result, bool]:
        if "range_(0)" in source:
            raise InputFileError("no turns")
        fine = good in source
        state = SimpleNamespace(
            good=fine, cycles=9, findings=(), resting=(), exact=None, status=Status.FINISHED
        )
        return cast(Result, state), True

    printed = cast(Repairs, _Printed(candidates=lambda *_: repairs))
    before = cast(Result, SimpleNamespace(good=False, findings=(), status=Status.STUCK))
    return ProgramRepairs(printed, Text("p.py", _PROGRAM), once).search(
        lambda each: cast(Any, each).repairs(), before
    )


def _repair(line: int, old: str, new: str) -> Repair:
    return Repair("bound", f"{new} instead of {old}", (Change("p.py", line, 0, old, new),), 5)


def test_the_first_change_with_which_the_program_itself_runs_is_offered() -> None:
    tried, said = _search(_repair(11, "8", "9"), _repair(6, "4", "0"), _repair(6, "4", "5"), good="range_(5)")
    assert said == ""
    assert tried.best is not None
    assert (tried.best.says, tried.best.changes[0].column) == ("line 6: 5 instead of 4", 21)


def test_a_repair_that_has_no_literal_is_named() -> None:
    tried, said = _search(_repair(11, "8", "9"))
    assert tried.best is None
    assert said.endswith("9 instead of 8 in what it prints, but line 11 has no literal 8 for this alone")
    tried, said = _search(_repair(6, "4", "5"), good="never")
    assert said.endswith("but the program fails with it")


def test_a_program_runs_from_another_source_for_a_while(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text("import aie\nprint('old')\n")
    with source_instead(str(file), "import aie\nprint('new')\n"):
        run(str(file), [])
    run(str(file), [])
    assert capsys.readouterr().out == "new\nold\n"


_ENDS = """of_in = ObjectFifo(line, name="in")
other = ObjectFifo(line, name="other")
first = Worker(f, [of_in.cons(depth=1), other.prod(2)])
second = Worker(g, [of_in.cons(4), other.cons(depth=2)])
plain = Buffer(of_in.cons(7))
"""


@pytest.mark.parametrize(
    ("line", "old", "found"),
    [
        (1, "1", "first = Worker(f, [of_in.cons(depth=9), other.prod(2)])"),
        (1, "4", "second = Worker(g, [of_in.cons(9), other.cons(depth=2)])"),
        (2, "2", ""),  # of one of two ends
        (2, "1", ""),  # of another FIFO
        (5, "1", ""),
    ],
)
def test_a_depth_of_an_object_fifo_is_changed_at_the_end_that_has_it(line: int, old: str, found: str) -> None:
    changes = ProgramChanges(_ENDS, "p.py", _PRINTED).of([Change("p.py", line, 0, old, "9")])
    made = applied(Text("p.py", _ENDS), changes).splitlines()
    assert "".join(each for each in made if each not in _ENDS.splitlines()) == found


_RESIDUAL = """import numpy as np
import aie.iron as iron
from aie.iron import In, ObjectFifo, Out, Program, Runtime, Worker
from aie.iron.controlflow import range_


@iron.jit
def residual(image: In, result: Out):
    row = np.ndarray[(16,), np.dtype[np.int32]]
    conv, out = ObjectFifo(row, name="conv"), ObjectFifo(row, name="out")
    act = ObjectFifo(row, name="rows")

    def gathers(act, conv):
        rows = act.acquire(4)
        for _ in range(4):
            y = conv.acquire(1)
            y[0] = rows[0][0] + rows[3][0]
            conv.release(1)
        act.release(4)

    def adds(skip, conv, out):
        s, x, y = skip.acquire(1), conv.acquire(1), out.acquire(1)
        y[0] = s[0] + x[0]
        skip.release(1)
        conv.release(1)
        out.release(1)

    workers = [
        Worker(gathers, [act.cons(depth=4), conv.prod()]),
        Worker(adds, [act.cons(depth=1), conv.cons(), out.prod()]),
    ]

    def sequence(a, c, a_h, c_h):
        a_h.fill(a)
        c_h.drain(c, wait=True)

    types = [np.ndarray[(256,), np.dtype[np.int32]]] * 2
    rt = Runtime(sequence, [*types, act.prod(), out.cons()])
    return Program(iron.get_current_device(), rt, workers=workers).resolve_program()


residual(iron.arange(256, dtype=np.int32), iron.zeros(256, dtype=np.int32))
"""


def test_a_skip_connection_that_is_too_short_is_made_deeper_in_the_program(tmp_path: Path) -> None:
    """The cores go on for ever: the array of a run that ended is not what a check begins with."""
    file = tmp_path / "residual.py"
    file.write_text(_RESIDUAL, encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--fix", str(file)])
    assert done.exit_code == 0, done.output
    assert file.read_text(encoding="utf-8") == _RESIDUAL.replace("act.cons(depth=1)", "act.cons(depth=4)")
