"""The external memory that a program reads and writes, found by following the descriptors that it starts.

Nothing runs: the words of interface tile descriptors are followed from write to write, and each task walks
its chain as it is when it is started. What is started by other means (control packets, kernels) is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from memtile.access.boxes import last_address
from memtile.access.walk import Walk
from memtile.arch.register_map import register_at
from memtile.arch.tiles import DIRECTIONS, INTERFACE, S2MM, WORD_BYTES, TileKind
from memtile.bd.codec import unpack
from memtile.bd.descriptor import Descriptor
from memtile.bd.fields import descriptor_of
from memtile.runs.firmware import pointer_of, pointer_words
from memtile.runs.operation_table import Code, external_transfers, table_of
from memtile.runs.operations import ArrayShape, Operation, Word, locate, words_written

_BASE_WORDS = {word for word, _, _ in INTERFACE.bd_fields["Base_Address"].parts}
_CURRENT = INTERFACE.bd_fields["Iteration_Current"].parts[0]


@dataclass(frozen=True, slots=True)
class ExternalUse:
    """What the executions of one descriptor in one task touch.

    Attributes:
        argument: kernel argument in which the bytes are counted; None = absolute addresses.
        first: first byte.
        end: byte behind the last.
        writes: whether external memory is written (S2MM), not read.
        who: tile, channel and descriptor.
    """

    argument: int | None
    first: int
    end: int
    writes: bool
    who: str


@dataclass(slots=True)
class _Tile:
    """What is known of an interface tile: descriptor words, arguments in them, channels out of order."""

    name: str
    kind: TileKind
    words: list[list[int]] = field(init=False)
    arguments: dict[int, int] = field(default_factory=dict)
    out_of_order: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.words = [[0] * self.kind.bd_words for _ in range(self.kind.bds)]

    def descriptor(self, bd: int) -> Descriptor:
        return descriptor_of(self.kind, unpack(self.kind, self.words[bd]))

    def store(self, bd: int, index: int, word: Word) -> None:
        words = self.words[bd]
        words[index] = words[index] & ~word.mask | word.value & word.mask
        if index in _BASE_WORDS:
            self.arguments.pop(bd, None)

    def started(self, channel: int, bd: int, runs: int) -> Iterator[ExternalUse]:
        """The uses of a task; ``channel`` counts S2MM channels first."""
        direction, number = divmod(channel, self.kind.channels)
        who = f"{self.name} {DIRECTIONS[direction]} {number}"
        chain, endless = self._chain(bd)
        if channel in self.out_of_order:
            chain = [n for n in range(self.kind.bds) if self.descriptor(n).valid]
        for each in chain:
            yield from self._use(each, runs, endless, direction == S2MM, who)

    def _chain(self, bd: int) -> tuple[list[int], bool]:
        """Descriptors of a chain up to the first that is not valid, each once, and whether it never ends."""
        chain: list[int] = []
        following: int | None = bd
        while following is not None and following not in chain:
            descriptor = self.descriptor(following)
            if not descriptor.valid:
                return chain, False
            chain.append(following)
            following = descriptor.next
        return chain, following is not None

    def _use(self, bd: int, runs: int, endless: bool, writes: bool, who: str) -> Iterator[ExternalUse]:
        descriptor = self.descriptor(bd)
        iteration = descriptor.iteration
        different = iteration.different if endless else min(runs, iteration.different)
        walks = [Walk.of(descriptor, n).unpadded() for n in range(different)]
        ends = [last for walk in walks if (last := last_address(walk)) is not None]
        word, msb, lsb = _CURRENT
        mask = (1 << msb + 1) - (1 << lsb)
        self.words[bd][word] = self.words[bd][word] & ~mask | iteration.position(runs) << lsb
        if ends:
            first, end = min(walk.base for walk in walks) * WORD_BYTES, (max(ends) + 1) * WORD_BYTES
            yield ExternalUse(self.arguments.get(bd), first, end, writes, f"{who}, BD {bd}")


def external_uses(operations: Sequence[Operation], shape: ArrayShape) -> tuple[ExternalUse, ...]:
    """What a program touches in external memory, in the order in which it starts the tasks.

    Args:
        operations: the program.
        shape: of the array.
    """
    tiles: dict[tuple[int, int], _Tile] = {}
    table = table_of(operations)
    matter = (table.columns.code == Code.OTHER) | table.writing(shape, external_transfers)
    numbers = np.flatnonzero(matter).tolist()
    return tuple(use for number in numbers for use in _uses(table[number], shape, tiles))


def _uses(
    operation: Operation, shape: ArrayShape, tiles: dict[tuple[int, int], _Tile]
) -> Iterator[ExternalUse]:
    pointer = pointer_of(operation)
    words = pointer_words(pointer.register, pointer.offset) if pointer else words_written(operation)
    for word in words:
        column, row, offset = locate(word.address)
        kind = shape.kind(column, row)
        if kind is not None and kind.role == "interface":
            tile = tiles.setdefault((column, row), _Tile(f"{kind.name}({column},{row})", kind))
            yield from _write(tile, offset, word)
            if pointer:
                tile.arguments[(offset - kind.bd_base) // kind.bd_stride] = pointer.argument


def _write(tile: _Tile, offset: int, word: Word) -> Iterator[ExternalUse]:
    kind = tile.kind
    bd, rest = divmod(offset - kind.bd_base, kind.bd_stride)
    if 0 <= bd < kind.bds:
        if rest < kind.bd_words * WORD_BYTES:
            tile.store(bd, rest // WORD_BYTES, word)
        return
    register = register_at(kind.name, offset)
    if register is None:
        return
    values = register.unpack(word.value & word.mask)
    if "Enable_Out_of_Order" in values:
        channel = (offset - kind.control_base) // kind.channel_stride
        change = tile.out_of_order.add if values["Enable_Out_of_Order"] else tile.out_of_order.discard
        change(channel)
    elif "Start_BD_ID" in values:
        channel = (offset - kind.queue_base) // kind.channel_stride
        yield from tile.started(channel, values["Start_BD_ID"], values["Repeat_Count"] + 1)


@dataclass(slots=True)
class ExternalRegion:
    """A buffer that a program expects in external memory.

    Attributes:
        argument: kernel argument that it is; None = it has an address of its own.
        first: byte address; 0 for an argument.
        end: byte behind the last that is touched.
        reads: who reads it, first use first.
        writes: who writes it.
    """

    argument: int | None
    first: int
    end: int
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    @property
    def needed(self) -> int:
        """Bytes that the buffer must have."""
        return self.end - self.first

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{self.first:#x}" if self.argument is None else f"argument {self.argument}"

    @property
    def text(self) -> str:
        """The region and who uses it, for messages."""
        users = [f"{word} by {names[0]}" for word, names in self._users() if names]
        return f"{self.title}, {self.needed} bytes, {', '.join(users)}"

    def add(self, use: ExternalUse) -> None:
        """Let the region take in a use."""
        self.first, self.end = min(self.first, use.first), max(self.end, use.end)
        (self.writes if use.writes else self.reads).append(use.who)

    def _users(self) -> Iterator[tuple[str, list[str]]]:
        yield "read", self.reads
        yield "written", self.writes


def regions_of(
    uses: Sequence[ExternalUse], fixed: Iterable[tuple[int, int]] = (), arguments: Iterable[int] = ()
) -> list[ExternalRegion]:
    """The buffers of a program: one for each argument, then by address.

    Uses that overlap share a buffer, and so do those that touch and go the same way.

    Args:
        uses: of the program.
        fixed: first byte and end of buffers that are known; they take the uses that begin in them.
        arguments: kernel arguments that are known, used or not.
    """
    of_argument = {number: ExternalRegion(number, 0, 0) for number in arguments}
    ends = dict(sorted(fixed))
    known = [ExternalRegion(None, first, first) for first in ends]
    free: list[ExternalUse] = []
    for use in uses:
        if use.argument is not None:
            of_argument.setdefault(use.argument, ExternalRegion(use.argument, 0, 0)).add(use)
            continue
        home = next((r for r in known if r.first <= use.first < ends[r.first]), None)
        home.add(use) if home else free.append(use)
    by_address = sorted([*known, *_joined(free)], key=lambda region: region.first)
    return [*(of_argument[n] for n in sorted(of_argument)), *by_address]


def _joined(uses: Sequence[ExternalUse]) -> list[ExternalRegion]:
    """Regions of uses with addresses: first what goes the same way, then what overlaps across directions."""
    one_way = [r for writes in (False, True) for r in _one_way([u for u in uses if u.writes is writes])]
    joined: list[ExternalRegion] = []
    for region in sorted(one_way, key=lambda region: region.first):
        if joined and region.first < joined[-1].end:
            last = joined[-1]
            last.end = max(last.end, region.end)
            last.reads += region.reads
            last.writes += region.writes
        else:
            joined.append(region)
    return joined


def _one_way(uses: Sequence[ExternalUse]) -> Iterator[ExternalRegion]:
    region: ExternalRegion | None = None
    for use in sorted(uses, key=lambda use: use.first):
        if region is not None and use.first > region.end:
            yield region
            region = None
        region = region or ExternalRegion(None, use.first, use.first)
        region.add(use)
    if region is not None:
        yield region
