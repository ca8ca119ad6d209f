"""Runtime parameters: numbers and arrays that the host updates and reads while a graph runs.

A synchronous parameter is handed over by two counting locks: each call waits for an update, each read for a
call (UG1603, Runtime Parameter Specification). An asynchronous one is sticky: a call sees the last value that
is complete, and the first call waits for the first update unless the graph gives an initial value
(DEV-ADF-32).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memtile.adf.buffer_turns import Turn
from memtile.adf.core_loop import ParameterPort
from memtile.adf.description import Port
from memtile.adf.lookup import Lookup
from memtile.adf.plan import Blocks
from memtile.adf.sizes import parameter_bytes
from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.design.locks import Lock
from memtile.design.tile import Tile
from memtile.errors import DesignError

Advance = Callable[[Callable[[], bool]], bool]
_SOURCE = "UG1603: runtime parameters"
_SIDES = ("ping", "pong")


def parameter_port(array: Array, port: Port, blocks: Blocks) -> ParameterPort:
    """A parameter of a kernel in data memory, with its locks.

    Args:
        array: the array.
        port: of the kernel.
        blocks: its bytes in the plan.

    Raises:
        DesignError: the tile has no free lock, or the place is taken.
    """
    tile = array.tile(*blocks.tile)
    names = [port.name] if len(blocks.offsets) == 1 else [f"{port.name} {side}" for side in _SIDES]
    words = -(-blocks.nbytes // WORD_BYTES)
    buffers = tuple(
        tile.buffer(name, words, np.uint32, at=offset)
        for name, offset in zip(names, blocks.offsets, strict=True)
    )
    made = ParameterPort(
        port.name,
        buffers,
        is_array=port.kind == "parameter_array",
        is_async=port.is_async,
        writes=port.direction != "in",
        nbytes=parameter_bytes(port),
    )
    made.turns = _turns(tile, made, bool(port.initial))
    if port.initial:
        _put(tile, made, 0, bytes.fromhex(port.initial))
        made.written = True
    return made


def _turns(tile: Tile, port: ParameterPort, has_value: bool) -> tuple[Turn, ...]:
    """Lock operations of each buffer: two locks of a synchronous one, a gate of an asynchronous input."""
    depth = len(port.buffers)
    if port.is_async:
        if port.writes:
            return ()
        gate = tile.lock(int(has_value), f"{port.name}.updated")
        return (Turn(gate, 1, (gate,)),) * depth
    full, free = tile.lock(0, f"{port.name}.updated"), tile.lock(depth, f"{port.name}.free")
    take, give = (free, full) if port.writes else (full, free)
    return (Turn(take, 1, (give,)),) * depth


def kernel_parameters(lookup: Lookup, port: int) -> tuple[int, ...]:
    """The parameters of kernels that a port of a graph is connected to; of one of a kernel itself.

    Raises:
        DesignError: there is none.
    """
    found = tuple(each for each in sorted(_connected(lookup, port)) if lookup.kernel_at(each) is not None)
    if not found:
        raise DesignError.of(
            "parameter",
            "not connected",
            "connected to a parameter of a kernel",
            reason="adf_parameter",
            where=lookup.ports[port].name,
            source=_SOURCE,
        )
    return found


def _connected(lookup: Lookup, port: int) -> set[int]:
    """The ports that connections lead to from a port, in either direction, and itself."""
    seen, ahead = {port}, [port]
    while ahead:
        here = ahead.pop()
        for connection in lookup.description.connections:
            pair = {connection.source, connection.target}
            ahead += sorted(pair - seen) if here in pair else ()
            seen |= pair if here in pair else set()
    return seen


def host_port(lookup: Lookup, number: int) -> str:
    """The name of the port of a graph by which a host updates a kernel's parameter; else the parameter's."""
    graphs = {each.id for each in lookup.description.graphs}
    ports = (each for each in lookup.description.ports if each.owner in graphs and each.direction == "in")
    outer = (each.name for each in ports if number in _connected(lookup, each.id))
    return min(outer, key=lambda name: name.count("."), default=lookup.ports[number].name)


class HostParameters:
    """The parameters of a graph as its host uses them.

    Args:
        array: the array.
        ports: by id of the kernel's port.
        advance: lets the array run until a condition is met; False = nothing moves any more.
    """

    def __init__(self, array: Array, ports: dict[int, ParameterPort], advance: Advance) -> None:
        self._array, self._ports, self._advance = array, ports, advance
        self._done: dict[int, int] = {}  # updates or reads so far

    def update(self, number: int, data: bytes) -> bool:
        """Give a parameter a value; of a synchronous one when the kernel has room for it.

        Args:
            number: id of the kernel's port.
            data: bytes of the value.

        Returns:
            False = the kernel never takes the value before; nothing is changed.

        Raises:
            DesignError: another size, or a parameter that the kernel gives.
        """
        port = self._port(number, "update", writes=False)
        if len(data) != port.nbytes:
            raise _wrong(port, f"{len(data)} bytes", f"{port.nbytes} bytes, as its type has")
        tile = self._tile(port)
        if port.is_async:
            return self._update_sticky(tile, port, data)
        full, free = _locks(port)
        if not self._advance(lambda: tile.lock_value(free) > 0):
            return False
        count = self._done.get(number, 0)
        _put(tile, port, count % len(port.buffers), data)
        self._done[number] = count + 1
        _add(tile, free, -1)
        _add(tile, full, 1)
        return True

    def _update_sticky(self, tile: Tile, port: ParameterPort, data: bytes) -> bool:
        slots = range(len(port.buffers))
        if not self._advance(lambda: any(slot != port.in_use for slot in slots)):
            return False
        slot = next(slot for slot in slots if slot != port.in_use)
        _put(tile, port, slot, data)
        port.latest = slot
        if not port.written and port.turns and port.turns[0].acquire is not None:
            _add(tile, port.turns[0].acquire, 1)
        port.written = True
        return True

    def read(self, number: int) -> bytes | None:
        """The value of a parameter; of a synchronous one that of the next call.

        Args:
            number: id of the kernel's port.

        Returns:
            Its bytes; None = no call gives one any more.

        Raises:
            DesignError: a parameter that the host gives.
        """
        port = self._port(number, "read", writes=True)
        tile = self._tile(port)
        if port.is_async:
            return _get(tile, port, port.latest) if self._advance(lambda: port.written) else None
        full, free = _locks(port)
        if not self._advance(lambda: tile.lock_value(full) > 0):
            return None
        count = self._done.get(number, 0)
        data = _get(tile, port, count % len(port.buffers))
        self._done[number] = count + 1
        _add(tile, full, -1)
        _add(tile, free, 1)
        return data

    def updates(self) -> dict[int, int | None]:
        """How often each input was updated, by the id of the kernel's port; None = it has a value that stays.

        Only of inputs that calls wait for: of an asynchronous one the count is 0 until it has a value.
        """
        inputs = (each for each in self._ports.items() if not each[1].writes and each[1].turns)
        return {
            number: (None if port.written else 0) if port.is_async else self._done.get(number, 0)
            for number, port in inputs
        }

    def _port(self, number: int, call: str, *, writes: bool) -> ParameterPort:
        port = self._ports[number]
        if port.writes != writes:
            raise _wrong(port, f"{call} of it", "update of inputs, read of what kernels give")
        return port

    def _tile(self, port: ParameterPort) -> Tile:
        place = port.buffers[0].place
        assert place is not None
        return self._array.tile(*place)


def _locks(port: ParameterPort) -> tuple[Lock, Lock]:
    """Lock of values that are there, and lock of free buffers."""
    turn = port.turns[0]
    assert turn.acquire is not None
    pair = turn.acquire, turn.releases[0]
    return pair[::-1] if port.writes else pair


def _add(tile: Tile, lock: Lock, change: int) -> None:
    """Change a lock, as a host does by its value register."""
    value = tile.lock_value(lock) + change
    tile.own_door.write32(tile.kind.lock_value_base + lock.id * tile.kind.lock_value_stride, value)


def _put(tile: Tile, port: ParameterPort, slot: int, data: bytes) -> None:
    buffer = port.buffers[slot]
    words = np.zeros(buffer.words, np.uint32)
    words.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    tile.store(buffer, words)


def _get(tile: Tile, port: ParameterPort, slot: int) -> bytes:
    return tile.load(port.buffers[slot]).tobytes()[: port.nbytes]


def _wrong(port: ParameterPort, given: str, allowed: str) -> DesignError:
    return DesignError.of(
        "parameter", given, allowed, reason="adf_parameter", where=port.name, source=_SOURCE
    )
