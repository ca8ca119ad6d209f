"""Do the functions that take cycles from the JSON of a trace refuse what is none, by file and event?"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from memtile.errors import InputFileError
from memtile.iron.utils.trace.utils import get_cycles, get_cycles_summary, get_vector_time

READERS = get_cycles, get_cycles_summary, get_vector_time


def event(name: str, phase: str, at: float, pid: int = 1) -> dict[str, Any]:
    return {"name": name, "ph": phase, "ts": at, "pid": pid}


def written(folder: Path, what: object) -> str:
    path = folder / "trace.json"
    path.write_text(what if isinstance(what, str) else json.dumps(what), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("[1, 2", "trace.json, line 1, column 6: this is not JSON: .*"),
        ({"traceEvents": []}, "trace.json: this is no list of events. Give the JSON of a trace."),
        ([event("a", "B", 1), 3], "event 2: it has no names of its values: it is no object. .*"),
        ([{"name": "a", "ph": "B", "pid": 1}], "event 1: it has no ts, or one of another kind. .*"),
        (
            [{"name": "a", "ph": "B", "pid": 1, "ts": "9"}],
            "event 1: it has no ts, or one of another kind. .*",
        ),
        ([{"ph": "B", "pid": 1, "ts": 1}], "event 1: it has no name, or .*"),
        ([{"name": "process_name", "ph": "M", "pid": 1}], "event 1: it has no args, or .*"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, reader: Any, what: object, says: str) -> None:
    with pytest.raises(InputFileError, match=says):
        reader(written(tmp_path, what))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"nothing\.json: the file cannot be read"):
        get_cycles(str(tmp_path / "nothing.json"))


def test_processes_without_a_name_have_their_number(tmp_path: Path) -> None:
    events = [event("INSTR_EVENT_0", "B", 5, 3), event("INSTR_EVENT_1", "B", 12, 3)]
    assert get_cycles_summary(written(tmp_path, events)) == [["process 3", 7]]


def test_a_span_without_length_has_no_vector_time(tmp_path: Path) -> None:
    events = [
        event("INSTR_EVENT_0", "B", 5),
        event("INSTR_EVENT_1", "B", 5),
        {"name": "INSTR_VECTOR", "ph": "i", "pid": 1},
    ]
    path = written(tmp_path, events)
    assert get_vector_time(path) == 0
    assert get_cycles(path) == 0
    assert get_cycles(written(tmp_path, [])) == math.inf
