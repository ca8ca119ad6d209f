"""What a sequence knows while it is gone through: its steps so far, its values, and BDs that are taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import DIRECTIONS
from memtile.design.tile import Tile
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import ChainDescription
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.reconfiguration import Devices
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.types import Shaped
from memtile.runs.operations import Operation as Step

Number = int | float
Parameters = Mapping[str, Number]
NO_PARAMETERS: Parameters = {}
MOST_STEPS = 1 << 20
"""Register accesses of an unrolled sequence."""
_MOST_TURNS = 1 << 17  # of its loops
_OLD_SEQUENCES = ("aiex.runtime_sequence", "func.func", "func")


class Habits(NamedTuple):
    """What versions of mlir-aie write that changes nothing of the data.

    Attributes:
        cache: AxCache of BDs in external memory: the network on chip may combine beats.
        id_bits: of the controller's id that are written.
    """

    cache: int
    id_bits: int


def habits_of(sequence: str) -> Habits:
    """Those of the version that has such a name for host sequences."""
    return Habits(0, 4) if sequence in _OLD_SEQUENCES else Habits(2, 5)


class ArgumentView(NamedTuple):
    """An argument of the sequence, or a part of it.

    Attributes:
        argument: its number.
        offset: bytes into it.
        shape: what the value says of it.
    """

    argument: int
    offset: int
    shape: Shaped


@dataclass(slots=True)
class SequenceTask:
    """A task that a sequence configured.

    Attributes:
        chain: its BDs.
        tile: of the channel.
        numbers: of its BDs.
        runs: executions of its first BD.
    """

    chain: ChainDescription
    tile: Tile
    numbers: list[int] = field(default_factory=list)
    runs: int = 1


Value = int | float | ArgumentView | SequenceTask | np.ndarray
"""What a value of a sequence may be."""


class Reader:
    """The state of a sequence.

    Args:
        made: the device in its array.
        run: goes through the operations of a block.
        habits: of the version that wrote the text.
        devices: those that the sequence may load.
        parameters: of the scratchpad, by name.
        arguments: how many the sequence has.

    Attributes:
        made: the device that is loaded now, in its array.
        run: goes through the operations of a block.
        habits: of the version that wrote the text.
        devices: those that the sequence may load; None if nobody knows them.
        parameters: of the scratchpad, by name.
        controllers: ids of tokens, by place of the tile.
        arguments: how many the sequence has.
        packets: words of the control packets that it sends, which are one argument more.
        steps: what was done so far.
        values: by name.
        scratchpad: words that firmware has taken from the host.
        inside: sequences that run now, each called by the one before.
    """

    def __init__(
        self,
        made: Configured,
        run: Callable[[Reader, OperationBlock], None],
        habits: Habits,
        devices: Devices | None = None,
        parameters: Parameters = NO_PARAMETERS,
        arguments: int = 0,
    ) -> None:
        self.parameters, self.arguments = parameters, arguments
        self.made, self.run, self.habits, self.devices = made, run, habits, devices
        self.controllers = {tile.place: tile.controller for tile in made.device.tiles.values()}
        self.steps: list[Step] = []
        self.packets: list[int] = []
        self.values: dict[str, Value] = {}
        self.scratchpad = 0
        self.inside: list[str] = []
        self._turns = 0
        self._taken: dict[tuple[int, int], set[int]] = {}

    def turn(self, form: OperationForm) -> None:
        """Count a turn of a loop.

        Raises:
            InputFileError: the loops of the sequence have turned too often.
        """
        self._turns += 1
        if self._turns > _MOST_TURNS:
            says = "the sequence does not end"
            raise form.error(says, f"up to {_MOST_TURNS} turns of loops", reason="mlir_endless")

    def emit(self, form: OperationForm, step: Callable[[str], Step]) -> None:
        """Add a step that the firmware does, and that knows where it stands in the text."""
        tokens = form.operation.tokens
        where = f"{tokens.text.where(tokens.offset(form.operation.at))}, {form.operation.name}"
        self.steps.append(replace(step(where), firmware=True))

    def load(self, form: OperationForm, name: str) -> None:
        """Let another device take the array; what is done from now on is done on it.

        Raises:
            InputFileError: no such device.
        """
        if self.devices is None or name not in self.devices.described:
            known = ", ".join(self.devices.described) if self.devices else "none"
            raise form.error(f"no device has the name {name}", f"one of {known}", reason="mlir_device")
        self.made, steps = self.devices.load(name)
        self.controllers = {tile.place: tile.controller for tile in self.made.device.tiles.values()}
        self.steps += steps
        self._taken.clear()

    def parameter(self, form: OperationForm, name: str) -> Number:
        """The value of a parameter of the scratchpad.

        Raises:
            InputFileError: nobody gave it.
        """
        if name not in self.parameters:
            says = f"nobody gave the scratchpad parameter {name}"
            step = f"Give it with --set {name}=NUMBER, or with parameters= of memtile.load."
            raise form.error(says, "a number", reason="mlir_parameter", step=step)
        return self.parameters[name]

    def tile(self, column: int, row: int) -> Tile:
        """The tile at a place."""
        return self.made.array.tile(column, row)

    def free_bd(self, form: OperationForm, tile: Tile, channel: int, wanted: int | None) -> int:
        """A BD of a tile for a task: the one that the text names, or the lowest that no task has.

        Raises:
            InputFileError: none is left.
        """
        assert tile.place is not None
        taken = self._taken.setdefault(tile.place, self._configured(tile))
        number = wanted
        if number is None:
            number = next((n for n in tile.kind.bd_bank(channel) if n not in taken), None)
        if number is None:
            bank = tile.kind.bd_bank(channel)
            says = f"BDs {bank.start}..{bank.stop - 1} of the {tile.title} are all in tasks"
            raise form.error(says, "a BD that aiex.dma_free_task gave back", reason="mlir_bds")
        taken.add(number)
        return number

    def give_back(self, task: SequenceTask) -> None:
        """Let other tasks have the BDs of a task."""
        assert task.tile.place is not None
        self._taken.get(task.tile.place, set()).difference_update(task.numbers)

    def _configured(self, tile: Tile) -> set[int]:
        """BDs that the device's own DMA work has."""
        return {
            bd.number
            for chain in self.made.device.chains
            if self.made.tiles[chain.tile] is tile
            for bd in chain.bds
            if bd.number is not None
        }


