"""A design that is compiled, by a compiler that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self


class _Module:
    """A module of MLIR that prints a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def operation(self) -> Self:
        return self

    def get_asm(self, *, print_generic_op_form: bool) -> str:
        assert print_generic_op_form
        return self._text


class CompilableDesign:
    def __init__(self, text: str) -> None:
        self._text = text

    def generate_mlir(self) -> Any:
        return _Module(self._text)

    def compile(self, _xclbin_path: Path | None = None, _inst_path: Path | None = None) -> tuple[Path, Path]:
        raise FileNotFoundError("Peano is not installed")
