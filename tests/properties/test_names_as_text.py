"""Are names text in every output, whatever characters they have: does it parse, and obey nobody?"""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from typer.testing import CliRunner

from memtile import Array, InputFileError, Result
from memtile.check.check import check_design
from memtile.cli.main import app
from memtile.plain_text import json_text, markup_text, printable, script_json
from memtile.report.cycles_picture import save_cycles
from memtile.report.finding_formats import junit, sarif
from memtile.sandbox.start import missing
from memtile.sheet import Sheet, SheetColumn, print_whole, stderr_console
from support.pages.browser import opened

PIECES = (
    *(
        "\x1b]0;OWNED\x07",
        "\x1b]52;c;cm0=\x07",
        "\x1b[2J",
        "\x1b[31m",
        "\x9b31m",
        "\x00",
        "\x7f",
        "\x85",
        "\x08",
    ),
    *("\n", "\r", "\t", "\x0b", "\x1c", "\u2028", "\u2029", "\u202e", "\u2066", "\u200b", "\u200f", "\u061c"),
    *("\ufeff", "\u3164", "\u034f", "\u00ad", "\U000e0041", "\ufffe", "\uffff", "\udc80", "\ud800", "\udfff"),
    *(
        "<!--<script>",
        "</script>",
        "<img src=x onerror=x()>",
        "]]>",
        "&amp;",
        "&#27;",
        "'",
        '"',
        "`",
        "\\",
        "%%",
    ),
    *(
        "[red]",
        "[/]",
        "[link=http://x]y[/link]",
        ":smile:",
        "$\\frac{",
        "{}",
        "%s",
        "$DATA",
        "$TITLE",
        "#quot;",
    ),
    *("a", "Lock 1", "\u00e4", "\u4e2d\u6587", "\U0001f600", " "),
)
NAMES = st.lists(st.sampled_from(PIECES) | st.characters(), min_size=1, max_size=6).map("".join)
ALL = "".join(PIECES)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # what Rich itself writes
MOVES = re.compile(r"\x1b\[(\?25[lh]|2K|1A)")  # and of a bar: the cursor is hidden and shown, lines go


def stuck(first: str, second: str) -> Array:
    """Words of the first buffer never leave: its lock is never given. Values are wrong too, and named so."""
    array = Array("npu1", columns=1)
    near, far = array.memory_tile(0), array.compute_tile(0, 2)
    array.connect(near.mm2s[0], far.s2mm[0])
    read = near.read(near.buffer(first, 16, data=np.arange(16))).guarded(near.lock(0, second).acquire())
    near.mm2s[0].start(read)
    far.s2mm[0].start(far.write(far.buffer(second, 16)))
    far.expect(far.buffers[0], np.arange(1, 17))
    return array


def result(first: str, second: str) -> Result:
    return stuck(first, second).run(10_000, history=True, check=True)


