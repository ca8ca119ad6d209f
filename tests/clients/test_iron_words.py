"""Are the words that a program of IRON compares its results with those that its design is held against?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.importers.hosted_array import Verdict, of_changed
from memtile.iron.comparisons import of_type
from memtile.iron.program_design import ProgramDesign
from memtile.runs.options import RunOptions
from memtile.runs.program import Run

BLOCKS = """import aie.iron as iron
import numpy as np
from aie.iron import CompileTime, In, ObjectFifo, Out, Program, Runtime, Worker
from aie.iron.controlflow import range_
from aie.utils.verify import assert_pass

@iron.jit
def double(x: In, y: Out, *, m: CompileTime[int] = 8, n: CompileTime[int] = 8):
    tile, R, S = np.ndarray[(m, n), np.dtype[np.int32]], 2, 4
    far = ObjectFifo(tile, name="x_far")
    near = far.cons().forward(name="x_near", dims_to_stream=[(m // R, R * n), (n // S, S), (R, n), (S, 1)])
    made = ObjectFifo(tile, name="y_near")
    back = made.cons().forward(name="y_far", dims_to_stream=BACK)

    def body(xs, ys):
        a, b = xs.acquire(1), ys.acquire(1)
        for i in range_(m):
            for j in range_(n):
                b[i, j] = a[i, j] * 2
        xs.release(1)
        ys.release(1)

    def sequence(a, c, to, out):
        to.fill(a)
        out.drain(c, wait=True)

    whole = np.ndarray[(m * n,), np.dtype[np.int32]]
    rt = Runtime(sequence, [whole, whole, far.prod(), back.cons()])
    worker = Worker(body, [near.cons(), made.prod()])
    return Program(iron.get_current_device(), rt, workers=[worker]).resolve_program()

data = np.random.default_rng(1).permutation(64).astype(np.int32)
x, y = iron.tensor(data, dtype=np.int32, device="npu"), iron.zeros(64, dtype=np.int32, device="npu")
double(x, y)
VERIFIES
"""
RIGHT = "[(m // R, R * n), (R, S), (n // S, R * S), (S, 1)]"
WRONG = "[(m // S, S * n), (S, R), (n // R, R * S), (R, 1)]"
ASSERTS = "assert_pass(y.numpy(), data * 2)"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program goes that has another order on the way back from its core."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "blocks.py"


def memtile(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.stdout


def written(program: Path, back: str = WRONG, verifies: str = ASSERTS) -> None:
    program.write_text(BLOCKS.replace("BACK", back).replace("VERIFIES", verifies))


def test_two_orders_that_do_not_fit_are_found_by_what_a_program_expects(program: Path) -> None:
    written(program)
    code, shown = memtile("run", "--json", "blocks.py")
    assert code == 1
    code, shown = memtile("run", "--all", "blocks.py")
    assert "bit-exact: no" in shown
    assert "blocks.py:13: MT0401 error: argument 1 has the expected elements in another order." in shown
    assert "'y_far' (line 13)" in shown
    assert "'x_near' (line 11)" in shown
    assert "The two orders do not fit each other. Change one of the two. memory" in shown
    assert (
        "all words as expected): blocks.py:13: line 13, y_far: sizes 4, 2, 2, 4 and strides 16, 4, 8, 1"
        in shown
    )


def test_a_program_that_passes_is_not_held_against_anything(program: Path) -> None:
    written(program, RIGHT)
    code, shown = memtile("run", "--all", "blocks.py")
    assert (code, "outputs not compared" in shown) == (0, True)


@pytest.mark.parametrize(
    ("verifies", "known"),
    [
        (ASSERTS, True),
        ("assert_pass(y.numpy(), (data * 2).astype(np.int64))", True),
        ("assert_pass(data * 2, y.numpy())", True),
        ("np.testing.assert_array_equal(y.numpy().reshape(8, 8), data.reshape(8, 8) * 2)", True),
        ("np.testing.assert_equal(desired=data * 2, actual=y.numpy())", True),
        ("np.testing.assert_array_equal(y.numpy(), (data * 2).tolist())", True),
        ("assert_pass(y.numpy().astype([('a', 'i4')]), data * 2)", False),  # no numbers
        # what decides nothing, or not alone
        ("if np.array_equal(y.numpy(), np.zeros(64)): exit('nothing came')\nexit('slow')", False),
        ("if not np.array_equal(y.numpy(), data * 2): exit('no')", False),
        (
            "try: np.testing.assert_array_equal(y.numpy(), data)\nexcept AssertionError: pass\nexit('no')",
            False,
        ),
        ("assert_pass(y.numpy(), data * 2 + 0.5)", False),  # of another type
        ("assert_pass(y.numpy()[:32], data[:32] * 2)", False),  # a part
        ("assert_pass(y.numpy(), data * 2, rtol=0.01)", False),  # nearly
        ("import sys\nif (y.numpy() != data * 2).any(): sys.exit('no')", False),
    ],
)
def test_what_a_program_compares_bit_by_bit_is_expected(program: Path, verifies: str, known: bool) -> None:
    written(program, verifies=verifies)
    done = ProgramDesign(str(program))().run_once(RunOptions())
    assert done.result.errors
    assert [*done.expected] == (["1"] if known else [])
    if known:
        data = np.random.default_rng(1).permutation(64).astype(np.int32)
        assert done.expected["1"].dtype == np.int32
        np.testing.assert_array_equal(done.expected["1"], data * 2)


def test_zeros_of_other_signs_are_as_they_came() -> None:
    came = np.array([-0.0, 1.0, np.nan, 3.0], np.float32)
    wanted = np.array([0.0, 1.0, np.nan, 4.0], np.float32)
    found = of_type(wanted, came)
    assert found is not None
    assert found.tobytes() == np.array([-0.0, 1.0, np.nan, 4.0], np.float32).tobytes()


def test_a_repair_has_to_pass_what_a_program_compares_later(program: Path) -> None:
    """The first comparison alone may come out right by a change that makes another output wrong."""
    asked = list[Run]()

    def verdict(done: Run) -> Verdict:
        asked.append(done)
        return Verdict("the second output is wrong")

    written(program)
    wrong = ProgramDesign(str(program))().run_once(RunOptions())
    right = replace(wrong, arrays={**wrong.arrays, **wrong.expected})
    judge = of_changed(verdict, wrong.expected)
    assert judge is not None
    assert (judge(wrong).wrong, judge(right).wrong) == ("", "the second output is wrong")
    assert [done is right for done in asked] == [True]
