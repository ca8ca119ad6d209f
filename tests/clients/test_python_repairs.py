"""Are changes of a design in Python those that its author would make?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from memtile.cli.repairs import with_tried_repair
from memtile.cli.runnable import python_design
from memtile.explain.findings import Finding, Repair, Severity, Side
from memtile.explain.repairs import spent
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text
from memtile.importers.python.candidates import python_candidates
from memtile.importers.python.source_text import SourceText
from memtile.runs.options import RunOptions

CORPUS = Path(__file__).parents[1] / "corpus"
CHECKED = RunOptions(check=True)


def tried(file: Path) -> tuple[Repair | None, int]:
    """The repair of a design, and the cycles of its run without it."""
    made = python_design(str(file), ())()
    run = made.run(CHECKED)
    found = with_tried_repair(made, run, CHECKED).result.findings
    return next((each.repair for each in found if each.repair is not None), None), run.result.cycles


def meaning(source: str) -> str:
    """A source without its first sentence, comments and form."""
    tree = ast.parse(source)
    tree.body = tree.body[1:]
    return ast.unparse(tree)


@pytest.mark.parametrize(
    "name",
    [
        "cascade-tells-too-early-races",
        "host-writes-what-is-read-races",
        "input-of-the-next-turn-races",
        "lock-of-the-other-stream-races",
        "neighbour-without-lock-races",
        "ring-one-empty-too-many-races",
        "ring-reader-without-lock-races",
        "two-readers-of-one-unit-races",
        "weights-replaced-while-in-use-races",
    ],
)
def test_the_repair_of_a_design_is_what_its_twin_has(name: str) -> None:
    file = CORPUS / f"{name}.py"
    repair, _ = tried(file)
    assert repair is not None
    fine = (CORPUS / f"{name.rpartition('-')[0]}-fine.py").read_text()
    assert meaning(applied(Text.of(str(file), file.read_text()), repair.changes)) == meaning(fine)


def test_a_pause_of_a_host_becomes_a_wait_for_what_it_started() -> None:
    repair, _ = tried(CORPUS / "host-pauses-instead-of-waiting-races.py")
    assert repair is not None
    assert repair.says == "line 26: host.wait(written) instead of host.pause(5000)"


RING = """from memtile import MemoryTile


def design():
    tile = MemoryTile()
    slots = [tile.buffer(f"slot{n}", 32) for n in range(3)]
    empty, filled = tile.lock(3, "empty"), tile.lock(0, "filled")
    into = [tile.write(each).guarded(empty.acquire(), filled.release()) for each in slots]
    out = [tile.read(each).guarded(filled.acquire(), empty.release()) for each in slots]
    tile.s2mm[0].start(*into, repeat=3)
    tile.mm2s[0].start(*out, repeat=3)
    tile.s2mm[0].feed(range(288))
    tile.mm2s[0].expect(range(288))
    return tile
"""


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("tile.lock(3,", "tile.lock(0,", "line 7, lock(0): 2 instead of 0"),  # a third one is never in use
        ("tile.lock(3,", "tile.lock(5,", "line 7, lock(0): 2 instead of 5"),
        ("(*out", "(*reversed(out)", "line 11: out instead of reversed(out)"),
        ("filled.acquire()", "filled.acquire(2)", "line 9, acquire(0): 1 instead of 2"),
        ("filled.acquire(), empty", "None, empty", "line 9: let the transfer acquire filled"),
    ],
)  # fmt: skip
def test_a_ring_is_repaired_without_loss(tmp_path: Path, right: str, wrong: str, says: str) -> None:
    fine, file = tmp_path / "fine.py", tmp_path / "ring.py"
    fine.write_text(RING)
    assert RING.count(right) == 1
    file.write_text(RING.replace(right, wrong))
    repair, _ = tried(file)
    assert repair is not None
    assert (repair.says, repair.compared) == (says, True)
    assert repair.cycles == python_design(str(fine), ())().run(CHECKED).result.cycles


def made(source: str, *findings: Finding) -> dict[str, str]:
    """What each candidate makes of a source."""
    text = Text.of("d.py", source)
    return {each.says: applied(text, each.changes) for each in python_candidates(source, "d.py", findings)}


KERNEL = """def design(array, come, go):
    ready = array.lock(0, "ready")
    array.start(array.read(x).guarded(ready.acquire()))

    def kernel(core):
        for turn in range(4):
            yield core.acquire(come.full)
            core.write(go.buffer(0), core.read(come.buffer(turn % 2)))
            yield core.release(go.full)
            work()
