"""Work that is split unevenly: one column, or one of several streams that are alike, has most of it.

What an even split saves is estimated: the longest work is then as long as the mean one, and each stream still
begins when it does now, since a host starts one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memtile.arch.tiles import TILE_KINDS
from memtile.explain.results import ChannelUse, Result
from memtile.model.state.causes import Cause, CoreCause

_TENTH = 0.1  # of the cycles: what an even split must save
_TWO = 2  # columns
_SEVERAL = 3  # streams: of two that differ nobody knows whether they should be alike
_WORKS = 0.7  # of the cycles: what a column is busy for if it alone limits a run
_LONGER = 1.25  # times: work that differs by less is alike
_COLUMN = re.compile(r"\((\d+), ?\d+\)")
_NUMBERS = re.compile(r"\d+")
_OUTSIDE = tuple(name for name, kind in TILE_KINDS.items() if not kind.memory_bytes)


class Uneven(NamedTuple):
    """A column or a stream that has more of the work than the others.

    Attributes:
        name: ``column 1``, or the stream by its channel.
        others: ``columns`` or ``streams``.
        many: how many of them work at all.
        works: cycles in which its busiest core or channel works.
        share: its part of the work of all, 0 to 1.
        cycles: estimate of the run with the same work in each.
        longest: cycles of the longest work in each column; empty for streams.
        computes: whether it is that of cores, not of channels.
    """

    name: str
    others: str
    many: int
    works: int
    share: float
    cycles: int
    longest: Mapping[int, int]
    computes: bool

    @property
    def text(self) -> str:
        """What is uneven."""
        return f"{self.name} has {self.share:.0%} of the work of {self.many} {self.others}"


def uneven_work(result: Result, begins: Mapping[str, int] | None = None) -> Uneven | None:
    """The stream or column that limits a run, for which the others wait; None if the work is about even.

    Args:
        result: of the run.
        begins: cycles in which channels begin, by their names; those that it lacks begin at once.
    """
    return _uneven_streams(result, begins or {}) or _uneven_columns(result, begins or {})


def column_of(name: str) -> int | None:
    """The column in the name of a channel or core; None if it has none."""
    place = _COLUMN.search(name)
    return None if place is None else int(place[1])


def _moving(use: ChannelUse) -> int:
    return use.spent.get(Cause.MOVING, 0)


def _is_enough(result: Result, works: int, cycles: int) -> bool:
    """Whether work is long enough to limit a run, and an even split saves enough."""
    return works >= _WORKS * result.cycles and result.cycles - cycles >= _TENTH * result.cycles


def _uneven_streams(result: Result, begins: Mapping[str, int]) -> Uneven | None:
    """One of several streams to or from external memory, where all others that are named alike are as long.

    A stream that is alone in its column is a matter of columns.
    """
    found = [each for alike in _alike(result) if (each := _one_stream(result, alike, begins)) is not None]
    return max(found, key=lambda each: (each.works, each.cycles), default=None)


def _alike(result: Result) -> Iterator[list[ChannelUse]]:
    """Channels of interface tiles that go the same way and whose labels differ in numbers alone."""
    groups: dict[tuple[str, str, int], list[ChannelUse]] = {}
    for use in result.channels:
        if use.name.startswith(_OUTSIDE) and use.label and _moving(use):
            stem = _NUMBERS.sub("", use.label)
            groups.setdefault((use.direction, stem, use.beat_words), []).append(use)
    return (group for group in groups.values() if len(group) >= _SEVERAL)


def _one_stream(result: Result, alike: Sequence[ChannelUse], begins: Mapping[str, int]) -> Uneven | None:
    *rest, most = sorted(alike, key=_moving)
    works, column = _moving(most), column_of(most.name)
    is_one = works > _LONGER * _moving(rest[-1]) and _moving(rest[-1]) <= _LONGER * _moving(rest[0])
    if not is_one or column not in {column_of(use.name) for use in rest}:
        return None
    cycles = _evenly(result, alike, begins)
    if not _is_enough(result, works, cycles):
        return None
    share = works / sum(map(_moving, alike))
    return Uneven(f"{most.name} {most.label!r}", "streams", len(alike), works, share, cycles, {}, False)


def _evenly(result: Result, uses: Sequence[ChannelUse], begins: Mapping[str, int]) -> int:
    """Cycles of a run in which these channels move the same number of words, and begin when they do."""
    longest = max(uses, key=_moving)
    mean = sum(map(_moving, uses)) / len(uses)
    works = result.cycles - longest.spent.get(Cause.IDLE, 0)
    last = max(begins.get(use.name, 0) for use in uses) + works * mean / _moving(longest)
    return min(round(max(result.cycles - (_moving(longest) - mean), last)), result.cycles)


def _uneven_columns(result: Result, begins: Mapping[str, int]) -> Uneven | None:
    computing = {core.name: core.spent.get(CoreCause.RUNNING, 0) for core in result.cores}
    moving = _like_the_longest(result)
    work = max(computing, moving, key=lambda work: max(work.values(), default=0))
    longest = _by_column(work)
    if len(longest) < _TWO or (work is computing and _is_one_core(computing)):
        return None
    each = {column: work[name] for column, name in longest.items()}
    most = max(each, key=each.__getitem__)
    works, total = each[most], sum(each.values())
    cycles = round(result.cycles - (works - total / len(longest)))
    if work is moving:
        by_name = {use.name: use for use in result.channels}
        cycles = _evenly(result, [by_name[name] for name in longest.values()], begins)
    if not _is_enough(result, works, cycles):
        return None
    name, share, computes = f"column {most}", works / total, work is computing
    return Uneven(name, "columns", len(longest), works, share, cycles, each, computes)


def _like_the_longest(result: Result) -> dict[str, int]:
    """Cycles in which channels move that go the way of the longest one, in tiles of its kind, by their names.

    Others carry the same words on, so that theirs are a part of them where a tile sends to several.
    """
    longest = max(result.channels, key=_moving, default=None)
    kind = "" if longest is None else longest.name.partition("(")[0]
    return {
        use.name: _moving(use)
        for use in result.channels
        if longest is not None and use.direction == longest.direction and use.name.partition("(")[0] == kind
    }


def _by_column(work: Mapping[str, int]) -> dict[int, str]:
    """What works longest in each column that works at all, by the column that a name has."""
    found: dict[int, str] = {}
    for name, cycles in work.items():
        column = column_of(name)
        if cycles and column is not None and cycles > work.get(found.get(column, ""), 0):
            found[column] = name
    return found


def _is_one_core(computing: Mapping[str, int]) -> bool:
    """Whether one core is longer than all others, of which one is in its column, and these are alike."""
    order = sorted(((cycles, name) for name, cycles in computing.items() if cycles), reverse=True)
    if len(order) < _SEVERAL:
        return False
    (most, name), *rest = order
    beside = column_of(name) in {column_of(other) for _, other in rest}
    return beside and most > _LONGER * rest[0][0] and rest[0][0] <= _LONGER * rest[-1][0]
