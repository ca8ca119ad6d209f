"""Is a descriptor that works with a neighbour, as it should, never blamed for the locks of that neighbour?"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile.cli.main import app
from support.pages.corpus_scores import CORPUS

WEST = (CORPUS / "lock-of-the-west-hangs.txt").read_text(encoding="utf-8")
MINE = "16 0x20000 0 0 0 0 0 0x8140FF01"
"""The descriptor whose buffer and whose other lock are its tile's, and whose id is one of the neighbour."""

BLAMED = "is lock 1 of the western neighbour"


def said(tmp_path: Path, command: str, bd: str = MINE, beside: str = "") -> str:
    """What a command says of the descriptor in column 1 where the memory tile in column 0 has one ``beside``.

    Args:
        tmp_path: for the file.
        command: ``run`` or ``check``.
        bd: in place of the one of the corpus.
        beside: last word of a descriptor of the neighbour, for its locks; empty = it has none.
    """
    text = WEST.replace("0x001", "0x021").replace(MINE, bd)
    near = f"0x001A0000 16 0x20000 0 0 0 0 0 {beside}\n0x001A0604 0x00030000\n" if beside else ""
    file = tmp_path / "near.txt"
    file.write_text(text + near, encoding="utf-8")
    more = ["--no-repair", "--in", f"memory(1,1) S2MM 0={CORPUS / 'numbers.npy'}"] if command == "run" else []
    out = CliRunner().invoke(app, [command, "--device", "npu1", str(file), *more]).output
    assert "memory(1,1) MM2S 0" in out
    return out


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    "bd",
    ["16 0 0 0 0 0 0 0x8140FF01", "16 0x20000 0 0 0 0 0 0x8100FF01"],
    ids=["buffer", "lock"],
)
def test_what_a_descriptor_has_more_of_was_meant(tmp_path: Path, bd: str, command: str) -> None:
    assert BLAMED in said(tmp_path, command)
    assert BLAMED not in said(tmp_path, command, bd)


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("beside", ["0x8000FF40", "0x8000FF41"], ids=["pair", "lock"])
def test_what_others_use_was_meant(tmp_path: Path, beside: str, command: str) -> None:
    assert BLAMED in said(tmp_path, command, beside="0x8000FF42")  # it waits for lock 2
    assert BLAMED not in said(tmp_path, command, beside=beside)


def test_a_release_that_went_astray_is_named_before_a_window(tmp_path: Path) -> None:
    out = said(tmp_path, "run", beside="0x81420000")
    assert BLAMED not in out
    assert "memory(0,1) S2MM 0 releases lock 2 of tile (0, 1) instead, which nothing acquires" in out
