"""Is an engine that the package carries taken where it fits, refused where it does not, and never first?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from memtile.arch.tiles import MEMORY
from memtile.jit import bitcode, bundled_engine, compiled_text, decorators, entries, native, parts
from memtile.jit.decorators import ENABLED, CompiledPart
from memtile.jit.entries import CompiledEntry
from memtile.jit.structs import Struct, dereference, place_of
from memtile.model.build.model import build
from memtile.model.checking.notes import NOTE_FIELDS
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.compiled_model import operate
from memtile.sim.races.note_reading import Notes, read_through
from memtile.sim.races.race_book import empty_book

compiles = pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: nothing is compiled")


class Numbers(NamedTuple):
    values: npt.NDArray[np.int64]


class Shelf(Numbers, Struct):
    pass


shelf_at = dereference(Shelf)


def doubled(shelf: int, at: int) -> int:
    shelf_at(shelf).values[at] *= 2
    return int(shelf_at(shelf).values[at])


def entry() -> CompiledEntry:
    return CompiledEntry(doubled, (), Shelf, by_numba=False)


def answer(one: CompiledEntry) -> int:
    return one(Shelf(np.arange(4)), 3)


@pytest.fixture(autouse=True)
def _nothing_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The cache is empty, and nothing is carried."""
    monkeypatch.setattr(bundled_engine, "FOLDER", tmp_path / "engines")
    monkeypatch.setattr(bundled_engine, "WANTED", True)
    use_cache(monkeypatch, tmp_path / "cache")
    place_of(Shelf(np.zeros(1, np.int64)))
    bundled_engine.found.cache_clear()
    yield
    bundled_engine.found.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what Numba translates."""
    names, former = [], parts.bitcode_of

    def noted(function: Any, numbers: int) -> tuple[str, bytes] | None:
        names.append(function.__name__)
        return former(function, numbers)

    monkeypatch.setattr(parts, "bitcode_of", noted)
    return names


def use_cache(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    folder.mkdir()
    monkeypatch.setattr(entries, "cache_directory", lambda _sources: folder)


class Step(IntEnum):
    UP = 1
    DOWN = 2


LIMIT = 3


def scaled(value: int) -> int:
    return value * LIMIT + Step.UP


scaled_part = CompiledPart(scaled, inline=False)


def scaling(value: int) -> int:
    return int(scaled_part(value))


def carry(code: native.MachineCode, **changed: Any) -> native.MachineCode:
    """Have the package carry some code, with changes in what it says of it."""
    head, _, content = bundled_engine.content_of(code, (), ()).partition(b"\n")
    head = json.dumps({**json.loads(head), **changed}).encode()
    bundled_engine.FOLDER.mkdir()
    bundled_engine.path_of("doubled").write_bytes(head + b"\n" + content)
    bundled_engine.found.cache_clear()
    return code


def any_code() -> native.MachineCode:
    return native.MachineCode("symbol", entry()._about, b"machine code")


def carry_real(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **changed: Any) -> None:
    """The same with what is compiled now; the cache is empty again."""
    assert answer(entry()) == 6
    code = entry().in_cache()
    assert code is not None
    carry(code, **changed)
    use_cache(monkeypatch, tmp_path / "empty")


@compiles
def test_what_is_carried_runs_without_compiling(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    carry_real(monkeypatch, tmp_path)
    compiled.clear()
    assert entry().in_package().refused == ""
    assert answer(entry()) == 6
    assert compiled == []
    assert list((tmp_path / "empty").iterdir()) == []


@compiles
def test_what_is_refused_is_compiled_and_the_notice_says_why(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    carry_real(monkeypatch, tmp_path, sources="0123456789abcdef")
    compiled.clear()
    assert decorators._notice(entry()).endswith("; the one of this package is of other sources) ...")
    assert answer(entry()) == 6
    assert compiled == ["doubled"]


def test_what_fits_is_taken() -> None:
    code = carry(any_code(), needs=sorted(bundled_engine.here()[1])[:3])
    assert entry().in_package() == bundled_engine.BundledEngine(code, None, "")
    assert entry().kept() == code


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"sources": "0123456789abcdef"}, "is of other sources"),
        ({"about": "01234567"}, "is of other sources"),
        ({"sha256": "0" * 64}, "is damaged"),
        ({"needs": 5}, "is damaged"),
        ({"platform": "riscv64 linux"}, "is for riscv64 linux"),
        ({"needs": ["warp", "hyperdrive"]}, "needs a processor with hyperdrive, warp"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, Any], says: str) -> None:
    carry(any_code(), **changed)
    assert entry().in_package() == bundled_engine.BundledEngine(None, None, says)
    assert entry().kept() is None


@pytest.mark.parametrize("damage", [b"", b"[]\n", b"{}\n", b"no line"])
def test_a_damaged_file_is_refused(damage: bytes) -> None:
    carry(any_code())
    bundled_engine.path_of("doubled").write_bytes(damage)
    assert entry().in_package() == bundled_engine.BundledEngine(None, None, "is damaged")


def test_a_package_that_carries_nothing_says_nothing() -> None:
    assert entry().in_package() == bundled_engine.BundledEngine(None, None, "")
    assert decorators._notice(entry()).endswith("kept for the next time) ...")


def test_what_was_compiled_for_this_processor_comes_first(tmp_path: Path) -> None:
    carry(any_code())
    own = any_code()._replace(content=b"compiled here")
    native.keep(tmp_path / "cache", "doubled", own)
    assert entry().kept() == own


def test_who_wants_an_own_engine_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    carry(any_code())
    monkeypatch.setattr(bundled_engine, "WANTED", False)
    bundled_engine.found.cache_clear()
    assert entry().kept() is None


def carry_bitcode(code: native.MachineCode | None, **changed: Any) -> native.MachineCode:
    """Have the package carry bitcode, with changes in what it says of it."""
    assert code is not None
    head, _, content = bundled_engine.bitcode_content(code, doubled).partition(b"\n")
    bundled_engine.FOLDER.mkdir(exist_ok=True)
    bundled_engine.bitcode_path("doubled").write_bytes(
        json.dumps({**json.loads(head), **changed}).encode() + b"\n" + content
    )
    bundled_engine.found.cache_clear()
    return code


@compiles
def test_machine_code_is_made_of_bitcode_without_numba_and_kept(
    compiled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    carry_bitcode(entry().bitcode(bitcode.this_processor()))
    compiled.clear()
    with decorators.compiling(decorators.to_stderr, (), wanted := entry()):
        assert answer(wanted) == 6
    assert compiled == []
    assert "compiling the engine for this processor" in capsys.readouterr().err
    assert entry().in_cache() is not None
    with decorators.compiling(decorators.to_stderr, (), entry()):
        assert answer(entry()) == 6
    assert capsys.readouterr().err == ""


def test_bitcode_is_taken_where_machine_code_does_not_fit(compiled: list[str]) -> None:
    carry(any_code(), needs=["hyperdrive"])
    code = carry_bitcode(any_code())
    assert entry().in_package() == bundled_engine.BundledEngine(None, code, "")
    assert entry().bitcode(bitcode.this_processor()) == code
    assert compiled == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"sources": "0123456789abcdef"}, "is of other sources"),
        ({"llvm": 999}, f"needs LLVM 999, llvmlite here has {bitcode.llvm_version()}"),
        ({"llvm": "new"}, "is damaged"),
        ({"sha256": "0" * 64}, "is damaged"),
    ],
)
def test_bitcode_that_does_not_fit_is_refused(changed: dict[str, Any], says: str) -> None:
    carry_bitcode(any_code(), **changed)
    assert entry().in_package() == bundled_engine.BundledEngine(None, None, says)


FOLDER = bundled_engine.FOLDER


@compiles
def test_a_checkout_carries_the_bitcode_of_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """``make engine`` makes it anew."""
    monkeypatch.setattr(bundled_engine, "FOLDER", FOLDER)
    place_of(build([Placed(MEMORY.name)]))
    for struct in (empty_book(1, 1, 1), Notes(np.zeros((1, NOTE_FIELDS), np.int64))):
        place_of(struct)
    for each in (operate, read_through):
        path = bundled_engine.bitcode_path(each.__name__)
        head = json.loads(path.read_bytes().partition(b"\n")[0])
        assert head["sources"] == compiled_text.text_hash(each.function), f"{path} is stale: make engine"
        assert head["about"] == each._about


class Otherwise(IntEnum):
    UP = 2
    DOWN = 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("LIMIT", 4), ("LIMIT", 3.0), ("Step", Otherwise), ("scaled_part", CompiledPart(doubled, inline=False))],
)
def test_what_a_part_names_is_in_the_hash_of_its_entry(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = text_hash_anew(scaling)
    assert before == text_hash_anew(scaling) != ""
    monkeypatch.setitem(scaled.__globals__, name, value)
    assert text_hash_anew(scaling) not in (before, "")


def test_the_lines_of_a_part_are_in_the_hash_of_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    before, lines = text_hash_anew(scaling), compiled_text._lines(__file__)
    for old, counts in (("return value * LIMIT", True), ('"""Is an engine', False)):
        (at,) = (n for n, line in enumerate(lines) if line.strip().startswith(old))
        changed = [*lines[:at], lines[at].replace("e", "E"), *lines[at + 1 :]]
        monkeypatch.setattr(compiled_text, "_lines", lambda _path, changed=changed: changed)
        assert (compiled_text.text_hash(scaling) != before) == counts


