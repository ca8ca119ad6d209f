"""Is every name that a description uses the name of what is needed there?

A value that is defined may still be a lock where a tile is needed. Who configures an array from a description
may look names up after this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.mlir.description import BdDescription, DeviceDescription
from memtile.importers.mlir.forms.operand_faults import operation_error
from memtile.importers.mlir.tree import Operation

_Use = tuple[Operation, str]


def check_references(device: DeviceDescription) -> None:
    """Look for names that mean something else, or nothing.

    Args:
        device: as its text has it.

    Raises:
        InputFileError: operands that are no tiles, buffers, locks or object FIFOs of the device; all of them.
    """
    found = [
        *_wrong(_tiles(device), device.tiles, "tile"),
        *_wrong(_links(device), device.fifos, "object FIFO"),
    ]
    for chain in device.chains:
        found += bd_problems(device, chain.bds)
    raise_if(found, InputFileError)


def bd_problems(device: DeviceDescription, bds: Iterable[BdDescription]) -> list[Problem]:
    """Names of buffers and locks of BDs that mean something else, or nothing.

    Args:
        device: that has them.
        bds: of a chain; those that a sequence writes may have arguments instead of buffers.
    """
    found: list[Problem] = []
    for bd in bds:
        uses = [(bd.operation, use.lock) for use in (bd.acquire, bd.release) if use is not None]
        found += _wrong(uses, device.locks, "lock")
        found += _wrong([(bd.operation, bd.buffer)], device.buffers, "buffer")
    return found


def _tiles(device: DeviceDescription) -> Iterator[_Use]:
    """Operands that must be tiles."""
    for buffer in device.buffers.values():
        if buffer.tile:
            yield buffer.operation, buffer.tile
    for lock in device.locks.values():
        yield lock.operation, lock.tile
    for chain in device.chains:
        yield chain.operation, chain.tile
    for core in device.cores:
        yield core.operation, core.tile
    for switch in device.switches:
        yield switch.operation, switch.tile
    for allocation in device.allocations.values():
        if allocation.tile:
            yield allocation.operation, allocation.tile
    yield from _stream_tiles(device)


def _stream_tiles(device: DeviceDescription) -> Iterator[_Use]:
    """Those of them that streams connect."""
    for fifo in device.fifos.values():
        for tile in (fifo.producer, *fifo.consumers):
            yield fifo.operation, tile
    for flow in device.flows:
        for end in (*flow.sources, *flow.targets):
            yield flow.operation, end.tile
    for cascade in device.cascades:
        for tile in (cascade.source, cascade.target):
            yield cascade.operation, tile
    for sides in device.cascade_sides:
        yield sides.operation, sides.tile


def _links(device: DeviceDescription) -> Iterator[_Use]:
    """Names that must be those of object FIFOs."""
    for link in device.links:
        for name in (*link.sources, *link.targets):
            yield link.operation, name


def _wrong(uses: Iterable[_Use], known: Iterable[str], what: str) -> Iterator[Problem]:
    names = set(known)
    for operation, name in uses:
        if name not in names:
            says = f"{name or 'nothing'} is no {what} of the device"
            reason = f"mlir_{what.replace(' ', '_').lower()}"
            error = operation_error(operation, says, f"{what}s of the device", reason=reason, given=name)
            yield from error.problems
