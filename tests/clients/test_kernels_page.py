"""Is the table of core functions on its page the library's, and does the count of designs count right?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memtile.corelib import library
from memtile.kernels import aie
from support.mlir import library_reach
from support.pages import library_table, pages

PAGE = (pages.ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")


def test_the_table_is_current() -> None:
    assert PAGE.count(library_table.TABLE.mark) == 1
    assert library_table.TABLE.in_page(PAGE) == PAGE, "make docs writes it anew"


def test_every_function_is_on_the_page_with_its_source() -> None:
    for each in aie.described():
        assert all(f"`{name}`" in PAGE for name in each.names)
        assert "Source: " in each.text, each.names


def test_the_order_is_not_that_in_which_modules_were_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    known = library.entries()
    turned = sorted(known, key=lambda each: each.function.__module__)
    assert turned != known
    monkeypatch.setattr(library, "ENTRIES", turned)
    assert library.entries.__wrapped__() == known


def test_a_table_that_is_old_is_seen() -> None:
    old = PAGE.replace("| `concat` |", "| `concatenate` |")
    assert old != PAGE == library_table.TABLE.in_page(old)


def test_make_docs_writes_the_table() -> None:
    recipe = (pages.ROOT / "Makefile").read_text(encoding="utf-8").split("\ndocs:")[1].split("\n\n")[0]
    assert "tests/support/pages/library_table.py docs/kernels.md\n" in recipe


def test_declarations_of_a_folder_are_counted_by_file(tmp_path: Path) -> None:
    text = "func.func private @{}(memref<8xi32>)\n"
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.mlir").write_text(text.format("zero_i32") * 2 + text.format("mine"))
    (tmp_path / "deep" / "b.mlir").write_text(text.format("zero_i32") + "func.func @defined() {}\n")
    found = library_reach.declared([tmp_path])
    assert found == Counter({"zero_i32": 2, "mine": 1})
    assert library_reach.report(found).splitlines() == [
        "answered: 2 of 3 declarations (67%), 1 of 2 names",
        "   1  mine",
    ]
