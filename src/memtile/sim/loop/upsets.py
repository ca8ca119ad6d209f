"""Upsets: cells of data memory that flip at a cycle, as radiation flips them.

An upset is no access: it goes through no port and no register, takes no cycle, and no arbiter, event or
status knows of it before somebody reads the word. What follows is the model's (``model.ecc``). All upsets of
a cycle happen before its first phase; the same upsets give the same run, bit by bit.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.protection import CELLS, PARITY_CELLS
from memtile.arch.registers import WORD_BITS
from memtile.errors import DesignError, Problem, raise_if
from memtile.model.memory import ecc
from memtile.model.state.state import State

_SOURCE = "AM020: ECC and parity of data memory"
_NEVER = 1 << 62


class Upset(NamedTuple):
    """Cells of one word flip.

    Attributes:
        cycle: in which they flip, before anything else happens.
        tile: model index of the tile.
        word: tile-local word of its data memory.
        bits: cells that flip: 0 to 31 data, from 32 on check bits, 7 with ECC, 1 with parity.
    """

    cycle: int
    tile: int
    word: int
    bits: tuple[int, ...]

    @property
    def cells(self) -> int:
        """The cells that flip, as a mask."""
        return sum(1 << bit for bit in set(self.bits))


class UpsetTarget(NamedTuple):
    """A word that may be hit.

    Attributes:
        tile: model index of the tile.
        word: tile-local word.
        cells: how many cells it has.
    """

    tile: int
    word: int
    cells: int


class Upsets:
    """The upsets of an engine: those to come, and those that have struck.

    Args:
        state: its state.

    Attributes:
        scheduled: those still to come, a heap: cycle, order in which they were given, upset.
        struck: the others.
    """

    def __init__(self, state: State) -> None:
        self._spec, self._state = state.spec, state
        self.scheduled: list[tuple[int, int, Upset]] = []
        self._order = count()
        self._held = False
        self.struck: list[Upset] = []

    @property
    def waiting(self) -> list[Upset]:
        """Those still to come, in the order in which they strike."""
        return [upset for *_, upset in sorted(self.scheduled, key=lambda entry: entry[:2])]

    @waiting.setter
    def waiting(self, upsets: Iterable[Upset]) -> None:
        self.scheduled = [(upset.cycle, next(self._order), upset) for upset in upsets]

    @property
    def next_cycle(self) -> int:
        """Cycle of the next upset, or one that never comes."""
        return self.scheduled[0][0] if self.scheduled and not self._held else _NEVER

    def add(self, upsets: Iterable[Upset]) -> None:
        """Schedule upsets; those of the same cycle strike in the order given.

        Raises:
            DesignError: a word or a cell that is not there, or a cycle that is over; all such at once.
        """
        wanted = list(upsets)
        raise_if([problem for upset in wanted for problem in self._problems(upset)], DesignError)
        for upset in wanted:
            heapq.heappush(self.scheduled, (upset.cycle, next(self._order), upset))

    def strike(self) -> None:
        """Flip the cells of all upsets that are due."""
        while self.scheduled and self.next_cycle <= self._state.clock.now[0]:
            upset = heapq.heappop(self.scheduled)[2]
            place = int(self._spec.tiles.memory_base[upset.tile]) + upset.word
            ecc.flip(self._state, upset.tile, place, upset.cells)
            self.struck.append(upset)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Without upsets, while the clock is not that of the array (untimed run)."""
        self.strike()
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def fate(self, upset: Upset) -> ecc.Fate:
        """What has become of the flips of an upset's word so far, of all those that it had."""
        return ecc.Fate(int(self._state.fates[int(self._spec.tiles.memory_base[upset.tile]) + upset.word]))

    def is_there(self, upset: Upset) -> bool:
        """Whether cells of the upset's word are still flipped."""
        return bool(self._state.flips[int(self._spec.tiles.memory_base[upset.tile]) + upset.word])

    def targets(self, tile: int, first: int = 0, words: int | None = None) -> list[UpsetTarget]:
        """Tile-local words from ``first`` on, all if omitted, with the cells that each has."""
        end = int(self._spec.tiles.memory_words[tile]) if words is None else first + words
        enabled = bool(self._state.guards.enabled[tile])
        with_ecc = int(self._spec.protections.ecc_words[self._spec.tiles.kind[tile]])
        cells = (CELLS, PARITY_CELLS) if enabled else (WORD_BITS, WORD_BITS)
        return [UpsetTarget(tile, word, cells[word >= with_ecc]) for word in range(first, end)]

    def _problems(self, upset: Upset) -> Iterator[Problem]:
        now, tiles = int(self._state.clock.now[0]), self._spec.tiles
        where = f"upset of tile {upset.tile}, word {upset.word:#x}, cycle {upset.cycle}"
        if upset.cycle < now:
            yield Problem(
                "cycle",
                str(upset.cycle),
                f"{now} or later",
                reason="upset_cycle",
                where=where,
                source="the run is at that cycle",
            )
        if not 0 <= upset.tile < len(tiles.kind):
            yield Problem(
                "tile",
                str(upset.tile),
                f"0..{len(tiles.kind) - 1}",
                reason="upset_tile",
                where=where,
                source="tiles of the model",
            )
            return
        words = int(tiles.memory_words[upset.tile])
        if not 0 <= upset.word < words:
            yield Problem(
                "word",
                f"{upset.word:#x}",
                f"0x0..{words - 1:#x}" if words else "a tile with data memory",
                "" if words else "the tile has no data memory",
                reason="upset_word",
                where=where,
                source=_SOURCE,
            )
            return
        ((_, _, cells),) = self.targets(upset.tile, upset.word, 1)
        wrong = [str(bit) for bit in upset.bits if not 0 <= bit < cells]
        if wrong or not upset.bits:
            found = f"the wrong bits are {', '.join(wrong)}" if wrong else "no bits are named"
            yield Problem(
                "bits",
                ", ".join(wrong) or "none",
                f"0..{cells - 1}, one or more",
                f"{found}, allowed are one or more of 0..{cells - 1}",
                reason="upset_bits",
                where=where,
                source=_SOURCE,
            )


