"""Which BDs the tasks of a sequence have, as mlir-aie gives them (AIEAssignRuntimeSequenceBDIDs).

A task gets the lowest numbers that its channel reaches and that neither the device's own DMA work nor a task
of the tile has; awaiting or freeing it gives them back (DEV-MLIR-3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from memtile.design.tile import Tile
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation

Place = tuple[int, int]
_TRANSFER = "aiex.npu.dma_memcpy_nd"
_LOOP = "scf.for"
START = "aiex.dma_start_task"
_REASON = "mlir_bds"


class Owner(Protocol):
    """What has BDs: a task."""

    name: str
    lines: Mapping[int, int]


class BdNumbers:
    """BDs that are taken, by place of their tile."""

    def __init__(self) -> None:
        self._taken: dict[Place, dict[int, Owner]] = {}
        self._pools: dict[Place, list[int]] = {}
        self._split: dict[Operation, list[int]] = {}
        self._starts: dict[Operation, dict[str, int]] = {}

    def clear(self) -> None:
        """Forget all: another device has the array."""
        self._taken.clear()
        self._pools.clear()

    def take(
        self,
        form: OperationForm,
        tile: Tile,
        channel: int,
        wanted: Sequence[int | None],
        static: AbstractSet[int],
        owner: Owner,
    ) -> list[int]:
        """The numbers of a task's BDs: those that the text names, for the others the lowest that are free.

        Args:
            form: of the task.
            tile: that has the BDs.
            channel: that runs them.
            wanted: numbers that the text names, in its order.
            static: those that the device's own DMA work has.
            owner: what has them from now on.

        Raises:
            InputFileError: a number that another task has, or no number is left.
        """
        assert tile.place is not None
        taken = self._taken.setdefault(tile.place, {})
        for number in wanted:
            if number in taken:
                said = taken[number].lines.get(number)
                says = f"BD {number} of the {tile.title} is in task {taken[number].name}"
                says += f", by line {said}" if said else ""
                step = f"{_GIVE_BACK[:-1]}, or use another BD."
                raise form.error(says, _allowed(tile), reason=_REASON, given=str(number), step=step)
            if number is not None:
                taken[number] = owner
        found = list[int]()
        for number in wanted:
            found.append(number if number is not None else _free(form, tile, channel, {*taken, *static}))
            taken[found[-1]] = owner
        return found

    def give_back(
        self, form: OperationForm, tile: Tile, numbers: Sequence[int], owner: Owner, *, again: bool
    ) -> None:
        """Let other tasks have the BDs of a task, but for those that others have by now.

        Args:
            form: of the operation that gives them back.
            tile: that has them.
            numbers: of the BDs.
            owner: what has them.
            again: whether a wait has given them back before, so that a second time is no fault.

        Raises:
            InputFileError: the task has them no more.
        """
        assert tile.place is not None
        taken = self._taken.setdefault(tile.place, {})
        for number in numbers:
            if taken.get(number) is owner:
                del taken[number]
            elif not again:
                says = f"BD {number} of the {tile.title} is not in this task any more"
                raise form.error(says, "a task that was not freed before", reason=_REASON)

    def starts_again(self, operation: Operation, task: str) -> bool:
        """Whether a task is started behind an operation, which keeps its BDs.

        Args:
            operation: of the sequence.
            task: name of its value.
        """
        sequence = list(_around(operation))[-1]
        if sequence not in self._starts:
            starts = [each for each in sequence.walk() if each.name == START]
            self._starts[sequence] = {OperationForm(each).values[0]: each.at for each in starts}
        return self._starts[sequence].get(task, -1) > operation.at

    def pool(self, tile: Tile) -> list[int]:
        """The BDs that ``aiex.dma_bd_pool_pop`` draws from, the next one last."""
        assert tile.place is not None
        return self._pools.setdefault(tile.place, list(reversed(range(tile.kind.bds))))

    def of_transfer(self, form: OperationForm, metadata: str, first: int, many: int) -> list[int]:
        """The BDs of a transfer that became several (mlir-aie, AIEDecomposeLargeDmaBd).

        Args:
            form: of the transfer.
            metadata: the channel that it names.
            first: number that it says.
            many: BDs that it needs.

        Raises:
            InputFileError: it is in a loop, where the numbers depend on how the compiler unrolls it.
        """
        if many == 1:
            return [first]
        around = list(_around(form.operation))
        if any(each.name == _LOOP for each in around):
            says = f"the pattern needs {many} BDs, and the transfer is in a loop"
            step = "Write the transfers that it becomes, each with a BD of its own."
            raise form.error(says, "one BD", reason=_REASON, step=step)
        used = {number for each in around[-1].walk() for number in self._used(each, form.operation, metadata)}
        found, number = list[int](), first
        for _ in range(many):
            while number in used:
                number += 1
            found.append(number)
            number += 1
        self._split[form.operation] = found
        return found

    def _used(self, operation: Operation, own: Operation, metadata: str) -> list[int]:
        """BDs of another transfer on the same channel."""
        if operation is own or operation.name != _TRANSFER:
            return []
        form = OperationForm(operation)
        if form.attributes.get("metadata") != metadata:
            return []
        return self._split.get(operation, [form.integer("id")])


def _around(operation: Operation) -> Iterator[Operation]:
    """The operations around one, up to its sequence."""
    while operation.parent is not None and operation.parent.region.operation is not None:
        operation = operation.parent.region.operation
        yield operation
        if not operation.name.startswith("scf."):
            return


def _free(form: OperationForm, tile: Tile, channel: int, taken: AbstractSet[int]) -> int:
    """The lowest BD that a channel reaches and that is not taken."""
    bank = tile.kind.bd_bank(channel)
    number = next((n for n in bank if n not in taken), None)
    if number is None:
        says = f"BDs {bank.start}..{bank.stop - 1} of the {tile.title} are all in use"
        raise form.error(says, _allowed(tile), reason=_REASON, step=_GIVE_BACK)
    return number


def _allowed(tile: Tile) -> str:
    return f"a BD of the {tile.kind.bds} of its tile that no task has"


_GIVE_BACK = "Wait for a task with aiex.dma_await_task or give its BDs back with aiex.dma_free_task before."
