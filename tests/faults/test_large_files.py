"""Are files of one endless line refused in bounded time, memory and words?"""

from __future__ import annotations

import pytest

from memtile.errors import MemtileError
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text
from memtile.programs import read_program
from support.mutated.mutated_runs import limited

LENGTH = 16 << 20
_MOST = 512 << 20  # bytes of address space beyond what the process has


@pytest.mark.parametrize("start", ["a", '"', "// ", " ", "4x1"])
def test_one_line_of_megabytes_is_refused_in_a_sentence(start: str) -> None:
    text = start + (" " if start == " " else "1") * LENGTH
    with limited(_MOST), pytest.raises(MemtileError) as caught:
        load(Text("d.mlir", text))
    assert len(str(caught.value)) < 20_000


def test_a_text_of_too_many_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_LIMITS", "words=1000")
    with pytest.raises(MemtileError) as caught:
        load(Text("d.mlir", "(" * 2000))
    (problem,) = caught.value.problems
    assert problem.reason == "mlir_size"
    assert problem.where == "d.mlir:1:1001"
    with pytest.raises(MemtileError) as caught:
        load(Text("d.mlir", "a" * 2000))
    assert [each.reason for each in caught.value.problems] != ["mlir_size"]


@pytest.mark.parametrize("part", [b"a", b"0603010", b"0x1", b"[", b"\xff", b"\0"])
def test_files_of_writes_of_one_line_are_refused(part: bytes) -> None:
    with limited(_MOST), pytest.raises(MemtileError) as caught:
        read_program(part * (LENGTH // len(part)), "f")
    assert len(str(caught.value)) < 20_000
