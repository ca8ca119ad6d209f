"""PLIO of a design: streams between the programmable logic and South ports of an interface tile.

Both are ends of flows, as channels are: ``array.connect(plio_in, channel)``. What the logic sends is fed,
what it gets is collected, each word with the cycle in which it came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from memtile.arch.boards import CLOCK_MHZ
from memtile.arch.pl_interface import (
    CLOCK_DIVISOR,
    DEFAULT_WIDTH,
    LOGIC_MASTERS,
    LOGIC_SLAVES,
    PAIRED_BITS,
    PLIO_WIDTHS,
    SOURCES,
    sizer_fields,
    stream_words,
)
from memtile.arch.register_map import tile_register
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.design.buffers import dtype_of
from memtile.design.channels import stream_words_of
from memtile.design.events import SwitchEnd
from memtile.design.tile import Tile
from memtile.errors import DesignError, Problem, raise_if

Array = npt.NDArray[Any]
_PICOSECONDS = 10**6  # of a cycle at 1 MHz
_MOST_STALL = (1 << 20) - 1  # cycles of the PLIO's clock before a word


@dataclass(frozen=True)
class LogicEnd(SwitchEnd):
    """A stream of the programmable logic at a South port.

    Attributes:
        width: of the PLIO in bits.
        mhz: of its clock.
        index: of the switch port in the model.
    """

    width: int = DEFAULT_WIDTH
    mhz: float = 0.0
    index: int = field(default=-1, compare=False)

    @property
    def is_logic(self) -> bool:
        """True: the port leads to the programmable logic, not to the DMA."""
        return True

    @property
    def name(self) -> str:
        """For messages: ``PLIO 'input_0' at interface(0,0) slave SOUTH0``."""
        label = self.tile.engine.logic.names.get(self.index, "")
        return f"PLIO{f' {label!r}' if label else ''} at {super().name}"

    @property
    def words(self) -> int:
        """Number of stream words transferred so far."""
        return self.tile.engine.logic.sent(self.index)

    def named(self, label: str) -> Self:
        """Name the stream for results and messages."""
        self.tile.bench.post(lambda: self.tile.engine.logic.names.update({self.index: label}))
        return self


@dataclass(frozen=True)
class PlioIn(LogicEnd):
    """A stream from the programmable logic into the array (``input_plio``)."""

    def feed(
        self, data: Array, tlast: npt.ArrayLike | None = None, stalls: npt.ArrayLike | None = None
    ) -> None:
        """Append words for the logic to send, one PLIO word per period of its clock while there is room.

        Args:
            data: any array of whole 32-bit words, as for ``Channel.feed``.
            tlast: for each word, whether a packet ends with it; None = no word ends a packet.
            stalls: for each word, the idle cycles of the PLIO's clock before it; ignored for words that do
                not begin a PLIO word. None = no idle cycles.

        Raises:
            DesignError: not whole words, or a number of flags or stalls other than the number of words.
        """
        words = stream_words_of(data, self.name)
        flags = self._of_each("tlast", "flags", words, tlast).astype(bool).astype(np.uint8)
        periods = self._of_each("stalls", "stalls", words, stalls)
        if ((periods < 0) | (periods > _MOST_STALL)).any():
            raise self._refused("stalls", f"{periods.min()}..{periods.max()}", f"0..{_MOST_STALL}")
        self.tile.engine.feed_logic(self.index, words, flags, periods.astype(np.uint32))

    def _of_each(self, field: str, what: str, words: Array, given: npt.ArrayLike | None) -> Array:
        """Numbers of the words, one of each."""
        numbers = np.zeros(len(words), np.int64) if given is None else np.asarray(given)
        if numbers.shape != words.shape:
            raise self._refused(field, f"{numbers.size} {what} for {len(words)} words", "one for each word")
        return numbers

    def _refused(self, field: str, given: str, allowed: str) -> DesignError:
        source = "UG1076: CSV file format"
        return DesignError.of(field, given, allowed, reason=f"plio_{field}", where=self.name, source=source)

    @property
    def pending(self) -> int:
        """Words fed that have not entered the array."""
        return self.tile.engine.logic.pending(self.index)

    @property
    def latest(self) -> int:
        """Cycle in which the last PLIO word so far began to enter; -1 = no word yet, or not known.

        It is not known while words fed after a pause have not begun to enter.
        """
        logic, index = self.tile.engine.state.logic, self.index
        stored = int(logic.stored[index])
        left = self.tile.engine.logic.stalls(index)[stored:]
        if not logic.beats[index] or (len(left) and not logic.place[index] + stored):
            return -1
        periods = 1 if logic.filled[index] else 1 + int(left[:1].sum())
        ticks = int(logic.due[index]) * int(logic.ticks[index]) + int(logic.carry[index])
        return (ticks - periods * int(logic.cycles[index])) // int(logic.ticks[index])

    @property
    def blocked(self) -> int:
        """Cycles in which its next PLIO word could have entered the FIFO, had there been room."""
        return int(self.tile.engine.state.logic.blocked[self.index])


@dataclass(frozen=True)
class PlioOut(LogicEnd):
    """A stream from the array to the programmable logic (``output_plio``), which accepts every word."""

    def output(self, dtype: npt.DTypeLike = np.uint32) -> Array:
        """Return the elements received so far; a tail shorter than one element is left out.

        Args:
            dtype: of the elements.

        Raises:
            DesignError: no type.
        """
        found = dtype_of(dtype, self.name)
        words = np.array([word for word, _ in self._left()], np.uint32)
        whole = len(words) * WORD_BYTES // found.itemsize * found.itemsize
        return np.frombuffer(words.tobytes()[:whole], found)

    def tlasts(self) -> npt.NDArray[np.uint8]:
        """Return, for each word, whether a packet ended with it."""
        return np.array([last for _, last in self._left()], np.uint8)

    def times(self) -> npt.NDArray[np.int64]:
        """Return the cycle in which each word left the array; of no meaning after an untimed run."""
        return self.tile.engine.logic.times(self.index)

    def times_ps(self) -> npt.NDArray[np.int64]:
        """Return :meth:`times` in picoseconds of the array's clock, as files of PLIO have them."""
        clock = CLOCK_MHZ.get(self.tile.engine.board, ARRAY_CLOCK_MHZ)
        found: npt.NDArray[np.int64] = np.rint(self.times() * (_PICOSECONDS / clock)).astype(np.int64)
        return found

    @property
    def incomplete(self) -> int:
        """Words of the last, incomplete PLIO word, if it has no TLAST.

        The interface of the chip holds them back until more words come (UG1079); memtile sends them
        (DEV-ADF-56).
        """
        return int(self.tile.engine.state.logic.filled[self.index])

    def _left(self) -> list[tuple[int, int]]:
        return self.tile.engine.left.get(self.index, [])


