"""Steps that are repeated as loops."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

MOST_STEPS = 20_000
"""Operations of a core that are written."""
_LONGEST = 1024  # steps of a loop's body that are looked for


class Loop(NamedTuple):
    """Steps that are repeated.

    Attributes:
        times: how often; 0 = without end.
        body: what is repeated: steps and loops.
    """

    times: int
    body: tuple[Hashable, ...]


def rolled(steps: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Steps with loops for what is repeated, inner loops first.

    Args:
        steps: in order; equal ones are equal.
    """
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(each, len(numbers)) for each in steps]
    things = list(numbers)
    period = 1
    while period <= min(len(found) // 2, _LONGEST):
        shorter = _repeated(found, period, numbers, things)
        period = period + 1 if len(shorter) == len(found) else 1
        found = shorter
    return tuple(things[number] for number in found)


def _repeated(
    steps: list[int], period: int, numbers: dict[Hashable, int], things: list[Hashable]
) -> list[int]:
    """The steps, by number, with a loop for each run of a period; loops get numbers of their own."""
    equal = [0] * (len(steps) + 1)  # steps from here on that are equal to those one period behind
    for at in range(len(steps) - period - 1, -1, -1):
        equal[at] = equal[at + 1] + 1 if steps[at] == steps[at + period] else 0
    found: list[int] = []
    at = 0
    while at < len(steps):
        times = equal[at] // period + 1
        if times == 1:
            found.append(steps[at])
            at += 1
            continue
        loop = Loop(times, tuple(things[number] for number in steps[at : at + period]))
        if loop not in numbers:
            numbers[loop] = len(things)
            things.append(loop)
        found.append(numbers[loop])
        at += times * period
    return found
