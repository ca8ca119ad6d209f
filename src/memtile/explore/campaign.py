"""Fault campaigns: a design runs once as it is and once under upsets, and every upset is accounted for.

What a fault campaign found: what became of each upset, and of the outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Unpack

import numpy as np

from memtile.arch import timing as chosen_timing
from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.tile import Tile
from memtile.errors import DesignError
from memtile.explain.results import Array as Values
from memtile.explain.results import Result, Status
from memtile.model.memory.ecc import Fate
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.sheet import Sheet, SheetColumn
from memtile.sim.loop.upsets import Upset, UpsetTarget, scattered


class Outcome(StrEnum):
    """The outcome of an upset: the worst that any reader saw."""

    SILENT = "silent"
    DETECTED = "detected"
    CORRECTED = "corrected"
    SCRUBBED = "scrubbed"
    OVERWRITTEN = "overwritten"
    HARMLESS = "harmless"

    @property
    def text(self) -> str:
        """The outcome in words."""
        return _TEXTS[self]


_SHOWN = 8  # outputs that differ
_TEXTS = {
    Outcome.SILENT: "silent: wrong data delivered as right",
    Outcome.DETECTED: "detected: reported, not corrected",
    Outcome.CORRECTED: "corrected on a read",
    Outcome.SCRUBBED: "corrected by the scrubber before any read",
    Outcome.OVERWRITTEN: "overwritten before any read",
    Outcome.HARMLESS: "harmless: read, no data bit wrong",
}
_BY_FATE = (
    (Fate.SILENT, Outcome.SILENT),
    (Fate.DETECTED, Outcome.DETECTED),
    (Fate.CORRECTED, Outcome.CORRECTED),
    (Fate.SCRUBBED, Outcome.SCRUBBED),
    (Fate.OVERWRITTEN, Outcome.OVERWRITTEN),
)


def outcome_of(fate: Fate) -> Outcome | None:
    """The outcome that a fate means; None when nothing has happened to the word."""
    return next((outcome for flag, outcome in _BY_FATE if fate & flag), None)


@dataclass(frozen=True, slots=True, repr=False)
class CampaignResult:
    """The outcome of a fault campaign.

    Attributes:
        upsets: number requested.
        struck: number that happened; fewer after Ctrl-C.
        bits: cells that flipped together.
        seed: of the generator.
        protected: with ECC and parity as on the chip.
        words: words that the upsets were spread over.
        area: the memory that these words are from.
        cycles: of the run with upsets.
        running: upsets by outcome, where the design or the check at its end read the word.
        read_back: upsets by outcome for all other words, read through the memory-mapped port after the run.
        bit_exact: whether every output equals that of the run without upsets.
        wrong_outputs: names of the outputs that differ.
        interrupted: Ctrl-C ended the run.
        timing: timing constants with a value other than the default, by name.
    """

    upsets: int
    struck: int
    bits: int
    seed: int
    protected: bool
    words: int
    area: str
    cycles: int
    running: Mapping[Outcome, int]
    read_back: Mapping[Outcome, int]
    bit_exact: bool
    wrong_outputs: tuple[str, ...]
    interrupted: bool
    timing: Mapping[str, int] = field(default_factory=dict)

    def count(self, *outcomes: Outcome) -> int:
        """Return the number of upsets with one of the outcomes, during the run or in the read-back."""
        return sum(self.running[o] + self.read_back[o] for o in outcomes)

    @property
    def good(self) -> bool:
        """No wrong data was delivered as right."""
        return self.count(Outcome.SILENT) == 0

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "upsets": self.upsets,
            "struck": self.struck,
            "bits": self.bits,
            "seed": self.seed,
            "protected": self.protected,
            "area": self.area,
            "words": self.words,
            "cycles": self.cycles,
            "while_running": {o.value: n for o, n in self.running.items()},
            "in_read_back": {o.value: n for o, n in self.read_back.items()},
            "bit_exact": self.bit_exact,
            "wrong_outputs": list(self.wrong_outputs),
            "interrupted": self.interrupted,
            "timing": chosen_timing.as_json(self.timing),
        }

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def __repr__(self) -> str:
        found = ", ".join(f"{n} {o}" for o in Outcome if (n := self.count(o)))
        exact = "bit-exact" if self.bit_exact else "NOT bit-exact"
        return f"CampaignResult({self.struck} upsets of {self.bits} bits: {found}; {exact})"

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def __str__(self) -> str:
        """The sheet as plain text."""
        return str(self.sheet())

    def sheet(self, most: int | None = _SHOWN) -> Sheet:
        """Return the campaign for people: the verdict, a row of upsets for each outcome, and summary lines.

        Args:
            most: largest number of differing outputs to name; None = all.
        """
        outcomes = (
            (outcome.text, str(self.running[outcome]), str(self.read_back[outcome]))
            for outcome in reversed(Outcome)
        )
        total = ("sum", str(sum(self.running.values())), str(sum(self.read_back.values())))
        return Sheet(
            columns=(
                SheetColumn("upsets", one_line=True),
                SheetColumn("while it ran", right=True, one_line=True),
                SheetColumn("in the read-back", right=True, one_line=True),
            ),
            rows=(*outcomes, total),
            above=(self._verdict(), self._head()),
            below=tuple(self._lines(most)),
        )

    def _verdict(self) -> str:
        """Whether wrong data was delivered as right, and what became of the upsets, in one line."""
        silent = self.count(Outcome.SILENT)
        told = (
            f"{silent:,} upset{'s' * (silent != 1)} delivered wrong data as right"
            if silent
            else "no upset delivered wrong data as right"
        )
        others = [
            f"{n:,} {each}" for each in Outcome if each is not Outcome.SILENT and (n := self.count(each))
        ]
        exact = "yes" if self.bit_exact else "no"
        return f"status: {told}; {', '.join(others) or 'no others'}; bit-exact: {exact}"

    def _head(self) -> str:
        each = "1 bit" if self.bits == 1 else f"{self.bits} bits"
        how = "with ECC and parity" if self.protected else "WITHOUT ECC and parity"
        where = f"{self.words} words of {self.area}"
        return f"{self.struck} upsets of {each} in {where}, {self.cycles} cycles, seed {self.seed}, {how}"

    def _lines(self, most: int | None) -> list[str]:
        lines = []
        if self.wrong_outputs:
            rest = len(self.wrong_outputs[most:]) if most is not None else 0
            more = f" and {rest:,} more (--all)" if rest else ""
            lines.append(f"outputs that differ: {', '.join(self.wrong_outputs[:most])}{more}")
        if self.struck < self.upsets:
            lines.append(
                f"{self.upsets - self.struck} of {self.upsets} upsets did not happen: the run ended before"
            )
        if self.timing:
            lines.append(f"timing changed: {chosen_timing.as_text(self.timing)}")
        if self.interrupted:
            lines.append("interrupted. The upsets above had happened by then.")
        return lines


Design = MemoryTile | Array
Area = Literal["buffers", "memory"]


def campaign(
    make: Callable[[], Design],
    upsets: int,
    *,
    bits: int = 1,
    seed: int = 0,
    protected: bool = True,
    area: Area = "buffers",
    options: RunOptions = USUAL,
    **more: Unpack[RunKeywords],
) -> CampaignResult:
    """Run a design under upsets at random cycles, each in a different word; Ctrl-C keeps the results so far.

    The design runs first without upsets, which gives the cycles to choose from and the outputs to compare
    with. After the run under upsets, every word with an unread upset is read through the memory-mapped port
    of its tile, so that each upset is counted.

    Args:
        make: builds the design, the same on every call.
        upsets: how many.
        bits: cells of a word that flip together.
        seed: of the generator that chooses words, cells and cycles.
        protected: False = memory without check bits.
        area: words to hit: those of the design's buffers, or all data memory of its tiles.
        options: of both runs.
        more: fields of :class:`RunOptions`; they override ``options``.

    Raises:
        DesignError: not a design, one that does nothing, more upsets than words, or no time or no data.
        KeyboardInterrupt: Ctrl-C in the run without upsets, before any result.
    """
    options = RunOptions.of(options, more).refuse("a fault campaign", "untimed", "data")
    first = make()
    begin = first.engine.now if tiles_of(first) else 0
    reference = _undisturbed(first, options)
    made = make()
    if not protected:
        made.engine.without_protection()
    targets = list(words_of(made, area))
    cycles = range(begin, first.engine.now)
    made.engine.upsets.add(scattered(targets, cycles, upsets, bits=bits, seed=seed))
    result = made.run(options)
    running, read_back = account(made)
    wrong = tuple(differing(outputs(first, reference), outputs(made, result)))
    return CampaignResult(
        upsets=upsets,
        struck=len(made.engine.upsets.struck),
        bits=bits,
        seed=seed,
        protected=protected,
        words=len(targets),
        area="buffers" if area == "buffers" else "data memory",
        cycles=result.cycles,
        running=running,
        read_back=read_back,
        bit_exact=not wrong and result.exact is reference.exact,
        wrong_outputs=wrong,
        interrupted=result.status is Status.INTERRUPTED,
        timing=result.timing,
    )


def _undisturbed(design: Design, options: RunOptions) -> Result:
    result = design.run(options)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def tiles_of(design: Design) -> tuple[Tile, ...]:
    """The tiles that a design uses; raises :class:`DesignError` if it is none."""
    if isinstance(design, Array):
        return design.tiles
    if isinstance(design, Tile):
        return (design,)
    raise DesignError.of(
        "design",
        type(design).__name__,
        "a MemoryTile or an Array",
        f"the design is of type {type(design).__name__}; it must be a MemoryTile or an Array",
        reason="campaign",
        where="fault campaign",
        source="a campaign needs the memories",
    )


def words_of(design: Design, area: Area) -> Iterator[UpsetTarget]:
    """The words of an area of a design's data memories."""
    for tile in tiles_of(design):
        if area == "memory":
            yield from tile.engine.upsets.targets(tile.index)
        else:
            for buffer in tile.buffers:
                yield from tile.engine.upsets.targets(tile.index, buffer.offset // WORD_BYTES, buffer.words)


def account(design: Design) -> tuple[Counter[Outcome], Counter[Outcome]]:
    """Upsets that struck by outcome: those that somebody has looked at, and those that a read-back shows."""
    upsets = design.engine.upsets
    running, read_back = Counter(dict.fromkeys(Outcome, 0)), Counter(dict.fromkeys(Outcome, 0))
    unseen: list[Upset] = []
    for upset in upsets.struck:
        outcome = outcome_of(upsets.fate(upset))
        if outcome is None:
            unseen.append(upset)
        else:
            running[outcome] += 1
    for upset in unseen:
        design.engine.door(upset.tile).read32(upset.word * WORD_BYTES)
        read_back[outcome_of(upsets.fate(upset)) or Outcome.HARMLESS] += 1
    return running, read_back


def outputs(design: Design, result: Result) -> dict[str, Values]:
    """What came out: by stream port, and in external memory."""
    buffers = design.engine.external.buffers.values()
    return dict(result.outputs) | {f"external {buffer.name}": buffer.array for buffer in buffers}


def differing(wanted: dict[str, Values], got: dict[str, Values]) -> Iterable[str]:
    """Names of the outputs that are not the same, byte by byte."""
    for name, values in wanted.items():
        if name not in got or not np.array_equal(_bytes(values), _bytes(got[name])):
            yield name


def _bytes(values: Values) -> Values:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)
