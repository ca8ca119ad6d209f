"""What the values of tracks mean, and their colours on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.model.checking.history_log import PortDoes
from memtile.model.state.causes import Cause, CoreCause


def causes() -> dict[str, list[dict[str, str]]]:
    """By kind of track what each value means: name, text, and its colour in both schemes."""
    return {
        "channel": list(_meanings(Cause)),
        "core": list(_meanings(CoreCause)),
        "port": list(_meanings(PortDoes)),
    }


def _meanings(values: Iterable[Cause | CoreCause | PortDoes]) -> Iterator[dict[str, str]]:
    for value in values:
        yield {
            "name": value.name.lower(),
            "text": value.text,
            "light": value.colours.light.lower(),
            "dark": value.colours.dark.lower(),
        }
