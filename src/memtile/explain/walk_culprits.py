"""Which channel walks its memory otherwise than was meant, where words of an output are in another order.

The words of an output are followed back from channel to channel to the memory that they came from, and the
expected ones with them. So for each channel on the way it is known what it has before it and what it should
send or store. A channel for which one other offset, stride, order of dimensions or side of padding makes the
output right is the culprit, if it is the only one. A core on the way is passed if it does the same to each
element. Nothing is said unless what the channels do gives, by this account, exactly what came out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.access.walk import PAD
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import place_of_address
from memtile.explain.bd_findings import line_numbers, line_of
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.edge_streams import NO_EDGES, EdgeStreams
from memtile.explain.element_functions import ElementFunction, element_function
from memtile.explain.evidence import NO_EVIDENCE, Evidence
from memtile.explain.findings import Side
from memtile.explain.names import called, channel_name
from memtile.explain.walk_changes import UNKNOWN, UNSEEN, Change, Part, Words, change_of, walked, words_at
from memtile.explain.whole_walks import Dims, put_back, whole_walk
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES

Array = npt.NDArray[Any]
_MOST = 1 << 15  # words of an output
_MOST_CHANNELS = 24
_MOST_RUNS = 128  # of descriptors of one channel
_TWO = 2
_FEW = 32  # places that are tried for one word
_ARGUMENT = "argument "


class Culprit(NamedTuple):
    """A channel that walks its memory otherwise than was meant.

    Attributes:
        text: what it does, a sentence.
        fix: what it should do.
        side: for a finding.
        evidence: the walks that are advised, and of whom.
    """

    text: str
    fix: str
    side: Side
    evidence: Evidence = NO_EVIDENCE


_Found = tuple[int, Change]


class _LostError(Exception):
    """The way of the words cannot be followed."""


class _Stored(NamedTuple):
    """An execution that stores words, and what it should store at their places."""

    moved: Part
    should: Words


class WalkCulprits:
    """The channels of an engine that stands still.

    Args:
        planned: the descriptors of its channels.
        edges: streams from and to what lies beside the array.
    """

    def __init__(self, planned: PlannedWords, edges: EdgeStreams = NO_EDGES) -> None:
        self._planned, self._engine, self._edges = planned, planned.engine, edges
        self._map: Callable[[Words], Words] = lambda words: words
        self._streams: dict[int, Words] = {}
        self._whole = self._in_a_row = False  # walks are changed as a whole, or so that they do nothing

    def find(self, port: str, got: Array, expected: Array) -> Culprit | None:
        """The culprit for an output; None = none is known.

        Args:
            port: an array in external memory, an MM2S channel or an output beside the array, as a
                comparison names it.
            got: what came, flat.
            expected: what should have come, of the same type and length.
        """
        name, nbytes = port.removeprefix(_ARGUMENT), got.nbytes
        buffer = self._engine.external.buffers.get(name)
        if nbytes > _MOST * WORD_BYTES or nbytes % WORD_BYTES:
            return None
        try:
            if buffer is not None and buffer.array.nbytes == nbytes:
                return self._of_array(name, got, _words(expected))
            sender = self._edges.sender(self._engine, port)
            if sender is None:
                names = ((ch, channel_name(self._engine, ch)) for ch in self._planned.bds)
                sender = next((ch for ch, name in names if name == port), None)
            if sender is not None and not self._planned.receives(sender):
                return self._of_stream(sender, got, _words(expected))
        except _LostError:
            pass
        return None

    def _of_array(self, name: str, got: Array, expected: Words) -> Culprit | None:
        bds = self._planned.bds.items()
        ends = [ch for ch, its in bds if self._planned.receives(ch) and self._is_at(its, name)]
        stored = [(at, words) for ch in ends for words, at in self._stored(ch)]
        if not stored:
            return None
        places, made = (np.concatenate(each) for each in zip(*stored, strict=True))
        if not self._is_so(made, _words(got)[places], got.dtype):
            return None
        return self._first_of(lambda: self._found(ends, name, _words(got), expected))

    def _of_stream(self, sender: int, got: Array, expected: Words) -> Culprit | None:
        if not self._is_so(self._stream(sender), _words(got), got.dtype):
            return None
        return self._first_of(lambda: self._sent_as(sender, expected, {}))

    def _first_of(self, find: Callable[[], Iterator[_Found]]) -> Culprit | None:
        """The culprit by a change of one number, else by one of a walk as a whole."""
        for self._whole, self._in_a_row in ((False, False), (True, False), (False, True)):
            with suppress(_LostError):
                if every := list(find()):
                    return self._way_back(every, find) or self._only(every)
        return None

    def _is_so(self, made: Words, got: Words, dtype: np.dtype[Any]) -> bool:
        """Whether the walks give what came out, with what a core does to each element."""
        if len(made) != len(got):
            return False
        if np.array_equal(made, got):
            return True
        fitted = element_function(_elements(made, dtype), _elements(got, dtype))
        if fitted is not None:
            self._streams.clear()
            self._map = lambda words: _mapped(words, fitted, dtype)
        return fitted is not None

    # -- forward: what the channels do

    def _stored(self, ch: int) -> Iterator[tuple[Words, Words]]:
        """The words of each execution of a channel to external memory, and where in its array they go."""
        stream, used = self._stream(ch), 0
        for bd, execution in self._executions(ch):
            name = self._array_of(bd)
            size = self._engine.external.buffers[name].words
            at = _inside(self._addresses(bd, execution) - self._first(name), size)
            yield stream[used : used + len(at)], at
            used += len(at)
        if used != len(stream):
            raise _LostError

    def _stream(self, ch: int) -> Words:
        """Return all words that a channel sent or took."""
        if ch not in self._streams:
            if len(self._streams) > _MOST_CHANNELS:
                raise _LostError
            self._streams[ch] = np.zeros(0, np.int64)  # of a circle nothing is known
            self._streams[ch] = self._taken(ch) if self._planned.receives(ch) else self._sent(ch)
        return self._streams[ch]

    def _taken(self, ch: int) -> Words:
        came = self._edges.came(self._engine, ch)
        return self._stream(self._sender(ch)) if came is None else self._map(came)

    def _sender(self, ch: int) -> int:
        senders = {bd.ch for bd in self._planned.senders.get(ch, ())}
        if len(senders) != 1:
            raise _LostError
        return senders.pop()

    def _sent(self, ch: int) -> Words:
        through = self._through(ch)
        if through is not None:
            return self._stream(through)
        parts = [_read(part) for part in self._parts(ch)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def _through(self, ch: int) -> int | None:
        """The channel whose words a core passes on to an MM2S channel of its tile; None = no core does."""
        tile = int(self._engine.channels.tile[ch])
        core = int(plain(self._engine.spec.tiles).core[tile])
        if core not in self._engine.cores.running or any(
            self._writers(bd) for bd in self._planned.bds.get(ch, ())
        ):
            return None
        own = [
            other
            for other in self._planned.bds
            if self._engine.channels.tile[other] == tile and self._planned.receives(other)
        ]
        if len(own) != 1:
            raise _LostError
        return own[0]

    def _parts(self, ch: int, *, sure: bool = False) -> Iterator[Part]:
        """The executions of an MM2S channel, with the memory before each and the addresses that it reads.

        With ``sure`` only words that somebody has written are known in memory that anybody writes.
        """
        for bd, execution in self._executions(ch):
            at = self._addresses(bd, execution)
            if self._planned.is_external(ch):
                name = self._array_of(bd)
                yield Part(bd.number, self._contents(name), self._first(name), at, execution)
            else:
                yield Part(bd.number, self._image(bd, execution, sure=sure), self._shift(bd), at, execution)

    def _contents(self, name: str) -> Words:
        return self._map(_words(np.ascontiguousarray(self._engine.external.buffers[name].array).reshape(-1)))

    def _image(self, bd: PlannedBd, execution: int, *, sure: bool) -> Words:
        """The memory of a tile before an execution of one of its readers."""
        tiles = plain(self._engine.spec.tiles)
        first, size = int(tiles.memory_base[bd.tile]), int(tiles.memory_words[bd.tile])
        writers = self._writers(bd)
        if writers and sure:
            image, others = np.full(size, UNKNOWN, np.int64), self._beside(writers)
        else:
            image = self._map(np.asarray(self._engine.state.memory[first : first + size]).astype(np.int64))
            others = []
        for writer in (*others, *writers):
            places = _inside(self._addresses(writer, execution) - self._shift(writer), size)
            came = self._came(writer, execution)
            if came is not None:
                image[places] = came
            elif all(writer is not each for each in others):
                raise _LostError
        return image

    def _beside(self, writers: Sequence[PlannedBd]) -> list[PlannedBd]:
        """The other descriptors of the chains of some: parts of the same objects, which others read."""
        chains = {bd.ch: self._planned.bds[bd.ch] for bd in writers}
        every = (bd for bds in chains.values() for bd in bds if bd.tile == writers[0].tile)
        return [bd for bd in every if all(bd is not each for each in writers)]

    def _writers(self, reader: PlannedBd) -> list[PlannedBd]:
        """The descriptors that write what one reads."""
        every = (bd for ch, bds in self._planned.bds.items() if self._planned.receives(ch) for bd in bds)
        return [bd for bd in every if bd.tile == reader.tile >= 0 and np.isin(bd.places, reader.places).any()]

    def _came(self, writer: PlannedBd, execution: int) -> Words | None:
        """The words of one execution of a descriptor that writes; None if it did not run so often."""
        used = 0
        for bd, number in self._executions(writer.ch):
            length = bd.length
            came = self._stream(writer.ch)[used : used + length]
            if bd is writer and number == execution and len(came) == length:
                return came
            used += length
        return None

    def _executions(self, ch: int) -> Iterator[tuple[PlannedBd, int]]:
        """The descriptors that a channel has run, in order, each with how often it ran before."""
        bds, done = self._planned.bds.get(ch, ()), int(self._engine.channels.bds_done[ch])
        if not bds or not (self._planned.is_complete(ch) or self._engine.channels.tasks_done[ch] <= 1):
            raise _LostError
        if done > _MOST_RUNS:
            raise _LostError
        for number in range(done):
            yield bds[number % len(bds)], number // len(bds)

    def _addresses(self, bd: PlannedBd, execution: int) -> Words:
        return walked(bd.descriptor, execution, writes=self._planned.receives(bd.ch))

    def _shift(self, bd: PlannedBd) -> int:
        """What is taken from addresses of the DMA to have words of the memory."""
        kind = TILE_KINDS[
            KIND_NAMES[int(plain(self._engine.spec.tiles).kind[self._engine.channels.tile[bd.ch]])]
        ]
        there = place_of_address(kind, bd.descriptor.address)
        if there is None or bd.tile < 0:
            raise _LostError
        return bd.descriptor.address - there.local

    def _is_at(self, bds: Sequence[PlannedBd], name: str) -> bool:
        return any(self._planned.is_external(bd.ch) and self._array_of(bd) == name for bd in bds)

    def _array_of(self, bd: PlannedBd) -> str:
        at = bd.descriptor.address * WORD_BYTES
        for name, buffer in self._engine.external.buffers.items():
            if buffer.address <= at < buffer.end:
                return name
        raise _LostError

    def _first(self, name: str) -> int:
        return self._engine.external.buffers[name].address // WORD_BYTES

    # -- backward: what they should do

    def _found(self, ends: Sequence[int], name: str, got: Words, expected: Words) -> Iterator[_Found]:
        """Channels that one change makes right, from the only wrong end on."""
        bad = [ch for ch in ends if any((words != expected[at]).any() for words, at in self._stored(ch))]
        if len(bad) != 1:
            return
        (ch,), first, parts, used = bad, self._first(name), list[Part](), 0
        for bd, execution in self._executions(ch):
            words = self._stream(ch)[used : used + bd.length]
            parts.append(Part(bd.number, expected, first, words, execution))
            used += bd.length
        change = self._change(ch, parts)
        if change is not None and self._leaves(ch, change, parts, got):
            yield ch, change
        at = [self._addresses(bd, execution) - first for bd, execution in self._executions(ch)]
        yield from self._all_before({ch: expected[np.concatenate(at)]})

    def _leaves(self, ch: int, change: Change, parts: Sequence[Part], got: Words) -> bool:
        """Whether what a channel does not write with a change is as expected, zeros where it wrote before."""
        numbers, left = [bd.number for bd in self._planned.bds[ch]], got.copy()
        places = [
            np.concatenate(
                [
                    walked(bds[numbers.index(part.number)], part.execution, writes=True) - part.first
                    for part in parts
                ]
            )
            for bds in (change.old, change.new)
        ]
        left[places[0]] = 0
        left[places[1]] = parts[0].memory[places[1]]
        return bool((left == parts[0].memory).all())

    def _before(self, ch: int, words: Words, wanted: dict[int, Words]) -> Iterator[_Found]:
        """The sender of what a channel should take, and what comes before it."""
        if self._edges.came(self._engine, ch) is None:
            yield from self._sent_as(self._sender(ch), words, wanted)

    def _sent_as(self, sender: int, words: Words, wanted: dict[int, Words]) -> Iterator[_Found]:
        """A channel that should send certain words, and those that write what it reads."""
        through = self._through(sender)
        if through is not None:
            wanted[through] = words
            yield from self._all_before(wanted)
            return
        parts = self._should_send(sender, words)
        if (change := self._change(sender, parts)) is not None:
            yield sender, change
        if not self._planned.is_external(sender):
            yield from self._writers_of(sender, parts, wanted)
            yield from self._all_before(wanted)

    def _should_send(self, sender: int, words: Words) -> list[Part]:
        """The executions of a channel that should send certain words."""
        parts, used = list[Part](), 0
        for part in self._parts(sender, sure=True):
            parts.append(part._replace(words=words[used : used + len(part.words)]))
            used += len(part.words)
        if used != len(words):
            raise _LostError  # it sends more or fewer words than are to come
        return parts

    def _all_before(self, wanted: dict[int, Words]) -> Iterator[_Found]:
        while wanted:
            ch, words = wanted.popitem()
            yield from self._before(ch, words, wanted)

    def _writers_of(self, sender: int, parts: Sequence[Part], wanted: dict[int, Words]) -> Iterator[_Found]:
        """The channels that write what one reads, with what they should write."""
        needs, images = dict[tuple[int, int], Words](), dict[int, Words]()
        for (bd, execution), part in zip(self._executions(sender), parts, strict=True):
            image = images.setdefault(execution, np.full(len(part.memory), UNKNOWN, np.int64))
            at = self._addresses(bd, execution)
            is_data = at != PAD
            image[_inside(at[is_data] - part.first, len(image))] = part.words[is_data]
            for writer in self._writers(bd):
                needs[writer.ch, self._place(writer, execution)] = image
        stored = {ch: self._should_store(ch, needs) for ch in sorted({ch for ch, _ in needs})}
        failing = [ch for ch, parts in stored.items() if any(not _is_right(part) for part in parts)]
        if len(failing) == 1:
            (ch,) = failing
            if (change := self._change(ch, [part.moved for part in stored[ch]])) is not None:
                yield ch, change
            wanted[ch] = np.concatenate([part.should for part in stored[ch]])
        elif failing:
            yield from self._of_several(failing, stored)

    def _should_store(self, ch: int, needs: Mapping[tuple[int, int], Words]) -> list[_Stored]:
        """What each execution of a channel stores, and what it should: not known where no reader needs it."""
        stream, used, found = self._stream(ch), 0, list[_Stored]()
        unread = np.full(len(next(iter(needs.values()))), UNKNOWN, np.int64)
        for number, (bd, execution) in enumerate(self._executions(ch)):
            at, shift = self._addresses(bd, execution), self._shift(bd)
            need = needs.get((ch, number), unread)
            moved = Part(bd.number, need, shift, stream[used : used + len(at)], execution)
            found.append(_Stored(moved, need[_inside(at - shift, len(need))]))
            used += len(at)
        return found

    def _of_several(
        self, failing: Sequence[int], stored: Mapping[int, Sequence[_Stored]]
    ) -> Iterator[_Found]:
        """Channels that each write where another one should, or read what another one should."""
        tile = self._engine.channels.tile
        joins = {ch: self._change(ch, [part.moved for part in stored[ch]]) for ch in failing}
        if self._whole:
            yield from self._likewise(joins)
            return
        if any(self._edges.came(self._engine, ch) is not None for ch in failing):
            return
        senders = {ch: self._sender(ch) for ch in failing}
        yield from self._out_of_order(joins, {ch: int(tile[senders[ch]]) for ch in failing}, "join")
        splits: dict[int, Change | None] = {}
        for ch in failing:
            through = self._through(senders[ch])
            if through is None:
                return
            sender, words = self._sender(through), np.concatenate([part.should for part in stored[ch]])
            splits[sender] = self._change(sender, self._should_send(sender, words))
        receivers = {self._sender(end): int(tile[end]) for end in map(self._through, senders.values()) if end}
        yield from self._out_of_order(splits, receivers, "split")

    def _likewise(self, changes: Mapping[int, Change | None]) -> Iterator[_Found]:
        """Channels that are all right with the walks of others."""
        found = {ch: change for ch, change in changes.items() if change is not None}
        if found and len(found) == len(changes):
            (first, change), *others = found.items()
            names = " and ".join(called(self._engine, ch) for ch, _ in others)
            if _are_permuted([*found.values()]):
                verb = change.does.partition(" ")[0]
                does = f"{verb} where {names} should, and vice versa"
                fix = "Exchange their offsets."
                yield first, change._replace(does=does, fix=fix, evidence=NO_EVIDENCE)
                return
            yield first, change._replace(does=f"{change.does}, and so does {names}")

    def _out_of_order(
        self, changes: Mapping[int, Change | None], tiles: Mapping[int, int], how: str
    ) -> Iterator[_Found]:
        """Channels whose offsets are in the order of the tiles at their other ends only when changed."""
        found = {ch: change for ch, change in changes.items() if change is not None}
        if len(found) < len(changes) or set(found) != set(tiles):
            return
        order = sorted(found, key=lambda ch: tiles[ch])
        old, new = (
            [int(each[0].address) for each in ends]
            for ends in zip(*((found[ch].old, found[ch].new) for ch in order), strict=True)
        )
        if old != sorted(old) and new == sorted(old):
            names = " and ".join(called(self._engine, ch) for ch in order[1:])
            does = "write in each other's places" if how == "join" else "read each other's parts"
            fix = f"Exchange their offsets, or the order of the {how}."
            does = f"{found[order[0]].does}: it and {names} {does}"
            yield order[0], found[order[0]]._replace(does=does, fix=fix, evidence=NO_EVIDENCE)

    def _place(self, writer: PlannedBd, execution: int) -> int:
        for number, (bd, count) in enumerate(self._executions(writer.ch)):
            if bd is writer and count == execution:
                return number
        raise _LostError

    def _change(self, ch: int, parts: Sequence[Part]) -> Change | None:
        bds = {bd.number: bd.descriptor for bd in self._planned.bds[ch]}
        writes = self._planned.receives(ch)
        if self._whole:
            return whole_walk(bds, parts, self._walks(ch), writes=writes)
        return change_of(bds, parts, writes=writes, in_a_row=self._in_a_row)

    def _walks(self, ch: int) -> list[Dims]:
        """The walks of other channels that are none of words in a row."""
        others = [bd for other, bds in self._planned.bds.items() if other != ch for bd in bds]
        return [bd.descriptor.dims for bd in others if bd.descriptor.dims and not any(bd.descriptor.pad)]

    def _puts_back(self, ch: int, change: Change) -> bool:
        """Whether a channel that sends should undo the walk of another one."""
        walks = ({put_back(dims, new) for dims in self._walks(ch)} for new in change.new)
        return not self._planned.receives(ch) and all(
            new.dims in each for new, each in zip(change.new, walks, strict=True)
        )

    def _only(self, every: Sequence[_Found]) -> Culprit | None:
        """The culprit: one alone, or one alone that has no plain walk, or another's, or begins too far on."""
        odd = [
            each
            for each in every
            if any(len(bd.dims) > 1 or bd.pad or bd.iteration.wrap > 1 for bd in each[1].old)
        ]
        late = [each for each in every if _begins_too_late(each[1])]
        known = [each for each in every if {bd.dims for bd in each[1].new} <= {*self._walks(each[0])}]
        back = [each for each in every if self._puts_back(*each)]
        sets = (every, known, back) if self._whole else (every, odd, late)
        chosen = next((some for some in sets if len(some) == 1), [])
        if len(chosen) == 1:
            return self._culprit(*chosen[0])
        return self._either(every) if self._whole and len(every) == len(odd) == _TWO else None

    def _way_back(self, every: Sequence[_Found], find: Callable[[], Iterator[_Found]]) -> Culprit | None:
        """Either the one channel that has an order where none is needed, or one that lacks the way back."""
        if self._whole or len(every) != 1 or not self._becomes_plain(every):
            return None
        self._whole = True
        with suppress(_LostError):
            back = [each for each in find() if each[0] != every[0][0]]
            if len(back) == 1:
                return self._either([*back, *every])
        self._whole = False
        return None

    def _becomes_plain(self, chosen: Sequence[_Found]) -> bool:
        """Whether the one change is from an order to none: then the other end may lack the way back."""
        orders = [self._moves_in_a_row(ch, bds) for ch, change in chosen for bds in (change.old, change.new)]
        return orders == [False, True]

    def _moves_in_a_row(self, ch: int, bds: Sequence[Descriptor]) -> bool:
        walks = (walked(bd, 0, writes=self._planned.receives(ch)) for bd in bds)
        return all(bool((np.diff(walk) == 1).all()) for walk in walks)

    def _culprit(self, ch: int, change: Change) -> Culprit:
        said = next((bd.said for bd in self._planned.bds[ch] if bd.said), "")
        name = called(self._engine, ch)
        line = f" ({line_of(said)})" if said else ""
        numbers = ", ".join(str(bd.number) for bd in self._planned.bds[ch][:_FEW])
        text = f"{name}{line}, BD {numbers}, {change.does}."
        evidence = replace(change.evidence, lines=line_numbers(said))
        return Culprit(text, change.fix, Side(name, change.does, said), evidence)

    def _either(self, every: Sequence[_Found]) -> Culprit:
        """Two walks that do not fit each other: one of them is wrong, and nothing says which."""
        last, first = (self._culprit(*each) for each in every)
        text = f"{last.text} {first.text} The two orders do not fit each other."
        fixes = [f"{each.side.who}: {each.fix[:1].lower()}{each.fix[1:]}" for each in (last, first)]
        fix = f"Change one of the two. {fixes[0].rstrip('.')}; or {fixes[1]}"
        both = [each.evidence for each in (last, first)]
        evidence = Evidence(
            walks=[walk for each in both for walk in each.walks],
            lines=[line for each in both for line in each.lines],
            names=[name for ch, _ in every if (name := self._engine.channel_names.get(ch))],
        )
        return last._replace(text=text, fix=fix, evidence=evidence)


