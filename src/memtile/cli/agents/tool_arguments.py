"""What an agent gives a tool, checked: files below the root, texts as files, bounded times."""

from __future__ import annotations

import json
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from memtile.bd.descriptor_cases import refusal
from memtile.cli.failure import UsageError
from memtile.errors import InputFileError, MemtileError, Problem, raise_if
from memtile.output_files import write_output

MOST_SECONDS = 600.0
"""Seconds that an agent may give a run."""
_FILES = ("path", "kernels", "dump", "graph", "design", "include", "in_folder", "first", "second")
_FILES_BY_NAME = ("inputs", "expect")
_HALVES, _MARK = re.compile("[\ud800-\udfff]"), "\ufffe"  # no character, in no text
_MLIR = re.compile(
    r"(?:\s*(?://|[#!]).*\n)*\s*(module\b.*\{|(aie|AIE)\.device)"
)  # behind comments and aliases
_WHERE, _SCHEMA = "arguments of the tool", "schema of the tool"


def check_arguments(root: Path, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that reach outside the root or are no text.

    Args:
        root: folder that files are in, resolved; relative paths begin there.
        arguments: of a tool, by name.

    Raises:
        InputFileError: names every argument that is refused, and never what is in a file outside.
    """
    raise_if([*_broken_texts("", arguments)], InputFileError)
    files = {name: arguments.get(name) for name in _FILES}
    for each in _FILES_BY_NAME:
        files |= {f"{each}[{name!r}]": file for name, file in (arguments.get(each) or {}).items()}
    found = (_outside(root, name, file) for name, file in files.items() if isinstance(file, str) and file)
    raise_if([*filter(None, found), *_seconds(arguments)], InputFileError)


def with_marks(line: bytes) -> bytes:
    """Return a message in which halves of surrogate pairs are marks, which :func:`check_arguments` refuses.

    The SDK drops a message with such a half, and its client would wait for the answer.
    """
    if b"\\ud" not in line.lower():
        return line
    try:
        return json.dumps(_marked(json.loads(line))).encode() + b"\n"
    except (ValueError, RecursionError):
        return line


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {_marked(key): _marked(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_marked(each) for each in value]
    return _HALVES.sub(_MARK, value) if isinstance(value, str) else value


def _broken_texts(name: str, value: Any) -> Iterator[Problem]:
    """Texts that cannot be written as UTF-8, at any depth."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _broken_texts(name, key)
            yield from _broken_texts(name or key, each)
    elif isinstance(value, list):
        for each in value:
            yield from _broken_texts(name, each)
    elif isinstance(value, str):
        found = _HALVES.search(value) or re.search(_MARK, value)
        if found:
            yield Problem(
                ascii(_HALVES.sub(_MARK, name))[1:-1],
                "a text with half of a surrogate pair",
                "Unicode text",
                next_step=f"Leave out character {found.start()}, counted from 0.",
                reason="text",
                where=_WHERE,
                source="UTF-8 has no form for it",
            )


def _outside(root: Path, name: str, file: str) -> Problem | None:
    """Why a path is refused; None = it may be read."""
    try:
        path = (root / file).resolve()
        if path.is_relative_to(root):
            mode = path.stat().st_mode  # is_file() of newer CPythons says False where this raises
            readable = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
            return None if readable else _problem(name, file, "a file or a folder", "others never end")
    except (FileNotFoundError, NotADirectoryError):
        return None  # who reads it says so
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return _problem(name, file, "a path", f"the system says: {why}")
    return _problem(name, file, f"below {root}", "memtile mcp reads files of its root alone, links followed")


def _problem(name: str, file: str, allowed: str, source: str) -> Problem:
    shown = file if len(file) <= 200 else f"{file[:200]}..."
    return Problem(
        name,
        ascii(shown),
        allowed,
        next_step="Give a file below the root; who starts the server chooses it: memtile mcp --root DIR.",
        reason="root",
        where=_WHERE,
        source=source,
    )


def _seconds(arguments: Mapping[str, Any]) -> Iterator[Problem]:
    given = arguments.get("seconds", 0.0)
    if not isinstance(given, int | float) or not given <= MOST_SECONDS:
        yield Problem(
            "seconds",
            ascii(given),
            f"at most {MOST_SECONDS:g}",
            reason="seconds",
            where=_WHERE,
            source=_SCHEMA,
        )


def as_text(value: Any) -> Any:
    """Return plain data whose texts can all be written: what a design calls things may hold anything."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {as_text(key): as_text(each) for key, each in value.items()}
    return [as_text(each) for each in value] if isinstance(value, list) else value


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
def given_file(path: str, text: str, kind: Kind | None) -> Iterator[GivenFile]:
    """The file of a call; modules that a design imports beside it are forgotten after the call.

    A command ends and with it what it imported; a server stays, and its user changes files between two calls.

    Args:
        path: an existing file or folder; empty = there is a text.
        text: what the file would hold; empty = there is a path.
        kind: of the text; None = MLIR where it has a module or a device, else Python.

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
            shown = "mlir" if _MLIR.match(text) else "py"
            file = Path(folder).resolve() / f"design.{kind or shown}"
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
