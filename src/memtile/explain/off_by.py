"""The values that were meant, from the evidence of a finding by how much words are off."""

from __future__ import annotations

from fractions import Fraction

from memtile.explain.evidence import Evidence


def other_values(value: int, evidence: Evidence) -> list[int]:
    """Values with which words would be right that are off as a finding says, the likeliest first.

    Args:
        value: that they were computed with.
        evidence: of the finding; there is no value for words that are off in another way.
    """
    found = list[int]()
    if evidence.times:
        meant = value / evidence.times
        found += [int(meant)] if meant.denominator == 1 else []
    if bits := evidence.bits:
        factor = Fraction(value) / Fraction(2) ** bits
        found += [value + bits, *([int(factor)] if factor.denominator == 1 else [])]  # of bits, of a factor
    if made := evidence.made[0]:
        whole = Fraction(value * evidence.made[1], made)
        found += [int(whole)] if whole.denominator == 1 else []  # of a count
    if more := evidence.more:
        found += [value - more, value + more]  # of what is added, of what is taken off
    return [each for each in dict.fromkeys(found) if each != value]