def scattered(targets: list[UpsetTarget], cycles: range, number: int, *, bits: int, seed: int) -> list[Upset]:
    """``number`` upsets of ``bits`` cells each, at random cycles, each in a word of its own.

    Args:
        targets: the words to choose from.
        cycles: the cycles to choose from.
        number: how many; at most one a word.
        bits: cells that flip together.
        seed: of NumPy's generator; the same seed gives the same upsets.

    Raises:
        DesignError: more upsets than words, no cycle, or words with fewer cells.
    """
    _check(targets, cycles, number, bits)
    random = np.random.default_rng(seed)
    words = random.choice(len(targets), number, replace=False)
    when = np.sort(random.integers(cycles.start, cycles.stop, number))
    return [_hit(random, int(at), targets[word], bits) for at, word in zip(when, words.tolist(), strict=True)]


def raining(targets: list[UpsetTarget], cycles: range, rate: float, *, bits: int, seed: int) -> list[Upset]:
    """Upsets of ``bits`` cells each at a constant rate: their distances in time are exponential.

    Args:
        targets: the words to choose from, each time anew: one may be hit again.
        cycles: when it rains.
        rate: upsets per cycle, over all words together.
        bits: cells that flip together.
        seed: of NumPy's generator.

    Raises:
        DesignError: no words, no cycle, a rate that is not above 0, or words with fewer cells.
    """
    _check(targets, cycles, 1, bits)
    if not rate > 0:
        raise DesignError.of(
            "rate", str(rate), "above 0", reason="upset_rate", where="upsets", source="upsets per cycle"
        )
    random = np.random.default_rng(seed)
    found, at = [], cycles.start + random.exponential(1 / rate)
    while at < cycles.stop:
        found.append(_hit(random, int(at), targets[random.integers(len(targets))], bits))
        at += random.exponential(1 / rate)
    return found


def _hit(random: np.random.Generator, cycle: int, target: UpsetTarget, bits: int) -> Upset:
    chosen: npt.NDArray[np.int64] = np.sort(random.choice(target.cells, bits, replace=False))
    return Upset(cycle, target.tile, target.word, tuple(chosen.tolist()))


def _check(targets: list[UpsetTarget], cycles: range, number: int, bits: int) -> None:
    problems = []
    if not 0 < number <= len(targets):
        problems.append(
            Problem(
                "number",
                str(number),
                f"1..{len(targets)}, one for each word to choose from",
                reason="upset_number",
                where="upsets",
                source="no word is hit twice",
            )
        )
    if len(cycles) == 0:
        problems.append(
            Problem(
                "cycles",
                str(cycles),
                "one cycle or more",
                f"the cycles are {cycles}; there must be at least one",
                reason="upset_cycles",
                where="upsets",
                source="upsets happen during a run",
            )
        )
    most = min((target.cells for target in targets), default=1)
    if not 1 <= bits <= most:
        problems.append(
            Problem(
                "bits",
                str(bits),
                f"1..{most}",
                f"the number of bits is {bits}, allowed are 1..{most}",
                reason="upset_bits",
                where="upsets",
                source=_SOURCE,
            )
        )
    raise_if(problems, DesignError)
