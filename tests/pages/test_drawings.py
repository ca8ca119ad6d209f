"""Are the drawn pictures the present ones, small, readable on dark pages, and each beside a text?"""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml

from places import ROOT
from support.drawings.drawings import drawn
from support.drawings.sheet import Sheet

FOLDER = ROOT / "docs" / "pictures"
PAGES = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
SHOWN = re.compile(r"!\[([^\]]+)\]\((?:docs/)?pictures/([\w.]+)\)")
LEAST = 25


def test_drawn_pictures_are_the_present_ones() -> None:
    old = [name for name, text in drawn().items() if (FOLDER / name).read_text("utf-8") != text]
    assert old == [], "make docs draws them anew"


def test_drawn_pictures_are_small_and_follow_the_readers_colours() -> None:
    for name, text in drawn().items():
        assert len(text) < 20_000, name
        assert "prefers-color-scheme:dark" in text
        assert Xml.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None


def test_every_picture_is_on_a_page_with_words_for_it() -> None:
    shown = [(name, words) for page in PAGES for words, name in SHOWN.findall(page.read_text("utf-8"))]
    assert {name for name, _ in shown} == {path.name for path in FOLDER.iterdir()}
    assert len({name for name, _ in shown}) >= LEAST
    assert [name for name, words in shown if len(words.split()) < 3] == []


def test_a_track_has_a_bar_for_each_stretch_and_a_legend() -> None:
    sheet = Sheet(200, 60, "three causes")
    sheet.track(0, 0, "tt##.")
    sheet.legend(0, 50)
    found = re.findall(r'<rect class="c\d+" x="(\d+)" y="0" width="(\d+)"', sheet.text_of())
    assert found == [("0", "24"), ("24", "24"), ("48", "12")]
    assert sheet.text_of().count("</text>") == 3
