"""Are the pages short enough to be read, and is every hand-written word counted?"""

from __future__ import annotations

import pytest

from support.pages import word_count

TOTAL = 42_000
"""Of README.md and all pages of docs."""
LONG: dict[str, int] = {}
"""Pages that are still over the limit of a page, which only fall too."""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# A title\n\nTwo words, [a link](to/some/page.md) | and - a `name`.\n", 9),
        ("Before\n\n```text\nsome output\n```\n\n~~~c\nint a;\n~~~\nafter\n", 2),
        ("<!-- a note -->\none\n", 1),
        ("<!-- table of things, made by `make docs` -->\n| a | b |\n|---|---|\n| c | d |\n\nBehind it.\n", 2),
        ("One <!-- the words made by hand -->\n| a |\n", 2),
    ],
)
def test_words_are_counted(text: str, count: int) -> None:
    assert word_count.words(text) == count


def test_pages_are_not_longer_than_they_may_be() -> None:
    found = word_count.counted()
    limits = {name: LONG.get(name, word_count.PAGE_LIMIT) for name in found}
    assert {name: count for name, count in found.items() if count > limits[name]} == {}
    assert {name for name in LONG if found[name] <= word_count.PAGE_LIMIT} == set(), "take these out of LONG"
    assert sum(found.values()) <= TOTAL
    assert word_count.table().splitlines()[-1] == f"{sum(found.values()):7,}  total"
