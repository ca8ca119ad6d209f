"""Descriptors that a host sequence writes and gives to no task, before it writes others over them or at all.

A host that writes a descriptor means to start it. Where it starts another one, which nothing writes, it wrote
the wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from memtile.arch.tiles import TileKind, TileName
from memtile.bd.codec import following_bd
from memtile.errors import DescriptorError, InputFileError, Problem
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.names import called
from memtile.explain.oddities import Suspect
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.sequence.program import SequenceProgram
from memtile.model.dma.channel_registers import QUEUE_START_BD_MASK, QUEUE_TOKEN_LSB
from memtile.runs.operations import BlockWrite, Location, MaskWrite, Operation, Write, locate
from memtile.runs.waits import pushed_channel

UNSTARTED = "MT0127"
_TASKS = 2  # that are given a descriptor, each of which had a write of its own
_NO_ARRAY, _AT_ADDRESS = "array_missing", "buffer 0x"
"""Reason and field of a problem about memory of a host that is no argument."""
_KEPT = 4096  # descriptors: designs have the same ones again and again
_Bd = tuple[int, int, int]
"""Column and row of a tile, and the number of the BD."""


def unstarted_findings(made: Configured, sequence: SequenceProgram) -> Iterator[Finding]:
    """One finding for each descriptor that is written in vain.

    Args:
        made: the device in its array.
        sequence: its host sequence.
    """
    if sequence.is_open or sequence.loads:
        return
    kinds = {tile.place: tile.kind for tile in made.array.tiles}
    writes = _Writes(kinds)
    configured = (made.tiles[chain.tile].place for chain in made.device.chains)  # their BDs are of the text
    writes.unknown.update(place for place in configured if place is not None)
    for step in sequence.steps:
        writes.note(step)
    yield from writes.findings(all_known=not sequence.idle)


def with_unstarted(error: InputFileError, made: Configured, sequence: SequenceProgram) -> InputFileError:
    """An error about memory that no argument is, behind the descriptor whose words went to another one.

    Args:
        error: of a run.
        made: the device in its array.
        sequence: its host sequence.
    """
    if not any(each.reason == _NO_ARRAY and each.field.startswith(_AT_ADDRESS) for each in error.problems):
        return error
    problems = [
        Problem(
            each.sides[0].who,
            "a descriptor without a task",
            "one that a task is given",
            each.message.rstrip("."),
            each.fix,
            reason=_NO_ARRAY,
            where=each.sides[0].place,
            source="host sequence of the text",
        )
        for each in unstarted_findings(made, sequence)
    ]
    return InputFileError([*problems, *error.problems]) if problems else error


def endless_findings(made: Configured, sequence: SequenceProgram) -> Iterator[Finding]:
    """One finding for each task that is to report its end by a token, and whose chain has none.

    Args:
        made: the device in its array.
        sequence: its host sequence.
    """
    kinds, engine = {tile.place: tile.kind for tile in made.array.tiles}, made.array.engine
    bds: dict[_Bd, BlockWrite] = {}
    told = set[_Bd]()
    for step in sequence.steps if not (sequence.is_open or sequence.loads) else ():
        if not isinstance(step, Write | BlockWrite):
            continue
        at = locate(step.address)
        kind = kinds.get((at.column, at.row))
        number, odd = divmod(at.offset - kind.bd_base, kind.bd_stride) if kind is not None else (-1, 0)
        if kind is not None and isinstance(step, BlockWrite):
            if 0 <= number < kind.bds and not odd and len(step.words) == kind.bd_words:
                bds[at.column, at.row, number] = step
        elif kind is not None and isinstance(step, Write) and step.value >> QUEUE_TOKEN_LSB & 1:
            for ch in pushed_channel(engine, step.address):
                back = _back(kind.name, bds, (at.column, at.row, step.value & QUEUE_START_BD_MASK))
                if back is not None and back[0] not in told:
                    told.add(back[0])
                    yield _endless(called(engine, ch), step, bds[back[0]], back)


def _back(kind: TileName, bds: Mapping[_Bd, BlockWrite], bd: _Bd) -> tuple[_Bd, int] | None:
    """The descriptor of a chain that leads back to one before it or to itself, and which; None = it ends."""
    seen: list[_Bd] = []
    while bd in bds:
        seen.append(bd)
        try:
            following = following_bd(kind, bds[bd].words, bd[2])
        except DescriptorError:
            return None
        if following is None:
            return None
        bd = (*bd[:2], following)
        if bd in seen:
            return seen[-1], following
    return None


def _endless(who: str, push: Write, write: BlockWrite, back: tuple[_Bd, int]) -> Finding:
    number, following = back[0][2], back[1]
    again = "itself" if following == number else f"BD {following} again"
    does, line = f"BD {number} is followed by {again}", line_of(write.place)
    task = f"the task of {line_of(push.place)} never ends and sends no token"
    side = Side(who, does, write.place)
    message, fix = f"{who}: {does} ({line}, aie.next_bd), so {task}.", f"End the chain at {line} (aie.end)."
    return Finding("MT0124", CODES["MT0124"].severity, message, (side,), fix=fix)


@dataclass(slots=True)
class _Again:
    """A descriptor that is written over before a task is given it.

    Attributes:
        bd: it.
        first: place of the first write.
        place: of the second one.
        same: whether both write the same words.
        pushes: tasks that are given it after the second write, and before a third one.
    """

    bd: _Bd
    first: str
    place: str
    same: bool
    pushes: int = 0


@dataclass(slots=True)
class _Writes:
    """What a sequence has written and started so far.

    Args:
        kinds: of tiles, by their places.

    Attributes:
        fresh: descriptors that no task was given yet, with their words and the place of the write.
        again: those that were written over.
        started: descriptors of tasks, and where a task was given one that was never written; else "".
        unknown: tiles of which single registers are written.
        followed: descriptors that a chain leads to.
    """

    kinds: Mapping[tuple[int, int] | None, TileKind]
    fresh: dict[_Bd, tuple[tuple[int, ...], str]] = field(default_factory=dict)
    again: list[_Again] = field(default_factory=list)
    started: dict[_Bd, str] = field(default_factory=dict)
    unknown: set[tuple[int, int]] = field(default_factory=set)
    followed: set[_Bd] = field(default_factory=set)
    _words: dict[_Bd, tuple[int, ...]] = field(default_factory=dict)
    _last: dict[_Bd, _Again] = field(default_factory=dict)

    def note(self, step: Operation) -> None:
        """A step of the sequence."""
        if not isinstance(step, Write | BlockWrite | MaskWrite):
            return
        at = locate(step.address)
        kind = self.kinds.get((at.column, at.row))
        if kind is None:
            return
        number, odd = divmod(at.offset - kind.bd_base, kind.bd_stride)
        if 0 <= number < kind.bds:
            if isinstance(step, BlockWrite) and not odd and len(step.words) == kind.bd_words:
                self._write((at.column, at.row, number), step)
            else:
                self.unknown.add((at.column, at.row))
        elif isinstance(step, Write) and _is_queue(kind, at):
            self._start((at.column, at.row, step.value & QUEUE_START_BD_MASK), kind, step.place)

    def _write(self, bd: _Bd, step: BlockWrite) -> None:
        before = self.fresh.get(bd)
        self._last.pop(bd, None)
        if before is not None and before[1] != step.place:
            self.again.append(_Again(bd, before[1], step.place, same=before[0] == step.words))
            self._last[bd] = self.again[-1]
        self.fresh[bd] = step.words, step.place
        self._words[bd] = step.words

    def _start(self, bd: _Bd, kind: TileKind, place: str) -> None:
        """A task begins with a descriptor and goes on with those that follow."""
        first = bd
        if bd in self._last:
            self._last[bd].pushes += 1
        while bd not in self.started or bd in self.fresh:
            self.started[bd] = "" if bd in self._words else place
            self.followed.update({bd} - {first})
            self.fresh.pop(bd, None)
            words = self._words.get(bd)
            following = None if words is None else _following(kind.name, words)
            if following is None:
                return
            bd = (*bd[:2], following)

    def findings(self, *, all_known: bool) -> Iterator[Finding]:
        """What was written in vain: a BD that is never started only beside others of its tile that are.

        Args:
            all_known: whether no task that is never started is named already.
        """
        for each in self.again:
            meant = self._unwritten(each.bd)
            if each.bd[:2] in self.unknown:
                continue
            if len(meant) == 1:
                yield self._over(each.bd, meant[0], each.first, each.place)
            elif each.pushes >= _TASKS and not each.same:
                yield self._too_early(each.bd, each.first, each.place)
        busy = {bd[:2] for bd in self.started} - self.unknown - {each.bd[:2] for each in self.again}
        for bd, (_, place) in self.fresh.items():
            meant = [each for each in self._unwritten(bd) if each not in self.followed]
            if bd[:2] in busy and len(meant) == 1:
                yield self._instead(bd, meant[0], place)
            elif all_known and bd[:2] in busy:
                yield self._never(bd, place)

    def _unwritten(self, bd: _Bd) -> list[_Bd]:
        """The descriptors of a tile that tasks are given and nothing writes."""
        unwritten = (each for each, place in self.started.items() if place and each not in self._words)
        return [each for each in unwritten if each[:2] == bd[:2]]

    def _over(self, bd: _Bd, meant: _Bd, first: str, place: str) -> Finding:
        does = f"writes {self._name(bd)} again"
        message = (
            f"The host {does} at {line_of(place)}, which {line_of(first)} wrote and no task was given; "
            f"BD {meant[2]}, which a task is given, is not written."
        )
        fix = f"Let {line_of(place)} write BD {meant[2]}, or start BD {bd[2]}."
        return _made(message, does, place, fix)

    def _too_early(self, bd: _Bd, first: str, place: str) -> Finding:
        """A descriptor that is written for a second task before the first one starts."""
        does = f"writes {self._name(bd)} again"
        message = (
            f"The host {does} at {line_of(place)}, before a task is given what {line_of(first)} wrote: "
            "that task moves the words of the second write."
        )
        used = {each[2] for each in (*self._words, *self.started) if each[:2] == bd[:2]}
        free = next((n for n in range(self.kinds[bd[:2]].bds) if n not in used), None)
        other = "" if free is None else f" write another BD ({free} is free), or"
        fix = f"Let {line_of(place)}{other} come after the start of that task."
        side = Side("the host", does, place)  # tasks move words either way: nobody waits for that
        return Suspect(UNSTARTED, CODES[UNSTARTED].severity, message, (side,), fix=fix)

    def _instead(self, bd: _Bd, given: _Bd, place: str) -> Finding:
        start = self.started[given]
        does = f"starts {self._name(given)}"
        message = (
            f"The host {does} at {line_of(start)}, which nothing writes, and no task is given BD {bd[2]}, "
            f"which {line_of(place)} writes."
        )
        return _made(message, does, start, f"Start BD {bd[2]} at {line_of(start)}.")

    def _never(self, bd: _Bd, place: str) -> Finding:
        does = f"writes {self._name(bd)}"
        message = f"The host {does} at {line_of(place)}, and no task is given it."
        fix = f"Start a task with BD {bd[2]} (npu.push_queue), or leave the write out."
        return _made(message, does, place, fix)

    def _name(self, bd: _Bd) -> str:
        kind = self.kinds[bd[:2]]
        return f"BD {bd[2]} of {kind.name}({bd[0]},{bd[1]})"


def _is_queue(kind: TileKind, at: Location) -> bool:
    """Whether a register is the task queue of a channel."""
    channel, odd = divmod(at.offset - kind.queue_base, kind.channel_stride)
    return not odd and 0 <= channel < 2 * kind.channels


@lru_cache(maxsize=_KEPT)
def _following(kind: TileName, words: tuple[int, ...]) -> int | None:
    try:
        return following_bd(kind, words)
    except DescriptorError:
        return None


def _made(message: str, does: str, place: str, fix: str) -> Finding:
    side = Side("the host", does, place)
    return Finding(UNSTARTED, CODES[UNSTARTED].severity, message, (side,), fix=fix)
