"""Cycles of calls of cores' functions, from traces of their own marks: ``event0()`` begins a call and
``event1()`` ends it, as in mlir-aie's kernels.

Three files are read: pairs as CSV, intervals as ``memtile trace decode --csv`` writes them, and Chrome's JSON
as mlir-aie's parse_trace and ``memtile trace decode --perfetto FILE.json --time cycles`` write it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.json_text import parse_json

_BEGIN, _END = "INSTR_EVENT_0", "INSTR_EVENT_1"
_PAIRS = {"event0", "event1"}
_INTERVALS = {"column", "row", "event", "begin_cycle"}
_STARTS = ("B", "X", "i", "I")  # phases of Chrome's format that begin something
_SOURCE = "docs/measure.md"


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The calls of one function in one place.

    Attributes:
        place: of the file: a tile, a process, a function.
        cycles: of each call, in their order.
    """

    place: str
    cycles: tuple[int, ...]

    @property
    def line(self) -> str:
        """For people."""
        least, most, many = min(self.cycles), max(self.cycles), len(self.cycles)
        return (
            f"{self.place}: {least:,} to {most:,} cycles, {median(self.cycles):,.0f} in the median of {many}"
        )

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "place": self.place,
            "calls": len(self.cycles),
            "least": min(self.cycles),
            "median": float(median(self.cycles)),
            "most": max(self.cycles),
        }


def calls_of(text: str, name: str) -> list[CallCounts]:
    """The calls of a file, by place.

    Args:
        text: of the file.
        name: of the file; what it is decides how it is read.

    Raises:
        InputFileError: it has another form, a call has no end or no beginning, or there is none.
    """
    marks = _json_marks(text, name) if name.endswith(".json") else _csv_marks(text, name)
    found = [CallCounts(place, tuple(_paired(each, place, name))) for place, each in marks.items()]
    found = [each for each in found if each.cycles]
    if not found:
        raise InputFileError(f"{name}: it has no calls: there is no {_BEGIN} with an {_END} after it.")
    return found


def costs(found: Sequence[CallCounts], given: Iterable[str], name: str) -> dict[str, int]:
    """Cycles of one call by function, the fewest of its calls: what stalls there stalls in a run again.

    Args:
        found: calls of a file.
        given: ``FUNCTION``, where there is one place, or ``PLACE=FUNCTION``.
        name: of the file.

    Raises:
        InputFileError: no such place, a place or a function twice, a place without a function.
    """
    places = {each.place: each for each in found}
    chosen: dict[str, str] = {}
    problems = []
    for text in given:
        place, _, function = text.rpartition("=")
        place = place or (found[0].place if len(found) == 1 else "")
        if place not in places or not function or place in chosen or function in chosen.values():
            problems.append(_wrong(text, sorted(places), name))
        else:
            chosen[place] = function
    raise_if(problems, InputFileError)
    for place in places.keys() - chosen.keys():
        if not place.isidentifier():
            raise InputFileError(_wrong("", sorted(places.keys() - chosen.keys()), name))
        chosen[place] = place  # a file of pairs names its functions
    return {chosen[place]: min(each.cycles) for place, each in places.items()}


def _paired(marks: Sequence[tuple[int, bool]], place: str, name: str) -> Iterator[int]:
    """Cycles between each beginning and the end after it; a trace may begin and end within a call."""
    begun: int | None = None
    for cycle, begins in sorted(marks):
        if begins and begun is not None:
            raise InputFileError(
                f"{name}: {place} begins a call in cycle {begun} and another one in {cycle}."
            )
        if not begins and begun is not None:
            yield cycle - begun
        begun = cycle if begins else None


def _csv_marks(text: str, name: str) -> dict[str, list[tuple[int, bool]]]:
    try:
        rows = csv.DictReader(io.StringIO(text))
        return _marks_of(rows, name)
    except csv.Error as error:
        raise InputFileError(f"{name}, line {rows.line_num}: this is no CSV: {error}.") from None


def _marks_of(reader: csv.DictReader[str], name: str) -> dict[str, list[tuple[int, bool]]]:
    columns = set(reader.fieldnames or ())
    marks: dict[str, list[tuple[int, bool]]] = {}
    for row in reader:
        if columns >= _PAIRS:
            place = row.get("function") or "calls"
            ends = [_whole(row[key], name, reader.line_num) for key in ("event0", "event1")]
            if ends[1] < ends[0]:
                raise InputFileError(
                    f"{name}, line {reader.line_num}: event1 is {ends[1]}, before event0 {ends[0]}."
                )
            marks.setdefault(place, []).extend([(ends[0], True), (ends[1], False)])
        elif columns >= _INTERVALS and row["event"] in (_BEGIN, _END):
            begin = _whole(row["begin_cycle"], name, reader.line_num)
            marks.setdefault(f"{row['column']},{row['row']}", []).append((begin, row["event"] == _BEGIN))
    if not columns >= _PAIRS and not columns >= _INTERVALS:
        needed = "event0 and event1, or those of memtile trace decode --csv"
        raise InputFileError(
            f"{name}: its columns are {', '.join(sorted(columns)) or 'none'}; needed are {needed}."
        )
    return marks


def _json_marks(text: str, name: str) -> dict[str, list[tuple[int, bool]]]:
    data = parse_json(text, name)
    events = data.get("traceEvents") if isinstance(data, dict) else data
    if not isinstance(events, list) or not all(isinstance(each, dict) for each in events):
        raise InputFileError(
            f"{name}: it must be a list of Chrome's trace events, as mlir-aie's parse_trace writes it."
        )
    places = {each.get("pid"): _process(each) for each in events if each.get("name") == "process_name"}
    marks: dict[str, list[tuple[int, bool]]] = {}
    for each in events:
        if each.get("name") in (_BEGIN, _END) and each.get("ph") in _STARTS:
            place = places.get(each.get("pid"), f"process {each.get('pid')}")
            marks.setdefault(place, []).append((_whole(each.get("ts"), name), each["name"] == _BEGIN))
    return marks


def _process(event: Mapping[str, Any]) -> str:
    arguments = event.get("args")
    return str(arguments.get("name")) if isinstance(arguments, dict) else ""


def _whole(value: object, name: str, line: int = 0) -> int:
    where = f"{name}, line {line}" if line else name
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if number < 0 or not number.is_integer():
        raise InputFileError(f"{where}: a mark is in cycle {value!r}; it must be a whole number from 0 on.")
    return int(number)


def _wrong(given: str, places: Sequence[str], name: str) -> Problem:
    listed = ", ".join(repr(place) for place in places)
    return Problem(
        "--function",
        repr(given) if given else "missing",
        f"PLACE=FUNCTION, once for each of {listed}; or FUNCTION where there is one",
        reason="measure_calls",
        where=name,
        source=_SOURCE,
    )
