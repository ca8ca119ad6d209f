"""What attention leaves open: queries and keys at once, whether keys and values stay in the memory tile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from memtile.explore.plan.budgets import Machine, PlanCandidate, Value, divisors, must_divide, refuse

_EACH = 2  # bytes of a bfloat16


@dataclass(frozen=True, slots=True)
class Attention:
    """softmax(Q K' / sqrt(size)) V for each head, bfloat16, with online softmax.

    Attributes:
        heads: number of heads; a multiple of the columns.
        length: number of queries, keys and values of a head.
        size: elements of each query, key and value.
        macs: multiplications per cycle of a core; None = the maximum (``arch.core_costs``).
        exponents: exponentials per cycle of a core.
    """

    heads: int = 4
    length: int = 256
    size: int = 64
    macs: int | None = None
    exponents: int = 16

    template: ClassVar[str] = "attention"

    @property
    def title(self) -> str:
        """One line."""
        return f"attention, {self.heads} heads of {self.length} x {self.size}, bfloat16"

    @property
    def products(self) -> int:
        """Multiplications of queries by keys and of scores by values."""
        return 2 * self.heads * self.length**2 * self.size

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""
        sizes = {"heads": self.heads, "length": self.length, "size": self.size}
        place: dict[str, Value] = {"device": machine.device.name, "columns": machine.columns}
        return {**sizes, **place, "macs": self.macs or machine.macs("bfloat16"), "exponents": self.exponents}

    def candidates(self, machine: Machine) -> Iterator[PlanCandidate]:
        """Yield the candidates that fit into the memories and channels.

        Raises:
            DesignError: a number of heads that is not a multiple of the columns, or odd sizes.
        """
        must_divide("attention", "heads", self.heads, machine)
        for field in ("length", "size"):
            if getattr(self, field) < 2 or getattr(self, field) % 2:
                raise refuse(
                    "attention", field, getattr(self, field), "an even number: DMAs move whole words"
                )
        for cores in divisors(machine.rows):
            if self.length % cores or not machine.channels_suffice(2 + cores, cores + 2):
                continue
            for tall, deep in itertools.product(divisors(self.length // cores), divisors(self.length, 2)):
                for depth, keep in itertools.product((2, 4), (True, False)):
                    made = self._expected(machine, cores, tall, deep, depth, keep)
                    if made is not None:
                        yield made

    def _expected(
        self, machine: Machine, cores: int, tall: int, deep: int, depth: int, keep: bool
    ) -> PlanCandidate | None:
        band, block = tall * self.size * _EACH, deep * self.size * _EACH
        scratch = tall * deep * 4 + tall * self.size * 4  # scores and sums of a core, float32
        panel = self.length if keep else deep
        l2 = 2 * (2 * panel * self.size * _EACH + 2 * cores * band)
        if 4 * band + depth * block + scratch > machine.l1 or l2 > machine.l2:
            return None
        rounds, share = self.length // (cores * tall), self.heads // machine.columns
        steps = self.length // deep
        if keep and 2 * rounds > len(machine.device.kind("memory").bd_bank(0)):
            return None
        products = -(-2 * tall * deep * self.size // (self.macs or machine.macs("bfloat16")))
        compute = products - (-tall * deep // self.exponents)
        move = machine.beats(2 * block)
        load = machine.beats(2 * self.length * self.size * _EACH)
        busy = max(move, compute) if depth > 2 else move + compute
        each = max(rounds * steps * busy, load if keep else rounds * load)
        ramp = machine.beats(2 * panel * self.size * _EACH) + move + 3 * machine.beats(cores * band)
        point: dict[str, Value] = {"cores": cores, "tall": tall, "deep": deep, "depth": depth, "keep": keep}
        return PlanCandidate({**point}, share * each + ramp, l2 * machine.columns)
