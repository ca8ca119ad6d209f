"""Does the report of a run say what its books say: as a page in a real browser, as text, and for Perfetto?"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from typer.testing import CliRunner

from memtile.cli.main import app
from memtile.model.checking.history_log import BINS
from memtile.report.run.data import packed, steps, unpacked
from memtile.report.run.files import report_page
from support.pages.browser import Page, opened

ROOT = Path(__file__).parents[2]
EXAMPLES, CORPUS = ROOT / "examples", ROOT / "tests" / "corpus"
TRANSPOSE = ROOT / "tests" / "oracle" / "txn" / "scn_transpose_8x16.bin"

DESIGN = """
import numpy as np
from memtile import MemoryTile

def design():
    tile = MemoryTile()
    buffer, full = tile.buffer("b", 64), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(buffer).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(buffer).guarded(full.acquire(), None))
    tile.s2mm[0].feed(np.arange({words}, dtype=np.int32))
    tile.mm2s[0].expect(np.arange(64, dtype=np.int32))
    return tile
"""


def run(*args: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["run", *map(str, args)], env={"COLUMNS": "150"})
    assert "Traceback" not in done.output
    assert done.exit_code == code, done.output
    return done


def data_of(page: Path) -> dict[str, Any]:
    """What the page has in it."""
    found = re.search(r'<script type="application/json" id="data">(.*)</script>', page.read_text("utf-8"))
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.py"
    path.write_text(DESIGN.format(words=64))
    return path


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    path = tmp_path / "stuck.py"
    path.write_text(DESIGN.format(words=32))
    return path


@pytest.fixture(scope="session")
def transpose(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small array."""
    page = tmp_path_factory.mktemp("report") / "transpose.html"
    run(EXAMPLES / "transpose.py", "--report", page)
    return page


