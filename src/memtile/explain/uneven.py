"""Find work that is split unevenly: one column, or one of several similar streams, has most of it.

An estimate gives the cycles of an even split. It shortens the longest work to the mean, and lets each stream
begin in the same cycle as before, because a host starts streams one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtile.explain.results import ChannelUse, Result
from memtile.model.state.causes import Cause, CoreCause

_LEAST_SAVED = 0.1  # of the cycles, by an even split
_LEAST_COLUMNS = 2
_SEVERAL = 3  # streams or cores: two that differ may be meant to differ
_LEAST_BUSY = 0.7  # of the cycles, for a column or stream that limits a run
_LONGER = 1.25  # times; amounts of work within this factor are similar
_PLACE = re.compile(r"\((\d+), ?(\d+)\)")


class Takers(NamedTuple):
    """What is at the other end of a stream to or from external memory.

    Attributes:
        tiles: columns and rows, ``(0, 2)``.
        shapes: for each channel there the kernel of its core and the words of its BDs, in order.
    """

    tiles: frozenset[str]
    shapes: tuple[tuple[str, tuple[int, ...]], ...]


class Uneven(NamedTuple):
    """A column or stream with more work than the others.

    Attributes:
        name: ``column 1``, or the stream by its channel.
        others: ``columns`` or ``streams``.
        many: number of columns or streams that do any work.
        works: cycles in which its busiest core or channel works.
        share: its part of all work, 0 to 1.
        cycles: estimate of the run with an even split.
        longest: cycles of the longest work in each column; empty for streams.
        computes: whether the work is that of cores, not of channels.
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
        """The uneven split in a phrase, such as ``column 1 has 60% of the work of 4 columns``."""
        return f"{self.name} has {self.share:.0%} of the work of {self.many} {self.others}"


def uneven_work(
    result: Result, begins: Mapping[str, int] | None = None, takers: Mapping[str, Takers] | None = None
) -> Uneven | None:
    """Return the stream or column that limits a run by its share of the work; None if the split is even.

    Args:
        result: of the run.
        begins: first cycle of each channel, by its name; 0 for a channel that it lacks.
        takers: other ends of channels to external memory by their names, if these ends are in compute tiles.
    """
    return _uneven_streams(result, begins or {}, takers or {}) or _uneven_columns(result, begins or {})


def column_of(name: str) -> int | None:
    """Return the column in the name of a channel or core; None if it has none."""
    place = _PLACE.search(name)
    return None if place is None else int(place[1])


def place_of(name: str) -> str:
    """Return column and row in the name of a channel, ``(0, 2)``; empty if it has none."""
    place = _PLACE.search(name)
    return "" if place is None else f"({place[1]}, {place[2]})"


def _moving(use: ChannelUse) -> int:
    return use.spent.get(Cause.MOVING, 0)


def _is_enough(result: Result, works: int, cycles: int) -> bool:
    """Whether work is long enough to limit a run, and an even split saves enough."""
    return works >= _LEAST_BUSY * result.cycles and result.cycles - cycles >= _LEAST_SAVED * result.cycles


def _uneven_streams(result: Result, begins: Mapping[str, int], takers: Mapping[str, Takers]) -> Uneven | None:
    """A stream to or from external memory that is longer than all similar ones.

    If no similar stream is in its column, the columns are uneven and not the streams.
    """
    groups = _alike(result, takers)
    found = [each for alike in groups if (each := _one_stream(result, alike, groups, begins)) is not None]
    return max(found, key=lambda each: (each.works, each.cycles), default=None)


class _Alike(NamedTuple):
    """Streams with the same kernel and BDs at their other ends, each in its own tile.

    Attributes:
        uses: the channels of interface tiles.
        tiles: of all their other ends.
    """

    uses: Sequence[ChannelUse]
    tiles: frozenset[str]

    @property
    def mean(self) -> float:
        """Cycles in which each stream moves words after an even split."""
        return sum(map(_moving, self.uses)) / len(self.uses)


def _alike(result: Result, takers: Mapping[str, Takers]) -> list[_Alike]:
    """Groups of similar streams, without those that end in one tile, such as operands of a core."""
    groups: dict[object, list[ChannelUse]] = {}
    for use in result.channels:
        if use.name in takers and _moving(use):
            key = use.direction, use.beat_words, takers[use.name].shapes
            groups.setdefault(key, []).append(use)
    found = []
    for uses in groups.values():
        places = [takers[use.name].tiles for use in uses]
        tiles = frozenset[str]().union(*places)
        if len(uses) >= _SEVERAL and len(tiles) == sum(map(len, places)):
            found.append(_Alike(uses, tiles))
    return found


