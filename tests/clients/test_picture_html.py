"""Do pictures of an access order come out right: as files, and in a real browser?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import image
from typer.testing import CliRunner

from memtile.access.slices import HIDDEN, rectangles, slices
from memtile.access.tiling import TilingParameters, TraversingParameters
from memtile.access.tiling_cases import parse_tiling
from memtile.cli import main
from memtile.errors import TransferError
from memtile.report.access_files import access_page
from memtile.report.access_picture import access_figure
from support.pages.browser import Page, opened

EXAMPLES = Path(__file__).parents[2] / "examples" / "tilings"
HALO = EXAMPLES / "halo.json"
DRAWN = "document.body?.dataset.drawn"
CANVASES = "document.querySelectorAll('canvas').length"


def draw(source: Path, target: Path) -> str:
    done = CliRunner().invoke(main.app, ["lower", str(source), "--picture", str(target)])
    assert done.exit_code == 0, done.stderr
    return target.read_text(encoding="utf-8") if target.suffix != ".png" else ""


def text(shown: Page) -> str:
    """What is to be read on a page."""
    found: str = shown.evaluate("document.body.textContent")
    return found


def test_the_page_runs_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "halo.html"
    draw(HALO, page)
    with opened(page, tmp_path / "profile", ready=DRAWN) as shown:
        assert shown.evaluate("document.body.dataset.drawn") == "144"
        assert "element 144 of 144 · BD 3, run 0 · zero padding at (8, 8)" in text(shown)
        assert shown.evaluate(CANVASES) == 1
        shown.go("about:blank")
        shown.go(f"{page.as_uri()}#50", DRAWN)
        assert shown.evaluate("document.body.dataset.drawn") == "50"
        assert "element 50 of 144 · BD 1, run 0 · data at (4, 1)" in text(shown)
        assert shown.said == []


def test_the_page_is_not_blank(tmp_path: Path) -> None:
    page, shot = tmp_path / "halo.html", tmp_path / "shot.png"
    draw(HALO, page)
    with opened(page, tmp_path / "profile", width=900, height=800, ready=DRAWN) as shown:
        shown.picture(shot)
    pixels = image.imread(shot)[..., :3]
    assert pixels.shape == (800, 900, 3)
    viridis_ends = [np.array([0x44, 0x01, 0x54]) / 255, np.array([0xFD, 0xE7, 0x25]) / 255]
    for colour in viridis_ends:
        assert (np.abs(pixels - colour).max(axis=2) < 0.02).sum() > 200


def test_slices_of_four_dimensions_are_canvases(tmp_path: Path) -> None:
    source, page = tmp_path / "four.json", tmp_path / "four.html"
    source.write_text('{"buffer_dimension": [4, 3, 2, 2], "element_bits": 32, "id": "<4 & 5>"}')
    draw(source, page)
    with opened(page, tmp_path / "profile", ready=DRAWN) as shown:
        assert shown.evaluate(CANVASES) == 4
        captions = shown.evaluate("[...document.querySelectorAll('figcaption')].map(c => c.textContent)")
        assert "dimension 2 = 1, dimension 3 = 0" in captions
        assert "data at (3, 2), dimension 2 = 1, dimension 3 = 1" in text(shown)
        heading = shown.evaluate("document.querySelector('h1').textContent")
        assert heading.startswith("<4 & 5>: read 4 x 3 x 2 x 2")


def test_the_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    page = draw(HALO, tmp_path / "halo.html")
    assert re.findall(r"(?:src|href)\s*=|https?:|@import|url\(", page) == []
    assert "$" not in re.sub(r"\$\{|\\d\+\$", "", page)


@pytest.mark.slow
def test_the_picture_is_an_svg_with_words_to_search(tmp_path: Path) -> None:
    text = draw(HALO, tmp_path / "halo.svg")
    root = ElementTree.fromstring(text)
    words = {"".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"dimension 0 (elements)", "dimension 1 (elements)", "zero padding", "edge of the data"} <= words
    assert "position in the stream (elements)" in words
    assert {str(n) for n in range(36)} <= words
    assert draw(HALO, tmp_path / "again.svg") == text


@pytest.mark.slow
def test_a_list_gives_numbered_pictures(tmp_path: Path) -> None:
    source = tmp_path / "list.json"
    source.write_text(f"[{HALO.read_text()}, {(EXAMPLES / 'transpose.json').read_text()}]")
    done = CliRunner().invoke(main.app, ["lower", str(source), "--picture", str(tmp_path / "a.png")])
    assert done.exit_code == 0
    first, second = (image.imread(tmp_path / f"a-{n}.png") for n in (1, 2))
    assert first.shape != second.shape or (first != second).any()
    assert len(np.unique(first.reshape(-1, first.shape[-1]), axis=0)) > 100


@pytest.mark.slow
def test_commands_that_draw_nothing_do_not_load_matplotlib() -> None:
    code = (
        "import sys; from memtile.cli.main import app\n"
        f"try: app(['lower', {str(HALO)!r}, '--json'])\n"
        "except SystemExit: print(any(m in sys.modules for m in ('matplotlib', 'numba')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False", done.stderr


def test_slices_place_every_element_at_its_coordinates() -> None:
    order = slices(
        parse_tiling(
            {"buffer_dimension": [3, 2], "tiling_dimension": [4, 3], "offset": [-1, 0], "element_bits": 32}
        ).request()
    )
    assert (order.corner, order.width, order.height, order.fold, order.names) == ((-1, 0), 4, 3, 0, ("",))
    assert order.first().tolist() == [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]
    row = [False, True, True, True]
    assert order.inside.tolist() == [[row, row, [False] * 4]]


def test_a_long_line_is_folded_and_keeps_its_coordinates() -> None:
    order = slices(TilingParameters((100,), (104,), (-2,)).request(32))
    assert (order.fold, order.corner, order.width, order.height) == (32, (0, -1), 32, 5)
    assert order.first()[0, 0, -2:].tolist() == [0, 1]
    assert order.first()[0, 1, 0] == 2
    assert int(order.inside.sum()) == 100


def test_slices_beyond_the_limit_are_counted_not_lost() -> None:
    order = slices(TilingParameters((2, 2, 3, 2)).request(32), most=4)
    assert order.names[:2] == ("dimension 2 = 0, dimension 3 = 0", "dimension 2 = 1, dimension 3 = 0")
    assert (len(order.names), order.left_out) == (4, 2)
    assert (order.cells == HIDDEN).sum() == 8


WINDOWS = TilingParameters(
    (4, 6, 6),
    (4, 3, 3),
    (0, -1, -1),
    (TraversingParameters(1, 3, 2), TraversingParameters(2, 3, 2)),
)


def test_channels_that_stay_together_leave_the_picture_to_the_image() -> None:
    """NHWC windows: dimensions 1 and 2 are the image, and a cell is all channels of a pixel."""
    order = slices(WINDOWS.request(32))
    assert (order.plane, order.together, order.names, order.left_out) == ((1, 2), 4, ("",), 0)
    assert (order.corner, order.width, order.height) == ((-1, -1), 7, 7)
    assert order.first()[0, 0, :4].tolist() == [0, 4, 8, 36]  # stream positions of whole pixels
    assert "each cell is all 4 elements of dimension 0" in access_page(order, "title")
    assert '["dimension 1 (elements)","dimension 2"]' in access_page(order, "title")


def test_the_plane_of_a_picture_is_a_choice() -> None:
    order = slices(WINDOWS.request(32), plane=(0, 1))
    assert (order.plane, order.together, order.width, order.height) == ((0, 1), 0, 4, 7)
    assert order.names[:2] == ("dimension 2 = -1", "dimension 2 = 0")
    turned = slices(WINDOWS.request(32), plane=(2, 1))
    image = slices(WINDOWS.request(32), plane=(1, 2))
    assert turned.names[0] == "dimension 0 = 0"
    assert np.array_equal(turned.first()[0], image.first()[0].T)
    for plane in ((0, 3), (1, 1), (-1, 0)):
        with pytest.raises(TransferError, match=r"two different dimensions of 0\.\.2"):
            slices(WINDOWS.request(32), plane=plane)
    whole = slices(TilingParameters((4, 6, 6)).request(32))
    assert (whole.plane, whole.together) == ((0, 1), 0)  # memory as it is


def test_the_way_runs_beside_the_numbers_of_small_slices() -> None:
    small = access_figure(slices(TilingParameters((4, 4)).request(32)), "small")
    large = access_figure(slices(TilingParameters((14, 14)).request(32)), "large")
    for figure, aside in ((small, 0.26), (large, 0)):
        axes = figure.axes[0]
        ends = np.concatenate([line.get_xydata()[:, 0] for line in axes.lines])
        assert np.allclose(ends[~np.isnan(ends)] % 1, aside)
        assert bool(axes.texts) == (aside > 0)


def test_visits_count_what_overlaps() -> None:
    loops = (TraversingParameters(0, 2, 2),)
    order = slices(TilingParameters((5,), (3,), (), loops).request(32))
    assert order.visits().tolist() == [[[1, 1, 2, 1, 1]]]


def test_rectangles_tile_the_mask() -> None:
    mask = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], bool)
    assert rectangles(mask) == [(0, 0, 2, 2), (1, 2, 2, 1)]