class Words(HTMLParser):
    """What a browser would show of a page, the data in its scripts, and elements that names could make."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.data, self.tags = "", "", list[str]()
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = "data" if ("id", "data") in attrs else "script" if tag == "script" else ""

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.tags
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self.data += data
        else:
            self.text += data


def shown(text: str) -> str:
    """The text, which has no character that is obeyed or hidden."""
    assert HIDDEN.search(text) is None, repr(HIDDEN.search(text))
    return text


# The functions.


@given(NAMES)
@example(ALL)
def test_printable_text_has_nothing_hidden_and_stays(name: str) -> None:
    text = printable(name)
    assert shown(text).isprintable()
    assert printable(text) == text
    assert text == name or not name.isprintable() or any(each in name for each in "\u3164\u034f")
    assert printable(name, "\n").split("\n") == [printable(line) for line in name.split("\n")]


def test_escapes_are_those_of_python() -> None:
    assert (
        printable("a\x1b\u202e\U000e0041\udc80\n\x00\x7f\t")
        == "a\\x1b\\u202e\\U000e0041\\udc80\\n\\x00\\x7f\\t"
    )
    assert printable("\u00e4 \u4e2d \U0001f600 \\x1b") == "\u00e4 \u4e2d \U0001f600 \\x1b"


@given(NAMES)
@example(ALL)
def test_data_in_pages_and_for_scripts_is_what_it_was(name: str) -> None:
    data = {name: [name, 1, None, True, {"a": (name, 2.5)}]}
    assert json.loads(shown(json_text(data))) == json.loads(json.dumps(data))
    text = printable(name)
    page = shown(script_json(data))
    assert json.loads(page) == {text: [text, 1, None, True, {"a": [text, 2.5]}]}
    assert not set("<>&") & set(page)
    assert ElementTree.fromstring(f"<a b='{markup_text(name)}'>{markup_text(name)}</a>").text == text


@given(NAMES, st.booleans())
@example(ALL, True)
def test_tables_show_names_as_they_are(name: str, terminal: bool) -> None:
    sheet = Sheet((SheetColumn("a"), SheetColumn("b", right=True)), ((name, "1"),), "", (name,), (name,))
    text = printable(name)
    assert shown(str(sheet).replace("\n", "")).count(text.strip()) >= 3
    assert Words(sheet.html()).text == f"{text}ab{text}1{text}"
    out = io.StringIO()
    console = stderr_console()
    console.file, console.width, console._force_terminal = out, 800, terminal
    print_whole(console, sheet)
    assert shown(COLOURS.sub("", out.getvalue()).replace("\n", "")).count(text.strip()) >= 3


# What a run is as.


@settings(max_examples=15)
@given(NAMES, NAMES)
@example(ALL, "plain")
@example("plain", ALL)
@example("<!--<script>", "\x1b[2J")
def test_every_form_of_a_run_parses_and_shows_names(first: str, second: str) -> None:
    found = result(first, second)
    one = printable(first)
    for text in (str(found), repr(found), *map(str, found.findings), *map(repr, found.channels)):
        shown(text.replace("\n", ""))
    assert one.strip() in str(found)
    waits = found.waits
    for text in (waits.dot(), waits.mermaid()):
        shown(text.replace("\n", ""))
    assert all(line.count('"') % 2 == 0 for line in waits.mermaid().splitlines())
    assert json.loads(json_text(found.as_json())) == json.loads(json.dumps(found.as_json()))
    ElementTree.fromstring(shown(found.picture().svg))
    with tempfile.TemporaryDirectory() as folder:
        _files(found, Path(folder), one)


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _texts(each)


def _files(found: Result, folder: Path, one: str) -> None:
    for name in ("r.html", "r.txt"):
        found.report(folder / name, title=one)
    for name in ("p.json", "p.pftrace"):
        found.perfetto(folder / name)
    page = Words(shown((folder / "r.html").read_text().replace("\n", "")))
    assert one in "\n".join(_texts(json.loads(page.data)))
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert one.strip() in shown((folder / "r.txt").read_text().replace("\n", "").replace("\t", " "))
    records = json.loads((folder / "p.json").read_text())
    shown("".join(str(record["name"]) for record in records))
    trace = perfetto_trace_pb2.Trace.FromString((folder / "p.pftrace").read_bytes())
    tracks = [packet.track_descriptor for packet in trace.packet]
    assert tracks
    for each in tracks:
        shown(each.name + each.thread.thread_name + each.process.process_name)


@settings(max_examples=15)
@given(NAMES, NAMES)
@example(ALL, ALL + "2")
def test_findings_for_build_servers_parse(first: str, second: str) -> None:
    found = check_design(lambda: stuck(first, second), first)
    text = junit([found], "check")
    case = ElementTree.fromstring(shown(text.replace("\n", "")).encode()).find(".//testcase")
    assert case is not None
    assert case.get("name") == printable(first)
    as_sarif = json.loads(json_text(sarif([found])))
    for each in as_sarif["runs"][0]["results"]:
        shown(each["message"]["text"])
    shown(str(found).replace("\n", ""))


@settings(max_examples=5)
@given(NAMES)
@example(ALL)
def test_pictures_of_matplotlib_take_names_as_text(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save_cycles(result(name, "b"), Path(folder, "c.svg"))
        ElementTree.parse(Path(folder, "c.svg"))
        save_cycles(result(name, "b"), Path(folder, "c.png"))


@given(NAMES)
@example(ALL)
def test_errors_quote_names_as_text(name: str) -> None:
    for make in (lambda: stuck(name, name), lambda: Array(name), lambda: Array.load(name.replace("\0", ""))):
        try:
            make()
        except Exception as error:
            shown(str(error).replace("\n", ""))
    shown(str(InputFileError(name)))
    tile = Array("npu1", columns=1).memory_tile(0)
    for thing in (tile.buffer(name, 16), tile.lock(0, name), tile):
        shown(repr(thing))


# What a terminal gets.

MLIR = (
    "module {{ aie.device(npu1_1col) {{ %c = aie.tile(0, 2) %t = aie.tile(0, 0)\n"
    '%b = aie.buffer(%c) {{sym_name = "{0}"}} : memref<64xi32>\n'
    '%l = aie.lock(%c, 0) {{init = 0 : i32, sym_name = "L{0}"}}\n'
    "aie.flow(%t, DMA : 0, %c, DMA : 0)\n"
    "aie.mem(%c) {{ %0 = aie.dma_start(S2MM, 0, ^bd0, ^end)\n^bd0: aie.use_lock(%l, AcquireGreaterEqual, 1)\n"
    "aie.dma_bd(%b : memref<64xi32>, 0, 64) aie.next_bd ^bd0\n^end: aie.end }}\n"
    "aie.shim_dma_allocation @in(%t, MM2S, 0)\naie.runtime_sequence(%h: memref<64xi32>) {{\n"
    "aiex.npu.dma_memcpy_nd(%h[0,0,0,0][1,1,1,64][0,0,0,1]) {{id = 0 : i64, metadata = @in}}"
    " : memref<64xi32>\n"
    "aiex.npu.dma_wait {{symbol = @in}} }} }} }}\n"
)
PYTHON = """
import numpy as np
from memtile import MemoryTile

