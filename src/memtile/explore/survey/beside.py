"""What lies beside a design: its arrays, what must become of them, and facts that its text leaves open.

Names of files say what they are; docs/mlir.md has the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.formats.json_text import parse_json

FACTS = "facts.json"
"""What a folder says of its designs, see :class:`Facts`."""
LAST = -1
"""Number of an array that has none in its name: the last argument that the array writes."""
_GIVEN, _EXPECTED = ("in",), ("out", "ref", "expected", "golden")
_ARRAY = re.compile(rf"({'|'.join((*_GIVEN, *_EXPECTED))})_?([0-9]*)\.npy")
_LIT = re.compile(r"run.*\.lit")
_PLACEHOLDER = re.compile(r"\bNPUDEVICE/([a-z0-9_]+)")
_KEYS: Mapping[str, tuple[type, str]] = {
    "device": (str, "the name of a device"),
    "sequence": (str, "the name of a host sequence"),
    "functions": (str, "a Python file beside it"),
    "in": (dict, "files by number of the argument"),
    "out": (dict, "files by number of the argument"),
    "scalars": (dict, "numbers by number of the argument"),
    "parameters": (dict, "32-bit words by name"),
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
    """

    device: str = ""
    sequence: str | None = None
    functions: Path | None = None
    given: Mapping[int, Path] = field(default_factory=dict)
    expected: Mapping[int, Path] = field(default_factory=dict)
    scalars: Mapping[int, int] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)


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
    return name in ("Makefile", "makefile") or _LIT.fullmatch(name) is not None


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
    return next(_devices(place), "")


def _devices(place: Path) -> Iterator[str]:
    for file in sorted(place.glob("run*.lit")):
        try:
            yield from _PLACEHOLDER.findall(read_text(file))
        except InputFileError:
            continue  # the design then says itself that it leaves its device open


def _files(facts: Path, named: Mapping[str, Any]) -> dict[int, Path]:
    for key, value in named.items():
        if not isinstance(value, str):
            raise InputFileError(f"{facts}: argument {key} is {json.dumps(value)}; it must be a file's name.")
    return {_number(facts, key): facts.parent / value for key, value in named.items()}


def _number(facts: Path, key: str) -> int:
    if not key.isdecimal():
        raise InputFileError(f"{facts}: {key!r} is no number of an argument. Count them from 0.")
    return int(key)


def _whole(facts: Path, key: str, value: object) -> int:
    if not isinstance(value, int):
        raise InputFileError(f"{facts}: {key} is {json.dumps(value)}; it must be a whole number.")
    return value
