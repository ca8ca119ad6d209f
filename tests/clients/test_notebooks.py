"""Does a notebook show results, tiles, transfers, descriptors and views inline, and nothing else?"""

from __future__ import annotations

import builtins
import sys
import types
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from memtile import (
    Array,
    Cause,
    DesignError,
    InputFileError,
    MemoryTile,
    Result,
    Transfer,
    TransferError,
    campaign,
    view,
)
from memtile.bd import Descriptor


def designed() -> MemoryTile:
    tile = MemoryTile()
    data = np.arange(64, dtype=np.int32).reshape(8, 8)
    buffer, full = tile.buffer("<b>", (8, 8), data=data), tile.lock(1, "full")
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.mm2s[0].expect(data)
    return tile


@pytest.fixture
def result() -> Result:
    return designed().run()


class Jupyter:
    """What Rich takes for a notebook, and what it would put into its outputs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[Any] = []
        shell = type("ZMQInteractiveShell", (), {})()
        package, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        display.display = self.shown.append  # type: ignore[attr-defined]
        package.display = display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)


def test_print_of_a_result_is_plain_text_and_nothing_else(
    result: Result, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = Jupyter(monkeypatch)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a kernel has it
    print(result)
    out = capsys.readouterr()
    assert "\x1b" not in out.out
    assert out.out.startswith(f"status: finished in {result.cycles} cycles")
    assert (notebook.shown, out.err) == ([], "")


def assert_html(text: str, *words: str) -> None:
    """Well-formed, and with these words in its text."""
    found = "".join(ElementTree.fromstring(f"<div>{text}</div>").itertext())
    for word in words:
        assert word in found


def test_results_are_a_table_and_bars(result: Result) -> None:
    html = result._repr_html_()
    assert_html(html, "MM2S 0", "<b>", "moving", "status: finished", "bit-exact: yes")
    assert "<svg" in html
    assert_html(designed().run(untimed=True)._repr_html_(), "untimed")


def test_tiles_arrays_transfers_descriptors_and_views_are_tables() -> None:
    tile = designed()
    assert_html(tile._repr_html_(), "<b>", "8 x 8", "int32", "0 'full' = 1", "MM2S 0")
    array = Array("npu1", 1)
    array.memory_tile(0).buffer("weights", 8)
    array.compute_tile(0, 2).lock(0, "ready")
    assert_html(array._repr_html_(), "(0, 1)", "weights", "(0, 2)", "ready")
    transfer = tile.read(tile.buffers[0], view((8, 8))[::2, :4])
    assert_html(transfer._repr_html_(), "16 words", "(1, 4) (16, 0)")
    turned = tile.read(tile.buffers[0], view((8, 8)).T)
    assert_html(turned._repr_html_(), "(8, 8) (1, 8)")  # the last one is in no register
    assert_html(
        Descriptor("memory", 64, 0x20000, dims=((1, 8), (8, 0)))._repr_html_(), "step 1, wrap 8", "64"
    )
    assert_html(view((4, 4))._repr_html_(), "View(shape=(4, 4)")
    outcome = campaign(designed, 2, seed=1)
    assert_html(outcome._repr_html_(), "2 upsets")


def test_looking_at_a_tile_takes_no_time_and_changes_nothing() -> None:
    array = Array("npu1", 1)
    tile = array.memory_tile(0)
    tile.lock(2, "free")
    before = array.engine.now
    tile._repr_html_(), array._repr_html_()
    assert array.engine.now == before


def numbers(svg: str) -> list[str]:
    """The numbers in the cells of a drawing, in their order."""
    root = ElementTree.fromstring(svg)
    found = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    return [each for each in found if each.isdigit()]


def test_the_picture_of_a_transfer_has_the_stream_position_of_each_element() -> None:
    tile = MemoryTile()
    buffer = tile.buffer("b", (2, 4))
    made = tile.read(buffer, view((2, 4)).T).picture()
    assert numbers(made.svg) == ["0", "2", "4", "6", "1", "3", "5", "7"]
    assert numbers(tile.write(buffer, view((2, 4))[1:, ::2]).picture().svg) == ["0", "1"]
    assert numbers(tile.read(tile.buffer("c", 8, np.int8)).picture().svg) == [str(n) for n in range(8)]


def test_an_element_that_comes_twice_has_its_first_number() -> None:
    tile = MemoryTile()
    twice = np.broadcast_to(view((1, 4)), (2, 4))
    assert numbers(tile.read(tile.buffer("b", 4), twice).picture().svg) == ["0", "1", "2", "3"]


def test_the_picture_of_a_buffer_of_a_neighbour_is_the_same() -> None:
    array = Array("npu1", 2)
    near, far = array.memory_tile(0), array.memory_tile(1)
    buffer = far.buffer("b", (2, 4))
    far.buffer("other", 8)
    assert near.read(buffer).picture().svg.replace("x", "") == far.read(buffer).picture().svg.replace("x", "")


def test_the_picture_of_a_view_has_the_element_of_the_buffer_and_blanks_for_zeros() -> None:
    padded = np.pad(view((2, 2)), ((1, 0), (0, 1)))
    made = padded.picture()
    assert numbers(made.svg) == ["0", "1", "2", "3"]
    assert made.svg.count("#f2d9b3") == 5
    assert numbers(view((2, 3)).T.picture().svg) == ["0", "3", "1", "4", "2", "5"]


def test_the_axes_of_a_picture_are_chosen() -> None:
    """Rows and columns of an image, not its channels, of height, width, channels."""
    image = view((2, 3, 4))
    assert numbers(image.picture(plane=(0, 1)).svg)[:6] == ["0", "4", "8", "12", "16", "20"]
    assert numbers(image.picture().svg)[:6] == ["0", "1", "2", "3", "4", "5"]
    tile = MemoryTile()
    whole = tile.read(tile.buffer("b", (2, 3, 4)))
    assert numbers(whole.picture(plane=(0, 1)).svg)[:6] == ["0", "4", "8", "12", "16", "20"]
    for plane in ((0, 0), (0, 3), (-4, 0)):
        with pytest.raises(TransferError, match=r"two different axes of 0\.\.2"):
            image.picture(plane=plane)


def test_a_large_picture_is_cut_and_says_so() -> None:
    svg = view((20, 100, 70)).picture().svg
    for note in ("12 more planes", "36 more rows", "6 more columns"):
        assert f"{note} are not shown" in svg
    assert len(svg) < 5_000_000


def test_pictures_go_to_files(result: Result, tmp_path: Path) -> None:
    for path in (tmp_path / "a.svg", tmp_path / "a.html"):
        assert result.picture(path).svg in path.read_text(encoding="utf-8")
    assert result.picture()._repr_svg_().startswith("<svg")
    with pytest.raises(InputFileError, match=r"must end in \.svg or \.html"):
        result.picture(tmp_path / "a.png")
    with pytest.raises(InputFileError, match="cannot be written"):
        result.picture(tmp_path / "none" / "a.svg")
    with pytest.raises(DesignError, match="an untimed run has no cycles to draw"):
        designed().run(untimed=True).picture()
    by_hand = Transfer((Descriptor("memory", 4, 0),))
    with pytest.raises(TransferError, match="not made from a buffer"):
        by_hand.picture()


def test_bars_are_as_long_as_the_run(result: Result) -> None:
    root = ElementTree.fromstring(result.picture().svg)
    bars = [
        float(each.get("width", "0"))
        for each in root.iter("{http://www.w3.org/2000/svg}rect")
        if each.find("{http://www.w3.org/2000/svg}title") is not None
    ]
    assert sum(bars) == pytest.approx(480 * len(result.channels), abs=0.5)


def test_fractions_and_repr_of_channels(result: Result) -> None:
    use = result.channels[0]
    assert use.busy == use.fraction(Cause.MOVING) == 64 / result.cycles
    assert result.busy == use.busy
    assert sum(use.fraction(cause) for cause in Cause) == pytest.approx(1)
    assert repr(use).startswith("ChannelUse(MM2S 0 (<b>): 64 words, 64 moving, ")
    assert set(result.as_json()["channels"][0]["cycles"]) == {cause.name.lower() for cause in Cause}
    untimed = designed().run(untimed=True)
    assert (untimed.busy, untimed.channels[0].busy) == (0, 0)