NAME = {0!r}

def design():
    tile = MemoryTile()
    read = tile.read(tile.buffer(NAME, 16, data=np.arange(16)))
    tile.mm2s[0].start(read.guarded(tile.lock(0, NAME).acquire()))
    return tile
"""
NASTY = "\x1b]0;OWNED\x07\x1b[2J\x1b]52;c;cm0=\x07\u202e\u200b[red]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.py").write_text(PYTHON.format(NASTY))
    (tmp_path / "d.mlir").write_text(MLIR.format(NASTY))
    np.save(tmp_path / "h.npy", np.arange(64, dtype=np.int32))
    return tmp_path


LINES: tuple[list[str], ...] = (
    ["run", "d.py"],
    ["run", "d.mlir", "--in", "h=h.npy"],
    ["run", "d.mlir", "--in", f"{NASTY}=h.npy"],
    ["check", "d.py", "d.mlir"],
    ["check", "--junit", "d.py"],
    ["check", "--sarif", "d.mlir"],
    ["diff", "d.py", "d.mlir"],
    ["run", f"{NASTY}.py"],
    ["run", f"{NASTY}.mlir"],
    ["run", "d.py", "--report", f"none/{NASTY}.html"],
    ["run", "d.py", "--set", f"{NASTY}=1"],
    ["run", "d.py", f"--{NASTY}"],
    [NASTY],
    ["info", NASTY],
    ["disasm", NASTY],
    ["lower", NASTY],
    ["explain", NASTY],
    ["trace", "decode", NASTY],
    ["sweep", "run", "d.py", "--vary", f"{NASTY}=1"],
    ["plan", "gemm", "--device", NASTY],
    ["serve", "--host", NASTY],
    ["serve", "--memory", NASTY],
    ["serve", "--memory", f"0x100000000:64={NASTY}"],
    ["serve", "--port-file", f"d.py/{NASTY}"],
    ["explain", "--server", NASTY],
    ["host-source", f"d.py/{NASTY}"],
    ["sweep", "replay", NASTY],
    ["mcp", "--root", NASTY],
    ["survey", NASTY],
    ["schema", NASTY],
)


@pytest.mark.any_tone  # whose names are no words
@pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(line).replace(NASTY, "NASTY"))
def test_commands_print_names_as_text(folder: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, line, env={"COLUMNS": "200"})
    assert done.exit_code in (1, 2)
    assert shown(done.output.replace("\n", "")) != ""
    assert "OWNED" not in done.output or "\\x1b]0;OWNED\\x07" in re.sub(r"\\\\", r"\\", done.output)


@pytest.mark.skipif(bool(missing()), reason=f"no sandbox here: {missing()}")
@pytest.mark.parametrize(
    "options",
    [["--root", NASTY], ["--sandbox-memory", NASTY], ["--record", f"/{NASTY}.json"], ["--set", f"{NASTY}=1"]],
    ids=lambda options: options[0],
)
def test_a_sandbox_says_names_as_text(folder: Path, options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memtile", "run", "--sandbox", *options, "d.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "\\x1b]0;OWNED\\x07" in shown(done.stderr.replace("\n", "")).replace("\\\\", "\\")


@pytest.mark.parametrize("line", LINES[:2] + LINES[7:8], ids=["python", "mlir", "no file"])
def test_a_terminal_is_told_nothing_by_a_name(folder: Path, line: list[str]) -> None:
    """With the colours of a terminal and the moves of a bar, which are the only escapes in what comes."""
    out = "".join(_on_a_terminal(line, folder))
    assert COLOURS.search(out)
    assert shown(MOVES.sub("", COLOURS.sub("", out)).replace("\r\n", "").replace("\r", "")) != ""
    assert "\\x1b]0;OWNED\\x07" in out.replace("\\\\", "\\")
    assert "[red]" in out


def _on_a_terminal(line: list[str], folder: Path) -> Iterator[str]:
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "200"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "memtile", *line], cwd=folder, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as reader:
        while True:
            try:
                piece = reader.read(1 << 16)
            except OSError:  # how a terminal says that nobody writes any more
                break
            if not piece:
                break
            yield piece.decode()
    process.wait()


def test_a_page_lives_whatever_its_names_are(tmp_path: Path) -> None:
    """In a browser: its heading, its tracks and its picture are there, and no script of a name runs."""
    pages: dict[str, Any] = {}
    for name in ("plain", "<!--<script>", "</script><script>document.title='OWNED'</script>", ALL):
        result(name, "b").report(tmp_path / "r.html", title="title")
        with opened(tmp_path / "r.html", tmp_path / "profile") as page:
            pages[name] = page.evaluate(
                "[document.title, document.querySelectorAll('*').length, document.body.innerText]"
            )
            assert page.said == []
    first = pages["plain"]
    for name, (title, elements, text) in pages.items():
        assert (title, elements) == (first[0], first[1])
        assert printable(name) in text
        shown(text.replace("\n", "").replace("\t", ""))
