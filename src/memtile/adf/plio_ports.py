"""Streams of the programmable logic at interface tiles, as the lowering and the run of a graph use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memtile.adf.description import Plio
from memtile.adf.plan import End
from memtile.arch.devices import device as find_device
from memtile.arch.ports import DEMUX_BITS, DMA_MASTERS, PORTS, SOUTH_ATTACHMENT, port_kind
from memtile.arch.register_map import tile_register
from memtile.design.array import Array
from memtile.design.channels import Channel
from memtile.design.circuits import End as StreamEnd
from memtile.design.events import SwitchEnd
from memtile.design.logic_ports import PlioIn, PlioOut
from memtile.errors import DesignError
from memtile.explain.edge_streams import EdgeStreams

Words = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Collected:
    """What left the array at a PLIO.

    Attributes:
        words: in order.
        tlast: 1 where a block ends.
        cycles: in which each word left; None = not known.
    """

    words: Words
    tlast: Flags
    cycles: npt.NDArray[np.int64] | None = None


class InputPort(Protocol):
    """An input PLIO in the model."""

    @property
    def end(self) -> StreamEnd:
        """Where its stream begins, for circuits of the array."""

    @property
    def fed(self) -> int:
        """Words that it was given so far."""

    @property
    def entered(self) -> int:
        """Words that have entered the array."""

    @property
    def began(self) -> int:
        """Cycle in which the first of them could enter; -1 = there is none."""

    @property
    def ended(self) -> int:
        """Cycle in which the last PLIO word so far began to enter; -1 = not known."""

    def feed(self, words: Words, tlast: Flags | None = None) -> None:
        """Let it send words after those before; ``tlast``: 1 where a block ends."""


class OutputPort(Protocol):
    """An output PLIO in the model."""

    @property
    def end(self) -> StreamEnd:
        """Where its stream ends, for circuits of the array."""

    def collected(self) -> Collected:
        """What it has received so far."""


class PlioPorts(Protocol):
    """Makes the PLIOs of a graph."""

    def input(self, array: Array, plio: Plio, end: End) -> InputPort:
        """A PLIO that sends words into the array."""

    def output(self, array: Array, plio: Plio, end: End) -> OutputPort:
        """A PLIO that words leave the array by."""


@dataclass(slots=True)
class _LogicInput:
    """Sends words of the programmable logic."""

    end: PlioIn
    began: int = -1
    sent: list[Words] = field(default_factory=list)

    @property
    def fed(self) -> int:
        """Words that it was given so far."""
        return self.end.words + self.end.pending

    def feed(self, words: Words, tlast: Flags | None = None) -> None:
        """Let it send words after those before."""
        if len(words):
            self.began = self.end.tile.engine.now if self.began < 0 else self.began
            self.end.feed(words, tlast)
            self.sent.append(words)

    @property
    def entered(self) -> int:
        """Words that have entered the array."""
        return self.end.words

    @property
    def ended(self) -> int:
        """Cycle in which the last PLIO word so far began to enter; -1 = none has."""
        return self.end.latest


@dataclass(frozen=True, slots=True)
class _LogicOutput:
    """Takes what the programmable logic gets."""

    end: PlioOut

    def collected(self) -> Collected:
        """The words so far, each with the cycle in which it left the array."""
        return Collected(self.end.output(), self.end.tlasts(), self.end.times())


class LogicPlioPorts:
    """PLIOs at South ports of interface tiles, with their width and frequency."""

    def input(self, array: Array, plio: Plio, end: End) -> InputPort:
        """A stream from the programmable logic."""
        tile = array.interface_tile(end.tile[0])
        return _LogicInput(tile.plio_in(end.shim_port, **_clocked(plio)).named(plio.name))

    def output(self, array: Array, plio: Plio, end: End) -> OutputPort:
        """A stream to the programmable logic."""
        tile = array.interface_tile(end.tile[0])
        return _LogicOutput(tile.plio_out(end.shim_port, **_clocked(plio)).named(plio.name))


def edge_streams(
    inputs: Mapping[int, InputPort], outputs: Mapping[int, OutputPort], plios: Mapping[int, Plio]
) -> EdgeStreams:
    """The streams of the programmable logic, as findings follow words along them.

    Args:
        inputs: of a graph that ran, by id.
        outputs: by id.
        plios: by id.
    """
    ends = {plios[n].name: each.end.index for n, each in outputs.items() if isinstance(each, _LogicOutput)}
    sent = {
        port.end.index: np.concatenate(port.sent)[: port.entered]
        for port in inputs.values()
        if isinstance(port, _LogicInput) and port.sent
    }
    return EdgeStreams(ends, sent)


def _clocked(plio: Plio) -> dict[str, Any]:
    return {"width": plio.width, "mhz": plio.mhz or None}


def plio_ports_of(device: str) -> PlioPorts:
    """The PLIOs of a device: those of its programmable logic, or what stands for them.

    Args:
        device: its name.
    """
    return LogicPlioPorts() if find_device(device).has_programmable_logic else MemoryPlioPorts()


@dataclass(slots=True)
class _MemoryInput:
    """Sends words from memory outside of the array, by a channel of the interface tile's DMA."""

    array: Array
    name: str
    end: Channel
    fed: int = 0
    began: int = -1
    _sizes: list[int] = field(default_factory=list)

    @property
    def entered(self) -> int:
        """Words of the tasks that have ended."""
        return sum(self._sizes[: self.end.tasks_done])

    @property
    def ended(self) -> int:
        """Not known: -1."""
        return -1

    def feed(self, words: Words, tlast: Flags | None = None) -> None:
        """Let the channel read the words as one task, which ends with TLAST.

        Raises:
            DesignError: TLAST within the words.
        """
        if tlast is not None and tlast[:-1].any():
            raise DesignError.of(
                "tlast",
                "within the data",
                "after the last word",
                reason="adf_tlast",
                where=self.name,
                source="AM020: an MM2S channel sends TLAST after its task",
            )
        if not len(words):
            return
        self._sizes.append(len(words))
        self.began = self.array.engine.now if self.began < 0 else self.began
        kept = np.ascontiguousarray(words, np.uint32).copy()
        buffer = self.array.external(f"{self.name} piece {len(self._sizes)}", kept)
        self.end.start(self.end.tile.read(buffer))
        self.fed += len(words)


