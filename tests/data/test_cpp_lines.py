"""Are the lines of compiled kernels those that addr2line finds, where there is none?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from left_out import needs
from memtile.cpp import symbols
from memtile.cpp.build import Sources, built
from memtile.cpp.line_tables import places
from support.designs.cpp_designs import FOUND

pytestmark = needs("c++", FOUND)
SOURCE = """#include <memtile/core.h>
#include "inner.h"
namespace user {
struct Sum {
    int32_t total = 0;
    __attribute__((always_inline)) void add(int32_t value) {
        total += twice(value);
    }
};
}
__attribute__((noinline)) int32_t alone(int32_t value) { return value * value + 3; }
extern "C" void f(int32_t *a, int32_t *b, int32_t n) {
    user::Sum sum;
    for (int32_t i = 0; i < n; i++) {
        sum.add(a[i]);
        b[i] = sum.total + alone(i);
    }
}
"""
INNER = """inline __attribute__((always_inline)) int twice(int value) {
    return value / 7 * 2;
}
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A kernel with a function within a method within a function, of two files."""
    (tmp_path / "inner.h").write_text(INNER)
    (tmp_path / "kernel.cc").write_text(SOURCE)
    return built(Sources((tmp_path / "kernel.cc",)))


@needs("addr2line", any(map(shutil.which, symbols._LINE_TOOLS)))
def test_lines_are_those_of_addr2line(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outside oracle; what was inlined is followed by where it was called."""
    offsets = tuple(range(0, symbols.loaded_bytes(library), 7))

    def own() -> list[tuple[str, int]]:
        found = ((Path(frame.file).name, frame.line) for frame in symbols.lines(library, offsets))
        return [each for each in found if each[0] in ("kernel.cc", "inner.h")]

    by_tool = own()
    assert {("inner.h", 2), ("kernel.cc", 7), ("kernel.cc", 15), ("kernel.cc", 11)} <= set(by_tool)
    monkeypatch.setattr(symbols, "_LINE_TOOLS", ())
    assert own() == by_tool


def test_the_innermost_function_comes_first(library: Path) -> None:
    found = [(each.function, each.line) for each in places(library, range(symbols.loaded_bytes(library)))]
    assert [("twice", 2), ("add", 7), ("f", 15)] in [found[at : at + 3] for at in range(len(found))]


def test_without_both_nothing_is_known(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "_LINE_TOOLS", ())
    monkeypatch.setattr("memtile.cpp.line_tables.find_spec", lambda _: None)
    assert symbols.lines(library, tuple(range(0, symbols.loaded_bytes(library), 7))) == []
