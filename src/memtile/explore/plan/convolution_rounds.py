"""What a convolution leaves open whose weights come in rounds: columns, channels at once, who pads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from memtile.arch.bd_layout import BURST_BYTES
from memtile.arch.tiles import WORD_BYTES
from memtile.explore.plan.budgets import Machine, PlanCandidate, Value, divisors

_SUM_BYTES = 4
_SHALLOWEST, _DEEPEST = 16, 256  # input channels at once: shorter rows are slow in external memory


@dataclass(frozen=True, slots=True)
class ConvolutionRounds:
    """A convolution, int8, whose weights come from external memory chunk by chunk; sums stay in the cores.

    Attributes:
        images: number of images, sent one after another.
        height: rows of an image.
        width: columns of an image.
        channels: of the images.
        features: that are made.
        size: of the window, odd.
        stride: rows and columns from one window to the next.
        macs: multiplications that a core makes in a cycle; None = the most that it can.
    """

    images: int
    height: int
    width: int
    channels: int
    features: int
    size: int
    stride: int
    macs: int | None = None

    template: ClassVar[str] = "convolution_rounds"

    @property
    def title(self) -> str:
        """One line."""
        how = f", stride {self.stride}" * (self.stride > 1)
        shape = f"{self.images} x {self.height} x {self.width} x {self.channels}"
        head = f"{self.size} x {self.size} convolution{how}, {shape}"
        return f"{head} to {self.features} channels, int8, weights in rounds"

    @property
    def products(self) -> int:
        """Multiplications of the layer."""
        return self.images * self._made * self.features * self.size**2 * self.channels

    @property
    def _made(self) -> int:
        """Windows of an image."""
        return ((self.height - 1) // self.stride + 1) * ((self.width - 1) // self.stride + 1)

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""
        return {
            **{name: getattr(self, name) for name in ("images", "height", "width", "channels", "features")},
            "size": self.size,
            "stride": self.stride,
            "device": machine.device.name,
            "macs": self.macs or machine.macs("int8"),
        }

    def candidates(self, machine: Machine) -> Iterator[PlanCandidate]:
        """Yield the candidates that fit into the memories and channels."""
        with_dma = sum(column < machine.columns for column in machine.device.noc_columns)
        cuts = itertools.product(
            range(1, with_dma + 1),
            divisors(machine.rows),
            divisors(self.images),
            divisors(self.channels, min(_SHALLOWEST, self.channels), _DEEPEST, WORD_BYTES),
        )
        for columns, cores, together, deep in cuts:
            own, rest = divmod(self.features, columns * cores)
            for wide in () if rest else divisors(own, WORD_BYTES, step=WORD_BYTES):
                point: dict[str, Value] = {
                    "columns": columns,
                    "cores": cores,
                    "together": together,
                    "wide": wide,
                    "deep": deep,
                }
                yield from self._ways(machine, point, rounds=own // wide)

    def _ways(self, machine: Machine, point: dict[str, Value], rounds: int) -> Iterator[PlanCandidate]:
        """How one way to cut the layer can be fed."""
        columns, cores, deep = (int(point[name]) for name in ("columns", "cores", "deep"))
        long = next(divisors(self.channels, min(BURST_BYTES[0], self.channels), step=deep))  # whole bursts
        panels = dict.fromkeys((deep, long, self.channels) if rounds > 1 else (deep, long))
        pads = ("core", "memory tile") if self.size > 1 else ("core",)
        depths = (1, 2) if rounds * self.images > int(point["together"]) else (1,)
        for ways in (1, 2) if columns > 1 and cores > 1 else (1,):
            served = _served(columns, cores, ways)
            most = max((sum(served[n : n + ways]) for n in range(1, len(served), ways)), default=0)
            first = machine.channels_suffice(2 + cores, served[0] + 2)
            if not first or not machine.channels_suffice(ways + cores, most + 1):
                continue
            for panel, depth, padding in itertools.product(panels, depths, pads):
                more = {"panel": panel, "ways": ways, "depth": depth, "padding": padding}
                made = self._expected(machine, {**point, **more}, served, rounds)
                if made is not None:
                    yield made

    def _expected(
        self, machine: Machine, point: dict[str, Value], served: list[int], rounds: int
    ) -> PlanCandidate | None:
        names = ("columns", "cores", "together", "wide", "deep", "panel", "ways", "depth")
        columns, cores, together, wide, deep, panel, ways, depth = (int(point[name]) for name in names)
        beside = self.size // 2 if point["padding"] == "memory tile" else 0
        area = together * (self.height + 2 * beside) * (self.width + 2 * beside)
        weights, made = self.size**2 * deep * wide, together * self._made * wide
        if 2 * (area * deep + weights) + made * (_SUM_BYTES + depth) > machine.l1:
            return None
        ends = 2 * made * cores
        l2 = [2 * (area * panel + served[0] * weights) + ends, 2 * ways * max(served) * weights + ends]
        if max(l2) > machine.l2:
            return None
        again = 1 if panel == self.channels else rounds
        pixels = together * self.height * self.width
        compute = ceil(
            together * self._made * wide * self.size**2 * deep / (self.macs or machine.macs("int8"))
        )
        steps, groups = self.channels // deep, self.images // together
        loads = machine.beats(max(max(served) * weights, pixels * deep * again / rounds))
        each = max(compute, machine.beats(max(area * deep, weights)), loads)
        ramp = machine.beats(max(pixels * panel, max(served) * weights) + max(area * deep, weights))
        drain = compute + machine.beats(made + made * cores)
        if depth == 1:
            drain += (groups * rounds - 1) * machine.beats(made)
        return PlanCandidate({**point}, groups * rounds * steps * each + ramp + drain, sum(l2) * columns / 2)


def _served(columns: int, cores: int, ways: int) -> list[int]:
    """Cores that each way of weights serves: one way in the first column, ``ways`` in the others."""
    many = 1 + (columns - 1) * ways
    least, more = divmod(columns * cores, many)
    return [least + (number < more) for number in range(many)]
