"""The designs and builds below a folder, and the data that lie beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError, Problem
from memtile.explore.survey.beside import Beside, beside, is_test
from memtile.input_files import read_bytes
from memtile.io.program.containers.build_folder import build_files

_DEVICE = re.compile(rb"\b(?:aie|AIE)\.device\b")
_NAMED = re.compile(rb"\baie\.device\s*\([^)]*\)\s*(?:@([\w.$-]+))?")
_COMMENT = re.compile(rb"//[^\n]*")
_TOGETHER = (b"aiex.configure", b"load_pdi")
_BUILT = re.compile(r".*cdo.*\.bin|.*\.cdo|.*\.xclbin|.*\.pdi|insts\.(?:txt|bin)|.*insts.*\.(?:txt|bin)")
_ELF = ".elf"
_SKIPPED = (".git", ".venv", "node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class Case:
    """A design or a build to try.

    Attributes:
        name: path below the folder.
        path: a file of MLIR text, or the folder of a build.
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
    def of(cls, data: dict[str, Any]) -> Case:
        """The case of plain data."""
        given, expected = (
            {int(n): Path(file) for n, file in data[key].items()} for key in ("given", "expected")
        )
        facts = Path(data["facts"]) if data["facts"] else None
        found = Beside(given, expected, facts, data["device"])
        return cls(data["name"], Path(data["path"]), found, data["part"])


@dataclass(frozen=True, slots=True)
class Found:
    """What is below a folder.

    Attributes:
        cases: designs and builds, by name.
        others: MLIR files without a device.
        programs: folders with a test or a makefile and no design in or below them: Python programs print it.
    """

    cases: tuple[Case, ...]
    others: tuple[str, ...]
    programs: tuple[str, ...] = ()


def find(folder: Path) -> Found:
    """The designs and builds below a folder.

    Each MLIR file with a device is a design, or several if it has several devices. Configuration and
    instructions are a build, a row of its own where such a file lies beside or above them; there, and in
    an ELF, both must be. Arrays in the folder of a design, or in the one above, are its arguments and what
    must become of them, see :func:`beside`.

    Raises:
        InputFileError: no such folder, or nothing to try in it.
    """
    if not folder.is_dir():
        raise InputFileError(_problem(folder, f"there is no folder '{folder}'"))
    cases, others = list[Case](), list[str]()
    with_text, builds, tests = set[Path](), set[Path](), list[Path]()
    for place, files in _folders(folder):
        texts = [file for file in files if file.suffix == ".mlir"]
        designs = [file for file in texts if _DEVICE.search(_bytes(file))]
        others += [_name(folder, file) for file in texts if file not in designs]
        for file in designs:
            whole = _case(folder, _name(folder, file), file)
            names = _devices(_bytes(file))
            cases += [replace(whole, name=f"{whole.name}:{part}", part=part) for part in names] or [whole]
        with_text |= {place} if designs else set()
        tests += [place] if any(is_test(file.name) for file in files) else []
        if place.parent not in builds and _is_build(place, files, with_text=with_text):
            builds.add(place)
            cases.append(_case(folder, _name(folder, place), place))
    if not cases:
        says = f"there is no design and no build below '{folder}'"
        raise InputFileError(_problem(folder, says))
    with_designs = {above for place in (*with_text, *builds) for above in (place, *place.parents)}
    programs = sorted(_name(folder, place) for place in tests if place not in with_designs)
    return Found(tuple(sorted(cases, key=lambda case: case.name)), tuple(sorted(others)), tuple(programs))


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


def _case(folder: Path, name: str, path: Path) -> Case:
    own = path.parent if path.is_file() else path
    places = [own] if own == folder else [own, own.parent]
    return Case(name, path, beside(places))


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
        "A design is an MLIR file with aie.device; a build is configuration and instructions.",
        reason="survey",
        where="memtile survey",
        source="docs/mlir.md",
    )
