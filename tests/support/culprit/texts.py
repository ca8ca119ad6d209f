"""Texts of designs that mistakes are planted in: files of MLIR, and designs in Python written as MLIR."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from memtile.cli.design_file import load_design
from memtile.errors import MemtileError
from memtile.mlir_writer.designs import to_mlir
from places import ROOT, TESTS

SUFFIXES = (".mlir", ".py")


@cache
def content(path: str) -> str:
    """The text of a design; empty of one in Python that MLIR has no words for.

    Raises:
        InputFileError: the file cannot be read.
    """
    if path.endswith(".mlir"):
        return Path(path).read_text(encoding="utf-8")
    try:
        return to_mlir(load_design(path, []))
    except MemtileError:
        return ""  # a tile alone, a bench that feeds words: nothing to plant in


def designs(paths: Iterable[Path]) -> list[str]:
    """Designs: files, and the texts below folders."""
    found = [each for path in paths for each in (sorted(path.rglob("*.mlir")) if path.is_dir() else [path])]
    return [str(each.resolve()) for each in found]


def own(*, suffixes: Iterable[str] = SUFFIXES) -> list[str]:
    """The examples and the fine designs of the corpus."""
    examples = sorted((ROOT / "examples").glob("*"))
    fine = sorted((TESTS / "corpus").glob("*-fine.*"))
    return [str(each) for each in (*examples, *fine) if each.suffix in suffixes]
