"""Does what a jump moves meet what it does not move only where a guard says so?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shifted
from memtile.model.state.columns import Motion
from support.engine.guarded_places import PLACES

TESTS = Path(__file__).parents[1]
SHORT = "data/test_engine_moves.py"
DESIGNS = (
    "data/test_interface_dma.py",
    "data/test_packets.py",
    "timing/test_core_ports.py",
    "timing/test_forward_units.py::test_a_unit_does_all_that_it_can_in_a_short_run",
    "timing/test_ingress_bounds.py::test_it_takes_the_words_of_its_bd_and_what_rides_in_the_last_beat[7]",
    "timing/test_ingress_bounds.py::test_the_words_of_a_packet_come_in_order[False-5]",
    "timing/test_kernels_beside_hosts.py",
    "timing/test_locks.py",
    "timing/test_neighbours.py::test_an_access_to_a_neighbour_asks_so_much_later",
    "timing/test_switch.py",
)


def run(tests: tuple[str, ...], met: Path) -> set[str]:
    """Run tests in the interpreter, with the account of what moves; the places that they came to."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "shifted", *tests]
    done = subprocess.run(
        command,
        cwd=TESTS,
        env=os.environ | {"MEMTILE_JIT": "0", "PYTHONPATH": path, "SHIFTED_MET": str(met)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return set(met.read_text(encoding="utf-8").split("\n")) - {""}


def test_channels_meet_what_does_not_move_only_where_a_guard_says_so(tmp_path: Path) -> None:
    met = run((SHORT,), tmp_path / "met")
    assert len(met) > 30


@pytest.mark.interpreter
def test_each_place_with_a_guard_is_one(tmp_path: Path) -> None:
    """Also external memory, circuits, packets, neighbours and cores; and no place is listed for nothing."""
    met = run((SHORT,), tmp_path / "short") | run(DESIGNS, tmp_path / "met")
    assert sorted(set(PLACES) - met) == []


def test_each_guard_is_on_the_page() -> None:
    page = (TESTS.parent / "docs" / "speed.md").read_text(encoding="utf-8")
    assert sorted(set(PLACES.values()) - set(re.findall(r"^\| ([\w, ]+) \|", page, re.MULTILINE))) == []


def model_does(statement: str, **names: Any) -> Any:
    """Run a statement as if it were in a file of the model."""
    (file,) = (file for file in shifted.STEPS if file.endswith("model/roster.py"))
    exec(compile(f"def anew():\n    return {statement}", file, "exec"), names)
    return names["anew"]()


NOW, LATER = shifted.moving(7, {shifted.TIME: 1}), shifted.moving(9, {shifted.TIME: 1})
MOVED = shifted.moving(4, {"channels.moved[0]": 1})
HEAD = shifted.moving(3, {"ring fifos.head[0]": 1})
WORD = shifted.moving(5, {shifted.WORDS: 1})
NAMES = {"now": NOW, "later": LATER, "moved": MOVED, "head": HEAD, "word": WORD}


@pytest.mark.parametrize(
    "statement",
    [
        "now < 9",
        "9 == now",
        "moved",
        "now > moved",
        "max(moved, 5)",
        "now & 3",
        "7 % moved",
        "now * now",
        "moved >> 2",
        "head < 2",
        "word == 5",
        "word & 1",
        "later - now + moved > 0",
        "2 * now < later",
    ],
)
def test_what_moves_differently_meets_and_is_seen(statement: str) -> None:
    with pytest.raises(shifted.UnguardedError, match=r"model/roster.py anew .*: no guard is named for it"):
        bool(model_does(f"bool({statement})", **NAMES))


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("now < later", True),
        ("later - now == 2", True),
        ("now + 2 == later", True),
        ("moved - 1 < moved", True),
        ("-now + later", 2),
        ("(head + 2) & 3", 1),
        ("max(now, later)", 9),
        ("word + 1", 6),
        ("2 * now - 2 * later < 0", True),
    ],
)
def test_what_moves_alike_may_meet(statement: str, value: int) -> None:
    assert int(model_does(statement, **NAMES)) == value


@pytest.mark.parametrize(
    ("kind", "value", "may"),
    [
        (Motion.EQUAL, NOW, False),
        (Motion.EQUAL, MOVED, False),
        (Motion.STAMP, NOW, True),
        (Motion.STAMP, MOVED, False),
        (Motion.DUE, LATER, True),
        (Motion.COUNT, MOVED, True),
        (Motion.COUNT, NOW, False),
        (Motion.PLACE, WORD, False),
        (Motion.RING, HEAD, True),
        (Motion.RING, NOW, False),
        (Motion.DATA, WORD, True),
    ],
)
def test_a_column_takes_what_moves_as_it_does(kind: Motion, value: int, may: bool) -> None:
    names = {"column": shifted.watched([0, 0], kind, "table.column"), "value": value}
    if may:
        model_does("column.__setitem__(1, value)", **names)
        assert names["column"].tolist() == [0, int(value)]
    else:
        with pytest.raises(shifted.UnguardedError, match=r"writes table\.column"):
            model_does("column.__setitem__(1, value)", **names)


def test_words_alone_are_looked_up_by_what_moves() -> None:
    words, others = shifted.watched(range(9), Motion.DATA, "a"), shifted.watched(range(9), Motion.EQUAL, "b")
    assert model_does("words[moved]", words=words, moved=MOVED) == 4
    with pytest.raises(shifted.UnguardedError, match="looks up"):
        model_does("others[moved]", others=others, moved=MOVED)
