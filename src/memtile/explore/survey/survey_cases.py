"""The designs and builds below a folder, and the data that lie beside them.

It also says what lies beside a design: its arrays, what must become of them, and what its text leaves open.

Names of files say what they are; docs/mlir.md has the rules.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from memtile.adf.macros import GraphTexts
from memtile.cpp.build import SUFFIXES
from memtile.errors import InputFileError, Problem
from memtile.importers.design_file import is_own_design, is_script
from memtile.importers.mlir.token_packets import BUILD_FILES
from memtile.input_files import read_beside, read_bytes, read_text
from memtile.io.json_text import parse_json
from memtile.io.program.containers.build_folder import build_files

FACTS = "facts.json"
"""What a folder says of its designs, see :class:`Facts`."""
LAST = -1
"""Number of an array that has none in its name: the last argument that the array writes."""
_GIVEN, _EXPECTED = ("in",), ("out", "ref", "expected", "golden")
_ARRAY = re.compile(rf"({'|'.join((*_GIVEN, *_EXPECTED))})_?([0-9]*)\.npy")
_ARGUMENT = re.compile(r"[0-9]{1,4}")
_PLACEHOLDER = re.compile(r"\bNPUDEVICE/([a-z0-9_]+)")
_KEYS: Mapping[str, tuple[type, str]] = {
    "device": (str, "the name of a device"),
    "sequence": (str, "the name of a host sequence"),
    "functions": (str, "a Python file beside it"),
    "in": (dict, "files by number of the argument"),
    "out": (dict, "files by number of the argument"),
    "scalars": (dict, "numbers by number of the argument"),
    "parameters": (dict, "32-bit words by name"),
    "macros": (dict, "values by name of a macro"),
    "include": (list, "folders of headers beside it"),
}


@dataclass(frozen=True, slots=True)
class Beside:
    """What lies beside a design.

    Attributes:
        given: files of arrays in, by number of the argument.
        expected: files of arrays that must come out, by number of the argument; ``LAST`` for one without.
        facts: file of facts; None if there is none.
        device: that the folder's test runs it on, where the text leaves it open; empty = not said.
    """

    given: dict[int, Path] = field(default_factory=dict)
    expected: dict[int, Path] = field(default_factory=dict)
    facts: Path | None = None
    device: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file of facts says; keys that are not here are for people.

    Attributes:
        device: for a text that leaves it open; empty = not said.
        sequence: which host sequence of the text is meant; None = the only one.
        functions: Python file with functions that cores call; None = none.
        given: files of arrays in, by number of the argument.
        expected: files of arrays that must come out, by number of the argument.
        scalars: arguments that are numbers, by their number.
        parameters: of the scratchpad, by name.
        macros: of a graph in C++.
        include: folders of its headers.
    """

    device: str = ""
    sequence: str | None = None
    functions: Path | None = None
    given: Mapping[int, Path] = field(default_factory=dict)
    expected: Mapping[int, Path] = field(default_factory=dict)
    scalars: Mapping[int, int] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    macros: Mapping[str, str] = field(default_factory=dict)
    include: Sequence[Path] = ()


def beside(places: Sequence[Path]) -> Beside:
    """What lies in the first of several folders that has arrays or facts.

    Args:
        places: the folder of a design, then those above it that count.
    """
    device = next(filter(None, map(_tested_on, places)), "")
    for place in places:
        arrays = sorted(file for file in place.glob("*.npy") if _ARRAY.fullmatch(file.name))
        facts = place / FACTS if (place / FACTS).is_file() else None
        if arrays or facts:
            return Beside(_arrays(arrays, _GIVEN), _arrays(arrays, _EXPECTED), facts, device)
    return Beside(device=device)


def is_test(name: str) -> bool:
    """Whether a file of that name says how the design of its folder is built and run."""
    return name in ("Makefile", "makefile") or fnmatchcase(name, BUILD_FILES)


def facts_of(file: Path | None) -> Facts:
    """What a file of facts says.

    Raises:
        InputFileError: the file cannot be read, is no JSON object, or has another thing where one is known.
    """
    if file is None:
        return Facts()
    data = parse_json(read_text(file), str(file))
    if not isinstance(data, dict):
        raise InputFileError(f"{file}: it is no JSON object. Write it as {{...}}.")
    for key, (kind, what) in _KEYS.items():
        if key in data and not isinstance(data[key], kind):
            raise InputFileError(f"{file}: {key} is {json.dumps(data[key])}; it must be {what}.")
    functions = file.parent / data["functions"] if "functions" in data else None
    return Facts(
        data.get("device", ""),
        data.get("sequence"),
        functions,
        _files(file, data.get("in", {})),
        _files(file, data.get("out", {})),
        {_number(file, key): _whole(file, key, value) for key, value in data.get("scalars", {}).items()},
        {key: _whole(file, key, value) for key, value in data.get("parameters", {}).items()},
        {name: str(value) for name, value in data.get("macros", {}).items()},
        [file.parent / str(name) for name in data.get("include", ())],
    )