"""


def test_places_of_findings_are_of_the_file_wherever_the_command_ran() -> None:
    source = 'a = tile.lock(0, "a")\nb = tile.lock(0, "b")\n'
    side = Side("MM2S 0", "waits", "BD 2, designs/d.py:2")
    finding = Finding("MT0302", Severity.ERROR, "MM2S 0 waits", (side,))
    assert python_candidates(source, "/home/me/designs/d.py", [finding])[0].says.startswith("line 2")
    assert python_candidates(source, "/home/me/designs/d.py", [])[0].says.startswith("line 1")


def test_a_kernel_gets_the_wait_and_the_release_that_it_lacks() -> None:
    found = made(KERNEL)
    assert (
        "(come.full)\n            yield core.acquire(go.free)\n            core.write"
        in (found["line 8: put in yield core.acquire(go.free)"])
    )
    assert (
        "work()\n            yield core.release(come.free)\n"
        in found["line 11: put in yield core.release(come.free)"]
    )
    assert "yield core.release(ready)" in found["line 11: put in yield core.release(ready)"]
    moved = found["move line 9, yield core.release(go.full), behind line 10"]
    assert "            work()\n            yield core.release(go.full)\n" in moved
    assert moved.count("go.full") == 1
    assert "go.buffer(turn % 2)" in found["line 8: [turn % 2] instead of [0]"]


def test_what_is_there_is_not_put_in_again() -> None:
    source = KERNEL.replace("            work()\n", "        yield core.release(come.free)\n")
    assert not any("put in yield core.release(come.free)" in says for says in made(source))
    inside = KERNEL.replace("work()", "if turn:\n                yield core.release(come.free)")
    assert not any("put in yield core.release(come.free)" in says for says in made(inside))


def test_an_exchange_of_locks_that_breaks_another_one_comes_last() -> None:
    """Only one acquire of ``held`` is there: with ``wanted`` in its place nobody would acquire ``held``."""
    source = (
        'held, wanted = tile.lock(1, "held"), tile.lock(0, "wanted")\n'
        "a.start(tile.write(x).guarded(held.acquire(), wanted.release()))\n"
        "b.start(tile.read(x).guarded(None, held.release()))\n"
    )
    says = [*made(source)]
    put, exchanged = "line 3: let the transfer acquire wanted", "line 2: acquire wanted instead of held"
    assert says.index(put) < says.index(exchanged)


def test_a_line_with_two_statements_is_not_moved() -> None:
    source = KERNEL.replace("            work()\n", "").replace(
        "            core.write", "            yield core.release(come.free); core.write"
    )
    assert not any(says.startswith("move line 8") for says in made(source))


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_behind_the_last_one_is_put_in(end: str) -> None:
    text = SourceText(f"def f():\n    a()\n    b(\n        'é'){end}", "d.py")
    body = text.tree.body[0]
    assert isinstance(body, ast.FunctionDef)
    changes = [text.line_after(body.body[-1], "c()"), text.line_before(body.body[0], "d()")]
    for change, place in zip(changes, ((5, 1), (2, 1)), strict=True):
        assert (change.line, change.column, change.old) == (*place, "")
    assert (
        applied(Text.of("d.py", text.source), changes)
        == "def f():\n    d()\n    a()\n    b(\n        'é')\n    c()\n"
    )


def test_names_in_a_tuple_may_stand_in_another_order_and_less_data_is_no_repair() -> None:
    source = """FRAMES = 6
