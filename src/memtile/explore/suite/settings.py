"""What a repository says about tests of its designs: ``memtile-tests.toml``, and options of the command.

Keys at the top are for every design; a table ``[[design]]`` is a test of one file. Paths are relative to the
file that names them. An unknown key is an error that names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError, Problem, raise_if
from memtile.input_files import read_text
from memtile.io.toml_text import parse_toml

FILE = "memtile-tests.toml"
LEAST_SECONDS, SECONDS = 0.1, 120.0
"""Time for a design."""
_PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class CaseSettings:
    """How a design is tested.

    Attributes:
        inputs: files of arrays, by name or number of the argument.
        expect: files of arrays that must come out, likewise; of a graph by name of its PLIO.
        tolerance: of expected floats, absolute and relative; 0 = bit by bit.
        cycles: budget; None = that of the baseline, if it has one.
        within: part of the budget by which it may be exceeded: 0.05 = 5 %.
        set: ``NAME=VALUE`` of parameters and macros.
        kernels: files of functions that cores call.
        include: folders of C++ headers.
        define: macros of C++.
        cost: cycles of kernels, as ``memtile run --cost`` takes them.
        device: for a design that leaves it open.
        sequence: host sequence of a text with several.
        arguments: of the command line of an IRON program.
        in_folder: of input files of a graph.
        seconds: time limit.
        allow_unknown: it passes also where nothing says what must come out.
        check: whether ``memtile check`` is part of the test.
    """

    inputs: Mapping[str, str] = field(default_factory=dict)
    expect: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.0
    cycles: int | None = None
    within: float = 0.0
    set: Sequence[str] = ()
    kernels: Sequence[str] = ()
    include: Sequence[str] = ()
    define: Sequence[str] = ()
    cost: Sequence[str] = ()
    device: str = ""
    sequence: str = ""
    arguments: Sequence[str] = ()
    in_folder: str = ""
    seconds: float = SECONDS
    allow_unknown: bool = False
    check: bool = True

    def as_json(self) -> dict[str, Any]:
        """Plain data, for the process that runs the design."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class NamedCase:
    """A test that the file names.

    Attributes:
        file: of the design, relative to the folder of the settings.
        name: of the test; empty = that of the file.
        settings: how it is tested.
        where: it is written.
        keys: of its own table.
    """

    file: str
    name: str
    settings: CaseSettings
    where: str = FILE
    keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SuiteSettings:
    """The settings of a repository.

    Attributes:
        folder: that its paths are relative to.
        usual: for designs that have no test of their own.
        tests: in the order of the file.
        baseline: file of cycles; None = none.
        exclude: patterns of designs that are not tested.
        pytest: pytest collects the designs too.
    """

    folder: Path = Path()
    usual: CaseSettings = field(default_factory=CaseSettings)
    tests: Sequence[NamedCase] = ()
    baseline: Path | None = None
    exclude: Sequence[str] = ()
    pytest: bool = False

    def excludes(self, name: str) -> bool:
        """Whether a design is not tested.

        Args:
            name: its path relative to the folder.
        """
        return any(fnmatchcase(name, pattern) for pattern in self.exclude)


_PATHS = ("kernels", "include")
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "inputs": ((dict,), 'a table of files by argument, such as { 0 = "a.npy" }'),
    "expect": ((dict,), 'a table of files by argument, such as { 2 = "c.npy" }'),
    "tolerance": ((int, float), "a number, such as 1e-3"),
    "cycles": ((int,), "a whole number"),
    "within": ((str, int, float), 'a percentage, such as "5%"'),
    "set": ((dict,), "a table of values by name"),
    "define": ((dict,), "a table of values by name"),
    "kernels": ((list,), "a list of files"),
    "include": ((list,), "a list of folders"),
    "cost": ((list,), 'a list of texts such as "gr.k=2088"'),
    "device": ((str,), "the name of a device"),
    "sequence": ((str,), "the name of a host sequence"),
    "arguments": ((list,), "a list of texts"),
    "in_folder": ((str,), "a folder"),
    "seconds": ((int, float), "a number"),
    "allow_unknown": ((bool,), "true or false"),
    "check": ((bool,), "true or false"),
}
_OF_SUITE: Mapping[str, tuple[tuple[type, ...], str]] = {
    "baseline": ((str,), "a file of cycles, .toml or .json"),
    "exclude": ((list,), "a list of patterns of paths"),
    "pytest": ((bool,), "true or false"),
    "design": ((list,), "tables [[design]]"),
}
_OF_DESIGN: Mapping[str, tuple[tuple[type, ...], str]] = {
    "file": ((str,), "the path of a design"),
    "name": ((str,), "a text"),
}
_OF_ONE = ("inputs", "expect", "cycles", "sequence", "arguments")
"""Keys that make no sense for every design at once."""


def settings_beside(path: Path) -> Path | None:
    """The settings of a design or a folder: in its folder or the nearest above it; None = there are none."""
    start = path.resolve()
    places = [start, *start.parents] if start.is_dir() else start.parents
    for place in places:
        if (place / FILE).is_file():
            return place / FILE
        if (place / ".git").exists():
            break
    return None


