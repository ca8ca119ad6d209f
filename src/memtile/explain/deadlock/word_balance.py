"""The balance of words: which descriptor moves fewer or more words than all that it works with.

A descriptor has up to five measures of how long it should be: its own rows, the other descriptors of its
chain, those at the other side of its buffer, those at the other end of its stream, and those of other tiles
that work alike. Where they agree with
each other and not with it, its length is off; where two descriptors only disagree with each other, it is one
of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import prod

import numpy as np

from memtile.access.distinct import distinct, without
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords, Words, areas_on
from memtile.explain.names import called
from memtile.explain.race_findings import NamedArea


class Measure(StrEnum):
    """What says how long a descriptor should be."""

    ROWS = "rows"  # its own dimensions
    CHAIN = "chain"  # the other descriptors of its chain
    BUFFER = "buffer"  # those that move the same words of memory in the other direction
    ROOM = "room"  # the size of the buffer
    STREAM = "stream"  # those at the other end of the stream
    TILES = "tiles"  # those at the same place of other tiles that work alike
    HOST = "host"  # a transfer of external memory at the other end that ends in the middle of it


_FULL, _HALF = 2, 1  # weights of opinions
_SEVERAL = 8  # descriptors: one wrong length makes no more of them disagree
_ALIKE = 2  # tiles that have to agree against one


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one measure says of a descriptor.

    Attributes:
        measure: which.
        length: that it should have, in words; its own if the measure agrees.
        text: why, as a part of a sentence.
        others: descriptors that say it.
        weight: how much it counts: 2, or 1 where it is often otherwise in designs that are right.
    """

    measure: Measure
    length: int
    text: str
    others: Sequence[PlannedBd] = ()
    weight: int = _FULL

    def says(self, length: int) -> bool:
        """Whether it is for a length: a host says only that it moves a multiple of it."""
        if self.measure is Measure.HOST:
            return length > 0 and all(other.length % length == 0 for other in self.others)
        return length == self.length


@dataclass(frozen=True, slots=True)
class OffLength:
    """A descriptor whose length is off.

    Attributes:
        bd: the descriptor.
        length: that it should have, in words.
        reasons: the opinions that say so.
        sure: the weight of what says so, less that of what is against it.
    """

    bd: PlannedBd
    length: int
    reasons: Sequence[Opinion]
    sure: int