class Call(OperationForm):
    """An operation of a sequence, whose values may be known from what came before it.

    Args:
        operation: that is done.
        reader: what is known.
    """

    def __init__(self, operation: Operation, reader: Reader) -> None:
        super().__init__(operation, reader.values)
        self.reader = reader

    def number(self, name: str, place: int | None = None) -> int:
        """A number that is an attribute, or the operand at a place."""
        if name in self.attributes:
            return self.integer(name)
        items = self.items()
        if place is not None and place < len(items):
            return self.whole(self.text(items[place]).partition(":")[0])
        raise self.error(f"it has no {name}", "a number")

    def known(self, name: str) -> Value:
        """What a value is.

        Raises:
            InputFileError: nothing before it said.
        """
        if name not in self.reader.values:
            raise self.error(
                f"{name} is not known here", "a value from before it", reason="mlir_value", given=name
            )
        return self.reader.values[name]

    def tile(self, operand: int = 0) -> Tile:
        """The tile that an operand is, the first one if nothing is said.

        Raises:
            InputFileError: the operand is no tile.
        """
        name = self.values[operand]
        if name not in self.reader.made.tiles:
            raise self.error(f"{name} is no tile of the device", "aie.tile", reason="mlir_tile", given=name)
        return self.reader.made.tiles[name]

    def block(self) -> OperationBlock:
        """The first block of its region.

        Raises:
            InputFileError: it has no region.
        """
        return self.regions[0].blocks[0]

    def channel(self, operand: int = 0, nth: int = 0) -> tuple[Tile, int, int]:
        """Tile, direction and number of a channel: ``(%tile, MM2S, 0)``.

        Args:
            operand: which one the tile is.
            nth: parenthesis of the pretty form.

        Raises:
            InputFileError: no tile, no direction, or no number.
        """
        tile = self.tile(operand)
        if self.generic:
            given, number = self.attributes["direction"], self.integer("channel")
        else:
            _, given, text = self.texts("(", nth).first(3)
            number = self.whole(text)
        if not 0 <= number < tile.kind.channels:
            says = f"the {tile.title} has no channel {number}"
            raise self.error(says, f"0..{tile.kind.channels - 1}", reason="mlir_channel", given=str(number))
        return tile, DIRECTIONS.index(self.direction(given)), number

    def argument(self, name: str) -> ArgumentView:
        """The argument of the sequence that a value is."""
        found = self.reader.values.get(name)
        if not isinstance(found, ArgumentView):
            raise self.error(f"{name} is no argument of the sequence, nor a part of one", "an argument")
        return found

    def allocated(self, name: str) -> tuple[Tile, int, int]:
        """Tile, direction and number of the channel that a symbol names."""
        found = self.reader.made.device.allocations.get(name)
        if found is None:
            known = ", ".join(self.reader.made.device.allocations) or "none"
            raise self.error(f"no channel has the name {name}", f"one of {known}", reason="mlir_allocation")
        tile = self.reader.made.tiles[found.tile] if found.tile else self.reader.tile(found.column or 0, 0)
        return tile, DIRECTIONS.index(found.direction), found.channel

    def allocated_packet(self, name: str) -> tuple[int, int] | None:
        """Type and id of the packets that a channel sends by the symbol that names it (DEV-MLIR-4)."""
        return self.reader.made.device.allocations[name].packet
