"""Does the tally count what was searched of the present source, and only that?"""

from __future__ import annotations

from pathlib import Path

import pytest

from adversary import lines, tally
from adversary.readers import READERS

HOUR = 3600.0


@pytest.fixture(autouse=True)
def _files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tally, "LEDGER", tmp_path / "cache" / "searches.tsv")
    monkeypatch.setattr(tally, "KEPT", tmp_path / "tally.tsv")


def sums() -> dict[str, tuple[float, int, int]]:
    found = tally.counted(tally.searches(tally.KEPT, tally.LEDGER))
    return {each.what: (each.seconds, each.inputs, each.failures) for each in found if each.inputs}


def test_searches_add_up_and_move_to_the_kept_file(capsys: pytest.CaptureFixture[str]) -> None:
    tally.note("mlir", HOUR, 100, 0)
    tally.note("npy", 2.0, 7, 1)
    tally.note("mlir", 0.5 * HOUR, 50, 0)
    expected = {"mlir": (1.5 * HOUR, 150, 0), "npy": (2.0, 7, 1)}
    assert sums() == expected
    tally.main(["--add"])
    assert not tally.LEDGER.exists()
    assert sums() == expected
    tally.main(["--add"])
    assert sums() == expected
    assert "mlir               1.50         150        0\n" in capsys.readouterr().out


def test_a_search_of_an_earlier_source_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "io").mkdir()
    file = tmp_path / "io" / "npy.py"
    file.write_text("a = 1\n", encoding="utf-8")
    for module in (lines, tally):
        monkeypatch.setattr(module, "SOURCE", tmp_path)
    modules = READERS["npy"].modules
    monkeypatch.setattr(tally, "_OF", {"npy": modules})
    monkeypatch.setattr(tally, "_IMPORTED", {"npy": tally.source_of(modules)})
    tally.note("npy", 1.0, 5, 0)
    assert sums() == {"npy": (1.0, 5, 0)}
    file.write_text("a = 2\n", encoding="utf-8")
    assert sums() == {}
    tally.note("npy", 1.0, 5, 0)
    assert sums() == {}, "what ran was imported before"
    monkeypatch.setattr(tally, "_IMPORTED", {"npy": tally.source_of(modules)})
    tally.note("npy", 2.0, 3, 0)
    tally.main(["--add"])
    assert sums() == {"npy": (2.0, 3, 0)}


def test_the_summary_names_the_reader_that_was_searched_least() -> None:
    for name in READERS:
        tally.note(name, 0.4 * HOUR, 1, 0)
    tally.note("txn", 1.0, 1, 2)
    tally.note(tally.ARRAYS, 1.0, 40, 0)
    tally.note(tally.PAIRS, 1.0, 60, 1)
    found = tally.summary(tally.counted(tally.searches(tally.LEDGER)))
    assert found == {
        "mlir_hours": 0.4,
        "least_hours_of_the_other_readers": 0.4,
        "other_readers_of_03_hours": len(READERS) - 1,
        "designs": 100,
        "arrays": 40,
        "failures": 3,
    }
