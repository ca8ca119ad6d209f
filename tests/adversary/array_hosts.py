"""Parts of random array designs beside the streams: hosts, resets, counters and traces."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from adversary.array_parts import WORDS, Builder, Rows
from memtile import Array, Host, HostAction, view
from memtile.arch.register_map import register_named
from memtile.design.channels import Channel
from memtile.design.tile import Tile
from memtile.trace import Tracing

_STEPS = (
    "copy", "copy", "copy", "wait", "wait", "pause", "write", "poll",
    "reset core", "reset channel", "reset column",
)  # fmt: skip
_CORE = register_named("core", "Core_Control")
_COLUMN = register_named("pl", "AIE_Tile_Column_Reset")
_CHANNEL = register_named("memory_tile", "DMA_S2MM_0_Ctrl")
_CHANNEL_STRIDE = 8  # bytes from the control register of a channel to that of the next one


class Step(NamedTuple):
    """A step of a host: what it does, and a number whose meaning depends on that."""

    kind: str
    number: int


class _Copies:
    """Channels from external memory into a memory tile and back, and the steps of a host at them.

    Args:
        builder: of the array.
        column: of the memory tile.
        words: of a copy.
    """

    def __init__(self, builder: Builder, column: int, words: int) -> None:
        self._io, self._tile, self._words = builder.interface(column), builder.memory(column), words
        self._there = self._tile.buffer(builder.name("passed"), words, np.int32)
        self._given, self._result = builder.source(words), builder.target(words)
        self._source, self._sink = (self._io.free_channel(receives=on) for on in (False, True))
        self._into, self._out = (self._tile.free_channel(receives=on) for on in (True, False))
        builder.array.connect(self._source, self._into)
        builder.array.connect(self._out, self._sink)
        lock, kind = self._tile.lock(1, builder.name("told")), self._tile.kind
        self._door, place = builder.array.door, self._tile.place
        assert place is not None
        self._column, self._base = place[0], self._door.address(*place)
        self._lock = self._base + kind.lock_value_base + lock.id * kind.lock_value_stride
        core = builder.compute(column, 0).place
        assert core is not None
        self._core = self._door.address(*core, _CORE.offset)

    def copy(self, host: Host, number: int) -> Iterator[HostAction]:
        """Copy words; of some copies they stay in the memory tile."""
        part, times = view((self._words,))[: self._words // (1 + number % 2)], 1 + number // 3
        yield host.start(self._into, self._tile.write(self._there, part), repeat=times, token=number > 5)
        yield host.start(self._source, self._io.read(self._given, part), repeat=times)
        if number != 4:
            yield host.wait(self._into)
            yield host.start(self._sink, self._io.write(self._result, part), token=number > 2)
            yield host.start(self._out, self._tile.read(self._there, part))

    def wait(self, host: Host, number: int) -> Iterator[HostAction]:  # noqa: ARG002
        """Wait for all that was started."""
        if host.tasks:
            yield host.wait()

    def pause(self, host: Host, number: int) -> Iterator[HostAction]:
        """Do nothing for some cycles."""
        yield host.pause(1 + number * 37)

    def write(self, host: Host, number: int) -> Iterator[HostAction]:
        """Give a lock a value."""
        self._door.write32(self._lock, number)
        yield host.pause(1)

    def poll(self, host: Host, number: int) -> Iterator[HostAction]:
        """Poll a lock, which may never have the value."""
        yield host.poll(self._lock, 0x3F, number) if number < 2 else host.pause(number)

    def reset_core(self, host: Host, number: int) -> Iterator[HostAction]:
        """Reset a core and enable it."""
        yield from self._pulse(host, self._core, (2, 1), number)

    def reset_channel(self, host: Host, number: int) -> Iterator[HostAction]:
        """Reset the channel of the memory tile that receives."""
        register = self._base + _CHANNEL.offset + _CHANNEL_STRIDE * self._into.number
        yield from self._pulse(host, register, (_CHANNEL.field("Reset").mask, 0), number)

    def reset_column(self, host: Host, number: int) -> Iterator[HostAction]:
        """Reset the column."""
        yield from self._pulse(host, self._door.address(self._column, 0, _COLUMN.offset), (1, 0), number)

    def _pulse(self, host: Host, register: int, values: tuple[int, int], number: int) -> Iterator[HostAction]:
        for value in values:
            self._door.write32(register, value)
            yield host.pause(1 + number)


class Hosted(NamedTuple):
    """A host that starts copies through external memory, waits, polls, writes registers and resets."""

    column: int
    words: int
    steps: tuple[Step, ...]

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Hosted:
        """Return a random one; resets are rare."""
        steps = [Step(rng.choice(_STEPS[: 8 if rng.random() < 0.8 else 11]), rng.randrange(8))]
        steps += [Step(rng.choice(_STEPS[:8]), rng.randrange(8)) for _ in range(rng.randint(1, 6))]
        if rng.random() < 0.3:
            steps.append(Step(rng.choice(_STEPS[8:]), rng.randrange(8)))
        if rng.random() < 0.6:
            steps += [Step("copy", rng.randrange(8)), Step("wait", 0)]
        return cls(rng.randrange(space.columns), rng.choice((*WORDS, 400, 1000)), tuple(steps))

    def add(self, builder: Builder) -> None:
        """Add it to an array."""
        copies = _Copies(builder, self.column, max(self.words, 4))

        def sequence(host: Host) -> Iterator[HostAction]:
            for kind, number in self.steps:
                yield from getattr(copies, kind.replace(" ", "_"))(host, number)

        builder.array.host(sequence)

    def features(self) -> set[str]:
        """Return names of what it has."""
        return {"hosts", "external memory"} | {f"host {step.kind}" for step in self.steps}


_NAMES = {
    "memory": ("PORT_RUNNING_0", "GROUP_LOCK", "GROUP_MEMORY_CONFLICT", "TRUE"),
    "compute": ("LOCK_STALL", "CASCADE_STALL", "STREAM_STALL", "ACTIVE", "TRUE"),
}
_OF_CHANNEL = ("STALLED_LOCK", "FINISHED_BD", "START_TASK", "FINISHED_TASK")


class Seen(NamedTuple):
    """Counters of a tile, and its trace."""

    column: int
    row: int
    on_core: bool
    counted: tuple[int, ...]
    traced: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Seen:
        """Return a random one."""
        counted = tuple(rng.randrange(8) for _ in range(rng.randint(0, 3)))
        traced = tuple(rng.sample(range(8), rng.randint(1, 3))) if rng.random() < 0.5 or not counted else ()
        row = rng.randrange(len(space.compute_rows))
        return cls(rng.randrange(space.columns), row, rng.random() < 0.5, counted, traced)

    def add(self, builder: Builder) -> None:
        """Add it to an array, when its other parts are there."""
        builder.later(lambda: self._watch(builder))

    def _watch(self, builder: Builder) -> None:
        tile: Tile = builder.compute(self.column, self.row) if self.on_core else builder.memory(self.column)
        names = _NAMES["compute" if self.on_core else "memory"]

        def event(number: int) -> tuple[str, Channel | None]:
            if number < len(_OF_CHANNEL):
                return _OF_CHANNEL[number], (tile.s2mm if number % 2 else tile.mm2s)[0]
            return names[number % len(names)], None

        for number in self.counted:
            tile.events.count(*event(number))
        if self.traced:
            Tracing(builder.array, [tile.events.event(*event(number)) for number in self.traced])

    def features(self) -> set[str]:
        """Return names of what it has."""
        return ({"counters"} if self.counted else set()) | ({"traces"} if self.traced else set())


class Again(NamedTuple):
    """What happens when all is done: resets, other values of locks, and work for channels that are idle."""

    reset: int
    locks: int

    @classmethod
    def drawn(cls, rng: random.Random, space: Rows) -> Again:  # noqa: ARG003
        """Return a random one."""
        return cls(rng.choice((0, 0, 1, 2, 3)), rng.randrange(3))

    def add(self, builder: Builder) -> None:
        """Add it to an array, in which it does nothing before a run."""

    def act(self, array: Array) -> None:
        """Begin the next phase of an array."""
        door = array.door.at_once()
        for register, values in self._resets(array):
            for value in values:
                door.write32(register, value)
        for tile in array.tiles:
            if tile.kind.role == "memory":
                for lock in tile.locks:
                    tile.own_door.write32(
                        tile.kind.lock_value_base + lock.id * tile.kind.lock_value_stride, self.locks
                    )
                _restart(tile)

    def _resets(self, array: Array) -> Iterator[tuple[int, tuple[int, int]]]:
        """Registers whose reset is set and ended."""
        if self.reset == 2:
            yield array.door.address(0, 0, _COLUMN.offset), (1, 0)
        for tile in array.tiles:
            assert tile.place is not None
            base = array.door.address(*tile.place)
            if self.reset == 1 and tile.kind.role == "memory":
                mask = _CHANNEL.field("Reset").mask
                yield from ((base + _CHANNEL.offset + _CHANNEL_STRIDE * n, (mask, 0)) for n in range(6))
            if self.reset == 3 and tile.kind.role == "compute":
                yield base + _CORE.offset, (2, 1)

    def features(self) -> set[str]:
        """Return names of what it has."""
        names = {1: "reset of channels", 2: "reset of a column", 3: "reset of cores"}
        return {"several phases"} | ({names[self.reset]} if self.reset else set())


def _restart(tile: Tile) -> None:
    """Start idle channels of a memory tile again, each on a buffer."""
    for channel in (*tile.s2mm, *tile.mm2s):
        if tile.buffers and channel.started and channel.at_rest:
            make = tile.write if channel.receives else tile.read
            channel.start(make(tile.buffers[channel.number % len(tile.buffers)]))
