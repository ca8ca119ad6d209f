"""What a host waits for: tokens of tasks and registers, and what a program that stopped half way waits for.

Task-complete tokens come in as the firmware receives them below the interface tiles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from memtile.arch.devices import FIRMWARE_PORT
from memtile.arch.packets import TOKEN, token
from memtile.arch.ports import PORTS
from memtile.arch.registers import field_of
from memtile.arch.tiles import MM2S, S2MM, TILE_KINDS
from memtile.errors import Problem, SimulationError
from memtile.explain.deadlock.context import HostWaiting
from memtile.explain.deadlock.graph import Via
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.dma.channel_registers import QUEUE_TOKEN_LSB
from memtile.model.dma.task_queue import room
from memtile.model.state.state import State
from memtile.model.streams.switch_config import CIRCUIT, OFF, PACKET
from memtile.runs.channel_addresses import channel_addresses
from memtile.runs.machine import ArrayMachine
from memtile.runs.operation_table import Code, queues, table_of
from memtile.runs.operations import (
    ArrayShape,
    MaskPoll,
    Operation,
    Other,
    addresses_written,
    words_written,
)
from memtile.sim.doors.polling import cycles_left, tasks_to_token
from memtile.sim.doors.relaxed_model import hosts_wait
from memtile.sim.loop.engine import Engine


def waiting_program(
    engine: Engine,
    operation: Operation | None,
    left: Iterable[Operation],
    text: str,
    missing: Iterable[int],
    full: Iterable[int] = (),
) -> HostWaiting:
    """A program that waits.

    Args:
        engine: of the array.
        operation: that it waits at; None = it is not known.
        left: what comes after it.
        text: what the error says.
        missing: channels whose tokens it waits for.
        full: channels in whose queues it waits for room.
    """
    place = operation.place if operation is not None else ""
    name = f"the program at {place}" if place else "the program"
    says = text.removeprefix(f"{place}, ").removeprefix(f"{place}: ")
    starts = frozenset(ch for each in left for ch in pushed_channels(engine, each))
    if queues_full := tuple(full):
        return HostWaiting(name, f"{name}: {says}", queues_full, Via.ROOM, starts)
    tokens = tuple(missing)
    if tokens:
        return HostWaiting(name, f"{name}: {says}", tokens, Via.TOKEN, starts)
    polled = () if not isinstance(operation, MaskPoll) else tuple(polled_channel(engine, operation.address))
    return HostWaiting(name, f"{name}: {says}", polled, Via.END, starts)


def channel_at(engine: Engine, column: int, row: int, direction: int, number: int) -> int:
    """Model index of a channel; -1 = the model has no such tile."""
    return channel_addresses(engine).channel(column, row, direction, number)


def pushed_channels(engine: Engine, operation: Operation) -> Iterator[int]:
    """Channels to whose queues an operation pushes tasks."""
    queues = channel_addresses(engine).queues
    return (queues[address] for address in addresses_written(operation) if address in queues)


def pushed_channel(engine: Engine, address: int) -> Iterator[int]:
    """The channel whose task queue is at a byte address of the array, if there is one."""
    found = channel_addresses(engine).queues.get(address)
    return iter(() if found is None else (found,))


def polled_channel(engine: Engine, address: int) -> Iterator[int]:
    """The channel whose status register is at a byte address of the array, if there is one."""
    found = channel_addresses(engine).statuses.get(address)
    return iter(() if found is None else (found,))


def may_arrive(st: State, tiles: Iterable[int]) -> bool:
    """Whether words may come to the host at these interface tiles before another task ends.

    Tokens are on their way then, or something else can come there too. It follows packets; what a circuit
    brings is not known.
    """
    if st.active_controls[0] or plain(st.channels).token_due.any():
        return True
    table, switch = plain(st.spec.tiles), plain(st.switch)
    tokens = set(plain(st.controls).slave_port.tolist())
    names = [(int(table.master_base[tile]), PORTS[KIND_NAMES[table.kind[tile]]]) for tile in tiles]
    masters, seen = [base + ports.master(FIRMWARE_PORT) for base, ports in names], set()
    while masters:
        port = masters.pop()
        if switch.held[port] or switch.mode[port] == CIRCUIT:
            return True
        if port in seen or switch.mode[port] == OFF:
            continue
        seen.add(port)
        for slave in _packet_slaves(st, int(switch.tile[port])):
            behind = np.flatnonzero(switch.link == slave)
            if switch.held[slave] or (slave not in tokens and not len(behind)):
                return True
            masters += behind.tolist()
    return False


def _packet_slaves(st: State, tile: int) -> Iterator[int]:
    """The tile's slave ports in packet mode."""
    tiles, mode = plain(st.spec.tiles), plain(st.switch).mode
    first = int(tiles.slave_base[tile])
    return (port for port in range(first, first + int(tiles.slaves[tile])) if mode[port] == PACKET)


