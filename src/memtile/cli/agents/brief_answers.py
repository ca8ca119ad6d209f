"""Answers of a bounded size, whose rest can be asked for: an agent pays for every byte that it reads."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from memtile.errors import InputFileError
from memtile.plain_text import json_text

BYTES = 2048
"""Size of an answer unless another one is asked for."""
LEAST_BYTES = 512
_STORED = 24  # answers, the last ones
_ROOM = 320  # bytes for what says how to get the rest
_STEP_DOWN = 128  # bytes less room, where names of what is left out are long
_SHORT_TEXT = 160  # characters that a text keeps where others need room
_MOST_NAMED = 6  # places of what is left out
_FIRST = (
    "good", "error", "status", "code", "cycles", "bit_exact", "warning", "findings", "designs", "missing",
    "waits", "waiting", "lines", "answers", "variants", "front", "infeasible", "bound", "registers",
    "numbers", "sections",
)  # fmt: skip
"""Fields in the order in which they get room."""
_STEP = re.compile(r"[^.\[\]]+")
_CUT = object()


class StoredAnswers:
    """The last answers in full, by a name that agents are given."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Any] = OrderedDict()
        self._count = 0

    def brief(self, answer: dict[str, Any], most: int = BYTES) -> dict[str, Any]:
        """Return the answer, or as much of it as fits; then ``more`` says what is left out and how to get it.

        Args:
            answer: plain data.
            most: bytes of its JSON.
        """
        most = max(most, LEAST_BYTES)
        if _size(answer) <= most:
            return answer
        self._count += 1
        name = f"a{self._count}"
        self._answers[name] = answer
        while len(self._answers) > _STORED:
            self._answers.popitem(last=False)
        room = most - _ROOM
        while _size(short := _cut_to(answer, room, name)) > most and room > 0:
            room -= _STEP_DOWN
        return short

    def page(self, answer: str, path: str = "", begin: int = 0, most: int = BYTES) -> dict[str, Any]:
        """Return a part of a stored answer.

        Args:
            answer: its name.
            path: of the part, such as ``channels`` or ``designs[0].findings``; empty = the fields by name.
            begin: first element of a list, first character of a text.
            most: bytes of the JSON.

        Raises:
            InputFileError: there is no such answer, or no such part of it.
        """
        if answer not in self._answers:
            stored = ", ".join(self._answers) or "none"
            raise InputFileError(f"arguments of the tool: answer is {answer!a}; stored are {stored}.")
        value = _part(self._answers[answer], path)
        room = max(most, LEAST_BYTES) - _ROOM
        if isinstance(value, dict):
            cut = _Cut()
            return {"path": path, "value": cut.dictionary(value, room, path), "left_out": cut.left}
        if isinstance(value, list):
            return _list_page(value, path, begin, room)
        if isinstance(value, str):
            return _text_page(value, path, begin, room)
        return {"path": path, "value": value}


def _cut_to(answer: dict[str, Any], room: int, name: str) -> dict[str, Any]:
    """As much of an answer as fits into ``room``, and where the rest is."""
    cut = _Cut()
    short = cut.dictionary(answer, room, "")
    left = dict(islice(cut.left.items(), _MOST_NAMED))
    more: dict[str, Any] = {"answer": name, "left_out": left}
    if rest := len(cut.left) - len(left):
        more["and"] = f"{rest} more places"
    return {**short, "more": more}


def _size(value: Any) -> int:
    return len(json_text(value).encode())


def _list_page(value: list[Any], path: str, begin: int, room: int) -> dict[str, Any]:
    shown: list[Any] = []
    cut = _Cut()
    at = max(begin, 0)
    while at < len(value):
        size = _size(value[at]) + 2
        if size > room and shown:
            break
        if size > room:  # the first one alone is too large
            shown.append(cut.value(value[at], room, f"{path}[{at}]"))
            at += 1
            break
        shown.append(value[at])
        room, at = room - size, at + 1
    following = at if at < len(value) else None
    answer = {"path": path, "value": shown, "begin": max(begin, 0), "next": following, "of": len(value)}
    return {**answer, "left_out": cut.left} if cut.left else answer


def _text_page(value: str, path: str, begin: int, room: int) -> dict[str, Any]:
    part = value[max(begin, 0) :]
    shown = part[:room]
    while _size(shown) > room:
        shown = shown[: len(shown) * 3 // 4]
    end = max(begin, 0) + len(shown)
    following = end if end < len(value) else None
    return {"path": path, "value": shown, "begin": max(begin, 0), "next": following, "of": len(value)}


def _part(value: Any, path: str) -> Any:
    """The value at a path.

    Raises:
        InputFileError: there is none.
    """
    for step in _STEP.findall(path):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            known = ", ".join(value) if isinstance(value, Mapping) else f"0..{len(_sized(value)) - 1}"
            says = f"path is {path!a}; {step!a} is not in it, there are {known[:200]}"
            raise InputFileError(f"arguments of the tool: {says}.")
    return value


def _sized(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Cut:
    """Values cut to a size.

    Attributes:
        left: what is left out by its path.
    """

    def __init__(self) -> None:
        self.left: dict[str, str] = {}

    def value(self, value: Any, room: int, path: str) -> Any:
        """Return as much of a value as fits; ``_CUT`` for nothing."""
        if _size(value) <= room:
            return value
        if isinstance(value, dict):
            return self.dictionary(value, room, path)
        if isinstance(value, list):
            return self._list(value, room, path)
        if isinstance(value, str) and room > _SHORT_TEXT:
            self.left[path] = f"{len(value)} characters"
            return _text_page(value, path, 0, room - 8)["value"] + "..."
        self.left[path] = "left out"
        return _CUT

    def dictionary(self, value: Mapping[str, Any], room: int, path: str) -> dict[str, Any]:
        """Return the fields that fit, the most important ones first; their order is kept."""
        found: dict[str, Any] = {}
        for name in _by_weight(value):
            below = f"{path}.{name}" if path else name
            spent = len(name) + 6
            if room - spent < 0 or (part := self.value(value[name], room - spent, below)) is _CUT:
                self.left.setdefault(below, _extent(value[name]))
                continue
            found[name] = part
            room -= _size(part) + spent
        return {name: found[name] for name in value if name in found}

    def _list(self, value: list[Any], room: int, path: str) -> Any:
        shown: list[Any] = []
        for each in value:
            size = _size(each) + 2
            if size > room:
                break
            shown.append(each)
            room -= size
        if not shown and value and room > _SHORT_TEXT:
            first = self.value(value[0], room - 2, f"{path}[0]")
            shown = [] if first is _CUT or first in ({}, []) else [first]
        if not shown:
            self.left[path] = _extent(value)
            return _CUT
        if len(shown) < len(value):
            self.left[path] = f"{len(shown)}..{len(value) - 1} of {len(value)}"
        return shown


def _by_weight(value: Mapping[str, Any]) -> Iterator[str]:
    """Names of fields: those that decide, then short ones, then the others."""
    first = [name for name in _FIRST if name in value]
    yield from first
    rest = [name for name in value if name not in first]
    yield from sorted(rest, key=lambda name: isinstance(value[name], dict | list | str) and bool(value[name]))


def _extent(value: Any) -> str:
    if isinstance(value, list):
        return f"all {len(value)}"
    if isinstance(value, dict):
        return f"{len(value)} fields"
    return f"{len(value)} characters" if isinstance(value, str) else "1 value"
