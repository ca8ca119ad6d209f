"""Numbers for what a text leaves open: locks, BDs.

What has a number keeps it. The rest gets the lowest free ones in the order of the text, as mlir-aie's passes
do (aie-assign-lock-ids, aie-assign-bd-ids): BDs of a memory tile from the half that the channel can use.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from memtile.arch.tiles import TileKind
from memtile.importers.mlir.description import (
    BdDescription,
    DeviceDescription,
)
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

_CORES_PER_COLUMN = re.compile(r"--cores-per-col[= ]([1-9][0-9]{0,2})(?![0-9])")


def number_locks(device: DeviceDescription, kinds: dict[str, TileKind]) -> None:
    """Give each lock its number within its tile.

    Args:
        device: whose locks get numbers.
        kinds: kind of each tile, by the name of its value.

    Raises:
        InputFileError: a tile has no lock left, or two have one number.
    """
    taken: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for name, lock in device.locks.items():
        if lock.number is not None:
            other = taken[lock.tile].setdefault(lock.number, name)
            if other != name:
                says = f"lock {lock.number} of this tile is {device.locks[other].name!r} already"
                raise OperationForm(lock.operation).error(says, "a number of its own", reason="mlir_lock")
    for name, lock in device.locks.items():
        if lock.number is None:
            many = kinds[lock.tile].locks
            free = next((n for n in range(many) if n not in taken[lock.tile]), None)
            if free is None:
                says = f"the {kinds[lock.tile].title} has {many} locks, and all are taken"
                raise OperationForm(lock.operation).error(says, f"at most {many} locks", reason="mlir_lock")
            lock.number = free
            taken[lock.tile][free] = name


def number_bds(device: DeviceDescription, kinds: dict[str, TileKind]) -> None:
    """Give each BD of the DMA work its number within its tile.

    Args:
        device: whose BDs get numbers.
        kinds: kind of each tile, by the name of its value.

    Raises:
        InputFileError: a channel has no BD left, or two BDs of a tile have one number.
    """
    taken: defaultdict[str, dict[int, Operation]] = defaultdict(dict)
    for tile, _, bd in _bds(device):
        if bd.number is not None:
            other = taken[tile].setdefault(bd.number, bd.operation)
            if other is not bd.operation:
                says = f"BD {bd.number} of the {kinds[tile].title} is that of line {other.line} already"
                step = "Give it another bd_id, or none."
                raise OperationForm(bd.operation).error(
                    says, "a number of its own", reason="mlir_bds", given=str(bd.number), step=step
                )
    for tile, channel, bd in _bds(device):
        if bd.number is None:
            bank = kinds[tile].bd_bank(channel)
            free = next((n for n in bank if n not in taken[tile]), None)
            if free is None:
                says = f"BDs {bank.start}..{bank.stop - 1} of the {kinds[tile].title} are all taken"
                raise OperationForm(bd.operation).error(
                    says, "a BD that the channel can use", reason="mlir_bds"
                )
            bd.number = free
            taken[tile][free] = bd.operation


def _bds(device: DeviceDescription) -> Iterator[tuple[str, int, BdDescription]]:
    for chain in device.chains:
        for bd in chain.bds:
            yield chain.tile, chain.channel, bd
