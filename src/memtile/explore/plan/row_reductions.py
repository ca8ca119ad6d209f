"""What a row-wise reduction leaves open: rows at once, depths, circuits or packets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from memtile.arch.core import CORE
from memtile.arch.tiles import WORD_BYTES
from memtile.explore.plan.budgets import Machine, PlanCandidate, Value, divisors, must_divide, refuse

_PASSES = {"sum": 1, "max": 1, "normalise": 3}  # over the numbers of a row


@dataclass(frozen=True, slots=True)
class RowReduction:
    """A number for each row of a matrix, or the rows normalised.

    Attributes:
        rows: of the matrix.
        width: of the matrix.
        dtype: of its numbers, and of the results: int32 or float32.
        what: ``sum``, ``max``, or ``normalise``: mean 0 and variance 1.
        per_cycle: numbers that a core processes per cycle.
    """

    rows: int = 1024
    width: int = 512
    dtype: Literal["int32", "float32"] = "int32"
    what: Literal["sum", "max", "normalise"] = "sum"
    per_cycle: int = CORE.register_bits // (8 * WORD_BYTES)

    template: ClassVar[str] = "rows"

    @property
    def title(self) -> str:
        """One line."""
        return f"{self.what} of each row, {self.rows} x {self.width}, {self.dtype}"

    @property
    def products(self) -> int:
        """None: a row is no product."""
        return 0

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""
        matrix: dict[str, Value] = {
            "rows": self.rows,
            "width": self.width,
            "dtype": self.dtype,
            "what": self.what,
        }
        place: dict[str, Value] = {"device": machine.device.name, "columns": machine.columns}
        return {**matrix, **place, "per_cycle": self.per_cycle}

    def _check(self) -> None:
        for field, given, known in (
            ("what", self.what, _PASSES),
            ("dtype", self.dtype, ("int32", "float32")),
        ):
            if given not in known:
                raise refuse("rows", field, repr(given), ", ".join(known))
        if self.what == "normalise" and self.dtype != "float32":
            raise refuse("rows", "dtype", self.dtype, "float32: normalised rows are no whole numbers")
        if self.width < 1:
            raise refuse("rows", "width", self.width, "1 or more")

    def candidates(self, machine: Machine) -> Iterator[PlanCandidate]:
        """Yield the candidates that fit into the memories and channels.

        Raises:
            DesignError: no such operation or type, or a number of rows that is not a multiple of the columns.
        """
        self._check()
        must_divide("rows", "rows", self.rows, machine)
        share = self.rows // machine.columns
        for cores in divisors(machine.rows):
            for tall in divisors(share // cores) if share % cores == 0 else ():
                links = ("circuits", "packets") if cores > 1 else ("circuits",)
                for depth, link in itertools.product((1, 2, 3), links):
                    made = self._expected(machine, cores, tall, depth, link)
                    if made is not None:
                        yield made

    def _expected(
        self, machine: Machine, cores: int, tall: int, depth: int, link: str
    ) -> PlanCandidate | None:
        out = self.width if self.what == "normalise" else 1
        come, go = tall * self.width * WORD_BYTES, tall * out * WORD_BYTES
        l2 = depth * cores * (come + go)
        if 2 * (come + go) > machine.l1 or l2 > machine.l2:
            return None
        blocks = self.rows // machine.columns // (cores * tall)
        load = machine.beats(cores * come)
        compute = _PASSES[self.what] * tall * self.width / self.per_cycle
        sent = load + cores if link == "packets" else machine.beats(come)
        each = max(load, compute, sent) if depth > 1 else load + sent
        ramp = load + sent + compute + machine.beats(2 * cores * go)
        point: dict[str, Value] = {"cores": cores, "tall": tall, "depth": depth, "links": link}
        return PlanCandidate({**point}, blocks * each + ramp, l2 * machine.columns)
