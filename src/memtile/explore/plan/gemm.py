"""What a matrix product leaves open: blocks, panels, who keeps what, how A comes to the cores and C back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from memtile.arch.tiles import WORD_BYTES
from memtile.explore.plan.budgets import Machine, PlanCandidate, Value, divisors, refuse

_BYTES = {"int8": 1, "int16": 2, "int32": 4, "bfloat16": 2}
_SUM_BYTES = 4
_SWITCH = 8  # cycles between two tiles of a core, about: two locks taken and given
_OTHER_BDS = 6  # of a half of a memory tile's, for what comes and leaves once
_SHALLOWEST, _DEEPEST, _LARGEST = 8, 256, 256  # elements of a tile along one side


@dataclass(frozen=True, slots=True)
class Gemm:
    """C = A B, an m x k and a k x n matrix; sums in int32, or in float32 of bfloat16.

    Attributes:
        m: rows of A and C.
        n: columns of B and C.
        k: columns of A, rows of B.
        dtype: of A and B: int8, int16, int32 or bfloat16.
        macs: multiplications per cycle of a core; None = the maximum (``arch.core_costs``).
    """

    m: int = 512
    n: int = 512
    k: int = 512
    dtype: Literal["int8", "int16", "int32", "bfloat16"] = "int8"
    macs: int | None = None

    template: ClassVar[str] = "gemm"

    @property
    def title(self) -> str:
        """One line."""
        return f"GEMM, {self.m} x {self.k} by {self.k} x {self.n}, {self.dtype}"

    @property
    def products(self) -> int:
        """Multiplications of the product."""
        return self.m * self.n * self.k

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""
        sizes: dict[str, Value] = {"m": self.m, "n": self.n, "k": self.k, "dtype": self.dtype}
        place: dict[str, Value] = {"device": machine.device.name, "columns": machine.columns}
        return {**sizes, **place, "macs": self.macs or machine.macs(self.dtype)}

    def candidates(self, machine: Machine) -> Iterator[PlanCandidate]:
        """Yield the candidates that fit into the memories and channels.

        Raises:
            DesignError: sizes that are not whole words, or that the columns do not divide into whole words.
        """
        if self.dtype not in _BYTES:
            raise refuse("gemm", "dtype", repr(self.dtype), ", ".join(_BYTES))
        block = machine.block(self.dtype)
        r, s, t = block or (1, self._word, 1)
        self._check(machine)
        exact = not (self.m % r or self.n % (machine.columns * t) or self.k % s)
        for rows in divisors(machine.rows):
            if self.m % (rows * r if exact else rows):
                continue
            talls = list(_cuts(self.m // rows, r, 1, exact=exact))
            wides = list(_cuts(self.n // machine.columns, t, self._word, exact=exact))
            for high, across, deep in itertools.product(talls, wides, self._deeps(s, exact=exact)):
                for depth in (1, 2):
                    if self._l1(high.size, across.size, deep, depth) > machine.l1:
                        continue
                    sides = {"s": s, "t": t} if block else {"s": deep, "t": across.size}
                    tile: dict[str, int] = {
                        "rows": rows,
                        "tall": high.size,
                        "wide": across.size,
                        "deep": deep,
                        **sides,
                        "depth": depth,
                    }
                    yield from self._ways(machine, tile, (high, across), s, exact=exact)

    @property
    def _word(self) -> int:
        """Elements of A and B that DMAs move at once."""
        return max(1, WORD_BYTES // _BYTES[self.dtype])

    def _deeps(self, s: int, *, exact: bool) -> list[int]:
        """What a core adds up at once: whole blocks, of the matrices or of these and zeros."""
        if exact:
            return list(divisors(self.k, min(_SHALLOWEST, self.k), _DEEPEST, s))
        panels = {cut.size for cut in self._panels(s, exact=False)}
        return sorted({deep for panel in panels for deep in divisors(panel, s, _DEEPEST, s)})

    def _panels(self, s: int, *, exact: bool) -> list[_Cut]:
        """Equal parts of the inner dimension."""
        return list(_cuts(self.k, s, self._word, exact=exact, most=None))

    def _check(self, machine: Machine) -> None:
        across = machine.columns * self._word
        for field, given, step in (("m", self.m, 1), ("n", self.n, across), ("k", self.k, self._word)):
            if given < 1 or given % step:
                allowed = "1 or more" if step == 1 else f"a multiple of {step}"
                why = "whole words" + (" in every column" if field == "n" else "")
                says = f"{field} is {given}; it must be {allowed}" + (f", for {why}" if step > 1 else "")
                step_text = f"Pad the matrices with zeros to {-(-max(given, 1) // step) * step}"
                fewer = (c for c in range(machine.columns, 0, -1) if given > 0 == given % (c * self._word))
                fitting = next(fewer, 0) if field == "n" else 0
                step_text += f", or give it {fitting} column{'s' * (fitting > 1)}." if fitting else "."
                raise refuse("gemm", field, given, allowed, says, step_text)

    def _l1(self, tall: int, wide: int, deep: int, depth: int) -> int:
        return 2 * (tall + wide) * deep * _BYTES[self.dtype] + depth * tall * wide * _SUM_BYTES

    def _ways(
        self, machine: Machine, tile: dict[str, int], cuts: tuple[_Cut, _Cut], s: int, *, exact: bool
    ) -> Iterator[PlanCandidate]:
        """How one tiling of the cores can be fed."""
        high, across = cuts
        deep, bands = tile["deep"], self.m // (tile["rows"] * high.own)
        strips = self.n // (machine.columns * across.own)
        panels = [cut for cut in self._panels(s, exact=exact) if cut.size % deep == 0]
        most = machine.device.kind("memory").lock_value_max
        kept = ["a"] * (1 < strips <= most) + ["b"] * (1 < bands <= most)
        whole = [cut for cut in panels if cut.own == self.k]
        near = [cut for cut in panels if cut.size <= 4 * deep]
        feeds = [*(("none", cut) for cut in near), *itertools.product(kept, whole)]
        half = len(machine.device.kind("memory").bd_bank(0))
        spreads = ("rows", "columns") if machine.columns > 1 else ("rows",)
        for (keep, panel), spread, ways in itertools.product(feeds, spreads, (1, 2)):
            served = -(-tile["rows"] // machine.columns) if spread == "rows" else tile["rows"]
            if tile["rows"] % ways or not machine.channels_suffice(2 + tile["rows"], served + 1 + ways):
                continue
            again = {"none": 0, "a": -(-served // 2) * (strips + 1), "b": bands + 1}[keep]
            if again and 2 * (again + tile["rows"]) + _OTHER_BDS > half:
                continue
            point: dict[str, Value] = {
                **tile,
                "panel": panel.size,
                "keep": keep,
                "spread": spread,
                "ways": ways,
            }
            if not exact:
                zeros = {"zero_rows": high, "zero_columns": across, "zero_depth": panel}
                point |= {name: cut.size - cut.own for name, cut in zeros.items()}
            inner = self.k // panel.own * panel.size
            made = self._expected(machine, point, served, (bands, strips, inner))
            if made is not None:
                yield made

    def _expected(
        self, machine: Machine, point: dict[str, Value], served: int, counts: tuple[int, int, int]
    ) -> PlanCandidate | None:
        bands, strips, inner = counts
        names = ("rows", "tall", "wide", "deep", "depth", "panel", "ways")
        rows, tall, wide, deep, depth, panel, ways = (int(point[name]) for name in names)
        each = _BYTES[self.dtype]
        a, b, c = served * tall * panel * each, panel * wide * each, rows * tall * wide * _SUM_BYTES
        l2 = 2 * (a + b + c)
        if l2 > machine.l2:
            return None
        blocks, macs = bands * strips, self.macs or machine.macs(self.dtype)
        core_out = machine.beats(tall * wide * _SUM_BYTES)
        compute: float = blocks * (inner // deep) * (-(-tall * wide * deep // macs) + _SWITCH)
        compute += core_out * (blocks - 1) * (depth == 1)
        loads_a = bands * (1 if point["keep"] == "a" else strips) * served * tall * inner * each
        loads_b = (1 if point["keep"] == "b" else bands) * strips * wide * inner * each
        streams = machine.beats(blocks * max(tall, wide) * inner * each)
        out = machine.beats(blocks * c / ways)
        busiest = max(compute, streams, out, machine.beats(loads_a), machine.beats(loads_b))
        ramp = machine.beats(max(a, b)) + machine.beats(max(tall, wide) * deep * each)
        drain = machine.beats(c / ways) + core_out
        return PlanCandidate({**point}, busiest + ramp + drain, l2 * machine.columns)


class _Cut(NamedTuple):
    """One of equal parts of a side of a matrix.

    Attributes:
        size: its length, whole blocks.
        own: what of it the matrix has; the rest is zeros.
    """

    size: int
    own: int


def _cuts(length: int, block: int, word: int, *, exact: bool, most: int | None = _LARGEST) -> Iterator[_Cut]:
    """Equal parts of a length, in whole blocks; if they are not ``exact``, in whole words, filled up."""
    if exact:
        yield from (_Cut(size, size) for size in divisors(length, block, most, block))
        return
    for own in divisors(length, word, most, word):
        size = -(-own // block) * block
        if most is None or size <= most:
            yield _Cut(size, own)
