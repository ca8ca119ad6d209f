"""What a server tells a person: each new thing once, repeats as numbers.

A thing that happens again is counted, and told again at its 10th, 100th, ... time. Of things that are alike,
such as refused accesses to one tile, the first ones are told and the others counted, so that nothing keeps
another kind of thing from being told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Log = Callable[[str], None]

MOST_ALIKE = 10
"""Different things of one group that are told."""


class ServerNotice(NamedTuple):
    """Something to tell.

    Attributes:
        group: what is alike, in words, such as ``refused accesses to memory(1,1)``.
        key: things of one group with the same key are the same thing.
        text: the line.
    """

    group: str
    key: str
    text: str


def _is_round(count: int) -> bool:
    """Whether ``count`` is a power of ten."""
    return str(count).strip("0") == "1" and count > 1


class Notices:
    """Tells notices to a log.

    Args:
        log: gets the lines.
        every: tell every notice, however often it comes.
    """

    def __init__(self, log: Log, every: bool = False) -> None:
        self._log, self._every = log, every
        self._times: dict[tuple[str, str], int] = {}
        self._first: dict[tuple[str, str], str] = {}  # what was told
        self._told: dict[str, int] = {}  # by group
        self._counted: dict[str, int] = {}  # by group, those that were not told

    def tell(self, notice: ServerNotice) -> None:
        """Log the notice, or count it."""
        if self._every:
            self._log(notice.text)
            return
        thing = notice.group, notice.key
        times = self._times.get(thing, 0) + 1
        if times > 1:
            self._times[thing] = times
            if _is_round(times):
                self._log(f"{notice.text} ({times:,} times so far)")
        elif self._told.get(notice.group, 0) < MOST_ALIKE:
            self._begin(thing, notice)
        else:
            self._counted[notice.group] = self._counted.get(notice.group, 0) + 1

    def _begin(self, thing: tuple[str, str], notice: ServerNotice) -> None:
        self._times[thing] = 1
        self._first[thing] = notice.text
        self._told[notice.group] = self._told.get(notice.group, 0) + 1
        self._log(notice.text)
        if self._told[notice.group] == MOST_ALIKE:
            self._log(f"{notice.group}: further ones are only counted; --verbose reports all")

    def sum_up(self) -> None:
        """Log how often things came that came more than once, and what was only counted; forget them."""
        for thing, times in self._times.items():
            if times > 1:
                self._log(f"{times:,} times: {self._first[thing]}")
        for group, count in self._counted.items():
            self._log(f"{count:,} more {group}")
        for seen in (self._times, self._first, self._told, self._counted):
            seen.clear()