def design(tile, array):
    order = (a, c, b)
    one, other = b, a
    kept: tuple[int, str, float] = (a, b, c)
    tile.buffer("block", (ROWS, COLS, DEPTH))
    for each in order:
        start(each)
    for each in (b, a, c):
        start(each)
    start(*(c, b, a))
    data = random.integers(0, 9, (FRAMES, 16))
    array.external("x", data)
"""
    found = made(source)
    assert "order = (a, b, c)" in found["line 3: exchange c and b"]
    assert {"line 9: exchange b and a", "line 11: exchange c and b"} <= {*found}
    assert not any("FRAMES" in says or says.startswith(("line 4", "line 5", "line 6")) for says in found)


def test_a_task_without_an_end_is_no_repair_of_what_never_comes() -> None:
    """``loop=True`` lets every design finish: a ring that waits for more has done its work."""
    repair, _ = tried(CORPUS / "output-not-taken-hangs.py")
    assert repair is None


def test_fewer_arrays_of_a_host_are_no_repair() -> None:
    repair, _ = tried(CORPUS / "inputs-before-outputs-hangs.py")
    assert repair is None


@pytest.mark.parametrize(
    ("guard", "becomes"),
    [
        ("(acquire=full.acquire())", "(acquire=full.acquire(), release=free.release())"),
        ("(acquire=full.acquire(), release=None)", "(acquire=full.acquire(), release=free.release())"),
        ("(full.acquire(), release=None)", "(full.acquire(), release=free.release())"),
        ("(full.acquire())", "(full.acquire(), free.release())"),
        ("(full.acquire(), None)", "(full.acquire(), free.release())"),
    ],
)
def test_a_guard_is_completed_as_it_is_written(guard: str, becomes: str) -> None:
    first = "a.start(t.write(x).guarded(acquire=free.acquire(), release=full.release()))"
    source = f"{first}\nb.start(t.read(x).guarded{guard})\n"
    assert becomes in made(source)["line 2: let the transfer release free"].splitlines()[1]


@pytest.mark.parametrize("guard", ["()", "(**given)", "(full.acquire(), **given)"])
def test_a_guard_that_says_nothing_is_left_alone(guard: str) -> None:
    source = (
        f"a.start(t.write(x).guarded(free.acquire(), full.release()))\nb.start(t.read(x).guarded{guard})\n"
    )
    assert "line 2: let the transfer release free" not in made(source)


def test_a_negative_number_stays_negative() -> None:
    assert {text.split()[2] for text in made("step = -1\n").values()} == {"-2"}


def test_lines_are_those_of_python() -> None:
    """A form feed, U+0085 and U+2028 end none."""
    source = 'a = "\x0c\x85\u2028é"\nfree = tile.lock(0, "free")\n'
    assert made(source)["line 2, lock(0): 1 instead of 0"].endswith('free = tile.lock(1, "free")\n')


def test_a_design_that_never_ends_with_a_change_is_one_trial(tmp_path: Path) -> None:
    """With 3 for 2 its loop goes past 8, and asks nobody whether it is late."""
    file = tmp_path / "steps.py"
    file.write_text(
        "from memtile import MemoryTile\n\n\ndef design():\n    tile, n, step = MemoryTile(), 0, 2\n"
        "    while n != 8:\n        n += step\n"
        "    block = tile.buffer('block', 8, data=range(8))\n    tile.mm2s[0].start(tile.read(block))\n"
        "    tile.mm2s[0].expect(range(1, 9))\n    return tile\n"
    )
    made = python_design(str(file), ())()
    assert made.repairs is not None
    began = spent()
    found = made.repairs.search(made.run(CHECKED).result, seconds=0.5)
    assert (found.best, spent() - began < 10) == (None, True)


def test_a_source_with_a_byte_order_mark_is_repaired(tmp_path: Path) -> None:
    file = tmp_path / "ring.py"
    file.write_text("\ufeff" + RING.replace("tile.lock(3,", "tile.lock(0,"))
    repair, _ = tried(file)
    assert repair is not None
