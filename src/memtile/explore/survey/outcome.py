"""What became of one design: its bucket, why, and what it lacked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Bucket(StrEnum):
    """Where a survey puts a design."""

    EXACT = "exact"
    FINISHED = "finished"
    WRONG = "wrong"
    STUCK = "stuck"
    REFUSED = "refused"
    BROKEN = "broken"

    @property
    def text(self) -> str:
        """What became of the design, in words."""
        return _TEXTS[self]


_TEXTS = {
    Bucket.EXACT: "exact: finished, with the data that lie beside it",
    Bucket.FINISHED: "finished: no expected data lie beside it",
    Bucket.WRONG: "wrong: other data than those that lie beside it",
    Bucket.STUCK: "stuck: began and did not finish",
    Bucket.REFUSED: "refused: did not begin",
    Bucket.BROKEN: "broken: memtile failed, or the time was over",
}
GOOD = (Bucket.EXACT, Bucket.FINISHED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a design.

    Attributes:
        name: path below the folder.
        bucket: where it belongs.
        why: one line; empty where all is well.
        missing: what it was refused for the lack of, such as ``operation aievec.mac`` or ``function zero``.
        device: that it ran on; empty if it never began.
        cycles: that it ran.
        seconds: that it took, reading included.
    """

    name: str
    bucket: Bucket
    why: str = ""
    missing: tuple[str, ...] = ()
    device: str = ""
    cycles: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "design": self.name,
            "bucket": self.bucket.value,
            "why": self.why,
            "missing": list(self.missing),
            "device": self.device or None,
            "cycles": self.cycles,
            "seconds": round(self.seconds, 3),
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> Outcome:
        """The outcome of plain data."""
        return cls(
            data["design"],
            Bucket(data["bucket"]),
            data["why"],
            tuple(data["missing"]),
            data["device"] or "",
            data["cycles"],
            data["seconds"],
        )