def logic_end(
    tile: Tile,
    taken: dict[tuple[bool, int], str],
    port: int,
    width: int,
    mhz: float | None,
    *,
    receives: bool,
) -> dict[str, Any]:
    """Claim a South port for the programmable logic; the attributes of its end.

    Args:
        tile: an interface tile.
        taken: by direction and number the ports that streams of the logic have; gets this one's.
        port: number of the South port.
        width: of the PLIO in bits.
        mhz: of its clock; None = the default part of the array's.
        receives: True = the logic gets words.

    Raises:
        DesignError: no such port, width or clock, no programmable logic, or a port that another one has.
    """
    clock = CLOCK_MHZ.get(tile.engine.board, ARRAY_CLOCK_MHZ)
    frequency = clock / CLOCK_DIVISOR if mhz is None else mhz
    wanted = _ports_of(port, width)
    raise_if(_problems(tile, taken, port, width, frequency, clock, receives=receives), DesignError)
    side = "master" if receives else "slave"
    taken.update({(receives, each): f"{side} SOUTH{port}" for each in wanted})
    period = Fraction(clock) / Fraction(frequency)
    for name, bits, value in sizer_fields(port, width, receives=receives):
        register = tile_register(tile.kind.name, name)
        tile.post_mask(register.offset, register.field(bits).mask, register.pack(**{bits: value}))
    words = stream_words(width)
    index = tile.engine.attach_logic(tile.index, port, receives=receives, words=words, period=period)
    return {"tile": tile, "port": f"SOUTH{port}", "receives": receives} | {
        "width": width,
        "mhz": float(frequency),
        "index": index,
    }


def _ports_of(port: int, width: int) -> tuple[int, ...]:
    return (port, port + 1) if width >= PAIRED_BITS else (port,)


def _problems(
    tile: Tile,
    taken: dict[tuple[bool, int], str],
    port: int,
    width: int,
    mhz: float,
    clock: float,
    *,
    receives: bool,
) -> list[Problem]:
    where = f"{tile.title}, PLIO {'out' if receives else 'in'}"

    def problem(field: str, given: str, allowed: str, of: str, says: str = "") -> Problem:
        source = SOURCES[of].text
        return Problem(field, given, allowed, says, reason=f"plio_{of}", where=where, source=source)

    if not tile.bench.device.has_programmable_logic:
        name, says = tile.bench.device.name, "has no programmable logic beside its array"
        return [problem("device", name, "a Versal device", "ports", f"{name} {says}; Versal devices have")]
    if width not in PLIO_WIDTHS:
        return [problem("width", f"{width} bits", "32, 64 or 128 bits", "width")]
    ports = len(LOGIC_MASTERS if receives else LOGIC_SLAVES)
    if port not in range(ports):
        return [problem("port", f"{port}", f"0..{ports - 1}", "ports")]
    if not 0 < mhz <= clock:
        given, allowed = f"{mhz:g} MHz", f"above 0 and at most the {clock:g} MHz of the array"
        return [problem("clock", given, allowed, "clock")]
    wanted = _ports_of(port, width)
    if wanted[0] % len(wanted):
        says = f"a PLIO of {width} bits has two adjacent ports, so that its first is even, not {port}"
        return [problem("port", f"{port}", "an even port", "pair", says)]
    others = {owner for each in wanted if (owner := taken.get((receives, each)))}
    return [
        problem("port", f"{port}", "a free port", "ports", f"SOUTH{port} cannot be a PLIO: {owner} has it")
        for owner in sorted(others)
    ]