@dataclass(frozen=True, slots=True)
class _SwitchOutput:
    """Takes the words that leave the switch of the interface tile."""

    array: Array
    end: SwitchEnd

    def collected(self) -> Collected:
        """The words so far; their cycles are not known."""
        left = self.array.engine.left_port(self.end.tile.index, self.end.port)
        words = np.array([word for word, _ in left], np.uint32)
        return Collected(words, np.array([last for _, last in left], np.uint8))


class MemoryPlioPorts:
    """PLIOs of devices without programmable logic, without their width and frequency (DEV-ADF-34).

    Words come from memory by the interface tile's DMA; what leaves the array is taken at once.
    """

    def input(self, array: Array, plio: Plio, end: End) -> InputPort:
        """A channel of the interface tile stands for the PLIO."""
        channel = array.interface_tile(end.tile[0]).free_channel(receives=False).named(plio.name)
        return _MemoryInput(array, plio.name, channel)

    def __init__(self) -> None:
        self._taken: dict[int, int] = {}  # ports by column

    def output(self, array: Array, plio: Plio, end: End) -> OutputPort:
        """A port of the switch, behind which is no tile.

        Raises:
            DesignError: all ports of the tile are taken.
        """
        column = end.tile[0]
        number = self._taken.get(column, 0)
        tile = array.interface_tile(column)
        names = [each for each in PORTS[tile.kind.name].masters if _leads_outside(each)]
        if number >= len(names):
            raise DesignError.of(
                "port",
                "one more",
                f"{len(names)} ports of {tile.title}",
                reason="adf_shim_port",
                where=plio.name,
                source="AM009: AI Engine to programmable logic interface",
            )
        self._taken[column] = number + 1
        port = SwitchEnd(tile, names[number], receives=True)
        _lead_outside(port)
        array.engine.catch_port(tile.index, port.port)
        return _SwitchOutput(array, port)


def _leads_outside(name: str) -> bool:
    return port_kind(name) == "SOUTH" and name not in DMA_MASTERS


def _lead_outside(port: SwitchEnd) -> None:
    """Let a South port lead out of the array, not to the DMA, where a register chooses."""
    if port.port not in DEMUX_BITS:
        return
    register = tile_register(port.tile.kind.name, "Demux_Config")
    field = register.field(port.port.capitalize())
    port.tile.post_mask(register.offset, field.mask, SOUTH_ATTACHMENT["PL"] << field.lsb)
