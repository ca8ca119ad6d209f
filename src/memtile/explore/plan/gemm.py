"""What a matrix product leaves open: blocks, panels, who keeps what, how A comes to the cores and C back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from memtile.explore.plan.machine import Candidate, Machine, Value, divisors, refuse

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
        macs: multiplications that a core makes in a cycle; None = the most that it can (``arch.throughput``).
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

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""
        sizes: dict[str, Value] = {"m": self.m, "n": self.n, "k": self.k, "dtype": self.dtype}
        place: dict[str, Value] = {"device": machine.device.name, "columns": machine.columns}
        return {**sizes, **place, "macs": self.macs or machine.macs(self.dtype)}

    def candidates(self, machine: Machine) -> Iterator[Candidate]:
        """All that fits into the memories and channels.

        Raises:
            DesignError: sizes that no number of cores divides into blocks of the multiplier.
        """
        if self.dtype not in _BYTES:
            raise refuse("gemm", "dtype", repr(self.dtype), ", ".join(_BYTES))
        block = machine.block(self.dtype)
        r, s, t = block or (1, 4 // _BYTES[self.dtype], 1)
        self._check(machine, (r, s, t))
        for rows in divisors(machine.rows):
            if self.m % (rows * r):
                continue
            talls = divisors(self.m // rows, r, _LARGEST, r)
            wides = divisors(self.n // machine.columns, t, _LARGEST, t)
            deeps = divisors(self.k, min(_SHALLOWEST, self.k), _DEEPEST, s)
            for tall, wide, deep in itertools.product(talls, wides, deeps):
                for depth in (1, 2):
                    if self._l1(tall, wide, deep, depth) > machine.l1:
                        continue
                    sides = {"s": s, "t": t} if block else {"s": deep, "t": wide}
                    tile: dict[str, int] = {
                        "rows": rows,
                        "tall": tall,
                        "wide": wide,
                        "deep": deep,
                        **sides,
                        "depth": depth,
                    }
                    yield from self._ways(machine, tile)

    def _check(self, machine: Machine, block: tuple[int, int, int]) -> None:
        across = machine.columns * block[2]
        for field, given, step in (("m", self.m, block[0]), ("n", self.n, across), ("k", self.k, block[1])):
            if given < 1 or given % step:
                allowed = f"a multiple of {step}"
                why = "the blocks of the multiplier" + (" in every column" if field == "n" else "")
                says = f"{field} is {given}; it must be {allowed}, for {why}"
                step_text = f"Pad the matrices with zeros to {-(-max(given, 1) // step) * step}."
                raise refuse("gemm", field, given, allowed, says, step_text)

    def _l1(self, tall: int, wide: int, deep: int, depth: int) -> int:
        return 2 * (tall + wide) * deep * _BYTES[self.dtype] + depth * tall * wide * _SUM_BYTES

    def _ways(self, machine: Machine, tile: dict[str, int]) -> Iterator[Candidate]:
        """How one tiling of the cores can be fed."""
        bands = self.m // (tile["rows"] * tile["tall"])
        strips = self.n // (machine.columns * tile["wide"])
        panels = [p for p in divisors(self.k, tile["deep"], None, tile["deep"]) if p <= 4 * tile["deep"]]
        most = machine.device.kind("memory").lock_value_max
        kept = ["a"] * (1 < strips <= most) + ["b"] * (1 < bands <= most)
        feeds = [*(("none", panel) for panel in panels), *((keep, self.k) for keep in kept)]
        half = len(machine.device.kind("memory").bd_bank(0))
        spreads = ("rows", "columns") if machine.columns > 1 else ("rows",)
        for (keep, panel), spread, ways in itertools.product(feeds, spreads, (1, 2)):
            served = -(-tile["rows"] // machine.columns) if spread == "rows" else tile["rows"]
            if tile["rows"] % ways or not machine.channels_suffice(2 + tile["rows"], served + 1 + ways):
                continue
            again = {"none": 0, "a": -(-served // 2) * (strips + 1), "b": bands + 1}[keep]
            if again and 2 * (again + tile["rows"]) + _OTHER_BDS > half:
                continue
            point: dict[str, Value] = {**tile, "panel": panel, "keep": keep, "spread": spread, "ways": ways}
            made = self._expected(machine, point, served, bands, strips)
            if made is not None:
                yield made

    def _expected(
        self, machine: Machine, point: dict[str, Value], served: int, bands: int, strips: int
    ) -> Candidate | None:
        names = ("rows", "tall", "wide", "deep", "depth", "panel", "ways")
        rows, tall, wide, deep, depth, panel, ways = (int(point[name]) for name in names)
        each = _BYTES[self.dtype]
        a, b, c = served * tall * panel * each, panel * wide * each, rows * tall * wide * _SUM_BYTES
        l2 = 2 * (a + b + c)
        if l2 > machine.l2:
            return None
        blocks, macs = bands * strips, self.macs or machine.macs(self.dtype)
        core_out = machine.beats(tall * wide * _SUM_BYTES)
        compute: float = blocks * (self.k // deep) * (-(-tall * wide * deep // macs) + _SWITCH)
        compute += core_out * (blocks - 1) * (depth == 1)
        loads_a = bands * (1 if point["keep"] == "a" else strips) * served * tall * self.k * each
        loads_b = (1 if point["keep"] == "b" else bands) * strips * wide * self.k * each
        streams = machine.beats(blocks * max(tall, wide) * self.k * each)
        out = machine.beats(blocks * c / ways)
        busiest = max(compute, streams, out, machine.beats(loads_a), machine.beats(loads_b))
        ramp = machine.beats(max(a, b)) + machine.beats(max(tall, wide) * deep * each)
        drain = machine.beats(c / ways) + core_out
        return Candidate({**point}, busiest + ramp + drain, l2 * machine.columns)
