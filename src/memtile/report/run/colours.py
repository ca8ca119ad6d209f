"""What the values of tracks mean, and their colours on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import TypeVar

from memtile.explain.bars import COLOURS
from memtile.explain.timeline import PORT_TEXT
from memtile.model.checking.history import PortDoes
from memtile.model.state.causes import CAUSE_TEXT, CORE_CAUSE_TEXT, Cause, CoreCause

Value = TypeVar("Value", bound=IntEnum)

_CORES = {
    CoreCause.RUNNING: COLOURS[Cause.MOVING],
    CoreCause.IDLE: COLOURS[Cause.IDLE],
    CoreCause.LOCK_STALL: COLOURS[Cause.LOCK_ACQUIRE],
    CoreCause.BANK_CONFLICT: COLOURS[Cause.BANK_CONFLICT],
    CoreCause.MEMORY_BUSY: COLOURS[Cause.MEMORY_BUSY],
    CoreCause.DONE: "#C9CED6",
    CoreCause.CLOCK_OFF: COLOURS[Cause.CLOCK_OFF],
    CoreCause.HALTED: COLOURS[Cause.HALTED],
    CoreCause.CASCADE_STALL: COLOURS[Cause.EXTERNAL],
    CoreCause.STREAM_STALL: COLOURS[Cause.STREAM_STARVED],
}
_PORTS = {
    PortDoes.EMPTY: COLOURS[Cause.IDLE],
    PortDoes.MOVING: COLOURS[Cause.MOVING],
    PortDoes.HOLDING: COLOURS[Cause.STREAM_BLOCKED],
}
_DARK = {  # what would be too bright, or not to be seen, on a dark page
    COLOURS[Cause.MOVING]: "#3B96D9",
    COLOURS[Cause.IDLE]: "#2A3038",
    COLOURS[Cause.TASK_START]: "#8D949E",
    COLOURS[Cause.BD_SWITCH]: "#D9CC3A",
    COLOURS[Cause.MEMORY_BUSY]: "#F5F5F5",
    COLOURS[Cause.HALTED]: "#E5484D",
    COLOURS[Cause.TOKEN_BLOCKED]: "#A76BC4",
    COLOURS[Cause.CLOCK_OFF]: "#5E6672",
    "#C9CED6": "#424A55",
}


def causes() -> dict[str, list[dict[str, str]]]:
    """By kind of track what each value means: name, text, and its colour in both schemes."""
    return {
        "channel": list(_meanings(CAUSE_TEXT, COLOURS)),
        "core": list(_meanings(CORE_CAUSE_TEXT, _CORES)),
        "port": list(_meanings(PORT_TEXT, _PORTS)),
    }


def _meanings(texts: Mapping[Value, str], colours: Mapping[Value, str]) -> Iterator[dict[str, str]]:
    for value in sorted(texts):
        light = colours[value]
        yield {
            "name": value.name.lower(),
            "text": texts[value],
            "light": light.lower(),
            "dark": _DARK.get(light, light).lower(),
        }
