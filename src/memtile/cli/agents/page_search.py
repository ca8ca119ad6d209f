"""The pages of the documentation, found by words: sections with their page, heading and text."""

from __future__ import annotations

import math
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memtile.errors import InputFileError

_HEADING = re.compile(r"^#{1,4} (.+)$")
_TABLE = re.compile(r"^\|.*$", re.MULTILINE)
_CODE = re.compile(r"\bMT\d{4}\b")
_WORD = re.compile(r"[a-z0-9_]+")
_IN_HEADING, _IN_TITLE = 6.0, 8.0  # weights of a word, 1 in the text
_OF_A_ROW = 50.0  # weight of a row that a code names
_PACKAGED = "share/memtile/docs"
_LABORATORY = {"silicon.md", "deviations.md", "speed.md", "reference.md", "features.md"}
"""Pages of tables and measurements, which are searched last."""
_ENDINGS = ("ing", "ed", "es", "s")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page below one heading.

    Attributes:
        page: name of the file.
        title: of the page.
        heading: of the section.
        text: of the section, without the heading.
    """

    page: str
    title: str
    heading: str
    text: str

    def row_of(self, words: str) -> str:
        """Return the row of a table that a code such as MT0302 among some words names; empty = none."""
        for code in _CODE.findall(words.upper()):
            if match := re.search(rf"^\| {code} \|.*$", self.text, re.MULTILINE):
                return match[0]
        return ""


def folder() -> Path:
    """Where the pages are: beside the sources in a checkout, else where the wheel has put them.

    Raises:
        InputFileError: neither has them.
    """
    here = Path(__file__).parents[4] / "docs"
    for place in (here, Path(sysconfig.get_path("data"), _PACKAGED)):
        if (place / "tutorial.md").is_file():
            return place
    raise InputFileError("docs: the pages are not part of this installation. Read them on the site.")


@cache
def sections() -> tuple[Section, ...]:
    """All sections of all pages.

    Raises:
        InputFileError: the pages are not there.
    """
    return tuple(part for path in sorted(folder().glob("*.md")) for part in _sections_of(path))


def found(words: str, most: int = 6) -> list[Section]:
    """Return the sections that fit some words best, the best first."""
    wanted = {_stem(word) for word in _WORD.findall(words.lower())}
    every = [(part, *_counts(part)) for part in sections()]
    rare = {
        word: math.log(len(every) / (1 + sum(word in text or word in head for _, head, text in every)))
        for word in wanted
    }
    scored = [
        (
            _score(rare, head, text) * (0.15 if part.page in _LABORATORY else 1.0)
            + (_OF_A_ROW if part.row_of(words) else 0.0),
            part,
        )
        for part, head, text in every
    ]
    scored.sort(key=lambda pair: -pair[0])
    return [part for score, part in scored[:most] if score > 0]


def _score(rare: dict[str, float], head: dict[str, float], text: dict[str, float]) -> float:
    """How well a section fits: each word by its rarity, more often counts ever less."""
    return sum(
        weight * (head.get(word, 0.0) + math.log1p(text.get(word, 0.0))) for word, weight in rare.items()
    )


@cache
def _counts(part: Section) -> tuple[dict[str, float], dict[str, float]]:
    head: dict[str, float] = {}
    for words, weight in ((part.heading, _IN_HEADING), (part.title, _IN_TITLE)):
        for word in _WORD.findall(words.lower()):
            head[_stem(word)] = head.get(_stem(word), 0.0) + weight / len(words.split())
    text: dict[str, float] = {}
    for word in _WORD.findall(_TABLE.sub("", part.text).lower()):
        text[_stem(word)] = text.get(_stem(word), 0.0) + 1.0
    return head, text


def _stem(word: str) -> str:
    """A word without its ending, so that locks and lock are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


def _sections_of(path: Path) -> Iterator[Section]:
    title, heading, lines, in_code = "", "", list[str](), False
    for line in path.read_text(encoding="utf-8").splitlines():
        in_code ^= line.startswith(("```", "~~~"))
        match = None if in_code else _HEADING.match(line)
        if match is None:
            lines.append(line)
            continue
        if heading:
            yield Section(path.name, title, heading, "\n".join(lines).strip())
        title, heading, lines = title or match[1], match[1], []
    if heading:
        yield Section(path.name, title, heading, "\n".join(lines).strip())
