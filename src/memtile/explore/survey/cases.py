"""The designs and builds below a folder, and the data that lie beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError, Problem

FACTS = "facts.json"
"""What a folder says of its designs: ``device``, for those whose text leaves it open."""
_DEVICE = re.compile(rb"\b(?:aie|AIE)\.device\b")
_NAMED = re.compile(rb"\baie\.device\s*\([^)]*\)\s*@([\w.$-]+)")
_TOGETHER = (b"aiex.configure", b"load_pdi")
_ARRAY = re.compile(r"(in|out)([0-9]+)\.npy")
_BUILT = re.compile(r".*cdo.*\.bin|.*\.cdo|.*\.xclbin|.*\.pdi|insts\.(?:txt|bin)|.*insts.*\.(?:txt|bin)")
_SKIPPED = (".git", ".venv", "node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class Case:
    """A design or a build to try.

    Attributes:
        name: path below the folder.
        path: a file of MLIR text, or the folder of a build.
        given: files of arrays in, by number of the argument.
        expected: files of arrays that must come out, by number of the argument.
        facts: file of facts in their folder; None if there is none.
        part: symbol of the device that is meant; empty if the text has one.
    """

    name: str
    path: Path
    given: dict[int, Path] = field(default_factory=dict)
    expected: dict[int, Path] = field(default_factory=dict)
    facts: Path | None = None
    part: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain data, for the process that runs it."""
        return {
            "name": self.name,
            "path": str(self.path),
            "given": {str(n): str(file) for n, file in self.given.items()},
            "expected": {str(n): str(file) for n, file in self.expected.items()},
            "facts": str(self.facts) if self.facts else None,
            "part": self.part,
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> Case:
        """The case of plain data."""
        given, expected = (
            {int(n): Path(file) for n, file in data[key].items()} for key in ("given", "expected")
        )
        facts = Path(data["facts"]) if data["facts"] else None
        return cls(data["name"], Path(data["path"]), given, expected, facts, data["part"])


@dataclass(frozen=True, slots=True)
class Found:
    """What is below a folder.

    Attributes:
        cases: designs and builds, by name.
        others: MLIR files without a device.
    """

    cases: tuple[Case, ...]
    others: tuple[str, ...]


def find(folder: Path) -> Found:
    """The designs and builds below a folder.

    Each MLIR file with a device is a design, or several if it has several devices. Configuration and
    instructions without such a file beside or above them are a build. ``inN.npy`` and ``outN.npy`` in the
    folder of a design, or in the one above, are its arguments and what must become of them.

    Raises:
        InputFileError: no such folder, or nothing to try in it.
    """
    if not folder.is_dir():
        raise InputFileError(_problem(folder, f"there is no folder '{folder}'"))
    cases, others = list[Case](), list[str]()
    with_text, builds = set[Path](), set[Path]()
    for place, files in _folders(folder):
        texts = [file for file in files if file.suffix == ".mlir"]
        designs = [file for file in texts if _DEVICE.search(_bytes(file))]
        others += [_name(folder, file) for file in texts if file not in designs]
        for file in designs:
            whole = _case(folder, _name(folder, file), file)
            names = _devices(_bytes(file))
            cases += [replace(whole, name=f"{whole.name}:{part}", part=part) for part in names] or [whole]
        with_text |= {place} if designs else set()
        built = any(_BUILT.fullmatch(file.name) for file in files)
        if built and not {*with_text, *builds} & {place, place.parent}:
            builds.add(place)
            cases.append(_case(folder, _name(folder, place), place))
    if not cases:
        says = f"there is no design and no build below '{folder}'"
        raise InputFileError(_problem(folder, says))
    return Found(tuple(sorted(cases, key=lambda case: case.name)), tuple(sorted(others)))


def _folders(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Each folder below one, upper ones first, with its files."""
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name not in _SKIPPED)
        files = (Path(place, name) for name in sorted(names))
        yield Path(place), [file for file in files if file.is_file()]


def _case(folder: Path, name: str, path: Path) -> Case:
    own = path.parent if path.is_file() else path
    places = [own] if own == folder else [own, own.parent]
    for place in places:
        arrays = sorted(file for file in place.glob("*.npy") if _ARRAY.fullmatch(file.name))
        facts = place / FACTS if (place / FACTS).is_file() else None
        if arrays or facts:
            found: dict[str, dict[int, Path]] = {"in": {}, "out": {}}
            for file in arrays:
                match = _ARRAY.fullmatch(file.name)
                assert match is not None
                found[match[1]][int(match[2])] = file
            return Case(name, path, found["in"], found["out"], facts)
    return Case(name, path)


def _devices(text: bytes) -> list[str]:
    """The devices of a text that are designs of their own: several, and none configures the others."""
    names = [match.decode() for match in _NAMED.findall(text)]
    return names if len(names) > 1 and not any(word in text for word in _TOGETHER) else []


def _bytes(file: Path) -> bytes:
    """The contents of a file; nothing if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b"aie.device"  # tried, so that the survey says why it cannot be read


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _problem(folder: Path, says: str) -> Problem:
    return Problem(
        reason="survey",
        where="memtile survey",
        field="folder",
        given=str(folder),
        allowed="a folder with designs or builds below it",
        source="docs/mlir.md",
        next_step="A design is an MLIR file with aie.device; a build is configuration and instructions.",
        says=says,
    )
