"""A measurement: a design, what it traces, and how its constants follow from the trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtile.arch.devices import Device
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import DmaAddress
from memtile.explore.measure.script import LAST_CHANNELS, TRACE_WORDS, Flow, Place, Script, Traced
from memtile.explore.measure.seen import Seen
from memtile.runs.operations import Operation

Units = Mapping[Place, Seen]
Values = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Constant:
    """How one timing constant, or a number of cycles that no constant stands for, follows from a trace.

    Attributes:
        name: of the constant.
        quantity: what is read from the trace, for people.
        of: the constant; values of the constants before it in the same measurement are given.
        model: of a number that is no timing constant, what the rules of the model give.
    """

    name: str
    quantity: str
    of: Callable[[Units, Values], int]
    model: int | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """One design.

    Attributes:
        name: of its files.
        setup: what it does, for people.
        columns: that it needs.
        arguments: arrays of words that the host passes; the first one is for the trace.
        flows: streams, without those of the trace.
        traced: trace units.
        steps: writes what is set up before the trace starts, and what is done after it did.
        constants: that it gives, in the order in which they are found.
        needed: constants of other measurements that they follow from.
    """

    name: str
    setup: str
    flows: tuple[Flow, ...]
    traced: tuple[Traced, ...]
    before: Callable[[Script], None]
    steps: Callable[[Script], None]
    constants: tuple[Constant, ...]
    needed: tuple[str, ...] = ()
    columns: int = 1
    arguments: int = 1

    @property
    def all_flows(self) -> Sequence[Flow]:
        """Streams, those of the trace among them: packets to S2MM 1 of the interface tile."""
        traces = (
            Flow(unit.place, ("TRACE", int(unit.module == "memory")), (0, 0), ("DMA", 1), number)
            for number, unit in enumerate(self.traced, 1)
        )
        last = Flow((0, 0), ("DMA", LAST_CHANNELS[0]), (0, 1), ("DMA", LAST_CHANNELS[1]))
        return (*self.flows, last, *traces)

    def operations(self, device: Device) -> list[Operation]:
        """Everything that its host does."""
        script = Script(device)
        self.before(script)
        script.trace(self.traced, Descriptor(device.tile(0, 0), TRACE_WORDS, DmaAddress(0)))
        self.steps(script)
        script.stop()
        return script.operations

    def values(self, units: Units, known: Values) -> dict[str, int]:
        """The constants that a trace gives, by name.

        Args:
            units: what its units saw.
            known: the constants of other measurements that are ``needed`` here.

        Raises:
            InputFileError: an event that they need did not happen.
        """
        found: dict[str, int] = dict(known)
        for constant in self.constants:
            found[constant.name] = constant.of(units, found)
        return {constant.name: found[constant.name] for constant in self.constants}
