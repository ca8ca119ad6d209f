"""What an agent gives a tool: the path of a file, or a text that becomes one for the time of the call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from memtile.bd.descriptor_cases import refusal
from memtile.cli.failure import UsageError
from memtile.errors import InputFileError, MemtileError
from memtile.output_files import write_output

Kind = Literal["py", "mlir", "txt"]
"""What a text is: a design in Python, one of mlir-aie, register writes."""


class RefusedError(Exception):
    """An input that is refused.

    Attributes:
        answer: why, in the form of ``--json`` of the commands.
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer["message"])
        self.answer = answer


def refused(error: Exception) -> dict[str, Any]:
    """An error of a command, as its ``--json`` says it; others are raised again."""
    if isinstance(error, MemtileError):
        return refusal(error)
    if isinstance(error, UsageError):
        return {"reason": "usage", "field": "", "message": error.format_message()}
    raise error


class GivenFile:
    """A file of a call, and what its folder is called in the answer.

    Attributes:
        name: its path.
    """

    def __init__(self, name: str, folder: str = "") -> None:
        self.name, self._folder = name, folder

    def said(self, value: Any) -> Any:
        """Plain data in which the files of a text have no folder: it is gone when the answer is read."""
        if not self._folder:
            return value
        if isinstance(value, str):
            return value.replace(f"{self._folder}/", "")
        if isinstance(value, dict):
            return {self.said(key): self.said(each) for key, each in value.items()}
        return [self.said(each) for each in value] if isinstance(value, list) else value


@contextmanager
def given_file(path: str, text: str, kind: Kind) -> Iterator[GivenFile]:
    """The file of a call; modules that a design imports beside it are forgotten after the call.

    A command ends and with it what it imported; a server stays, and its user changes files between two calls.

    Args:
        path: an existing file or folder; empty = there is a text.
        text: what the file would hold; empty = there is a path.
        kind: of the text.

    Raises:
        InputFileError: both or neither.
        RefusedError: for a text, what the call inside has refused.
    """
    if bool(path) == bool(text):
        raise InputFileError.of(
            "path and text",
            "both" if path else "neither",
            "one of them",
            next_step="Give the path of a file, or its text and kind.",
            reason="design",
            where="arguments of the tool",
            source="schema of the tool",
        )
    with _forgetting():
        if path:
            yield GivenFile(path)
            return
        with TemporaryDirectory(prefix="memtile_") as folder:
            file = Path(folder).resolve() / f"design.{kind}"
            write_output(file, text, durable=False)
            given = GivenFile(str(file), str(file.parent))
            try:
                yield given
            except (MemtileError, UsageError) as error:
                raise RefusedError(given.said(refused(error))) from None


@contextmanager
def _forgetting() -> Iterator[None]:
    """Forget at the end the modules and folders of users that came in between."""
    modules, folders = set(sys.modules), list(sys.path)
    try:
        yield
    finally:
        added = {Path(each).resolve() for each in sys.path if each not in folders}
        for name in set(sys.modules) - modules:
            if _below(getattr(sys.modules[name], "__file__", None), added):
                del sys.modules[name]
        sys.path[:] = folders


def _below(file: str | None, folders: set[Path]) -> bool:
    return file is not None and any(Path(file).resolve().is_relative_to(folder) for folder in folders)
