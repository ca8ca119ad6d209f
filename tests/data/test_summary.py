"""Does a run fit on one screen, the verdict first, whatever the size of the design?"""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from memtile import Cause, CoreCause, Result, Status
from memtile.explain.results import ChannelUse, CoreUse
from memtile.explain.summary import Layout, common_name, verdict
from memtile.explain.tile_map import MapTile, tile_map


def run_of(columns: int, status: Status = Status.FINISHED) -> Result:
    """A run of four channels and four cores for each column, each with a line about what it waits for."""
    spent = {Cause.MOVING: 30, Cause.LOCK_ACQUIRE: 60, Cause.IDLE: 10}
    channels = tuple(
        ChannelUse(f"{kind}({column},{row}) {way} 0", way, spent, 1, 1, label=f"a_rather_long_fifo_{column}")
        for column in range(columns)
        for kind, row in (("memory", 1), ("compute", 2))
        for way in ("S2MM", "MM2S")
    )
    busy = {CoreCause.RUNNING: 26, CoreCause.LOCK_STALL: 74}
    cores = tuple(
        CoreUse(f"core ({n}, {row})", "kernel", busy) for n in range(columns) for row in range(2, 6)
    )
    lines = tuple(f"{core.name}, kernel 'kernel': waits for a lock" for core in cores)
    waiting, resting = ((), lines) if status is Status.FINISHED else (lines, ())
    made = Result(status, True, 100, 1000, channels, {}, cores=cores, host_cycles=40)
    return replace(made, waiting=waiting, resting=resting)


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("status", [Status.FINISHED, Status.STUCK])
def test_a_run_is_one_screen(width: int, status: Status) -> None:
    done = replace(run_of(38, status), errors=tuple(f"{name} overflowed" for name in "abcdefghij"))
    lines = done.summary(Layout(width), ["saved 0: out.npy", *(f"note: {'word ' * n}" for n in range(60))])
    assert len(lines) <= 25
    assert max(map(len, lines)) <= width
    assert lines[0].startswith(f"status: {status}")
    assert lines[-1 if width > 80 else -2].startswith("Next: ")


def test_rows_that_differ_only_in_numbers_are_one() -> None:
    lines = run_of(4).summary()
    assert "16 cores: 74 % lock stall, 26 % running" in lines
    assert "The host's register accesses took 40 cycles (40 %), the array alone 60." in lines
    assert [line for line in lines if line.startswith("4 memory S2MM")] == [
        "4 memory S2MM   a_rather_long_fif…     30 %  60 % lock acquire, 10 % idle"
    ]
    assert "idle (16 alike): core (0, 2), kernel 'kernel': waits for a lock" in lines
    assert len([*run_of(4).sheet().rows]) == 16
    assert common_name(["a1_x2", "a1_x3"]) == "a1_x*"


def test_rows_that_are_asked_for_are_shown_and_others_counted() -> None:
    """Of --top N."""
    uses = [
        replace(use, label=name) for use, name in zip(run_of(4).channels, "abcdefghijklmnop", strict=True)
    ]
    done = replace(run_of(4), channels=tuple(uses))
    few, many = done.summary(Layout(rows=3)), done.summary(Layout(rows=20, height=1000))
    assert "  13 more groups of channels (--all)" in few
    assert sum(" 30 %  60 %" in line for line in many) == 16
    assert verdict(done) == "status: finished in 100 cycles (0.10 µs at 1,000 MHz); outputs not compared"


def test_causes_have_one_name_everywhere() -> None:
    """A table has the words of the JSON key."""
    for cause in (*Cause, *CoreCause):
        assert cause.text.lower().replace(" ", "_").startswith(cause.name.lower())


def test_a_notebook_shows_it_in_a_few_kilobytes_with_a_map() -> None:
    html = run_of(38)._repr_html_()
    root = ElementTree.fromstring(f"<div>{html}</div>")
    assert len(html) <= 3000
    assert "status: finished" in (root.findtext("pre") or "")
    paths = [each for each in root.iter() if each.tag.endswith("path") and each.get("opacity")]
    assert [each.get("stroke") for each in paths] == ["#283", "#47a"]
    html = tile_map(38, 11, {(column, row): MapTile("compute") for column in range(38) for row in range(11)})
    assert len(html) < 2000
    assert html.count(f"h{38 * 44 - 6}") == 22  # a line of tiles each, above that of the array
