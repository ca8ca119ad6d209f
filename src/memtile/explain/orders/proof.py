"""Whether one run decides all: how a design ends, and with which words, for every timing of its parts.

The parts of an array are sequential: a channel, a core, a host does one thing after another, and waits only
for units of a lock, for words or room of a stream, for the end of a task. If of each lock one part takes, if
each stream has one sender, and if nobody looks whether something is there yet, then what may happen next
stays possible until it happens, whoever goes first. So all orders do the same, and stop at the same place. A
run that came to rest is one of these orders. What does not fit is named, and then a run shows its own timing.
``docs/check.md`` has the argument and its limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

FINISHES, STUCK = "finishes", "is stuck"
_FEW = 2  # reasons that are said in a line


@dataclass(frozen=True, slots=True)
class Proof:
    """What one run says of all orders.

    Attributes:
        ends: how it ended, ``FINISHES`` or ``STUCK``; empty = it did not come to rest.
        reasons: what is outside of the argument; empty = every order ends so.
        of_words: what is outside of it for words alone; empty = every order gives these words.
        assumed: what timings must have in common for the argument, a line each; empty = nothing.
        schedule: seed of another schedule that ended otherwise; None = none was found.
        tried: how many other schedules were tried.
    """

    ends: str
    reasons: tuple[str, ...] = ()
    of_words: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    schedule: int | None = None
    tried: int = 0

    @property
    def ends_proved(self) -> bool:
        """Whether every order ends so."""
        return bool(self.ends) and not (self.reasons or self.assumed) and self.schedule is None

    @property
    def is_stuck(self) -> bool:
        """Whether the run was stuck."""
        return self.ends == STUCK

    @property
    def words_proved(self) -> bool:
        """Whether every order gives these words."""
        return self.ends_proved and not self.of_words

    @property
    def status(self) -> str:
        """``proved``, ``this timing`` or ``broken``: another timing ends otherwise."""
        if self.schedule is not None:
            return "broken"
        return "proved" if self.ends_proved else "this timing"

    @property
    def text(self) -> str:
        """The verdict in a line."""
        if self.schedule is not None:
            return f"holds for this timing only: in schedule {self.schedule} it ends differently"
        if not self.ends_proved:
            tried = f"; {self.tried} other schedules end the same way" if self.tried else ""
            if self.assumed and not self.reasons:
                return f"holds for this timing, and for each in which {_few(self.assumed)}{tried}"
            return f"holds for this timing: {_few(self.reasons) or 'the array was still active'}{tried}"
        if self.is_stuck:
            return "proved for every timing: it is stuck"
        if self.of_words:
            words = f"its words hold for this timing: {_few(self.of_words)}"
            return f"proved for every timing: it finishes; {words}"
        return "proved for every timing: it finishes, with these words"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "status": self.status,
            "ends": self.ends_proved,
            "words": self.words_proved,
            "reasons": list(self.reasons),
            "reasons_of_words": list(self.of_words),
            "assumed": list(self.assumed),
            "schedule": self.schedule,
            "tried": self.tried,
        }

    def doubted(self, *reasons: str) -> Proof:
        """Return it with more that is outside."""
        return replace(self, reasons=tuple(dict.fromkeys((*self.reasons, *reasons))))


def _few(reasons: Sequence[str]) -> str:
    more = f", and {len(reasons) - _FEW} more" if len(reasons) > _FEW else ""
    return f"{'; '.join(reasons[:_FEW])}{more}"