WAIT = "TOKEN_WAIT"
_SOURCE = "mlir-aie token waits"
_SENDER = ~(field_of(TOKEN, "Parity").mask | field_of(TOKEN, "Controller_ID").mask)
Until = Callable[[Callable[[], bool], Callable[[], int]], bool]


def wait_problems(operation: Other, shape: ArrayShape) -> Iterator[Problem]:
    """What keeps a wait from being done on an array of ``shape``."""
    said = dict(operation.details)
    if not said.get("columns") or not said.get("rows") or said["direction"] not in (S2MM, MM2S):
        given = ", ".join(f"{key} {value}" for key, value in said.items())
        allowed = f"1 or more columns and rows, and direction {S2MM} or {MM2S}"
        yield Problem(
            WAIT,
            given or "nothing that is known",
            allowed,
            f"the {WAIT} says {given or 'nothing that is known'}; it must say {allowed}",
            reason="token",
            where=operation.place or "program",
            source=_SOURCE,
        )
        return
    there = ((place, _directed(shape, *place)) for place in places_of(said))  # may be billions
    wrong = next(((place, channels) for place, channels in there if said["channel"] >= channels), None)
    if wrong:
        (column, row), channels = wrong
        more = said["columns"] * said["rows"] - 1 - _with_the_channel(said, shape)
        named = f"channel {said['channel']} of the tile at column {column}, row {row}"
        rest = f"; of {more} more tiles too" if more else ""
        yield Problem(
            WAIT,
            named,
            "channels of the array",
            f"the {WAIT} names {named}, which has {channels or 'no'} channels{rest}",
            reason="token",
            where=operation.place or "program",
            source=_SOURCE,
        )


def _with_the_channel(said: Mapping[str, int], shape: ArrayShape) -> int:
    """How many of the tiles that are waited for have the channel."""
    columns = range(said["column"], min(said["column"] + said["columns"], shape.columns))
    rows = range(said["row"], min(said["row"] + said["rows"], shape.rows))
    return sum(said["channel"] < _directed(shape, column, row) for column in columns for row in rows)


def _directed(shape: ArrayShape, column: int, row: int) -> int:
    """How many channels of a direction a tile has; 0 where no tile or no DMA is."""
    kind = shape.tile(column, row)
    return TILE_KINDS[kind].channels if kind and shape.has_dma(column, row) else 0


