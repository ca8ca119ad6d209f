"""What a sequence knows while it is gone through: its steps so far, its values, and BDs that are taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import DIRECTIONS
from memtile.design.tile import Tile
from memtile.errors import InputFileError
from memtile.explain.moves import Move
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.reconfiguration import Devices
from memtile.importers.mlir.sequence.bd_numbers import BdNumbers
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
        made: the device that had the array.
        tile: of the channel.
        port: direction and number of the channel.
        numbers: of its BDs.
        first: the one that is started.
        runs: executions of that one.
        token: the task reports its end.
        drawn: the text draws its BD from the pool.
        pooled: the compiler draws it.
        awaited: a wait has given its BDs back.
        freed: the text has given its BDs back.
        pending: tokens of it that no wait has taken.
        name: of its value, with the line that configures it: ``%t (line 12)``.
        operation: that configures it; None of one that the text only transfers.
        line: of the text, where it is configured.
        where: place in the text, with the name of the file.
        started: how often it was started.
        lines: of the text, by the number of a BD that the text names.
    """

    made: Configured
    tile: Tile
    port: tuple[int, int]
    numbers: Sequence[int]
    first: int
    runs: int = 1
    token: bool = False
    drawn: bool = False
    pooled: bool = False
    awaited: bool = False
    freed: bool = False
    pending: int = 0
    name: str = ""
    operation: Operation | None = None
    line: int = 0
    where: str = ""
    started: int = 0
    lines: Mapping[int, int] = field(default_factory=dict)

    @property
    def channel(self) -> tuple[object, ...]:
        """Where its tokens come from."""
        return (self.tile.place, *self.port)


MISSING = "mlir_scalar"
"""Reason of the refusal of a number without a value."""


@dataclass(frozen=True, slots=True)
class MissingNumber:
    """An argument that is a number and that nobody gave: an error of its sequence where it is used."""

    position: int
    name: str
    kind: str
    sequence: Operation

    def error(self) -> InputFileError:
        """What a step that uses it reports."""
        says = f"argument {self.position}, {self.name}, is a number without a value"
        return OperationForm(self.sequence).error(says, self.kind, reason=MISSING)


Value = int | float | ArgumentView | SequenceTask | np.ndarray | MissingNumber
"""What a value of a sequence may be."""


def place_of(form: OperationForm) -> str:
    """Where an operation stands: file, line, column and its name."""
    return form.place


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
        devices: those that the sequence may load; None if they are not known.
        parameters: of the scratchpad, by name.
        controllers: ids of tokens, by place of the tile.
        arguments: how many the sequence has.
        packets: words of the control packets that it sends, which are one argument more.
        steps: what was done so far.
        values: by name.
        scratchpad: words that firmware has taken from the host.
        inside: sequences that run now, each called by the one before.
        runtime: values that depend on numbers of the host.
        rolled: a loop or a branch depends on one, so that tasks take their BDs from the pool.
        bds: which BDs its tasks have.
        home: the device of the sequence.
        tasks: all that it has configured.
        moves: what its transfers and tasks touch, each once.
        shapes: of the arguments of the outermost sequence, by position.
        tokens: the tasks whose tokens no wait has taken, by channel, in the order of their starts.
        awaits: the lines of the last waits for tasks, by channel.
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
        self.runtime, self.rolled = frozenset[str](), False
        self.bds, self.home = BdNumbers(), made
        self.tasks: list[SequenceTask] = []
        self.moves: dict[tuple[object, ...], Move] = {}
        self.shapes: Sequence[Shaped] = ()
        self.tokens: dict[tuple[object, ...], deque[SequenceTask]] = {}
        self.awaits: dict[tuple[object, ...], int] = {}
        self._turns = 0

    def turn(self, form: OperationForm) -> None:
        """Count a turn of a loop.

        Raises:
            InputFileError: the loops of the sequence have turned too often.
        """
        self._turns += 1
        if self._turns > _MOST_TURNS:
            says = "the sequence does not end"
            raise form.error(says, f"up to {_MOST_TURNS} turns of loops", reason="mlir_endless")

    def emit(self, form: OperationForm, step: Callable[..., Step]) -> None:
        """Add a step that the firmware does, and that knows where it stands in the text.

        Args:
            form: the operation.
            step: makes it, of its place in the text and whether firmware does it.
        """
        self.steps.append(step(place=place_of(form), firmware=True))

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
        self.bds.clear()

    def note(self, move: Move) -> None:
        """Keep what a transfer or a BD touches; the same one again is nothing new."""
        self.moves[move.who, move.key, move.place, *move.same] = move

    def parameter(self, form: OperationForm, name: str) -> Number:
        """The value of a parameter of the scratchpad.

        Raises:
            InputFileError: it has no value.
        """
        if name not in self.parameters:
            says = f"scratchpad parameter {name} has no value"
            step = f"Give it with --set {name}=NUMBER, or with parameters= of memtile.load."
            raise form.error(says, "a number", reason="mlir_parameter", step=step)
        return self.parameters[name]

    def tile(self, column: int, row: int) -> Tile:
        """The tile at a place."""
        return self.made.array.tile(column, row)

    def static_bds(self, tile: Tile) -> set[int]:
        """BDs of a tile that DMA work of devices has: of the one that is loaded and of the sequence's."""
        return {
            bd.number
            for made in (self.made, self.home)
            for chain in made.device.chains
            if made.tiles[chain.tile].place == tile.place
            for bd in chain.bds
            if bd.number is not None
        }


class Call(OperationForm):
    """An operation of a sequence, whose values may be known from what came before it.

    Args:
        operation: that is done.
        reader: what is known.
        values: instead of those that the reader knows.
    """

    def __init__(
        self, operation: Operation, reader: Reader, values: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(operation, reader.values if values is None else values)
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
        found = self.reader.values[name]
        if isinstance(found, MissingNumber):
            raise found.error()
        return found

    def whole(self, given: str | int) -> int:
        """A number, or what a value is that came before.

        Raises:
            InputFileError: it is neither, or a number without a value.
        """
        if isinstance(given, str) and isinstance(self.reader.values.get(given), MissingNumber):
            self.known(given)
        return super().whole(given)

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
