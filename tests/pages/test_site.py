"""Is the site built without a warning, is each page whole in a real browser, does the playground answer?"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from support.pages.browser import Page, opened
from support.pages.search_rank import RIGHT, first_page

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
*EXAMPLES, PROGRAM = json.loads((WEB / "playground" / "examples.json").read_text(encoding="utf-8"))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all workers of pytest."""
    ours = tmp_path_factory.getbasetemp()
    base = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
    folder, done = base / "site", base / "site.done"
    with (base / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            command = [sys.executable, str(WEB / "build.py"), str(folder)]
            command += ["--without-playground"] if fetching_fails() else []
            built = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
            done.touch()
    return folder


@functools.cache
def fetching_fails() -> str:
    """Why the files of others that the playground needs cannot be had here; empty if they can."""
    command = [sys.executable, "-c", "import playground_files as files; files.fetched()"]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    return done.stderr.partition("RuntimeError: ")[2].strip() if "cannot be fetched" in done.stderr else ""


def need_playground() -> None:
    """Leave the test out where the files of others that it needs cannot be had."""
    if why := fetching_fails():
        pytest.skip(f"Pyodide is not installed: {why}")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def page(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    profile = tmp_path_factory.mktemp("profile")
    with opened(f"{address}/index.html", profile, ready="document.readyState === 'complete'") as found:
        yield found


class _Links(HTMLParser):
    """Addresses that a page names, and the names of its places."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.places.add(value)


@functools.cache
def parsed(path: Path) -> _Links:
    found = _Links()
    found.feed(path.read_text(encoding="utf-8"))
    return found


def lands(fragment: str, path: Path) -> bool:
    """Whether there is such a file, with the place that a link names; reports make theirs when shown."""
    if not fragment or path.suffix != ".html" or "reports" in path.parts:
        return path.exists()
    return path.is_file() and unquote(fragment) in parsed(path).places


def broken(site: Path) -> Iterator[str]:
    """Links within the site that lead nowhere."""
    for path in site.rglob("*.html"):
        if "reports" in path.parts:  # one file each, which fetches nothing
            continue
        for link in parsed(path).links:
            where = urlsplit(link)
            if where.scheme or where.netloc:
                continue
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            if not lands(where.fragment, target):
                yield f"{path.relative_to(site)}: {link}"


def test_every_page_is_on_the_site_and_every_link_leads_somewhere(site: Path) -> None:
    for name in ("docs/*.md", "notebooks/*.ipynb"):
        for path in ROOT.glob(name):
            page = site / ("notebooks" if path.suffix == ".ipynb" else "") / f"{path.stem}.html"
            assert path.name == "README.md" or page.is_file(), path.name
    absent = {"playground.html: playground/index.html"} if fetching_fails() else set()
    assert set(broken(site)) == absent
    assert "tutorial.html" in parsed(site / "index.html").links


def test_a_model_finds_every_page_by_llms_txt(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# memtile\n\n> ")
    found = re.findall(r"^- \[.+\]\((.+\.md)\)(?:: .+)?$", text, re.MULTILINE)
    listed = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(found) == len(listed) == len(set(found))
    for name in found:
        assert (site / name).is_file()
        assert (site / name).with_suffix(".html").is_file()
    assert {path.name for path in ROOT.glob("docs/*.md")} - {"README.md"} <= set(found)


def test_every_page_is_whole_in_a_browser(site: Path, address: str, page: Page) -> None:
    faults = []
    names = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    assert len(names) > 60
    for name in names:
        if name == "playground/index.html":  # has a test of its own
            continue
        page.go(f"{address}/{name}")
        empty = page.evaluate("[...document.images].filter(each => !each.naturalWidth).map(each => each.src)")
        assert page.evaluate("document.title"), name
        faults += [f"{name}: {each}" for each in (*empty, *page.said)]
        page.said.clear()
    assert faults == []
    assert [each for each in page.fetched if not each.startswith((address, "data:", "about:", "blob:"))] == []


@pytest.mark.parametrize(("name", "pictures"), [("first_steps", 5), ("tune_gemm", 4), ("find_hang", 3)])
def test_a_notebook_has_its_pictures(name: str, pictures: int, address: str, page: Page) -> None:
    page.go(f"{address}/notebooks/{name}.html")
    sizes = page.evaluate(
        "[...document.querySelectorAll('.shown svg')].map(each => each.getBoundingClientRect().height)"
    )
    assert len(sizes) == pictures
    assert min(sizes) > 30


def test_outputs_of_a_notebook_fit_on_a_phone(site: Path, tmp_path: Path) -> None:
    file, loaded = site / "notebooks" / "first_steps.html", "document.readyState === 'complete'"
    with opened(file, tmp_path, width=390, height=844, ready=loaded) as found:
        ends = "[...document.querySelectorAll('.shown svg')].map(each => each.getBoundingClientRect().right)"
        assert max(found.evaluate(ends)) <= 390


def test_the_gallery_leads_to_reports_that_can_be_used(address: str, page: Page) -> None:
    page.go(f"{address}/gallery/transpose.html")
    link = page.evaluate("[...document.links].find(each => each.href.includes('/reports/')).href")
    page.go(link, "document.body?.dataset.ready")
    assert page.evaluate("document.querySelectorAll('canvas').length") > 0


def test_the_search_finds_a_word(address: str, page: Page) -> None:
    page.go(f"{address}/search.html?q=scrubber")
    page.wait("document.querySelectorAll('#search-results li').length")
    found = page.evaluate("[...document.querySelectorAll('#search-results li a')].map(each => each.href)")
    assert any("protection.html" in each for each in found)


def test_the_search_lists_the_right_page_first(address: str, page: Page) -> None:
    found = {query: first_page(page, address, query) for query in RIGHT}
    assert sum(name in RIGHT[query] for query, name in found.items()) >= len(RIGHT) - 1, found


def entries(page: Page) -> list[str]:
    """Names of what the lookup of registers has found, with what stands beside them."""
    script = "[...document.querySelectorAll('#register-found summary')].map(each => each.innerText)"
    return [" ".join(each.split()) for each in page.evaluate(script)]


@pytest.mark.parametrize(
    ("query", "first", "says"),
    [
        ("q=DMA_S2MM_0_Ctrl", "DMA_S2MM_0_Ctrl memory tile, 0xA0600", "Decompression_Enable"),
        ("q=0xA0604&tile=memory", "DMA_S2MM_0_Start_Queue memory tile, 0xA0604", "23:16 Repeat_Count wo"),
        ("q=0x21A0604", "DMA_S2MM_0_Start_Queue memory tile, 0xA0604", "Tile (1,1), offset 0xA0604."),
        ("q=0xE21F030&device=npu2", "Lock3_value AIE2P compute tile, 0x1F030", "Tile (7,2)"),
        ("q=event+77&tile=compute", "PORT_TLAST_0 77, event of module core, compute tile", "2 found"),
        ("q=lock0", "Lock0_value memory tile, 0xC0000", "the value of lock 0"),
        ("q=Trace_Status&device=xc2ve3858", "Trace_Status AIE-ML v2 memory tile, 0x940D8", "Source"),
    ],
)
def test_a_register_is_found_by_name_and_by_address(
    query: str, first: str, says: str, address: str, page: Page
) -> None:
    page.go(f"{address}/lookup.html?{query}", "document.body?.dataset.registers")
    assert entries(page)[0] == first
    assert says in " ".join(page.evaluate("document.querySelector('article').innerText").split())
    assert page.said == []


def test_the_lookup_answers_while_one_types_and_from_disk(site: Path, tmp_path: Path) -> None:
    with opened(site / "lookup.html", tmp_path, ready="document.body?.dataset.registers") as found:
        found.evaluate("document.querySelector('#register-query').focus()")
        found.press(*"0xC0010")
        assert entries(found)[0] == "Lock1_value memory tile, 0xC0010"
        assert {urlsplit(each).scheme for each in found.fetched} <= {"file", "data"}


def test_the_front_page_has_output_and_no_link_is_shown_as_a_file_name(
    site: Path, page: Page, address: str
) -> None:
    page.go(f"{address}/index.html")
    text = page.evaluate("document.querySelector('article').innerText")
    assert "MM2S 0" in text
    assert "IRON" in text
    shown = re.compile(r'<a class="reference internal"[^>]*>(?:<[^>]*>)*[a-z_]+\.md<')
    assert [path.name for path in site.glob("*.html") if shown.search(path.read_text("utf-8"))] == []
    assert "Copyright" not in (site / "tutorial.html").read_text("utf-8")


def test_a_page_in_no_part_and_a_link_that_leads_nowhere_end_the_build(tmp_path: Path) -> None:
    shutil.copy(WEB / "conf.py", tmp_path)
    shutil.copy(WEB / "favicon.ico", tmp_path)
    (tmp_path / "index.md").write_text("# Index\n\n[nowhere](nowhere.md)\n")
    (tmp_path / "alone.md").write_text("# Alone\n")
    code = "import sys, build; sys.exit(build.pages_built(*map(build.Path, sys.argv[1:])))"
    command = [sys.executable, "-c", code, str(tmp_path), str(tmp_path / "out"), str(tmp_path / "trees")]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "nowhere.md" in done.stderr
    assert "alone.md" in done.stderr


def test_links_to_files_that_are_not_on_the_site_are_words() -> None:
    text = "[a](../README.md#install) [b](../src/x.py) [c](b.md#p) `d`\n```\n[e](../src/x.py)\n```\n[f](https://g.h)"
    code = (
        "import sys, links; pages = {'README.md': 'readme.md', 'docs/b.md': 'b.md'};"
        "print(links.linked(sys.argv[1], 'docs/a.md', 'sub/a.md', pages))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, text], cwd=WEB, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "[a](../readme.md#install) b [c](../b.md#p) `d`",
        "```",
        "[e](../src/x.py)",
        "```",
        "[f](https://g.h)",
    ]


@pytest.fixture(scope="module")
def playground(address: str, page: Page) -> Page:
    need_playground()
    page.said.clear()
    ready = "document.querySelector('#tile') && document.body.dataset.ready"  # not the page before
    page.go(f"{address}/playground/index.html", ready)
    return page


def asked(page: Page, text: str, tile: str = "memory", arguments: str = "") -> dict[str, Any]:
    """What is seen after a text was typed in and answered."""
    page.evaluate(f"document.querySelector('#tile').value = {tile!r}")
    page.evaluate(f"document.querySelector('#arguments').value = {json.dumps(arguments)}")
    page.evaluate(f"document.querySelector('#given').value = {json.dumps(text)}")
    page.evaluate("document.querySelector('#go').click()")
    page.wait("!document.body.dataset.asking")
    seen = page.evaluate(
        "Object.fromEntries(['error', 'summary', 'words', 'text', 'walk'].map("
        "id => [id, document.getElementById(id).textContent]))"
    )
    there = "!document.querySelector('#answer').hidden"
    drawn = "document.querySelectorAll('#picture svg rect').length"
    return {**seen, "there": page.evaluate(there), "drawn": page.evaluate(drawn)}


def native(text: str, arguments: str = "") -> dict[str, Any]:
    """The same answer, from the package as it is here."""
    code = "import sys, answers; print(answers.answer(sys.argv[1], arguments=sys.argv[2]))"
    done = subprocess.run(
        [sys.executable, "-c", code, text, arguments],
        cwd=WEB / "playground",
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each["name"])
def test_the_browser_answers_what_the_package_answers(example: dict[str, str], playground: Page) -> None:
    seen, here = asked(playground, example["text"]), native(example["text"])
    assert seen["there"], seen["error"]
    assert seen["text"] == here["text"]
    assert seen["walk"] == here["walk"]
    assert seen["words"] == "\n".join(f"BD {n}: {' '.join(each)}" for n, each in enumerate(here["words"]))
    assert seen["drawn"] == here["picture"].count("<rect")
    assert seen["drawn"] > 40


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must be a number"),
        ("{", "the text is not JSON"),
        ("0x1 0x2", "2 words are given"),
        ("aie.dma_bd(%x)", "write (%b : memref<8x16xi32>, ...)"),
        ("aie.dma_bd(%a : memref<16x32xi8>, 0, 511)", "whole 32-bit words"),
        ('{"buffer_dimension": [3], "element_bits": 8}', "The nearest legal value is 4."),
    ],
)
def test_a_mistake_is_told_and_the_next_answer_is_good(text: str, says: str, playground: Page) -> None:
    seen = asked(playground, text)
    assert says in seen["error"]
    assert not seen["there"]
    again = asked(playground, "16 0 0 0 0 0x02000000", "compute")
    assert (again["error"], again["walk"]) == ("", " ".join(map(str, range(16))))


def test_a_transfer_without_end_is_not_drawn_and_the_page_goes_on(playground: Page) -> None:
    words = f"{0xFFFF_FFFF} 0 0 0 0 0 0 {1 << 25}"
    assert "are not walked here" in asked(playground, words, "interface")["walk"]


def test_the_keyboard_asks_and_nothing_is_fetched_from_elsewhere(playground: Page, address: str) -> None:
    playground.evaluate("document.querySelector('#given').focus()")
    playground.evaluate("document.querySelector('#given').value = '0x1 0x2'")
    playground.evaluate(
        "document.querySelector('#given').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true}))"
    )
    playground.wait("!document.body.dataset.asking")
    assert "2 words are given" in playground.evaluate("document.querySelector('#error').textContent")
    assert [each for each in playground.said if not each.startswith(("log", "info"))] == []
    assert {urlsplit(each).netloc for each in playground.fetched} - {""} == {urlsplit(address).netloc}


def test_a_program_is_built_in_the_browser(playground: Page) -> None:
    seen, here = asked(playground, PROGRAM["text"], arguments="--rows 4"), native(PROGRAM["text"], "--rows 4")
    assert seen["error"] == ""
    assert seen["summary"] == here["text"]
    labels = "[...document.querySelector('#parts').options].map(each => each.text)"
    assert playground.evaluate(labels) == here["parts"]
    drawn = playground.evaluate("document.querySelectorAll('#array svg path').length")
    assert drawn == here["array"].count("<path ") > 2  # tiles of each kind, and streams
    playground.evaluate("document.querySelector('#parts').selectedIndex = 4")
    playground.evaluate("document.querySelector('#parts').dispatchEvent(new Event('change'))")
    playground.wait("!document.body.dataset.asking")
    order = [row + 16 * column for row in range(16) for column in range(4)]
    assert playground.evaluate("document.querySelector('#walk').textContent") == " ".join(map(str, order))


def test_a_name_that_is_not_there_leads_to_the_list_of_names(playground: Page) -> None:
    seen = asked(playground, "import aie.iron\nfrom aie.iron import ObjectFiFo\n")
    assert seen["error"].startswith("program.py:2: memtile's IRON has no aie.iron.ObjectFiFo.")
    playground.evaluate("document.querySelector('#names summary').click()")
    playground.wait("document.querySelector('#listed').textContent")
    assert "aie.iron: Acquire, Bd," in playground.evaluate("document.querySelector('#listed').textContent")


def test_a_program_without_end_can_be_stopped_and_the_page_answers_again(playground: Page) -> None:
    text = json.dumps("import aie.iron\nwhile True:\n    pass\n")
    playground.evaluate(f"document.querySelector('#given').value = {text}")
    playground.evaluate("document.querySelector('#go').click()")
    playground.wait("!document.querySelector('#stop').hidden")
    playground.evaluate("document.querySelector('#stop').click()")
    playground.wait("!document.body.dataset.asking")
    assert "Stopped." in playground.evaluate("document.querySelector('#error').textContent")
    again = asked(playground, "16 0 0 0 0 0x02000000", "compute")
    assert (again["error"], again["walk"]) == ("", " ".join(map(str, range(16))))


def test_from_disk_the_playground_says_what_it_needs(site: Path, tmp_path: Path) -> None:
    need_playground()
    with opened(
        site / "playground" / "index.html", tmp_path, ready="document.readyState === 'complete'"
    ) as found:
        said = found.evaluate("document.body.textContent")
    assert "The playground needs a web server" in said
