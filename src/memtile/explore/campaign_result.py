"""What a fault campaign found: what became of each upset, and of the outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memtile.arch import chosen_timing
from memtile.model.memory.ecc import Fate
from memtile.sheet import Column, Sheet


class Outcome(StrEnum):
    """What became of an upset; the worst of what its readers got."""

    SILENT = "silent"
    DETECTED = "detected"
    CORRECTED = "corrected"
    SCRUBBED = "scrubbed"
    OVERWRITTEN = "overwritten"
    HARMLESS = "harmless"

    @property
    def text(self) -> str:
        """What became of the upset, in words."""
        return _TEXTS[self]


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
        upsets: how many were asked for.
        struck: how many happened; fewer after Ctrl-C.
        bits: cells that flipped together.
        seed: of the generator.
        protected: with ECC and parity as on the chip.
        words: words that the upsets were spread over.
        area: what these words are.
        cycles: of the run with upsets.
        running: upsets by outcome, of those that the design or its end looked at.
        read_back: upsets by outcome of the others, whose words were read through the door after the run.
        bit_exact: whether every output is that of the run without upsets.
        wrong_outputs: names of the others.
        interrupted: Ctrl-C ended the run.
        timing: timing constants that had not their default, by name.
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
        """Upsets with one of the outcomes, during the run or in the read-back."""
        return sum(self.running[o] + self.read_back[o] for o in outcomes)

    @property
    def good(self) -> bool:
        """Nobody got wrong data as if it were right."""
        return self.count(Outcome.SILENT) == 0

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
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

    def sheet(self) -> Sheet:
        """The campaign for people: a row of upsets for each outcome, and lines around."""
        outcomes = (
            (outcome.text, str(self.running[outcome]), str(self.read_back[outcome]))
            for outcome in reversed(Outcome)
        )
        total = ("sum", str(sum(self.running.values())), str(sum(self.read_back.values())))
        return Sheet(
            columns=(
                Column("upsets", one_line=True),
                Column("while it ran", right=True, one_line=True),
                Column("in the read-back", right=True, one_line=True),
            ),
            rows=(*outcomes, total),
            above=(self._head(),),
            below=tuple(self._lines()),
        )

    def _head(self) -> str:
        each = "1 bit" if self.bits == 1 else f"{self.bits} bits"
        how = "with ECC and parity" if self.protected else "WITHOUT ECC and parity"
        where = f"{self.words} words of {self.area}"
        return f"{self.struck} upsets of {each} in {where}, {self.cycles} cycles, seed {self.seed}, {how}"

    def _lines(self) -> list[str]:
        lines = [f"outputs bit-exact: {'yes' if self.bit_exact else 'no'}"]
        lines += [f"differs from the run without upsets: {name}" for name in self.wrong_outputs]
        if self.struck < self.upsets:
            lines.append(
                f"{self.upsets - self.struck} of {self.upsets} upsets did not happen: the run ended before"
            )
        if self.timing:
            lines.append(f"timing changed: {chosen_timing.as_text(self.timing)}")
        if self.interrupted:
            lines.append("interrupted: this is what was done")
        return lines
