"""Confidence grades of facts about the hardware (DESIGN: "Confidence")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How we know a fact."""

    MANUAL = "manual"  # AMD documentation
    DRIVER = "driver"  # AMD's open driver or compiler
    SILICON = "silicon"  # a published measurement
    ASSUMED = "assumed"  # our choice; a user may change it


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact comes from and how far to trust it."""

    text: str
    grade: Grade
