"""Does a value change dump of a run show what the run's own books say?"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from memtile import MemoryTile
from memtile.errors import DesignError, MemtileError
from memtile.io.trace.waveform import Waveform, WaveSignal, choose, write_vcd
from memtile.model.state.causes import Cause
from support.formats.vcd_reader import PERIOD, read


def design() -> MemoryTile:
    tile = MemoryTile()
    frame = np.arange(40, dtype=np.int32)
    buffer = tile.buffer("b", (40,))
    full = tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.s2mm[0].feed(frame)
    tile.mm2s[0].expect(frame)
    return tile


def test_cycles_under_each_cause_are_those_of_the_result(tmp_path: Path) -> None:
    result = design().run()
    tile = design()
    waveform = Waveform(tile.engine)
    waveform.run(result.cycles)
    waveform.save(tmp_path / "run.vcd")
    found = read(tmp_path / "run.vcd")
    assert found["end"] == [(result.cycles * PERIOD, "")]
    for use in result.channels:
        scope = f"tile0_0.{use.name.lower().replace(' ', '')}"
        changes = [*found[f"{scope}.cause"], (result.cycles * PERIOD, "")]
        spent: Counter[str] = Counter()
        for (begin, cause), (end, _) in pairwise(changes):
            spent[cause] += (end - begin) // PERIOD
        assert {Cause[name.upper()]: n for name, n in spent.items() if n} == {
            cause: n for cause, n in use.spent.items() if n
        }
        assert found[f"{scope}.moving"][-1][1] == "0"
    assert {value for _, value in found["tile0_0.lock0.value"]} == {"0", "1"}


def test_being_watched_changes_nothing() -> None:
    plain, watched = design(), design()
    result = plain.run()
    waveform = Waveform(watched.engine, ["tile*.mm2s0.*"])
    waveform.run(result.cycles)
    assert (watched.run().status, result.exact) == (result.status, True)
    assert watched.mm2s[0].output().tolist() == plain.mm2s[0].output().tolist()
    assert {name.rpartition(".")[0] for _, name, _ in waveform.changes} == {"tile0_0.mm2s0"}


NAMES = ["tile0_1.s2mm0.cause", "tile0_1.s2mm0.bd", "tile0_1.mm2s0.cause", "tile1_1.mm2s0.cause"]


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        (["*"], NAMES),
        (["tile*.mm2s0.*"], NAMES[2:]),
        (["tile0_1"], NAMES[:3]),
        (["*.bd", "tile1_?.*"], [NAMES[1], NAMES[3]]),
        (["tile0_1.s2mm0"], NAMES[:2]),
    ],
)
def test_signals_are_chosen_by_pattern(patterns: list[str], wanted: list[str]) -> None:
    assert [signal.name for signal in choose(map(WaveSignal, NAMES), patterns)] == wanted


def test_patterns_that_match_nothing_are_all_told() -> None:
    with pytest.raises(DesignError) as caught:
        choose(map(WaveSignal, NAMES), ["tile9*", "*.cause", "mm2s"])
    scopes = "tile0_1.s2mm0, tile0_1.mm2s0, tile1_1.mm2s0"
    assert str(caught.value) == (
        f"signals: the pattern 'tile9*' matches no signal; there are signals in {scopes} (glob "
        "patterns).\n"
        f"signals: the pattern 'mm2s' matches no signal; there are signals in {scopes} (glob patterns)."
    )


def test_scopes_that_differ_in_a_number_are_told_as_one() -> None:
    names = [
        f"tile0_1.{scope}{n}.x"
        for scope, count in (("mm2s", 6), ("lock", 64), ("core", 1))
        for n in range(count)
    ]
    with pytest.raises(
        DesignError,
        match=(r"there are signals in tile0_1\.mm2s0\.\.5, tile0_1\.lock0\.\.63, tile0_1\.core0 \("),
    ):
        choose(map(WaveSignal, names), ["none"])


def test_changes_of_signals_that_nobody_chose_are_left_out() -> None:
    text = io.StringIO()
    changes = [(1, "a.x", 1), (2, "a.y", 1), (3, "a.x", 0)]
    write_vcd(text, [WaveSignal("a.x")], changes, clock_mhz=1000, end=5)
    assert re.findall(r"^(?:#\d+|[01]!)$", text.getvalue(), re.MULTILINE) == [
        *("#0", "0!", "#1000", "1!", "#3000", "0!", "#5000"),
    ]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "vcd"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "vcd", None)
    with pytest.raises(MemtileError, match=r"^Value change dumps need pyvcd, which is not installed: "):
        write_vcd(io.StringIO(), [], [], 1000)
