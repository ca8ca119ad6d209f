"""What the register writes of a program mean: tiles, registers, fields, whole descriptors, started tasks.

A descriptor arrives as one block, as single words in any order, or in parts that are changed later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from memtile.arch.register_map import register_at
from memtile.arch.registers import Register
from memtile.arch.tiles import DIRECTIONS, TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.bd.explain import Explanation, explain_words
from memtile.errors import DescriptorError
from memtile.io.program.register_image import is_program_memory
from memtile.runs.operations import (
    WORD_MAX,
    ArrayShape,
    Location,
    MaskPoll,
    Operation,
    Other,
    Word,
    locate,
    words_written,
)

Finished = tuple[int, tuple[int, ...]]


@dataclass(slots=True)
class _Words:
    """The words of one descriptor as far as they are known, and those written since it was last reported."""

    known: dict[int, int] = field(default_factory=dict)
    fresh: set[int] = field(default_factory=set)


class DescriptorWrites:
    """The descriptors of an array, as a program writes them."""

    def __init__(self) -> None:
        self._tiles: dict[tuple[int, int], dict[int, _Words]] = {}

    def write(self, kind: TileKind, words: Iterable[Word]) -> list[Finished]:
        """Take words written to one tile.

        Returns:
            ``(BD number, words)`` of each descriptor to report now: all of its words are new, or it was
            changed since it was last reported and is started.
        """
        return [finished for word in words for finished in self._word(kind, word)]

    def _word(self, kind: TileKind, word: Word) -> Iterator[Finished]:
        column, row, offset = locate(word.address)
        tile = self._tiles.setdefault((column, row), {})
        bd, rest = divmod(offset - kind.bd_base, kind.bd_stride)
        index = rest // WORD_BYTES
        if 0 <= bd < kind.bds and index < kind.bd_words:
            words = tile.setdefault(bd, _Words())
            self._store(words, index, word)
            if len(words.fresh) == kind.bd_words:
                yield self._finished(bd, words)
        elif (started := _first_writes(kind, offset, word)) in tile:
            words = tile[started]
            if words.fresh and len(words.known) == kind.bd_words:
                yield self._finished(started, words)

    def _store(self, words: _Words, index: int, word: Word) -> None:
        if word.mask != WORD_MAX and index not in words.known:
            return  # the other bits are not known
        words.known[index] = (words.known.get(index, 0) & ~word.mask) | (word.value & word.mask)
        words.fresh.add(index)

    def _finished(self, bd: int, words: _Words) -> Finished:
        words.fresh.clear()
        return bd, tuple(words.known[index] for index in sorted(words.known))


def _first_writes(kind: TileKind, offset: int, word: Word) -> int:
    """BD that a write to a start queue starts; -1 for any other write."""
    register = register_at(kind.name, offset)
    if register is None:
        return -1
    return next((f.get(word.value) for f in register.fields if f.name == "Start_BD_ID"), -1)


_OUT_OF_ORDER = "Enable_Out_of_Order"


class Queue(NamedTuple):
    """The task queue of a channel: column and row of the tile, and its number, S2MM before MM2S."""

    column: int
    row: int
    number: int


@dataclass(frozen=True, slots=True)
class RegisterNote:
    """One register, or a run of words that need no names.

    Attributes:
        offset: first byte in the tile.
        name: of the register; ``data memory``, ``program memory``, or ``unknown`` where the map has nothing.
        words: how many words it covers.
        value: what is written, of a single word.
        mask: the bits concerned, of a single word.
        fields: raw values of the fields whose bits are concerned.
    """

    offset: int
    name: str
    words: int
    value: int
    mask: int
    fields: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CompletedDescriptor:
    """A descriptor that the program has completed: its words, and what they do or why they say nothing."""

    bd: int
    words: tuple[int, ...]
    explanation: Explanation | None
    error: str


@dataclass(frozen=True, slots=True)
class Annotated:
    """An operation and what it means; ``location`` and ``tile`` are None where they do not apply.

    Attributes:
        operation: the operation.
        location: the tile and offset of its first word.
        tile: kind of that tile.
        notes: its registers in order.
        remarks: started tasks and lock values, in words.
        descriptors: those that are complete with this operation.
    """

    operation: Operation
    location: Location | None = None
    tile: TileName | None = None
    notes: tuple[RegisterNote, ...] = ()
    remarks: tuple[str, ...] = ()
    descriptors: tuple[CompletedDescriptor, ...] = ()


def annotate(operations: Iterable[Operation], shape: ArrayShape) -> Iterator[Annotated]:
    """Each operation with what it means on an array of ``shape``."""
    tracked = DescriptorWrites()
    unordered: set[Queue] = set()
    for operation in operations:
        words = _words(operation)
        if not words:
            yield Annotated(operation)
            continue
        location = locate(words[0].address)
        tile = shape.tile(location.column, location.row)
        if tile is None:
            yield Annotated(operation, location)
            continue
        kind = TILE_KINDS[tile]
        notes = tuple(_notes(kind, words))
        written = () if isinstance(operation, MaskPoll) else words
        finished = tracked.write(kind, written)
        place = location.column, location.row
        remarks = tuple(_remarks(kind, notes, place, unordered)) if written else ()
        descriptors = tuple(_descriptor(tile, bd, bd_words) for bd, bd_words in finished)
        yield Annotated(operation, location, tile, notes, remarks, descriptors)


def _words(operation: Operation) -> tuple[Word, ...]:
    if isinstance(operation, MaskPoll):
        return (Word(operation.address, operation.value, operation.mask),)
    return () if isinstance(operation, Other) else tuple(words_written(operation))


def _notes(kind: TileKind, words: Sequence[Word]) -> Iterator[RegisterNote]:
    """One note for each register; words without fields that follow each other share one."""
    named = [(locate(word.address).offset, word) for word in words]
    for name, run in groupby(named, key=lambda item: _plain_name(kind, item[0])):
        if name is None:
            yield from (_note(kind, offset, word) for offset, word in run)
        else:
            (offset, first), *rest = run
            yield RegisterNote(offset, name, 1 + len(rest), first.value, first.mask, {})


def _plain_name(kind: TileKind, offset: int) -> str | None:
    """What to call a word that has no register; None for a register."""
    if offset < kind.memory_bytes:
        return "data memory"
    if is_program_memory(kind.name, offset):
        return "program memory"
    return None if register_at(kind.name, offset) else "unknown"


def _note(kind: TileKind, offset: int, word: Word) -> RegisterNote:
    register = register_at(kind.name, offset)
    assert register is not None
    return RegisterNote(offset, register.name, 1, word.value, word.mask, _fields(register, word))


def _fields(register: Register, word: Word) -> dict[str, int]:
    """Fields that lie in the mask, most significant first."""
    return {f.name: f.get(word.value) for f in register.fields if f.mask & word.mask and not f.reserved}


def _remarks(
    kind: TileKind, notes: Iterable[RegisterNote], place: tuple[int, int], unordered: set[Queue]
) -> Iterator[str]:
    """What writes to queues and locks do; ``unordered`` are the channels that are out of order so far."""
    for note in notes:
        if _OUT_OF_ORDER in note.fields:
            queue = Queue(*place, (note.offset - kind.control_base) // kind.channel_stride)
            (unordered.add if note.fields[_OUT_OF_ORDER] else unordered.discard)(queue)
        if "Start_BD_ID" in note.fields:
            queue = Queue(*place, (note.offset - kind.queue_base) // kind.channel_stride)
            yield _started(kind, note, queue.number, out_of_order=queue in unordered)
        elif "Lock_value" in note.fields and note.mask == WORD_MAX:
            lock = (note.offset - kind.lock_value_base) // kind.lock_value_stride
            yield f"lock {lock} becomes {note.fields['Lock_value']}"


def _started(kind: TileKind, note: RegisterNote, number: int, *, out_of_order: bool) -> str:
    direction, channel = divmod(number, kind.channels)
    runs = note.fields.get("Repeat_Count", 0) + 1
    times = "once" if runs == 1 else f"{runs} times"
    token = ", with a task-complete token" if note.fields.get("Enable_Token_Issue") else ""
    if out_of_order:  # DEV-OOO-1: Repeat_Count counts packets, Start_BD_ID means nothing
        packets = "1 packet" if runs == 1 else f"{runs} packets"
        return (
            f"{DIRECTIONS[direction]} {channel} takes {packets} out of order, each into the BD that its "
            f"header names{token}"
        )
    bd = note.fields["Start_BD_ID"]
    return f"{DIRECTIONS[direction]} {channel} starts BD {bd}, {times}{token}"


def _descriptor(tile: TileName, bd: int, words: tuple[int, ...]) -> CompletedDescriptor:
    try:
        return CompletedDescriptor(bd, words, explain_words(tile, words, bd), "")
    except DescriptorError as error:
        return CompletedDescriptor(bd, words, None, str(error))