def _begins_too_late(change: Change) -> bool:
    return change.new[0].address < change.old[0].address


def _is_right(part: _Stored) -> bool:
    """Whether a part is stored as it should be, as far as that is known."""
    known = part.should != UNKNOWN
    return bool((part.should[known] == part.moved.words[known]).all())


def _read(part: Part) -> Words:
    return words_at(part.memory, np.where(part.words == PAD, PAD, part.words - part.first))


def _inside(places: Words, size: int) -> Words:
    """Places of a memory of so many words."""
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) < size:
        raise _LostError
    return places


def _words(values: Array) -> Words:
    """The words of an array, zeros behind what does not fill one."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return np.pad(data, (0, -len(data) % WORD_BYTES)).view(np.uint32).astype(np.int64)


def _mapped(words: Words, function: ElementFunction, dtype: np.dtype[Any]) -> Words:
    """Words whose elements a core makes of those of others, as far as it made such elements."""
    mapped = function(_elements(words, dtype))
    known = mapped.known[: len(words) * WORD_BYTES // dtype.itemsize]
    per_word = max(WORD_BYTES // dtype.itemsize, 1)
    whole = np.repeat(known.reshape(-1, per_word).all(axis=1), max(dtype.itemsize // WORD_BYTES, 1))
    return np.where(whole, _words(mapped.elements), UNSEEN)


def _elements(words: Words, dtype: np.dtype[Any]) -> Array:
    return words.astype(np.uint32).view(dtype)


def _are_permuted(changes: Sequence[Change]) -> bool:
    """Whether two walks or more only begin where others of them do."""
    ends = [(each.old[0], each.new[0]) for each in changes]
    old, new = ([int(bd.address) for bd in side] for side in zip(*ends, strict=True))
    alike = (_from_first(one, two) for one, two in ends)
    return len(old) > 1 and old != new and sorted(old) == sorted(new) and all(alike)


def _from_first(one: Descriptor, other: Descriptor) -> bool:
    """Whether two descriptors move the same words as seen from where each begins."""
    first, second = (walked(bd, 0, writes=False) - bd.address for bd in (one, other))
    return np.array_equal(first, second)