def test_a_value_of_an_unknown_kind_fits_no_bitcode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(scaled.__globals__, "LIMIT", np.arange(3))
    assert text_hash_anew(scaling) == ""
    carry_bitcode(any_code(), sources="")
    monkeypatch.setattr(bundled_engine, "text_hash", lambda _function: "")
    assert entry().in_package().refused == "is of other sources"


def text_hash_anew(function: Any) -> str:
    compiled_text._values.cache_clear()
    return compiled_text.text_hash(function)


def test_processors_without_64_bits_get_no_bitcode(monkeypatch: pytest.MonkeyPatch) -> None:
    carry_bitcode(any_code())
    monkeypatch.setattr(bundled_engine, "fits_here", lambda: False)
    bundled_engine.found.cache_clear()
    assert entry().in_package().refused == "is for processors with 64-bit addresses"


@pytest.mark.parametrize(
    ("triple", "platform"),
    [
        ("x86_64-unknown-linux-gnu", "x86_64 linux"),
        ("x86_64-pc-linux-gnu", "x86_64 linux"),
        ("arm64-apple-darwin23.1.0", "arm64 darwin"),
        ("x86_64-pc-windows-msvc", "x86_64 windows"),
    ],
)
def test_platforms_have_neither_vendor_nor_version(triple: str, platform: str) -> None:
    assert bundled_engine.platform_of(triple) == platform


def test_this_processor_has_what_its_baseline_needs() -> None:
    """Names of features that LLVM does not know would refuse every processor."""
    baseline = bundled_engine.baseline()
    if baseline is None:
        pytest.skip(f"nothing is compiled ahead for {bundled_engine.here()[0]}")
    assert set(baseline.needs) <= bundled_engine.here()[1]