def _one_stream(
    result: Result, alike: _Alike, groups: Sequence[_Alike], begins: Mapping[str, int]
) -> Uneven | None:
    *rest, most = sorted(alike.uses, key=_moving)
    works, column = _moving(most), column_of(most.name)
    is_one = works > _LONGER * _moving(rest[-1]) and _moving(rest[-1]) <= _LONGER * _moving(rest[0])
    if not is_one or column not in {column_of(use.name) for use in rest}:
        return None
    if max(_computing(result).values(), default=0) >= works:
        return None
    cycles = _evenly(result, alike.uses, begins, _beside(result, alike, groups))
    if not _is_enough(result, works, cycles):
        return None
    share = works / sum(map(_moving, alike.uses))
    name = f"{most.name} {most.label!r}" if most.label else most.name
    return Uneven(name, "streams", len(alike.uses), works, share, cycles, {}, False)


def _beside(result: Result, alike: _Alike, groups: Sequence[_Alike]) -> float:
    """Cycles of the longest work that an even split of some streams leaves.

    It leaves the work of every core. It also evens out the channels in the tiles at the streams' other ends,
    and groups of similar streams to the same tiles.
    """
    own = [each for each in groups if each.tiles == alike.tiles]
    names = {use.name for each in own for use in each.uses}
    others = [
        _moving(use)
        for use in result.channels
        if use.name not in names and place_of(use.name) not in alike.tiles
    ]
    return max([*others, *_computing(result).values(), *(each.mean for each in own)])


def _computing(result: Result) -> dict[str, int]:
    """Cycles in which each core computes, by its name."""
    return {core.name: core.spent.get(CoreCause.RUNNING, 0) for core in result.cores}


def _evenly(result: Result, uses: Sequence[ChannelUse], begins: Mapping[str, int], least: float) -> int:
    """Estimate a run in which each of these channels moves the same number of words.

    ``least`` are the cycles of the longest other work.
    """
    longest = max(uses, key=_moving)
    mean = sum(map(_moving, uses)) / len(uses)
    works = result.cycles - longest.spent.get(Cause.IDLE, 0)
    last = max(begins.get(use.name, 0) for use in uses) + works * mean / _moving(longest)
    return min(round(max(result.cycles - (_moving(longest) - mean), last, least)), result.cycles)


def _uneven_columns(result: Result, begins: Mapping[str, int]) -> Uneven | None:
    computing = _computing(result)
    moving = _like_the_longest(result)
    work = max(computing, moving, key=lambda work: max(work.values(), default=0))
    longest = _by_column(work)
    if len(longest) < _LEAST_COLUMNS or (work is computing and _is_one_core(computing)):
        return None
    each = {column: work[name] for column, name in longest.items()}
    most = max(each, key=each.__getitem__)
    works, total = each[most], sum(each.values())
    cycles = round(result.cycles - (works - total / len(longest)))
    if work is moving:
        by_name = {use.name: use for use in result.channels}
        computed = sum(computing[name] for name in _by_column(computing).values()) / len(longest)
        cycles = _evenly(result, [by_name[name] for name in longest.values()], begins, computed)
    if not _is_enough(result, works, cycles):
        return None
    name, share, computes = f"column {most}", works / total, work is computing
    return Uneven(name, "columns", len(longest), works, share, cycles, each, computes)


def _like_the_longest(result: Result) -> dict[str, int]:
    """Cycles in which channels move words, by name: those of the direction and tile kind of the longest.

    Channels of other tiles pass the same words on, or a part of them, and would count them twice.
    """
    longest = max(result.channels, key=_moving, default=None)
    kind = "" if longest is None else longest.name.partition("(")[0]
    return {
        use.name: _moving(use)
        for use in result.channels
        if longest is not None and use.direction == longest.direction and use.name.partition("(")[0] == kind
    }


def _by_column(work: Mapping[str, int]) -> dict[int, str]:
    """The name of the core or channel that works longest in each column with any work."""
    found: dict[int, str] = {}
    for name, cycles in work.items():
        column = column_of(name)
        if cycles and column is not None and cycles > work.get(found.get(column, ""), 0):
            found[column] = name
    return found


def _is_one_core(computing: Mapping[str, int]) -> bool:
    """Whether one core works longer than all others, which are alike, and is not alone in its column."""
    order = sorted(((cycles, name) for name, cycles in computing.items() if cycles), reverse=True)
    if len(order) < _SEVERAL:
        return False
    (most, name), *rest = order
    beside = column_of(name) in {column_of(other) for _, other in rest}
    return beside and most > _LONGER * rest[0][0] and rest[0][0] <= _LONGER * rest[-1][0]