def read_settings(file: Path | None) -> SuiteSettings:
    """The settings of a file; None = the usual ones.

    Raises:
        InputFileError: the file cannot be read, is no TOML, has an unknown key or a value of another kind.
    """
    if file is None:
        return SuiteSettings()
    data = parse_toml(read_text(file), str(file))
    general = {key: kind for key, kind in _KINDS.items() if key not in _OF_ONE}
    _check_keys(str(file), data, {**general, **_OF_SUITE})
    folder = _shown(file.parent)
    usual = _settings(str(file), data, CaseSettings(), folder)
    tests = [
        _test(f"{file}, [[design]] {n}", each, usual, folder)
        for n, each in enumerate(data.get("design", ()), 1)
    ]
    names = [test.name or test.file for test in tests]
    for name in names:
        if names.count(name) > 1:
            raise InputFileError(
                f"{file}: two tests are called {name!r}. Give each of them a name of its own."
            )
    return SuiteSettings(
        folder,
        usual,
        tests,
        folder / data["baseline"] if "baseline" in data else None,
        [str(each) for each in data.get("exclude", ())],
        data.get("pytest", False),
    )


def _shown(folder: Path) -> Path:
    """A folder as a path from the working one, where that is shorter to read."""
    here = Path.cwd()
    resolved = folder.resolve()
    return resolved.relative_to(here) if resolved.is_relative_to(here) else resolved


def _test(where: str, data: Any, usual: CaseSettings, folder: Path) -> NamedCase:
    if not isinstance(data, dict):
        raise InputFileError(f"{where}: it must be a table. Write [[design]] above its keys.")
    _check_keys(where, data, {**_OF_DESIGN, **_KINDS})
    if "file" not in data:
        raise InputFileError(f'{where}: it has no file. Write file = "DESIGN", the path of its design.')
    return NamedCase(
        data["file"], data.get("name", ""), _settings(where, data, usual, folder), where, [*data]
    )


def settings_of(where: str, data: Mapping[str, Any], folder: Path) -> CaseSettings:
    """The settings of a design from keys and values; paths are relative to the folder.

    Raises:
        InputFileError: an unknown key, or a value of another kind.
    """
    _check_keys(where, data, _KINDS)
    return _settings(where, data, CaseSettings(), folder)


def _settings(where: str, data: Mapping[str, Any], usual: CaseSettings, folder: Path) -> CaseSettings:
    """The settings of a table, over the usual ones."""
    found: dict[str, Any] = {key: value for key, value in data.items() if key in _KINDS}
    for key in ("inputs", "expect"):
        if key in found:
            found[key] = {name: str(folder / str(value)) for name, value in found[key].items()}
    for key in ("set", "define"):
        if key in found:
            found[key] = [f"{name}={_text(value)}" for name, value in found[key].items()]
    for key in _PATHS:
        if key in found:
            found[key] = [str(folder / str(value)) for value in found[key]]
    if "in_folder" in found:
        found["in_folder"] = str(folder / found["in_folder"])
    if "within" in found:
        found["within"] = part_of(found["within"], f"{where}: within")
    _check_least(where, found)
    if "set" in found:
        found["set"] = [*usual.set, *found["set"]]
    return replace(usual, **found)


def _check_least(where: str, found: Mapping[str, Any]) -> None:
    """Refuse numbers that are too small.

    Raises:
        InputFileError: which they are.
    """
    for key, least in (("seconds", LEAST_SECONDS), ("tolerance", 0)):
        if found.get(key, least) < least:
            raise InputFileError(f"{where}: {key} is {found[key]}; it must be at least {least}.")


def _text(value: Any) -> str:
    """A value as the command line has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def part_of(value: str | float, where: str) -> float:
    """The part that a percentage is: 0.05 of ``"5%"``, and of 0.05 too.

    Raises:
        InputFileError: it is none.
    """
    text = str(value).strip()
    try:
        found = float(text[:-1]) / _PERCENT if text.endswith("%") else float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= _PERCENT:
        raise InputFileError(
            f"{where} is {value!r}; it must be a percentage such as 5%, or a part such as 0.05."
        )
    return found


def _check_keys(
    where: str, data: Mapping[str, Any], known: Mapping[str, tuple[tuple[type, ...], str]]
) -> None:
    """Refuse unknown keys and values of other kinds, all at once.

    Raises:
        InputFileError: what they are.
    """
    wrong = [_unknown(where, key, known) for key in data if key not in known]
    for key, (kinds, what) in known.items():
        value = data.get(key)
        is_kind = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        if key in data and not is_kind:
            says = f"{key} is {value!r}; it must be {what}"
            wrong.append(_problem(where, key, repr(value), what, says))
    raise_if(wrong, InputFileError)


def _unknown(where: str, key: str, known: Mapping[str, object]) -> Problem:
    close = get_close_matches(key, known, 1)
    allowed = f"did you mean {close[0]!r}" if close else f"known are {', '.join(sorted(known))}"
    says = f"unknown key {key!r}; {allowed}"
    return _problem(where, key, key, ", ".join(sorted(known)), says)


def _problem(where: str, key: str, given: str, allowed: str, says: str) -> Problem:
    return Problem(key, given, allowed, says, reason="test_settings", where=where, source="docs/ci.md")