@pytest.fixture(scope="session")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the matrix product on four columns."""
    page = tmp_path_factory.mktemp("report") / "gemm.html"
    run(EXAMPLES / "gemm.py", "--set", "columns=4", "--report", page)
    return page


# what is written --------------------------------------------------------------------------------------------


def test_a_page_needs_nothing_but_itself(transpose: Path) -> None:
    text = re.sub(r'"packed":"[^"]*"', "", transpose.read_text("utf-8"))
    assert (
        re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=|@import|url\(|fetch\(|XMLHttp", text) == []
    )
    assert [
        found for found in re.findall(r"https?://[^\s\"'`]*", text) if "www.w3.org/2000/svg" not in found
    ] == []


def test_tracks_sum_to_the_books(transpose: Path) -> None:
    data = data_of(transpose)
    numbers, tracks = unpacked(data["packed"]), data["tracks"]
    many = sum(track["changes"] for track in tracks)
    place, found = 0, {}
    for track in tracks:
        mine = slice(place, place + track["changes"])
        starts = np.cumsum(numbers[:many][mine]) + data["began"]
        cycles = np.diff(np.append(starts, data["ended"]))
        values = numbers[many : 2 * many][mine]
        found[track["kind"], track["name"]] = (values, cycles)
        place += track["changes"]
    names = [cause["name"] for cause in data["causes"]["channel"]]
    for use in data["record"]["result"]["channels"]:
        values, cycles = found["channel", use["channel"]]
        spent: Counter[str] = Counter()
        for value, n in zip(values.tolist(), cycles.tolist(), strict=True):
            spent[names[value & 0xFF]] += n
        assert +spent == +Counter(use["cycles"])
        assert sum(spent.values()) == data["record"]["result"]["cycles"]


def test_text_has_a_line_for_everything_that_was_done(design: Path, tmp_path: Path) -> None:
    run(design, "--report", tmp_path / "run.txt")
    lines = (tmp_path / "run.txt").read_text("utf-8").splitlines()
    assert lines[0].startswith("design.py: pass: finished")
    assert any(line.startswith("status: finished in ") for line in lines)
    at = lines.index("timeline: cycles, track, what it did") + 1
    done = [line.split("\t") for line in lines[at:]]
    moved = [cycles for cycles, track, what in done if track == "S2MM 0 'b'" and what == "moving, BD 0"]
    assert sum(int(b) - int(a) + 1 for a, b in (cycles.split("..") for cycles in moved)) == 64
    waits = [what for _, track, what in done if track == "MM2S 0 'b'" and "lock acquire" in what]
    assert waits == ["lock acquire, BD 1, lock 0 of memory(0,0) 'full'"]
    locks = [what for _, track, what in done if track.startswith("lock 0")]
    assert locks == ["0, begins", "1, released by S2MM 0 'b'", "0, acquired by MM2S 0 'b'"]
    assert any(line.startswith("  transfer: moves 64 words") for line in lines)


def test_perfetto_in_both_forms_says_the_same(design: Path, tmp_path: Path) -> None:
    run(design, "--perfetto", tmp_path / "run.json")
    run(design, "--perfetto", tmp_path / "run.pftrace")
    records = json.loads((tmp_path / "run.json").read_text("utf-8"))
    moving = [r for r in records if r["ph"] == "X" and r["name"].startswith("moving")]
    assert sum(r["args"]["cycles"] for r in moving if r["tid"] == moving[0]["tid"]) == 64
    assert [r["args"]["value"] for r in records if r["ph"] == "C"] == [0, 1, 0]
    named = {r["args"]["name"] for r in records if r["ph"] == "M"}
    assert {"S2MM 0 'b'", "MM2S 0 'b'"} <= named
    assert all("idle" not in r["name"] for r in records)

    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    trace = Trace()
    trace.ParseFromString((tmp_path / "run.pftrace").read_bytes())
    events = [packet.track_event for packet in trace.packet if packet.HasField("track_event")]
    begins = [event.name for event in events if event.type == event.TYPE_SLICE_BEGIN]
    assert sorted(begins) == sorted(r["name"] for r in records if r["ph"] == "X")
    assert len([e for e in events if e.type == e.TYPE_SLICE_END]) == len(begins)
    assert [e.counter_value for e in events if e.type == e.TYPE_COUNTER] == [0, 1, 0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--untimed", "--report", "run.html"], "an untimed run has no cycles for --report and"),
        (["--untimed", "--perfetto", "run.json"], "an untimed run has no cycles for --report and"),
        (["--report", "run.pdf"], "the name of a report must end in .html or .txt"),
        (["--report", "nowhere/run.html"], "there is no such folder"),
        (["--perfetto", "nowhere/run.json"], "there is no such folder"),
        (["--report", "."], "must end in .html or .txt"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_run(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "design.py"
    path.write_text("def design():\n    raise RuntimeError('it ran')\n")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", *options, str(path)])
    assert done.exit_code != 0
    assert says in re.sub(r"\s+", " ", re.sub("[│╭╮╰╯─]", "", done.output))
    assert "it ran" not in done.output


def test_a_program_and_an_mlir_design_have_reports_too(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(128, dtype=np.int32).reshape(8, 16))
    out = f"y:16x8={tmp_path / 'y.npy'}"
    run(TRANSPOSE, "--in", f"x={tmp_path / 'in.npy'}", "--out", out, "--report", tmp_path / "program.html")
    program = data_of(tmp_path / "program.html")
    assert program["title"] == TRANSPOSE.name
    assert set(program["record"]["provenance"]["inputs"]) == {str(TRANSPOSE), str(tmp_path / "in.npy")}
    assert program["tracks"]
    np.save(tmp_path / "scale.npy", np.arange(4096, dtype=np.int32))
    arrays = ["--in", f"0={tmp_path / 'scale.npy'}", "--out", f"1:int32:4096={tmp_path / 'out.npy'}"]
    functions = EXAMPLES / "scale_functions.py"
    mlir = tmp_path / "mlir.html"
    run(EXAMPLES / "scale.mlir", "--kernels", functions, *arrays, "--report", mlir)
    data = data_of(mlir)
    assert {track["kind"] for track in data["tracks"]} == {"channel", "core", "lock", "port"}
    assert any("scale.mlir:" in each["place"] for each in data["descriptors"])
    locks = {track["label"] for track in data["tracks"] if track["kind"] == "lock"}
    assert {"in_cons_prod_lock_0", "out_cons_lock_0"} <= locks


def test_packed_numbers_come_out_again() -> None:
    numbers = [np.array([0, 1, 255, 256, (1 << 32) - 1]), np.zeros(0, np.int64), np.arange(1000)]
    assert unpacked(packed(numbers)).tolist() == np.concatenate(numbers).tolist()
    assert np.cumsum(steps(np.array([7, 7, 9]))).tolist() == [7, 7, 9]
    for wrong in (-1, 1 << 32):
        with pytest.raises(ValueError, match="32 bits"):
            packed([np.array([wrong])])


# in a browser -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def small(transpose: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened(transpose, tmp_path_factory.mktemp("profile")) as page:
        yield page


def told(page: Page) -> str:
    text: str = page.evaluate("document.getElementById('told').innerText")
    return re.sub(r"[\s\u202f]+", " ", text)


def settled(page: Page) -> None:
    """Wait until the page has drawn what belongs to its window."""
    page.evaluate("new Promise(done => setTimeout(done, 300))")


@pytest.mark.slow
def test_the_page_of_the_product_is_small_and_quick(gemm: Path, tmp_path: Path) -> None:
    assert gemm.stat().st_size <= 5e6
    with ready(gemm, tmp_path) as page:
        assert page.evaluate("tracks.filter(track => track.kind === 'channel').length") == 108
        for kind in ("locks", "ports"):
            page.press(kind[0])
        assert frames(page) >= 30
        assert (page.said, page.fetched) == ([], [gemm.as_uri()])


@pytest.mark.slow
def test_a_million_events_are_quick_too(transpose: Path, tmp_path: Path) -> None:
    """Tracks that change in every other cycle, all of them seen at once."""
    data, many, long = data_of(transpose), 40, 25_000
    track = next(track for track in data["tracks"] if track["kind"] == "channel")
    data |= {"tracks": [track | {"changes": long, "name": f"track {n}"} for n in range(many)]}
    data |= {"began": 0, "ended": 2 * long, "ways": [], "descriptors": [], "agents": {}, "locks": {}}
    data["banks"]["list"] = []
    one = np.concatenate([[0], np.full(long - 1, 2)])
    values = np.tile([0, 7, 4, 8, 0], long // 5)
    data["packed"] = packed([one] * many + [values] * many)
    page_file = tmp_path / "many.html"
    page_file.write_text(report_page(data), encoding="utf-8")
    with ready(page_file, tmp_path) as page:
        assert page.evaluate("tracks.reduce((sum, track) => sum + track.changes, 0)") == 1_000_000
        assert frames(page) >= 30
        page.evaluate("choose(3, 4000)")
        page.press("1")
        assert page.evaluate("view.last - view.first") == 49
        assert page.said == []


@contextmanager
def ready(file: Path, folder: Path) -> Iterator[Page]:
    """A page that can be used within two seconds, in one of three tries."""
    for n in range(3):
        with opened(file, folder / f"try{n}", width=1440, height=1000) as page:
            took = float(page.evaluate("Number(document.body.dataset.ready)"))
            if took <= 2000 or n == 2:
                assert took <= 2000
                yield page
                return


def frames(page: Page) -> float:
    """Frames a second while the window is zoomed in and out and moved, the best of five tries at most."""
    script = """new Promise(done => {
      const begin = performance.now(), before = view.frames;
      let step = 0;
      const next = () => {
        step++;
        const phase = step % 40;
        if (phase < 12) zoom(.85); else if (phase < 20) pan(.1);
        else if (phase < 32) zoom(1 / .85); else pan(-.1);
        const over = performance.now() - begin;
        if (over > 1500) done((view.frames - before) / over * 1000); else requestAnimationFrame(next);
      };
      next();
    })"""
    found = []
    for _ in range(5):
        found.append(float(page.evaluate(script)))
        if found[-1] >= 30:
            break
    return max(found)


def test_with_the_keyboard_alone(small: Page) -> None:
    small.evaluate(
        "setTheme('light'), document.activeElement.blur(), view.chosen = -1, look(run.began, run.ended)"
    )
    # a tab goes on from where the test before it was: a whole turn of the page, and the page itself
    reached = "document.querySelectorAll('a, button, input, select, summary, [tabindex]').length"
    for _ in range(small.evaluate(reached) + 1):
        small.press("Tab")
        if small.evaluate("document.activeElement.id") == "rows":
            break
    assert small.evaluate("document.activeElement.id") == "rows"
    small.press("ArrowDown")
    assert "memory(0,1) S2MM 0 'rows'" in told(small)
    small.press("ArrowRight", "ArrowRight", "w", "w", "w")
    settled(small)
    assert small.evaluate("view.last - view.first") == pytest.approx(5346 * 0.7**3)
    small.press("1")
    assert small.evaluate("view.last - view.first") == 49
    small.press("0")
    assert small.evaluate("[view.first, view.last]") == [0, 5346]
    before = small.evaluate("view.cycle")
    small.press("ArrowRight", shift=True)
    assert small.evaluate("view.cycle") == before + 1
    small.press("?")
    assert small.evaluate("document.getElementById('keys').open") is True
    small.press("Escape")
    assert small.evaluate("document.getElementById('keys').open") is False


def test_who_held_what_is_waited_for(small: Page) -> None:
    small.evaluate("look(run.began, run.ended)")
    number = small.evaluate("tracks.findIndex(track => track.called === \"memory(0,1) MM2S 0 'rows'\")")
    small.evaluate(f"choose({number}, 50), rows.focus()")
    text = told(small)
    assert "does lock acquire" in text
    assert re.search(r"Why memory\(0,1\) MM2S 0 'rows': lock acquire; .*lock \d+ of memory\(0,1\)", text)
    assert re.search(r"given by memory\(0,1\) S2MM 0 'rows' in cycle [\d ]+", text)
    small.press("Enter")
    assert told(small).startswith("memory(0,1) S2MM 0 'rows'")


def test_a_search_finds_names_as_the_user_gave_them(small: Page) -> None:
    small.press("/")
    assert small.evaluate("document.activeElement.id") == "search"
    small.press(*"band")
    assert "4 tracks" in small.evaluate("document.getElementById('found').textContent")
    shown = small.evaluate(
        "view.shown.filter(row => row.number !== undefined).map(row => tracks[row.number].label)"
    )
    assert shown == ["band"] * 4
    small.press("Enter")
    assert "'band'" in told(small)
    small.press("/", "Escape")
    assert small.evaluate("view.shown.length") > 8
    assert small.evaluate("document.getElementById('search').value") == ""


def test_an_address_names_a_track_and_a_window(small: Page) -> None:
    small.evaluate("location.hash = '#track=memory(0,1)%20MM2S%200&cycle=50&from=20&to=220'")
    settled(small)
    assert small.evaluate("[view.first, view.last, view.cycle, tracks[view.chosen].name]") == [
        20,
        220,
        50,
        "memory(0,1) MM2S 0",
    ]
    small.evaluate("location.hash = ''")


def test_the_mouse_zooms_and_moves(small: Page) -> None:
    small.evaluate("look(run.began, run.ended), document.getElementById('timeline').scrollIntoView()")
    settled(small)
    box = small.evaluate("(box => [box.left, box.top, box.width])(rows.getBoundingClientRect())")
    x, y = box[0] + 250 + (box[2] - 250) / 2, box[1] + 50
    small.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)
    settled(small)
    narrow = small.evaluate("view.last - view.first")
    assert narrow < 5346 / 2
    first = small.evaluate("view.first")
    small.mouse("mousePressed", x, y, button="left", clickCount=1)
    small.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    small.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
    settled(small)
    assert small.evaluate("view.first") > first
    assert small.evaluate("view.last - view.first") == pytest.approx(narrow)


def test_the_page_of_a_good_run_begins_with_what_limits_it(small: Page) -> None:
    assert small.evaluate("document.querySelector('main').firstElementChild.id") == "array"
    assert small.evaluate("document.querySelector('header').contains(document.getElementById('bound'))")


def test_bars_add_up_to_the_run(small: Page) -> None:
    sums = small.evaluate(
        "tracks.filter(track => ['channel', 'core'].includes(track.kind))"
        ".map(track => spent(track, run.began, run.ended).reduce((a, b) => a + b))"
    )
    assert set(sums) == {5346}
    assert small.evaluate("document.querySelectorAll('#bars .stack').length") == len(sums)


def test_a_phone_shows_the_timeline_below_a_small_head(gemm: Path, tmp_path: Path) -> None:
    with opened(gemm, tmp_path / "phone", width=390, height=844) as page:
        page.evaluate("document.querySelector('#timeline').scrollIntoView()")
        head = page.evaluate("document.querySelector('.tools').getBoundingClientRect().toJSON()")
        assert head["top"] == 0
        assert head["height"] <= 0.15 * 844
        assert page.evaluate("rows.clientWidth - GUTTER") > 200
        array = page.evaluate("document.querySelector('#map svg').getBoundingClientRect().toJSON()")
        assert 0 <= array["left"] < array["right"] <= 390
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.said == []


def test_dark_and_light_are_looked_at(transpose: Path, tmp_path: Path) -> None:
    for scheme, low, high in (("light", 0.85, 1.0), ("dark", 0.0, 0.35)):
        with opened(transpose, tmp_path / scheme, scheme=scheme) as page:
            page.picture(tmp_path / f"{scheme}.png")
            pixels = image.imread(tmp_path / f"{scheme}.png")[..., :3]
            assert low <= np.median(pixels) <= high
            blue = page.evaluate("colours.channel[0]")
            rgb = np.array([int(blue[at : at + 2], 16) for at in (1, 3, 5)]) / 255
            page.evaluate("document.getElementById('timeline').scrollIntoView()")
            page.picture(tmp_path / f"{scheme}.png")
            pixels = image.imread(tmp_path / f"{scheme}.png")[..., :3]
            assert (np.abs(pixels - rgb).max(axis=2) < 0.02).sum() > 1000
            page.press("t")
            assert page.evaluate("isDark()") is (scheme == "light")
            assert page.said == []


def test_it_prints_on_light_paper(small: Page) -> None:
    small.evaluate("setTheme('dark')")
    assert small.printed().startswith(b"%PDF")
    assert small.evaluate("document.documentElement.dataset.theme") == "dark"
    small.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert small.evaluate("isDark()") is False
    small.evaluate("dispatchEvent(new Event('afterprint'))")
    assert small.evaluate("isDark()") is True
    small.evaluate("setTheme('')")


def test_descriptors_are_drawn_in_their_order(small: Page) -> None:
    cards = small.evaluate("document.querySelectorAll('#cards .card').length")
    assert cards == small.evaluate("run.descriptors.length") > 4
    painted = small.evaluate(
        "(() => { const canvas = document.querySelector('#cards canvas'); drawOrder(canvas);"
        " const {width, height} = canvas, pen = canvas.getContext('2d');"
        " return new Set(pen.getImageData(0, 0, width, height).data).size; })()"
    )
    assert painted > 20
    assert small.said == []


def test_a_stuck_run_shows_its_findings(stuck: Path, tmp_path: Path) -> None:
    page_file = tmp_path / "stuck.html"
    run(stuck, "--report", page_file, code=1)
    with opened(page_file, tmp_path / "profile") as page:
        assert page.evaluate("document.getElementById('verdict').textContent") == "fail"
        assert page.evaluate("document.querySelector('main').firstElementChild.id") == "findings"
        assert page.evaluate("document.querySelector('#list .finding').getBoundingClientRect().bottom") < 900
        boxes = page.evaluate("document.querySelectorAll('#waits .waiting').length")
        assert boxes == page.evaluate("result.waits.nodes.length") > 0
        text = page.evaluate("document.getElementById('list').innerText")
        assert re.search(r"MT0\d\d\d error", text)
        number = page.evaluate("tracks.findIndex(track => track.name === 'MM2S 0')")
        page.evaluate(f"choose({number}, run.ended - 1)")
        assert "never given" in told(page)
        assert "stream starved" in told(page)
        assert page.said == []


def test_a_circle_of_waits_is_followed_to_its_begin(tmp_path: Path) -> None:
    """Through locks that cores would give, streams and descriptors."""
    page_file = tmp_path / "circle.html"
    run(CORPUS / "fifos-in-another-order-hangs.py", "--report", page_file, code=1)
    with opened(page_file, tmp_path / "profile") as page:
        number = page.evaluate("tracks.findIndex(track => track.called === \"compute(0,2) MM2S 1 'q'\")")
        page.evaluate(f"choose({number}, run.ended - 1)")
        assert "A circle: back at compute(0,2) MM2S 1 'q'." in told(page)
        steps = page.evaluate(f"chain({number}, run.ended - 1).steps.map(step => tracks[step.number].name)")
        assert len(steps) == len(set(steps)) == 6
        links = page.evaluate("document.querySelectorAll('#list .finding button').length")
        assert links == 6
        boxes = "[...document.querySelectorAll('#waits .waiting rect')]"
        red = f"{boxes}.filter(box => box.getAttribute('stroke') === ink.bad)"
        assert page.evaluate(f"{red}.length") == page.evaluate(
            "result.waits.nodes.filter(node => node.root).length"
        )
        assert page.evaluate(
            "[...document.querySelectorAll('#map .band')].map(band => band.textContent)"
        ) == [
            "row 5: unused",
            "rows 0 to 1: unused",
        ]
        assert page.said == []


def test_banks_are_as_long_as_the_run(small: Page) -> None:
    banks = small.evaluate("[run.banks.bins, run.banks.stretch, run.banks.list.length]")
    assert banks[0] <= BINS
    assert (banks[0] - 1) * banks[1] < 5346 <= banks[0] * banks[1]
    words = small.evaluate(
        "run.banks.list.reduce((sum, bank) => sum + bank.accesses.reduce((a, b) => a + b), 0)"
    )
    assert words >= 4096 / 4