def _arrays(files: Sequence[Path], roles: Sequence[str]) -> dict[int, Path]:
    """Files by number; of several for one number the first in the order of the roles."""
    found: dict[int, Path] = {}
    for file in sorted(files, key=lambda file: _role(file, roles)):
        match = _ARRAY.fullmatch(file.name)
        if match is None or match[1] not in roles:
            continue
        without = 0 if match[1] in _GIVEN else LAST
        found.setdefault(int(match[2]) if match[2] else without, file)
    return found


def _role(file: Path, roles: Sequence[str]) -> int:
    match = _ARRAY.fullmatch(file.name)
    return roles.index(match[1]) if match and match[1] in roles else len(roles)


def _tested_on(place: Path) -> str:
    """The device that a folder's test puts in for the placeholder; empty without one."""
    named = (
        name for text in read_beside(place / "design", BUILD_FILES) for name in _PLACEHOLDER.findall(text)
    )
    return next(named, "")


def _files(facts: Path, named: Mapping[str, Any]) -> dict[int, Path]:
    for key, value in named.items():
        if not isinstance(value, str):
            raise InputFileError(f"{facts}: argument {key} is {json.dumps(value)}; it must be a file's name.")
    return {_number(facts, key): facts.parent / value for key, value in named.items()}


def _number(facts: Path, key: str) -> int:
    if not _ARGUMENT.fullmatch(key):
        raise InputFileError(f"{facts}: {key!r} is no number of an argument. Count them from 0.")
    return int(key)


def _whole(facts: Path, key: str, value: object) -> int:
    if not isinstance(value, int):
        raise InputFileError(f"{facts}: {key} is {json.dumps(value)}; it must be a whole number.")
    return value


