"""Which lines of some modules ran, and which functions never began."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import memtile

SOURCE = Path(memtile.__file__).parent


class Covered(NamedTuple):
    """How much of some modules ran.

    Attributes:
        ran: lines of functions that ran.
        lines: that there are.
        missed: functions of which no line ran, ``module.py:line name``, the longest first.
    """

    ran: int
    lines: int
    missed: list[str]

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.ran / max(self.lines, 1)


def covered(modules: Iterable[str], ran: Mapping[str, Set[int]]) -> Covered:
    """Count the lines of functions of some modules.

    Args:
        modules: files or folders below the package.
        ran: lines by file.
    """
    count = total = 0
    missed: list[tuple[int, str]] = []
    for path in files(modules):
        seen = ran.get(str(path), frozenset())
        for name, first, lines in functions(path):
            count += len(lines & seen)
            total += len(lines)
            if not lines & seen:
                missed.append((len(lines), f"{path.relative_to(SOURCE)}:{first} {name}"))
    return Covered(count, total, [each for _, each in sorted(missed, key=lambda each: (-each[0], each[1]))])


def files(modules: Iterable[str]) -> Iterator[Path]:
    """Files, and all files of folders, below the package."""
    for each in modules:
        path = SOURCE / each
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


@cache
def functions(path: Path) -> list[tuple[str, int, frozenset[int]]]:
    """Name, first line and lines of each function of a file, without what runs at its import."""
    found: list[tuple[str, int, frozenset[int]]] = []
    waiting = [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
        if code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<"):
            lines = {line for _, _, line in code.co_lines() if line is not None}
            found.append((code.co_qualname, code.co_firstlineno, frozenset(lines - {code.co_firstlineno})))
    return found
