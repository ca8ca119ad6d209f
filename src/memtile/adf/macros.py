"""Macros of a graph: which names ``-D`` may give, and which of them the sources ask for.

The sources are read as text, with every file that they include or name (``source(k) = "kernels/k.cc"``). So
macros are found under any condition, and kernels before the graph has named them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from memtile.errors import InputFileError, Problem, raise_if

_SUFFIXES = (".h", ".hh", ".hpp", ".inc", ".inl", ".tpp", ".c", ".cc", ".cpp", ".cxx")
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_QUOTED = re.compile(r'"([^"\\\n]+)"')
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FUNCTION = re.compile(r"[A-Za-z_]\w*\([\w\s,.]*\)", re.ASCII)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)\b", re.MULTILINE)
_ASKED = re.compile(r"^[ \t]*#[ \t]*(?:ifdef|ifndef|undef|(?:el)?if)\b(.*)$", re.MULTILINE)
_OFFERED = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n(?:[ \t]*\n)*[ \t]*#[ \t]*define[ \t]+\1[ \t]+\S", re.MULTILINE
)
_SOURCE = "C++: names of macros"


def is_macro(name: str) -> bool:
    """Whether a text is the name of a macro without arguments."""
    return bool(_NAME.fullmatch(name))


def check_macros(defines: Mapping[str, object]) -> None:
    """Refuse macros that are none, all at once.

    Args:
        defines: values by name; a name may have arguments, ``F(x)``.

    Raises:
        InputFileError: a name that is no identifier of C++, or a value of several lines.
    """
    raise_if([*_wrong(defines)], InputFileError)


def _wrong(defines: Mapping[str, object]) -> Iterator[Problem]:
    for name, value in defines.items():
        if not is_macro(name) and not _FUNCTION.fullmatch(name):
            yield _problem(name, ascii(name), "an identifier of C++", "Write -D NAME=VALUE.")
        if isinstance(value, str) and not value.isprintable():
            yield _problem(name, ascii(value), "printable text of one line", "Put it into a header.")


def _problem(name: str, given: str, allowed: str, step: str) -> Problem:
    says = f"{given} must be {allowed}"
    where = f"macro {name!a}"
    return Problem("macro", given, allowed, says, step, reason="macro", where=where, source=_SOURCE)


class GraphTexts:
    """The texts of a graph: its sources, and the files that they include or name.

    Args:
        files: C++ sources.
        include: folders of headers.

    Attributes:
        read: texts by path: of the sources and of what they lead to.
    """

    def __init__(self, files: Iterable[Path], include: Sequence[Path] = ()) -> None:
        mains = [each.resolve() for each in files]
        folders = [*dict.fromkeys(each.parent for each in mains), *(each.resolve() for each in include)]
        self.read: dict[Path, str] = {}
        waiting = mains
        while waiting:
            path = waiting.pop()
            if path not in self.read:
                self.read[path] = path.read_text("utf-8", "replace")
                waiting += _named(self.read[path], [path.parent, *folders])

    @cached_property
    def beside(self) -> Mapping[Path, str]:
        """Texts of the other C++ files in the folders of these: a name that a macro makes may mean them."""
        folders = dict.fromkeys(each.parent for each in self.read)
        paths = (each for folder in folders for each in sorted(folder.iterdir()) if each.suffix in _SUFFIXES)
        return {
            path: path.read_text("utf-8", "replace")
            for path in paths
            if path.is_file() and path.resolve() not in self.read
        }

    def has(self, name: str) -> bool:
        """Whether a macro's name is in one of the texts, or of those beside."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(word.search(text) for text in (*self.read.values(), *self.beside.values()))

    def fixed_at(self, name: str) -> str:
        """``graph.h:12``, where a text defines a macro whatever ``-D`` says; empty = nowhere."""
        asked = re.compile(rf"\b{re.escape(name)}\b")
        if any(asked.search(line) for text in self.read.values() for line in _ASKED.findall(text)):
            return ""
        for path, text in self.read.items():
            for found in _DEFINED.finditer(text):
                if found[1] == name:
                    return f"{path.name}:{text.count(chr(10), 0, found.start(1)) + 1}"
        return ""

    @property
    def offered(self) -> list[str]:
        """Macros that the texts give a value only where ``-D`` does not."""
        return [*dict.fromkeys(name for text in self.read.values() for name in _OFFERED.findall(text))]


def _named(text: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files that a text includes, and those with a suffix of C++ that it names."""
    names = [*_INCLUDED.findall(text), *(each for each in _QUOTED.findall(text) if each.endswith(_SUFFIXES))]
    for name in dict.fromkeys(names):
        found = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if found is not None:
            yield found.resolve()
