"""Is a race named where words come out wrong and nobody asked for a check?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.explain.findings import Finding
from memtile.explain.repairs import SECONDS
from memtile.importers.repairs import Repairs

JOIN = """
import numpy as np

from memtile import Array, TilingParameters


def design():
    array = Array("npu1", columns=1)
    gate, shared = array.interface_tile(0), array.memory_tile(0)
    whole = shared.buffer("whole", (2, 32))
    room, ready = shared.lock(2, "room"), shared.lock(0, "ready")
    made = np.arange(256, dtype=np.int32).reshape(2, 4, 32)
    for n, worker in enumerate((array.compute_tile(0, 2), array.compute_tile(0, 3))):
        worker.mm2s[0].start(worker.read(worker.buffer("made", (4, 32), data=made[n])))
        array.connect(worker.mm2s[0], shared.s2mm[n])
        half = TilingParameters(buffer_dimension=(32, 2), tiling_dimension=(32, 1), offset=(0, n))
        shared.s2mm[n].start(shared.write(whole, half).guarded(room.acquire(), ready.release()), repeat=4)
    shared.mm2s[0].start(shared.read(whole).guarded(ready.acquire(1), room.release(2)), repeat=4)
    array.connect(shared.mm2s[0], gate.s2mm[0])
    back = np.zeros((4, 2, 32), np.int32)
    gate.s2mm[0].start(gate.write(array.external("back", back)))
    array.expect_array("back", back, made.swapaxes(0, 1))
    return array
"""


def said(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "join.py"
    file.write_text(text, encoding="utf-8")
    lines = CliRunner().invoke(app, ["run", str(file)]).output.replace(str(tmp_path), "").splitlines()
    return [line for line in lines if line.startswith(("finding", "status"))]


def test_a_reader_that_takes_one_half_of_a_join_is_named_and_not_who_passes_it_on(tmp_path: Path) -> None:
    status, *found = said(tmp_path, JOIN)
    assert status.endswith("bit-exact: no; 2 errors")
    assert (
        "join.py:18: MT0201 error: memory(0,1) MM2S 0, BD 1 reads words 32 to 63 of buffer 'whole'"
        in found[0]
    )
    assert "Let memory(0,1) MM2S 0, BD 1 acquire 2 of lock 1 'ready' of tile (0, 1)" in found[0]
    assert "MT0201 error: memory(0,1) MM2S 0, BD 1 reads words 0 to 31" in found[1]
    assert not any("MT0406" in each for each in found)


def test_words_that_are_wrong_without_a_race_are_found_as_before(tmp_path: Path) -> None:
    fine = JOIN.replace("ready.acquire(1)", "ready.acquire(2)")
    assert said(tmp_path, fine)[0].endswith("bit-exact: yes")
    other = fine.replace("made.swapaxes(0, 1))", "made.swapaxes(0, 1) * 3 + 1)")
    status, *found = said(tmp_path, other)
    assert status.endswith("bit-exact: no; 1 error")
    assert not any("MT020" in each for each in found)


def test_all_searches_share_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That for a repair, for races and for what mends these: the last two have two seconds at least."""
    asked, now, search, races = list[float](), [0.0], Repairs.search, Repairs.races

    def searching(repairs: Repairs, *given: Any, seconds: float = SECONDS, watch: Any = None) -> Any:
        asked.append(seconds)
        now[0] += 7
        return search(repairs, *given, seconds=0.0, watch=watch)

    def racing(repairs: Repairs, *given: Any, seconds: float = SECONDS) -> tuple[Finding, ...]:
        asked.append(seconds)
        now[0] += 2
        return races(repairs, *given)

    monkeypatch.setattr(Repairs, "search", searching)
    monkeypatch.setattr(Repairs, "races", racing)
    monkeypatch.setattr("memtile.explain.repairs.spent", lambda: now[0])
    assert any("MT0201" in each for each in said(tmp_path, JOIN))
    assert asked == [10, 3, 2]


def test_words_that_nothing_wrote_are_no_reason_to_search_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are a warning: whoever reads them may never use them."""
    found, races = list[tuple[Finding, ...]](), Repairs.races

    def racing(repairs: Repairs, *given: Any, seconds: float = SECONDS) -> tuple[Finding, ...]:
        found.append(races(repairs, *given, seconds=seconds))
        return found[-1]

    monkeypatch.setattr(Repairs, "races", racing)
    changes = {
        "ready.acquire(1)": "ready.acquire(2)",
        '("whole", (2, 32))': '("whole", (3, 32))',
        "buffer_dimension=(32, 2)": "buffer_dimension=(32, 3)",
        "np.zeros((4, 2, 32), np.int32)": "np.zeros((4, 3, 32), np.int32)",
        "made.swapaxes(0, 1))": "np.ones((4, 3, 32), np.int32))",
    }
    text = JOIN
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    assert said(tmp_path, text)[0].endswith("bit-exact: no; 1 error")
    assert found == [()]
