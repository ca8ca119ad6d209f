"""What a convolution leaves open: rows of an object, what cores divide, depths, who pads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import mul
from typing import ClassVar, Literal

from memtile.arch.tiles import WORD_BYTES
from memtile.explore.plan.budgets import Machine, PlanCandidate, Value, divisors, refuse
from memtile.explore.plan.convolution_rounds import ConvolutionRounds

_SPLITS = ("rows", "columns", "channels")


@dataclass(frozen=True, slots=True)
class Convolution:
    """Layers of a ``size`` x ``size`` convolution, int8, one after another; zeros beyond the image's border.

    Attributes:
        images: number of images, sent one after another.
        height: rows of an image.
        width: columns of an image.
        channels: of the images, and of the output of all layers but the last.
        features: channels of the last layer's output; None = ``channels``.
        size: of the window, odd: 1, 3 and so on.
        depthwise: each channel has a window of its own.
        layers: number of consecutive layers, a column of cores each.
        stride: rows and columns from one window to the next.
        pool: rows and columns of features pooled into one, after each layer.
        pooling: pooling operation: the largest ("max") or the mean ("mean").
        macs: multiplications per cycle of a core; None = the maximum (``arch.core_costs``).
        weights: "kept" in the cores of a column for each layer, or of one layer in "rounds" from external
            memory to the cores of all columns; "any" = kept if they fit.
    """

    images: int = 1
    height: int = 32
    width: int = 32
    channels: int = 8
    features: int | None = None
    size: int = 3
    depthwise: bool = False
    layers: int = 1
    stride: int = 1
    pool: int = 1
    pooling: Literal["max", "mean"] = "max"
    macs: int | None = None
    weights: Literal["any", "kept", "rounds"] = "any"

    template: ClassVar[str] = "convolution"

    @property
    def title(self) -> str:
        """One line."""
        kind = "depthwise convolution" if self.depthwise else "convolution"
        many = f"{self.layers} layers of a " if self.layers > 1 else ""
        shape = f"{self.height} x {self.width} x {self.channels}"
        how = f", stride {self.stride}" * (self.stride > 1)
        how += f", {self.pool} x {self.pool} {self.pooling} pooling" * (self.pool > 1)
        head = f"{many}{self.size} x {self.size} {kind}{how}"
        return f"{head}, {self.images} x {shape} to {self._made} channels, int8"

    @property
    def _step(self) -> int:
        """Rows of an image for each row that a layer makes of it."""
        return self.stride * self.pool

    @property
    def _made(self) -> int:
        return self.channels if self.features is None else self.features

    @property
    def _every(self) -> int:
        """Rows of an image for each row that all layers together make of it."""
        return int(self._step**self.layers)

    @property
    def products(self) -> int:
        """Multiplications of all layers."""
        each = self.size**2 * (1 if self.depthwise else self.channels)
        made = [*[self.channels] * (self.layers - 1), self._made]
        windows = [
            self.height * self.width * self.pool**2 // self._step ** (2 * n + 2) for n in range(self.layers)
        ]
        return self.images * each * int(sum(map(mul, windows, made)))

    def fixed(self, machine: Machine) -> Mapping[str, Value]:
        """Arguments that are the same for all candidates."""
        image = {"images": self.images, "height": self.height, "width": self.width}
        kinds = {"channels": self.channels, "features": self._made, "size": self.size}
        rest: dict[str, Value] = {
            "depthwise": self.depthwise,
            "layers": self.layers,
            "stride": self.stride,
            "pool": self.pool,
            "pooling": self.pooling,
            "device": machine.device.name,
        }
        return {**image, **kinds, **rest, "macs": self.macs or machine.macs("int8")}

    def candidates(self, machine: Machine) -> Iterator[PlanCandidate]:
        """Yield the candidates that fit into the memories and channels.

        Raises:
            DesignError: sizes that do not form a layer, or more layers than columns.
        """
        self._check(machine)
        if 0 not in machine.device.noc_columns:
            return  # images come and go in column 0
        for cores, tall, split in itertools.product(divisors(machine.rows), divisors(self.height), _SPLITS):
            if self._divides(cores, tall, split) and tall * self.width * self.channels % WORD_BYTES == 0:
                yield from self._depths(machine, cores, tall, split)

    def on(self, machine: Machine) -> Convolution | ConvolutionRounds:
        """Return the placement of the layer that fits into a machine.

        Raises:
            DesignError: as :meth:`candidates`; weights that are not "any", "kept" or "rounds".
        """
        if self.weights not in ("any", "kept", "rounds"):
            raise refuse("conv", "weights", repr(self.weights), "any, kept, rounds")
        if self.weights == "kept" or (self.weights == "any" and any(self.candidates(machine))):
            return self
        self._check(machine)
        if self.layers > 1 or self.depthwise or self.pool > 1:
            if self.weights == "any":
                return self
            allowed = "one layer, not depthwise, without pooling"
            raise refuse("conv", "weights", "'rounds'", allowed, f"weights come in rounds of {allowed} only")
        sizes = self.images, self.height, self.width, self.channels, self._made, self.size, self.stride
        return ConvolutionRounds(*sizes, self.macs)

    def _check(self, machine: Machine) -> None:
        for field in ("images", "height", "width", "channels", "size", "layers", "stride", "pool"):
            if getattr(self, field) < 1:
                raise refuse("conv", field, getattr(self, field), "1 or more")
        if self.size % 2 == 0:
            raise refuse("conv", "size", self.size, "an odd number")
        self._check_steps()
        if self.layers > machine.columns:
            raise refuse("conv", "layers", self.layers, f"1..{machine.columns}, a column for each layer")
        if self.depthwise and self._made != self.channels:
            raise refuse("conv", "features", self._made, f"{self.channels}, as many as channels: depthwise")
        for field, given in (("channels", self.channels), ("features", self._made)):
            if given % WORD_BYTES:
                raise refuse("conv", field, given, "a multiple of 4: DMAs move whole words")
        if self.size // 2 > self.height:
            raise refuse("conv", "size", self.size, f"at most {2 * self.height + 1}, for {self.height} rows")

    def _check_steps(self) -> None:
        """Refuse images of which strides and pooling leave no whole rows and columns."""
        if self.pooling not in ("max", "mean"):
            raise refuse("conv", "pooling", repr(self.pooling), "max, mean")
        every = self._every
        for field in ("height", "width"):
            given = getattr(self, field)
            if given % every:
                says = f"{field} is {given}; it must be a multiple of {every}, for strides and pooling"
                step = f"Pad the images with zeros to {-(-given // every) * every}."
                raise refuse("conv", field, given, f"a multiple of {every}", says, step)

    def _divides(self, cores: int, tall: int, split: str) -> bool:
        if split != "rows" and cores == 1:
            return False  # the same as rows
        halo, last = self.size // 2, self._every
        if tall % last or (halo > tall * self._step // last and tall < self.height):
            return False  # rows that are no whole ones in the end, or of more than the next object
        if split == "channels":
            inner = {self._made, self.channels} if self.layers > 1 else {self._made}
            return all(made % (cores * WORD_BYTES) == 0 for made in inner)
        if split == "rows":
            return tall // last % cores == 0
        return self.width // last >= cores

    def _depths(self, machine: Machine, cores: int, tall: int, split: str) -> Iterator[PlanCandidate]:
        alone = tall == self.height
        held = 1 if alone or self.size == 1 else 3
        pads = ("memory tile", "core") if self.size > 1 else ("core",)
        if not machine.channels_suffice(1 + cores, 2):
            return
        for depth, spare, depth_out, padding in itertools.product((1, 2, 3), (0, 1), (1, 2), pads):
            point: dict[str, Value] = {
                "cores": cores,
                "split": split,
                "tall": tall,
                "depth": depth,
                "depth_in": held + spare,
            }
            made = self._expected(machine, {**point, "depth_out": depth_out, "padding": padding})
            if made is not None:
                yield made

    def _expected(self, machine: Machine, point: dict[str, Value]) -> PlanCandidate | None:
        names = ("cores", "tall", "depth", "depth_in", "depth_out")
        cores, tall, depth, depth_in, depth_out = (int(point[name]) for name in names)
        widest = max(self.channels, self._made)
        beside = self.size // 2 if point["padding"] == "memory tile" else 0
        made = -(-self.width // self._step)
        made = -(-made // cores) * cores if point["split"] == "columns" else made
        come = tall * (made * self._step + 2 * beside) * self.channels
        leave = tall // self._step * made * widest
        part = leave // cores
        weights = self.size**2 * self.channels * (1 if self.depthwise else widest)
        weights //= cores if point["split"] == "channels" else 1
        if come * depth_in + part * depth_out + weights > machine.l1:
            return None
        l2 = (tall * self.width * self.channels * self.layers + leave) * depth
        if (tall * self.width * self.channels + leave) * depth > machine.l2:
            return None
        objects = self.images * (self.height // tall)
        windows = tall // self._step * made * self.pool**2
        products = windows * self._made * (self.size**2 * (1 if self.depthwise else self.channels))
        products += windows * self._made * (self.pool > 1)
        compute = products / cores / (self.macs or machine.macs("int8"))
        move = machine.beats(max(come, leave))
        each = max(move * (2 if depth == 1 else 1), compute + (machine.beats(part) if depth_out == 1 else 0))
        each = max(each, move + compute) if depth_in in (1, 3) else each
        latency = self.layers * (2 * move + compute + machine.beats(part)) + 2 * move
        return PlanCandidate({**point}, objects * each + latency, l2)
