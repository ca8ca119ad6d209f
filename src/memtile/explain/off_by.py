"""The values that were meant, from the statement of a finding by how much words are off."""

from __future__ import annotations

import re
from fractions import Fraction

_TIMES = re.compile(r"(-?[1-9]\d*)(?:/(\d+))? times as large as expected")
_SHIFTED = re.compile(r"shifted right by (\d+) bits? too (few|many)")
_EMPTY = re.compile(r"zeros in the last (\d+) of each (\d+) elements")
_BY = re.compile(r"(\d+) (more|less) than expected")


def other_values(value: int, message: str) -> list[int]:
    """Values with which words would be right that are off as a message says, the likeliest first.

    Args:
        value: that they were computed with.
        message: of a finding; one that says nothing of that kind has none.
    """
    found = list[int]()
    if times := _TIMES.search(message):
        meant = value / Fraction(int(times[1]), int(times[2] or 1))
        found += [int(meant)] if meant.denominator == 1 else []
    if shifted := _SHIFTED.search(message):
        bits = int(shifted[1]) if shifted[2] == "few" else -int(shifted[1])
        factor = Fraction(value) / Fraction(2) ** bits
        found += [value + bits, *([int(factor)] if factor.denominator == 1 else [])]  # of bits, of a factor
    if empty := _EMPTY.search(message):
        whole = Fraction(value * int(empty[2]), int(empty[2]) - int(empty[1]))
        found += [int(whole)] if whole.denominator == 1 else []  # of a count
    if by := _BY.search(message):
        more = int(by[1]) if by[2] == "more" else -int(by[1])
        found += [value - more, value + more]  # of what is added, of what is taken off
    return [each for each in dict.fromkeys(found) if each != value]