_DEVICE = re.compile(rb"\b(?:aie|AIE)\.device\b")
_MAIN, _INIT = re.compile(rb"\bmain\s*\("), re.compile(rb"\.\s*init\s*\(")
_RUN, _END = re.compile(rb"\.\s*run\s*\("), re.compile(rb"\.\s*end\s*\(")
_ADF = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<](?:[\w/]*/)?adf\.h", re.MULTILINE)
_NAMED = re.compile(rb"\baie\.device\s*\([^)]*\)\s*(?:@([\w.$-]+))?")
_COMMENT = re.compile(rb"//[^\n]*")
_TOGETHER = (b"aiex.configure", b"load_pdi")
_BUILT = re.compile(r".*cdo.*\.bin|.*\.cdo|.*\.xclbin|.*\.pdi|insts\.(?:txt|bin)|.*insts.*\.(?:txt|bin)")
_ELF = ".elf"
_SKIPPED = (".git", ".venv", "node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class SurveyCase:
    """A design or a build to try.

    Attributes:
        name: path below the folder.
        path: a file of MLIR text, a program of IRON, a source with ``main`` of a graph, or the folder of a
            build.
        data: what lies beside it.
        part: symbol or place of the device that is meant; empty if the text has one.
    """

    name: str
    path: Path
    data: Beside = field(default_factory=Beside)
    part: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain data, for the process that runs it."""
        return {
            "name": self.name,
            "path": str(self.path),
            "given": {str(n): str(file) for n, file in self.data.given.items()},
            "expected": {str(n): str(file) for n, file in self.data.expected.items()},
            "facts": str(self.data.facts) if self.data.facts else None,
            "device": self.data.device,
            "part": self.part,
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> SurveyCase:
        """The case of plain data."""
        given, expected = (
            {int(n): Path(file) for n, file in data[key].items()} for key in ("given", "expected")
        )
        facts = Path(data["facts"]) if data["facts"] else None
        found = Beside(given, expected, facts, data["device"])
        return cls(data["name"], Path(data["path"]), found, data["part"])


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What is below a folder.

    Attributes:
        cases: designs and builds, by name.
        others: MLIR files without a device.
        programs: folders with a test or a makefile and no design in or below them: Python programs print it.
    """

    cases: tuple[SurveyCase, ...]
    others: tuple[str, ...]
    programs: tuple[str, ...] = ()


def find(folder: Path) -> FolderContents:
    """The designs, graphs and builds below a folder.

    Each Python file that imports memtile and has ``design()`` is a design.
    Each C++ source with ``main`` and ``init()`` is a graph that leads to ``adf.h`` or has ``run()`` and
    ``end()``. Each MLIR file with a device is a design, or several if it has several devices; each program
    of IRON is one too, by what it builds when it is run. Configuration
    and instructions are a build, a row of its own where such a file lies beside or above them; there, and in
    an ELF, both must be. Arrays in the folder of a design, or in the one above, are its arguments and what
    must become of them, see :func:`beside`.

    Raises:
        InputFileError: no such folder, or nothing to try in it.
    """
    if not folder.is_dir():
        raise InputFileError(_problem(folder, "there is no such folder"))
    cases, others = list[SurveyCase](), list[str]()
    with_text, builds, tests = set[Path](), set[Path](), list[Path]()
    for place, files in _folders(folder):
        found = [(file, _designs(folder, file)) for file in files]
        others += [_name(folder, file) for file, own in found if file.suffix == ".mlir" and not own]
        designs = [case for _, own in found for case in own]
        cases += designs
        with_text |= {place} if designs else set()
        tests += [place] if any(is_test(file.name) for file in files) else []
        if place.parent not in builds and _is_build(place, files, with_text=with_text):
            builds.add(place)
            cases.append(_case(folder, _name(folder, place), place))
    if not cases:
        says = "there is no design and no build below it"
        raise InputFileError(_problem(folder, says))
    with_designs = {above for place in (*with_text, *builds) for above in (place, *place.parents)}
    programs = sorted(_name(folder, place) for place in tests if place not in with_designs)
    return FolderContents(
        tuple(sorted(cases, key=lambda case: case.name)), tuple(sorted(others)), tuple(programs)
    )


def designs_of(path: Path) -> list[SurveyCase]:
    """The designs of a file, whatever is in it, or the build of a folder, with what lies beside it."""
    folder = path.parent
    return _designs(folder, path) or [_case(folder, _name(folder, path), path)]


def is_design(file: Path) -> bool:
    """Whether a survey of its folder would try a file."""
    return bool(_designs(file.parent, file))


def _designs(folder: Path, file: Path) -> list[SurveyCase]:
    """The designs of a file below a folder: several of an MLIR text with several devices."""
    whole = partial(_case, folder, _name(folder, file), file)
    if file.suffix == ".mlir" and _DEVICE.search(_bytes(file)):
        case = whole()
        names = _devices(_bytes(file))
        return [replace(case, name=f"{case.name}:{part}", part=part) for part in names] or [case]
    is_design = _is_graph(file) if file.suffix in SUFFIXES else is_script(file) or is_own_design(file)
    return [whole()] if is_design else []


def _is_graph(file: Path) -> bool:
    """Whether a C++ source has the ``main`` of a graph."""
    text = _bytes(file)
    if not (_MAIN.search(text) and _INIT.search(text)):
        return False
    if _RUN.search(text) and _END.search(text):
        return True  # its headers may lie in folders that facts name
    return any(_ADF.search(each) for each in GraphTexts([file]).read.values())


def _is_build(place: Path, files: Sequence[Path], *, with_text: set[Path]) -> bool:
    """Whether the files of a folder are a build: beside or below a text only if nothing is missing."""
    named = any(_BUILT.fullmatch(file.name) for file in files)
    if named and not with_text & {place, place.parent}:
        return True
    if not named and not any(file.suffix == _ELF for file in files):
        return False
    try:
        return build_files(place).whole
    except InputFileError:  # several builds, or none; their texts are tried
        return False


def _folders(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Each folder below one, upper ones first, with its files."""
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name not in _SKIPPED)
        files = (Path(place, name) for name in sorted(names))
        yield Path(place), [file for file in files if file.is_file()]


def _case(folder: Path, name: str, path: Path) -> SurveyCase:
    own = path.parent if path.is_file() else path
    places = [own] if own == folder else [own, own.parent]
    return SurveyCase(name, path, beside(places))


def _devices(text: bytes) -> list[str]:
    """The devices of a text that are designs of their own: several, and none configures the others.

    Those without a name of their own go by their place, ``#2``.
    """
    text = _COMMENT.sub(b"", text)
    names = [match.decode() for match in _NAMED.findall(text)]
    alone = len(set(names)) < len(names) or not any(word in text for word in _TOGETHER)
    if len(names) < 2 or not alone:
        return []
    return [name if name and names.count(name) == 1 else f"#{n}" for n, name in enumerate(names, start=1)]


def _bytes(file: Path) -> bytes:
    """The contents of a file; nothing if it cannot be read."""
    try:
        return read_bytes(file)
    except InputFileError:
        return b"aie.device"  # tried, so that the survey says why it cannot be read


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _problem(folder: Path, says: str) -> Problem:
    return Problem(
        "folder",
        str(folder),
        "a folder with designs or builds below it",
        says,
        "A design is an MLIR file with aie.device, a Python program that imports aie, a Python file that "
        "imports memtile and has design(), or a graph in C++; a build is configuration and instructions.",
        reason="survey",
        where=str(folder),
        source="docs/mlir.md",
    )
