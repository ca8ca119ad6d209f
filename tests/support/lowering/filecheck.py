"""What the FileCheck lines of a test of mlir-aie expect: the lines of a text, with variables and wildcards.

``[[NAME:pattern]]`` and ``[[NAME]]`` become ``$NAME`` (``$NAME'`` after a second capture), ``{{pattern}}``
becomes :data:`ANY` unless it is a single escaped character. The patterns themselves are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

ANY = "\u2047"
"""Stands where a test accepts several texts."""
_RUN = re.compile(r"//\s*RUN:\s*(.*)")
_PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ]([\w,-]+)")
_PASS_OPTION = re.compile(r"(--?[\w-]+)=\"([^\"]*)\"|(--?[A-Za-z][\w-]*)")
_VARIABLE = re.compile(r"\[\[(#?)([^\]:\[]+)((?::(?:[^\[\]]|\[[^\]]*\])*)?)\]\]")
_PATTERN = re.compile(r"\{\{(.*?)\}\}")
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_ESCAPED = re.compile(r"\\([\[\](){}])")
_REFUSES = re.compile(r"//\s*expected-error\s*(?:@\S+)?\s*\{\{(.*?)\}\}")


class RunLine(NamedTuple):
    """A command of a test.

    Attributes:
        options: of the tool, by name: what stands in quotes behind each.
        prefixes: of the lines that it checks.
        fails: the tool is to report errors, which comments of the test name.
        refuses: the tool is to fail.
    """

    options: dict[str, str]
    prefixes: tuple[str, ...]
    fails: bool
    refuses: bool = False


class CheckLine(NamedTuple):
    """A line that a test expects.

    Attributes:
        kind: ``""``, ``"NEXT"``, ``"DAG"``, ``"LABEL"``, ``"NOT"`` or another suffix of FileCheck.
        text: with variables and wildcards.
        line: in the file, counted from 1.
    """

    kind: str
    text: str
    line: int


class Section(NamedTuple):
    """A module of a test file.

    Attributes:
        text: of the module, comments included.
        line: of the file at which it begins, counted from 1.
        errors: that it is to cause.
    """

    text: str
    line: int
    errors: tuple[str, ...]


def run_lines(content: str) -> list[RunLine]:
    """The commands of a test file."""
    found, rest = list[RunLine](), ""
    for given in _RUN.findall(content):
        rest += given.strip()
        if rest.endswith("\\"):
            rest = rest[:-1]
            continue
        tool, _, check = rest.partition("FileCheck")
        named = _PREFIXES.findall(check)
        prefixes = tuple(name for names in named for name in names.split(",")) or ("CHECK",)
        options = {one or lone: value for one, value, lone in _PASS_OPTION.findall(tool)}
        refuses = bool(re.match(r"not\s", rest))
        fails = refuses or not options.keys().isdisjoint(("--verify-diagnostics", "-verify-diagnostics"))
        found.append(RunLine(options, prefixes, fails, refuses))
        rest = ""
    return found


def sections(content: str, *, split: bool) -> list[Section]:
    """The modules of a test file; one if its command does not split it."""
    edges = [0, *(found.end() for found in _SPLIT.finditer(content))] if split else [0]
    found = []
    for first, end in zip(edges, [*edges[1:], len(content)], strict=True):
        text = content[first:end]
        errors = tuple(error for error in _REFUSES.findall(text))
        found.append(Section(text, content.count("\n", 0, first) + 1, errors))
    return [each for each in found if "aie.device" in re.sub(r"//.*", "", each.text)]


def check_lines(section: Section, prefixes: tuple[str, ...]) -> list[CheckLine]:
    """What a module is to become, by the lines of these prefixes."""
    directive = re.compile(rf"//\s*(?:{'|'.join(map(re.escape, prefixes))})(?:-([A-Z]+))?:\s?(.*)")
    found, names = list[CheckLine](), dict[str, str]()
    for number, line in enumerate(section.text.splitlines(), section.line):
        match = directive.search(line)
        if match is None:
            continue
        text = _plain(match[2].strip(), names)
        if match[1] == "SAME" and found:
            last = found[-1]
            found[-1] = last._replace(text=f"{last.text} {text}")
        else:
            found.append(CheckLine(match[1] or "", text, number))
    return found


def _plain(text: str, names: dict[str, str]) -> str:
    """The text with its variables; a variable that is captured again is another one."""

    def variable(found: re.Match[str]) -> str:
        name, first = found[2].strip(), found.start()
        if found[1] or (found[3] and text[first - 1 : first] == "%" and not _defines(text, first)):
            return ANY
        if found[3]:
            names[name] = f"{names[name]}'" if name in names else f"${name}"
        return names.get(name, f"${name}")

    def pattern(found: re.Match[str]) -> str:
        escaped = _ESCAPED.fullmatch(found[1])
        return escaped[1] if escaped else ANY

    return _PATTERN.sub(pattern, _VARIABLE.sub(variable, text))


def _defines(text: str, at: int) -> bool:
    """Whether a variable is a result of the line, not an operand that some test captures anew."""
    return "=" not in text[:at] and "(" not in text[:at]


def operations(lines: list[CheckLine]) -> Iterator[CheckLine]:
    """The lines that must be there, in order."""
    return (line for line in lines if line.kind not in ("NOT", "EMPTY"))


def absent_names(lines: list[CheckLine]) -> tuple[str, ...]:
    """What no symbol may begin with."""
    found = (re.search(r'sym_name = "(\w+)', line.text) for line in lines if line.kind == "NOT")
    return tuple(match[1] for match in found if match is not None)