class TokenHost:
    """Receives the tokens of an array for a program.

    Args:
        array: whose interface tiles hand their tokens over from now on.
        until: lets time pass until a condition is met, if it ever is; the other function says for how many
            cycles it is not met for sure.

    Attributes:
        missing: model indices of the channels whose tokens a wait has not got.
    """

    def __init__(self, array: ArrayMachine, until: Until) -> None:
        self._array, self._until = array, until
        self.missing: tuple[int, ...] = ()
        self._ports = [array.interface_tile(column).index for column in range(array.columns)]
        for tile in self._ports:
            array.engine.catch_port(tile, FIRMWARE_PORT)

    def wait(self, operation: Other) -> None:
        """Take one token of each channel that the operation names.

        Raises:
            SimulationError: one of them never comes.
        """
        said = dict(operation.details)
        if not hosts_wait():
            self._until(lambda: self._has_room(said), lambda: 0)
            return
        wanted = Counter(self._wanted(said))
        if not self._until(lambda: not self._missing(wanted), lambda: self._in_vain(said, wanted)):
            self.missing = self._senders(said, wanted)
            missing = f"{self._missing(wanted).total()} of {wanted.total()} tokens"
            raise SimulationError.of(
                WAIT,
                f"{missing} that never came",
                "all of them",
                f"{missing} never came",
                f"Tasks must ask for tokens, and the switches must bring them to {FIRMWARE_PORT} in row 0.",
                reason="token",
                where=operation.place or "program",
                source=_SOURCE,
            )
        self._take(wanted)
        self._see(said)

    def _has_room(self, said: dict[str, int]) -> bool:
        """Whether no channel of the tiles that are named has a full queue."""
        state = self._array.engine.state
        tiles = {self._array.tile(*place).index for place in places_of(said)}
        busy = (
            ch for ch in np.flatnonzero(state.channels.queue_count) if int(state.channels.tile[ch]) in tiles
        )
        return all(room(state, int(ch)) for ch in busy)

    def _senders(self, said: dict[str, int], wanted: Counter[int]) -> tuple[int, ...]:
        """The channels whose tokens are missing."""
        left, engine = self._missing(wanted), self._array.engine
        senders = zip(_channels(said), self._wanted(said), strict=True)
        found = (channel_at(engine, *at) for at, word in senders if left[word])
        return tuple(ch for ch in found if ch >= 0)

    def _in_vain(self, said: dict[str, int], wanted: Counter[int]) -> int:
        """Cycles in which not all tokens come for sure."""
        engine = self._array.engine
        senders = self._senders(said, wanted)
        left = cycles_left(engine, {ch: tasks_to_token(engine, ch) for ch in senders})
        return 0 if left == 0 or may_arrive(engine.state, self._ports) else left

    def _see(self, said: dict[str, int]) -> None:
        """Know that the channels have ended their tasks."""
        for column, row in places_of(said):
            tile = self._array.tile(column, row)
            tile.engine.checks.saw_end((tile.s2mm, tile.mm2s)[said["direction"]][said["channel"]].index)

    def _wanted(self, said: dict[str, int]) -> Iterator[int]:
        for column, row in places_of(said):
            kind = self._array.device.tile(column, row)
            channel = said["direction"] * TILE_KINDS[kind].channels + said["channel"]
            yield token(kind, channel, 0, column, row) & _SENDER

    def _missing(self, wanted: Counter[int]) -> Counter[int]:
        return wanted - Counter(sender for _, _, sender in self._received())

    def _take(self, wanted: Counter[int]) -> None:
        """Take tokens away, so that no later wait, of this program or the next one, gets them again."""
        left, taken = Counter(wanted), dict[int, set[int]]()
        for tile, place, sender in self._received():
            if left[sender]:
                left[sender] -= 1
                taken.setdefault(tile, set()).add(place)
        for tile, places in taken.items():
            self._array.engine.take_left(tile, FIRMWARE_PORT, places)

    def _received(self) -> Iterator[tuple[int, int, int]]:
        """The tokens that are there, packets of one word: interface tile, place among its words, sender."""
        for tile in self._ports:
            begins = 1
            for place, (word, last) in enumerate(self._array.engine.left_port(tile, FIRMWARE_PORT)):
                if begins and last:
                    yield tile, place, word & _SENDER
                begins = last


def _channels(said: dict[str, int]) -> Iterator[tuple[int, int, int, int]]:
    """Column, row, direction and number of every channel that is waited for."""
    return ((column, row, said["direction"], said["channel"]) for column, row in places_of(said))


def waited_channels(engine: Engine, operation: Other) -> Iterator[int]:
    """Channels whose tokens an operation waits for."""
    found = (channel_at(engine, *at) for at in _channels(dict(operation.details)))
    return (ch for ch in found if ch >= 0)


def earlier_waits(
    engine: Engine, operations: Sequence[Operation], channels: Collection[int]
) -> tuple[str, ...]:
    """Places of the waits for tokens of one of some channels."""
    waits = (
        each
        for each in (table_of(operations).of_code(Code.OTHER) if channels else ())
        if isinstance(each, Other) and each.name == WAIT and each.place
    )
    return tuple(each.place for each in waits if not set(channels).isdisjoint(waited_channels(engine, each)))


def silent_pushes(
    engine: Engine, operations: Sequence[Operation], shape: ArrayShape, channels: Collection[int]
) -> tuple[str, ...]:
    """Places of the tasks that are pushed to one of some channels and ask for no token."""
    table, of = table_of(operations), channel_addresses(engine).queues
    pushes = np.flatnonzero(table.writing(shape, queues)).tolist() if channels else ()
    return tuple(
        table[number].place
        for number in pushes
        for address, value, _ in words_written(table[number])
        if of.get(address, -1) in channels and not value >> QUEUE_TOKEN_LSB & 1 and table[number].place
    )


def places_of(said: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Column and row of every tile that is waited for."""
    for column in range(said["column"], said["column"] + said["columns"]):
        yield from ((column, row) for row in range(said["row"], said["row"] + said["rows"]))


def ends_waiting(operations: Sequence[Operation], shape: ArrayShape) -> bool:
    """Whether a wait for a token, or a poll, comes after the last task that the program starts.

    Such a program is finished when all its operations are done, whatever still waits in the array: nobody has
    asked for more. What is started after the last wait nobody waits for, so it has to end by itself.
    """
    table = table_of(operations)
    code, starts = table.columns.code, table.writing(shape, queues)
    for number in reversed(np.flatnonzero(starts | (code == Code.MASK_POLL) | (code == Code.OTHER)).tolist()):
        if starts[number]:
            return False
        operation = table[number]
        if isinstance(operation, MaskPoll) or (isinstance(operation, Other) and operation.name == WAIT):
            return True
    return False
