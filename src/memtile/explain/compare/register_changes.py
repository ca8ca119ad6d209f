"""What differs between the registers of two arrays: by tile, register and field, descriptors in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtile.arch.registers import Register, Shows
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileName
from memtile.bd.explain import explain_words
from memtile.documents import Count, plain
from memtile.errors import DescriptorError
from memtile.explain.dump.dump_formats import Words
from memtile.model.register_tables import registers_of

_BD = re.compile(r"DMA_BD(\d+)_\d+")
Place = tuple[int, int]
Tiles = Mapping[Place, tuple[TileName, Words]]
"""Kind and address space of tiles, by column and row."""


@dataclass(frozen=True, slots=True)
class RegisterChange:
    """A register that differs.

    Attributes:
        tile: ``memory(0,1)``.
        register: its name; that of the first word of a descriptor for all of it.
        fields: name, value there and here of each field that differs; of a register without fields the word.
        first: the word there.
        second: the word here.
    """

    tile: str
    register: str
    fields: Sequence[tuple[str, int, int]]
    first: int
    second: int

    @property
    def text(self) -> str:
        """``memory(0,1) DMA_BD0_0: Buffer_Length 16 -> 32``."""
        parts = [f"{name} {one} -> {two}" for name, one, two in self.fields]
        return f"{self.tile} {self.register}: {', '.join(parts) or f'{self.first:#x} -> {self.second:#x}'}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "tile": self.tile,
            "register": self.register,
            "first": f"0x{self.first:08X}",
            "second": f"0x{self.second:08X}",
            "fields": [{"name": name, "first": one, "second": two} for name, one, two in self.fields],
        }


@dataclass(frozen=True, slots=True)
class BdChange:
    """A descriptor that differs, in words.

    Attributes:
        tile: ``memory(0,1)``.
        bd: its number.
        first: what it did there and does not do here, a line each.
        second: what it does here and did not do there.
    """

    tile: str
    bd: Count
    first: Sequence[str]
    second: Sequence[str]

    def lines(self) -> Iterator[str]:
        """Text."""
        yield f"{self.tile} BD {self.bd}:"
        yield from (f"  - {line}" for line in self.first)
        yield from (f"  + {line}" for line in self.second)


@dataclass(frozen=True, slots=True)
class RegisterChanges:
    """What differs between two arrays.

    Attributes:
        registers: that differ, by tile and address; descriptors among them.
        descriptors: that differ, in words.
        memory: by tile how many words of data memory differ.
        tiles: that only one of them has.
    """

    registers: Sequence[RegisterChange]
    descriptors: Sequence[BdChange]
    memory: Mapping[str, int]
    tiles: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.registers or self.memory or self.tiles)

    def lines(self) -> Iterator[str]:
        """Text: descriptors in words, other registers by field."""
        yield from self.tiles
        for change in self.registers:
            if not _BD.fullmatch(change.register):
                yield change.text
        for descriptor in self.descriptors:
            yield from descriptor.lines()
        for tile, count in self.memory.items():
            yield f"{tile}: {'1 word' if count == 1 else f'{count} words'} of data memory changed"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "registers": [change.as_json() for change in self.registers],
            "descriptors": plain(self.descriptors),
            "memory": dict(self.memory),
            "tiles": list(self.tiles),
        }


def register_changes(
    first: Tiles, second: Tiles, *, memory: bool = True, progress: bool = False
) -> RegisterChanges:
    """What differs between the registers and memories of two arrays.

    Args:
        first: tiles of the one.
        second: tiles of the other one.
        memory: compare data memory too.
        progress: compare how far the channels and cores of both have come, too.
    """
    registers, descriptors, words = list[RegisterChange](), list[BdChange](), dict[str, int]()
    for place in sorted(first.keys() & second.keys()):
        (kind, mine), (other_kind, others) = first[place], second[place]
        if kind != other_kind:
            continue
        name = f"{TILE_KINDS[kind].name}({place[0]},{place[1]})"
        found = list(_registers(kind, name, mine, others, progress=progress))
        registers += found
        descriptors += _descriptors(kind, name, found, mine, others)
        size = TILE_KINDS[kind].memory_words
        if memory and (count := int((mine[:size] != others[:size]).sum())):
            words[name] = count
    return RegisterChanges(registers, descriptors, words, tuple(_alone(first, second)))


def _alone(first: Tiles, second: Tiles) -> Iterator[str]:
    for place in sorted(first.keys() | second.keys()):
        if place not in second or place not in first:
            yield f"tile {place}: only in the {'first' if place in first else 'second'}"
        elif first[place][0] != second[place][0]:
            yield f"tile {place}: {first[place][0]} in the first, {second[place][0]} in the second"


def _registers(
    kind: TileName, name: str, mine: Words, others: Words, *, progress: bool
) -> Iterator[RegisterChange]:
    for register in registers_of(kind):
        at = register.offset // WORD_BYTES
        one, two = int(mine[at]) & register.readable, int(others[at]) & register.readable
        shows = register.acts.shows
        if one != two and (Shows.HAPPENED not in shows or (progress and Shows.PROGRESS in shows)):
            yield RegisterChange(name, register.name, tuple(_fields(register, one, two)), one, two)


def _fields(register: Register, one: int, two: int) -> Iterator[tuple[str, int, int]]:
    for field in register.fields:
        if field.get(one) != field.get(two):
            yield field.name, field.get(one), field.get(two)


def _descriptors(
    kind: TileName, name: str, changes: Sequence[RegisterChange], mine: Words, others: Words
) -> Iterator[BdChange]:
    numbers = (int(found[1]) for change in changes if (found := _BD.fullmatch(change.register)))
    for bd in dict.fromkeys(numbers):
        one, two = (_said(kind, bd, words) for words in (mine, others))
        yield BdChange(
            name, bd, [line for line in one if line not in two], [line for line in two if line not in one]
        )


def _said(kind: TileName, bd: int, words: Words) -> list[str]:
    """What the words of a descriptor mean."""
    places = [r.offset // WORD_BYTES for r in registers_of(kind) if r.name.startswith(f"DMA_BD{bd}_")]
    given = [int(words[place]) for place in places]
    if not any(given):
        return ["nothing: all words are 0"]
    try:
        explained = explain_words(kind, given, bd)
    except DescriptorError as error:
        return [f"no descriptor: {error}"]
    problems = [f"not legal: {problem.message}" for problem in explained.problems]
    return [*(f"{topic}: {text}" for topic, text in explained.lines), *problems]
