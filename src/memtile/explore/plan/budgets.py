"""The part of a device that a plan may use, and what it can do in a cycle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memtile.arch.core import DEFAULT_HEAP_BYTES, DEFAULT_STACK_BYTES
from memtile.arch.core_costs import BLOCKS, THROUGHPUT
from memtile.arch.devices import Device
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import DesignError

_RATES = {"int8": "i8", "int16": "i16", "int32": "i32", "bfloat16": "bf16", "float32": "f32"}


@dataclass(frozen=True, slots=True)
class Machine:
    """Columns of a device.

    Attributes:
        device: whose they are.
        columns: how many, from column 0 on.
    """

    device: Device
    columns: int

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.device.name}, {self.columns} column{'s' * (self.columns > 1)}"

    @property
    def rows(self) -> int:
        """Cores of a column."""
        return len(self.device.compute_rows)

    @property
    def cores(self) -> int:
        """Cores of all columns."""
        return self.columns * self.rows

    @property
    def beat(self) -> int:
        """Bytes that a stream moves in a cycle."""
        return self.device.kind("memory").stream_words * WORD_BYTES

    @property
    def l1(self) -> int:
        """Bytes of a core's memory that a plan may use: all but stack and heap of its program."""
        return self.device.kind("compute").memory_bytes - DEFAULT_STACK_BYTES - DEFAULT_HEAP_BYTES

    @property
    def l2(self) -> int:
        """Bytes of a memory tile."""
        return self.device.kind("memory").memory_bytes

    def channels_suffice(self, receives: int, sends: int) -> bool:
        """Whether a memory tile has so many channels."""
        most = self.device.kind("memory").channels
        return receives <= most and sends <= most

    def macs(self, dtype: str) -> int:
        """Multiplications with accumulation of a core in a cycle, at most."""
        return THROUGHPUT[self.device.generation].macs[_RATES[dtype]]

    def block(self, dtype: str) -> tuple[int, int, int] | None:
        """The multiplier's blocks, r x s by s x t; None = the type has none."""
        return BLOCKS[self.device.generation].get(_RATES[dtype])

    def beats(self, nbytes: float) -> float:
        """Cycles that a stream needs for so many bytes."""
        return nbytes / self.beat


Value = int | str | bool
"""Of an argument of a design."""


@dataclass(frozen=True, slots=True)
class PlanCandidate:
    """Values for the arguments of a design, and what they are expected to come to.

    Attributes:
        point: by argument.
        cycles: an estimate: what the busiest part has to do, and the way there and back.
        l2: bytes of memory tiles, roughly.
    """

    point: dict[str, Value]
    cycles: float
    l2: float


def divisors(number: int, low: int = 1, high: int | None = None, step: int = 1) -> Iterator[int]:
    """Divisors of a number that are multiples of ``step``, in a range."""
    for each in range(max(low, step), min(number, high or number) + 1):
        if number % each == 0 and each % step == 0:
            yield each


def must_divide(layer: str, field: str, given: int, machine: Machine) -> None:
    """Refuse what a machine's columns do not share evenly.

    Args:
        layer: the layer.
        field: of it.
        given: how many there are.
        machine: whose columns share them.

    Raises:
        DesignError: there are none, or they are no multiple of the columns.
    """
    if given < 1:
        raise refuse(layer, field, given, "1 or more")
    if given % machine.columns:
        fitting = next(count for count in range(machine.columns, 0, -1) if given % count == 0)
        plural = "s" * (fitting > 1)
        says = f"{field} is {given}; it must be a multiple of {machine.columns}, the columns"
        step = (
            f"Give it {fitting} column{plural}, or {-(-given // machine.columns) * machine.columns} {field}."
        )
        raise refuse(layer, field, given, f"a multiple of {machine.columns}", says, step)


def refuse(
    layer: str, field: str, given: object, allowed: str, says: str = "", step: str = ""
) -> DesignError:
    """The error for a layer that cannot be planned."""
    return DesignError.of(
        field, str(given), allowed, says, step, reason="plan", where=f"plan of {layer}", source="docs/plan.md"
    )
