"""Is every public name on the reference page, with all that its caller must know?"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import griffe
import pytest

from support.pages import fence, pages, reference

PAGE = pages.ROOT / "docs" / "reference.md"
SOURCE = '''
def silent(a, b, c):
    """Text."""
    _check(a)

def told(a, b, c):
    """Text.

    Args:
        a: first.
        b: second.
        c: third.

    Raises:
        ValueError: always.
    """
    raise ValueError

def calm(a):
    """Text."""
    return _other(a)

def _check(a):
    if a:
        _refuse()

def _refuse():
    raise_if([], ValueError)

def _other(a):
    return a
'''


class Said(logging.Handler):
    """What the reader of the sources warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture(scope="module")
def made() -> tuple[str, list[str]]:
    """The page as it should be, and what was said of the sources when it was made."""
    said, logger = Said(), logging.getLogger("griffe")
    reference.package.cache_clear()
    logger.addHandler(said)
    try:
        return reference.page(), said.messages
    finally:
        logger.removeHandler(said)


def test_the_page_is_current(made: tuple[str, list[str]]) -> None:
    assert PAGE.read_text(encoding="utf-8") == made[0], "make docs writes it anew"


def test_docstrings_have_the_arguments_that_the_functions_have(made: tuple[str, list[str]]) -> None:
    assert made[1] == []


@pytest.mark.parametrize("module", fence.MODULES)
def test_every_public_name_is_on_it(module: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    part = text.split(f"\n## {module}\n")[1].split("\n## ")[0]
    named = re.findall(rf"^### {re.escape(module)}\.(\w+)$", part, re.MULTILINE)
    also = re.findall(r"^Also here, as in `memtile`: (.*)\.$", part, re.MULTILINE)
    assert sorted([*named, *re.findall(r"`(\w+)`", "".join(also))]) == sorted(fence.public_names(module))


def test_every_public_name_has_a_docstring() -> None:
    assert list(reference.silent_names()) == []


def test_every_public_callable_that_raises_says_so() -> None:
    assert list(reference.silent_raisers()) == []


def test_every_public_callable_with_three_arguments_describes_them() -> None:
    assert list(reference.silent_arguments()) == []


@pytest.mark.parametrize(("name", "raises"), [("silent", True), ("told", True), ("calm", False)])
def test_a_function_that_raises_is_seen(name: str, raises: bool, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE)
    module = griffe.load("module", search_paths=[tmp_path], docstring_parser="google")
    function = module[name]
    assert reference.raises(function) is raises


@pytest.mark.parametrize(("name", "gaps"), [("silent", {"a", "b", "c"}), ("told", set()), ("calm", set())])
def test_an_argument_without_a_word_is_seen(name: str, gaps: set[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SOURCE)
    function = griffe.load("module", search_paths=[tmp_path], docstring_parser="google")[name]
    assert set(reference.undescribed(function)) == gaps
    assert reference.says_that_it_raises(function) is (name == "told")


def test_a_long_signature_has_an_argument_on_each_line() -> None:
    text = f"f(a: tuple[int, str] = (1, 'x'), {'b' * 100}: int = 5) -> dict[str, int]"
    assert reference._wrapped(text) == (
        f"f(\n    a: tuple[int, str] = (1, 'x'),\n    {'b' * 100}: int = 5,\n) -> dict[str, int]"
    )
    assert reference._wrapped("f(a, b)") == "f(a, b)"
