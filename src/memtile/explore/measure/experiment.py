"""A measurement: a design, what it traces, and how its constants follow from the trace.

What several measurements have in common: descriptors, receivers, guarded chains, watched ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtile.arch.devices import Device
from memtile.bd.descriptor import Acquire, Descriptor, Dim
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.explore.measure.script import (
    LAST_CHANNELS,
    TRACE_WORDS,
    Place,
    RunningPort,
    Script,
    ScriptFlow,
    Traced,
)
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
        narrow: whether it is of 32-bit streams alone (DEV-INGRESS-2).
    """

    name: str
    quantity: str
    of: Callable[[Units, Values], int]
    model: int | None = None
    narrow: bool = False


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
    flows: tuple[ScriptFlow, ...]
    traced: tuple[Traced, ...]
    before: Callable[[Script], None]
    steps: Callable[[Script], None]
    constants: tuple[Constant, ...]
    needed: tuple[str, ...] = ()
    columns: int = 1
    arguments: int = 1

    @property
    def all_flows(self) -> Sequence[ScriptFlow]:
        """Streams, those of the trace among them: packets to S2MM 1 of the interface tile."""
        traces = (
            ScriptFlow(unit.place, ("TRACE", int(unit.module == "memory")), (0, 0), ("DMA", 1), number)
            for number, unit in enumerate(self.traced, 1)
        )
        last = ScriptFlow((0, 0), ("DMA", LAST_CHANNELS[0]), (0, 1), ("DMA", LAST_CHANNELS[1]))
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


INTERFACE, MEMORY, COMPUTE, EAST = (0, 0), (0, 1), (0, 2), (1, 1)
WORDS = 64
START, STALL = "DMA_MM2S_SEL0_START_TASK", "DMA_MM2S_SEL0_STALLED_LOCK"
FINISHED = "DMA_MM2S_SEL0_FINISHED_BD"
BACK_PRESSURE = "DMA_MM2S_SEL0_STREAM_BACKPRESSURE"
SENT, TAKEN = "PORT_RUNNING_0", "PORT_RUNNING_1"
MARKS = ("USER_EVENT_0", "USER_EVENT_1")
LOOP = ScriptFlow(MEMORY, ("DMA", 0), MEMORY, ("DMA", 0))
GUARDED = 3  # descriptors
PASSES = 40  # accesses after the last step: some thousand cycles


def descriptor(script: Script, place: Place, words: int = WORDS, **more: object) -> Descriptor:
    """Words from the beginning of the tile's own memory on."""
    name = script.device.tile(*place)
    at = OWN.address(0) if script.kind(place).role == "memory" else DmaAddress(0)
    return Descriptor(name, words, **({"address": at} | more))  # type: ignore[arg-type]


def take(script: Script, place: Place, number: int) -> Acquire:
    """A lock of the tile must be 1, and is 0 then."""
    lock = OWN.lock(number) if script.kind(place).role == "memory" else DmaLock(number)
    return Acquire(lock, -1, enable=True)


def in_one_bank(script: Script, place: Place) -> tuple[Dim, ...]:
    """Granule after granule of one bank of a memory tile."""
    kind = script.kind(place)
    return (Dim(1, kind.granule_words), Dim(kind.banks * kind.granule_words, 0))


def apart(script: Script, place: Place) -> tuple[Dim, ...]:
    """A word for each access, all of them in one bank of a memory tile."""
    kind = script.kind(place)
    return (Dim(kind.banks * kind.granule_words, 0),)


RECEIVER = 8  # its descriptor


def receiver(script: Script, place: Place, words: int = 8 * WORDS, **more: object) -> None:
    """A task of S2MM 0 that takes whatever comes; in a memory tile into the bank in the middle alone."""
    kind = script.kind(place)
    middle = kind.banks // 2 * kind.granule_words
    dims = in_one_bank(script, place)
    at = OWN.address(kind.memory_words // 2 + middle)
    script.bd(place, RECEIVER, descriptor(script, place, words, address=at, dims=dims, **more))
    script.push(place, "S2MM", 0, RECEIVER)


def loop_ports(script: Script, *more: RunningPort) -> None:
    """Watch the slave port of MM2S 0 of the memory tile, and others; without any the master of S2MM 0."""
    script.select_channels(MEMORY)
    script.select_ports(
        MEMORY, "memory_tile", (RunningPort("DMA0"), *(more or (RunningPort("DMA0", master=True),)))
    )


def guarded(script: Script, place: Place) -> None:
    """Three descriptors, each with its lock: a word for each access, whole accesses, and a single word."""
    for bd, dims, words in ((0, apart, WORDS), (1, in_one_bank, WORDS), (2, apart, 1)):
        taken, following = take(script, place, bd), bd + 1 if bd < GUARDED - 1 else None
        walk = dims(script, place)
        made = descriptor(script, place, words, dims=walk, acquire=taken, next=following)
        script.bd(place, bd, made)


def guarded_steps(place: Place, locks: int = GUARDED) -> Callable[[Script], None]:
    """Push the guarded descriptors, and give them their locks one after the other."""

    def steps(script: Script) -> None:
        script.push(place, "MM2S", 0, 0)
        if place == MEMORY:
            script.event(place, "memory_tile", "USER_EVENT_0")
            script.event(place, "memory_tile", "USER_EVENT_1")
        script.let_pass(5)
        for number in range(locks):
            script.lock(place, number, 1)
            script.let_pass(PASSES)

    return steps