class WordBalance:
    """The lengths of the descriptors of an engine that stands still, held against each other.

    Args:
        planned: the descriptors.
        areas: the buffers of the design, as far as they are known.
    """

    def __init__(self, planned: PlannedWords, areas: Sequence[NamedArea] = ()) -> None:
        self.planned, self._areas = planned, areas
        self.engine, self.receives = planned.engine, planned.receives

    @cached_property
    def off(self) -> list[OffLength]:
        """The descriptors that more measures speak against than for, the surest first.

        Where one length alone sets all of them right, and leaves less that disagrees than others, it is that.
        """
        found = self._against_own()
        if not 0 < len(found) <= _SEVERAL:
            return found
        alone = sorted(self._alone(found[0].sure), key=lambda each: each[0])
        if len(alone) == 1 or (alone and alone[0][0] < alone[1][0]):
            return [alone[0][1]] if not self._are_two_ends(found, alone[0][1]) else found
        return found

    def _are_two_ends(self, found: Sequence[OffLength], alone: OffLength) -> bool:
        """Whether all that are off are at the two ends of one stream."""
        own, receivers = alone.bd, self.planned.receivers
        return all(
            each.bd.ch == own.ch or each.bd.ch in receivers(own) or own.ch in receivers(each.bd)
            for each in found
        )

    @property
    def _disagreement(self) -> int:
        """The weight of all measures that speak against a length."""
        return sum(
            each.weight
            for bds in self.planned.bds.values()
            for bd in bds
            for each in self.opinions(bd)
            if not each.says(bd.length)
        )

    def _against_own(self) -> list[OffLength]:
        """The descriptors that more measures speak against than for, the surest first."""
        found = []
        for bds in self.planned.bds.values():
            for bd in bds:
                one = self._judged(bd)
                if one is not None:
                    found.append(one)
        return sorted(found, key=lambda each: -each.sure)

    def _alone(self, sure: int) -> Iterator[tuple[int, OffLength]]:
        """Descriptors with another length with which none is off, and what disagrees then."""
        for bds in self.planned.bds.values():
            for bd in bds:
                opinions = list(self.opinions(bd))
                for length in dict.fromkeys(each.length for each in opinions):
                    if length in (0, bd.length):
                        continue
                    other = WordBalance(self.planned.with_length(bd, length), self._areas)
                    if not other._against_own():
                        reasons = [each for each in opinions if each.says(length)]
                        yield other._disagreement, OffLength(bd, length, reasons, sure)

    def _judged(self, bd: PlannedBd) -> OffLength | None:
        opinions = list(self.opinions(bd))
        lengths = {each.length for each in opinions if each.length not in (0, bd.length)}
        weights = {
            n: sum(each.weight if each.says(n) else -each.weight for each in opinions) for n in lengths
        }
        if not weights:
            return None
        length = max(weights, key=lambda n: (weights[n], n))
        reasons = [each for each in opinions if each.says(length)]
        return OffLength(bd, length, reasons, weights[length]) if weights[length] > 0 else None

    def opinions(self, bd: PlannedBd) -> Iterator[Opinion]:
        """All that is to be said of the length of a descriptor."""
        yield from self._rows(bd)
        if self.planned.is_complete(bd.ch):
            yield from self._chain(bd)
            yield from self._buffer(bd)
            yield from self._stream(bd)
            yield from self._tiles(bd)

    def _rows(self, bd: PlannedBd) -> Iterator[Opinion]:
        """Dimensions that the length leaves in their middle."""
        d = bd.descriptor
        pads = [*d.pad, *[None] * len(d.dims)]
        units = [
            dim.wrap + (pad.before + pad.after if pad else 0)
            for dim, pad in zip(d.dims, pads, strict=False)
            if dim.wrap
        ]
        turn = prod(units)
        if len(units) > 0 and turn > 1 and d.length % turn:
            whole = -(-d.length // turn) * turn
            yield Opinion(Measure.ROWS, whole, f"its dimensions make {whole}")

    def _chain(self, bd: PlannedBd) -> Iterator[Opinion]:
        if self.planned.is_external(bd.ch):
            return
        others = [each for each in self.planned.bds[bd.ch] if each is not bd]
        lengths = {each.length for each in others}
        if len(lengths) != 1:
            return
        (length,) = lengths
        rest = "the other BDs of its chain move"
        if len(others) == 1:
            rest = f"BD {others[0].number} of the same chain moves"
        weight = _HALF if length == bd.length else _FULL  # all of a chain may be wrong
        yield Opinion(Measure.CHAIN, length, f"{rest} {length}", others, weight)

    def _tiles(self, bd: PlannedBd) -> Iterator[Opinion]:
        """Other tiles whose channel does the same with other lengths, all with one."""
        if not len(bd.places):
            return
        alike = self._alike.get(self._role(bd.ch), [])
        place = next(n for n, each in enumerate(self.planned.bds[bd.ch]) if each is bd)
        others = [self.planned.bds[ch][place] for ch in alike if ch != bd.ch]
        lengths = {each.length for each in others}
        if len(others) < _ALIKE or len(lengths) != 1 or lengths == {bd.length}:
            return
        (length,) = lengths
        whos = f"{called(self.engine, others[0].ch)} and {len(others) - 1} more move"
        yield Opinion(Measure.TILES, length, f"{whos} {length} there", others, _HALF)

    @cached_property
    def _alike(self) -> Mapping[tuple[object, ...], list[int]]:
        """Channels by what they have in common with those of other tiles."""
        found: dict[tuple[object, ...], list[int]] = {}
        for ch, bds in self.planned.bds.items():
            if self.planned.is_complete(ch) and not self.planned.is_external(ch) and len(bds[0].places):
                found.setdefault(self._role(ch), []).append(ch)
        return found

    def _role(self, ch: int) -> tuple[object, ...]:
        """Kind of tile, place in it, and the sizes of the buffers of the chain."""
        c, bds = self.engine.channels, self.planned.bds[ch]
        tile = int(c.tile[ch])
        sizes = [end - low for low, end in (self._area(bd) if len(bd.places) else (0, 0) for bd in bds)]
        first = int((c.tile == tile).argmax())
        return int(self.engine.tiles.kind[tile]), ch - first, *sizes

    # memory -----------------------------------------------------------------------------------------------

    @cached_property
    def _groups(self) -> list[list[PlannedBd]]:
        """Descriptors whose words of one memory overlap, directly or by others, or are in one buffer."""
        by_tile: dict[int, list[PlannedBd]] = {}
        for bds in self.planned.bds.values():
            for bd in bds:
                if len(bd.places):
                    by_tile.setdefault(bd.tile, []).append(bd)
        found: list[list[PlannedBd]] = []
        for bds in by_tile.values():
            end = -1
            for bd in sorted(bds, key=lambda each: int(each.places[0])):
                if int(bd.places[0]) >= end:
                    found.append([])
                found[-1].append(bd)
                end = max(end, int(bd.places[-1]) + 1, self._area(bd)[1])
        return found

    def _area(self, bd: PlannedBd) -> tuple[int, int]:
        """First word of the buffer that a descriptor begins in, and the one behind its last."""
        first = int(bd.places[0])
        areas = ((low, end) for _, low, end in areas_on(bd.tile, self._areas) if low <= first < end)
        return next(areas, (first, first))

    @cached_property
    def _group_of(self) -> Mapping[int, list[PlannedBd]]:
        return {id(bd): group for group in self._groups for bd in group}

    def _buffer(self, bd: PlannedBd) -> Iterator[Opinion]:
        group = self._group_of.get(id(bd), [])
        if not group or not all(self.planned.is_complete(each.ch) for each in group):
            return
        if any(each.descriptor.iteration.wrap > 1 for each in group):
            return
        direction = self.receives(bd.ch)
        own = [each for each in group if self.receives(each.ch) is direction]
        others = [each for each in group if self.receives(each.ch) is not direction]
        if others:
            yield from self._against(bd, own, others)
        else:
            yield from self._room(bd, own)

    def _against(
        self, bd: PlannedBd, own: Sequence[PlannedBd], others: Sequence[PlannedBd]
    ) -> Iterator[Opinion]:
        """The words that the other direction moves and this one does not, or the other way round."""
        mine, theirs = _union(own), _union(others)
        lacking, beyond = without(theirs, mine), without(mine, theirs)
        text = self._other_side(bd, others, len(theirs))
        if not len(lacking) and not len(beyond):
            yield Opinion(Measure.BUFFER, bd.length, text, others)
        elif len(lacking) and not len(beyond) and not bd.descriptor.pad and _ends_before(bd, own, lacking):
            yield Opinion(Measure.BUFFER, bd.length + len(lacking), text, others)
        elif (
            len(beyond)
            and not len(lacking)
            and not len(without(beyond, bd.places))
            and len(bd.places) == bd.length
        ):
            yield Opinion(Measure.BUFFER, bd.length - len(beyond), text, others)

    def _other_side(self, bd: PlannedBd, others: Sequence[PlannedBd], words: int) -> str:
        """What the other direction moves, as a part of a sentence."""
        names = (
            name for name, first, end in areas_on(bd.tile, self._areas) if first <= int(bd.places[0]) < end
        )
        buffer = next((repr(name) for name in names), "the buffer")
        channels = dict.fromkeys(each.ch for each in others)
        whos = " and ".join(called(self.engine, ch) for ch in [*channels][:2])
        if len(channels) > 2:
            whos = f"{called(self.engine, others[0].ch)} and {len(channels) - 1} more"
        verb = ("read" if self.receives(bd.ch) else "write") + "s" * (len(channels) == 1)
        return f"{whos} {verb} {words} words of {buffer}"

    def _room(self, bd: PlannedBd, own: Sequence[PlannedBd]) -> Iterator[Opinion]:
        """The size of the buffer, where a core is at its other side."""
        for name, first, end in areas_on(bd.tile, self._areas):
            if first <= int(bd.places[0]) and int(bd.places[-1]) < end:
                lacking = without(np.arange(first, end), _union(own))
                text = f"buffer {name!r} has {end - first} words"
                if not len(lacking):
                    yield Opinion(Measure.ROOM, bd.length, text, weight=_HALF)
                elif _ends_before(bd, own, lacking):
                    yield Opinion(Measure.ROOM, bd.length + len(lacking), text)
                return

    # streams ----------------------------------------------------------------------------------------------

    def _stream(self, bd: PlannedBd) -> Iterator[Opinion]:
        ends = [] if self.planned.is_external(bd.ch) else self._far_ends(bd)
        if not ends or not bd.length:
            return
        headers = {self._headers(bd, each) for each in ends}
        external = [each for each in ends if self.planned.is_external(each.ch)]
        if external and any(headers):
            return  # how many packets a transfer has, nothing says
        if external:
            who = called(self.engine, external[0].ch)
            text = f"{who} {self._verb(external[0])} {external[0].length}"
            moved = sum(each.length for each in external)
            if sum(each.length for each in self.planned.bds[bd.ch]) == moved:
                yield Opinion(Measure.STREAM, bd.length, text, external)  # all tasks together
            elif all(each.length % bd.length == 0 for each in external):
                yield Opinion(Measure.STREAM, bd.length, text, external, _HALF)
            else:
                yield Opinion(Measure.HOST, 0, text, external)
            return
        lengths = {each.length + self._headers(bd, each) for each in ends}
        rings = [self.planned.bds[bd.ch], *(self.planned.bds[ch] for ch in {each.ch for each in ends})]
        if len({sum(each.length for each in ring) for ring in rings}) == 1 and not any(headers):
            yield Opinion(Measure.STREAM, bd.length, "", ends)
        elif len(lengths) == 1 and not (bd.length > min(lengths) and bd.length % min(lengths) == 0):
            (length,) = lengths
            header = " and a header" if any(headers) else ""
            who = f"{called(self.engine, ends[0].ch)} {self._verb(ends[0])}"
            text = f"{who} {ends[0].length} with each BD{header}"
            added = 0 if self.receives(bd.ch) else length - ends[0].length  # of whole packets
            fits = length != bd.length and _is_multiple(bd.length - added, length - added)
            yield Opinion(Measure.STREAM, length, text, ends, _HALF if fits else _FULL)

    def _headers(self, bd: PlannedBd, end: PlannedBd) -> int:
        """Words of headers that a descriptor takes more than one at the other end sends, or sends less."""
        if self.receives(bd.ch):
            return self.planned.header_words(end, bd.ch)
        return -self.planned.header_words(bd, end.ch)

    def _verb(self, bd: PlannedBd) -> str:
        return "takes" if self.receives(bd.ch) else "sends"

    def _far_ends(self, bd: PlannedBd) -> list[PlannedBd]:
        """The descriptors at the other end of the stream of a descriptor."""
        if self.receives(bd.ch):
            return self.planned.senders.get(bd.ch, [])
        channels = self.planned.receivers(bd)
        return [each for ch in channels for each in self.planned.bds.get(ch, ())]


def _is_multiple(one: int, other: int) -> bool:
    """Whether one of two lengths is the other one several times."""
    return one > 0 < other and (one % other == 0 or other % one == 0)


def _union(bds: Sequence[PlannedBd]) -> Words:
    return distinct(np.concatenate([bd.places for bd in bds]))


def _ends_before(bd: PlannedBd, own: Sequence[PlannedBd], lacking: Words) -> bool:
    """Whether words that are left out follow on a descriptor and on no other one of its direction."""
    if len(own) == 1:
        return True
    return int(lacking[0]) == int(bd.places[-1]) + 1
