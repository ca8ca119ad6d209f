"""Releases that stand behind the loop in which their object is acquired.

An acquire of an object that is held already brings no other one: a loop that acquires and does not release
has the same object in all of its turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtile.explain.findings import CODES, Finding, Side
from memtile.importers.kernels.lock_names import line_of, place_of
from memtile.importers.kernels.lock_steps import Key, Loop, Node, Step, all_steps

_UNEVEN = "MT0135"


@dataclass(frozen=True)
class ReleasedBehind:
    """A release behind a loop that acquires what it releases.

    Attributes:
        loop: with the acquire, and without a release.
        release: the one behind it.
    """

    loop: Loop
    release: Step

    @property
    def key(self) -> Key:
        """The end of the object FIFO."""
        return self.release.key

    @property
    def turns(self) -> int:
        """Turns of the loop."""
        return self.loop.turns or 1

    def finding(self, who: str) -> Finding:
        """What is wrong if the release was meant to stand in the loop; ``who`` is the core's name."""
        name, where = f"@{self.key.name}", line_of(self.loop.operation)
        does = f"acquires {name} in each of the {self.turns} turns of its loop in {where}"
        message = (
            f"{who} {does} and releases it once, behind the loop in {line_of(self.release.operation)}: all "
            "turns have the same object. Released in each turn, all object FIFOs are even."
        )
        side = Side(who, f"{does} and releases it behind the loop", place_of(self.release.operation))
        return Finding(
            _UNEVEN,
            CODES[_UNEVEN].severity,
            message,
            (side,),
            fix=f"Release {name} in the loop, in each turn.",
        )


def released_behind(nodes: Sequence[Node]) -> Iterator[ReleasedBehind]:
    """The releases of a core that stand behind loops of several turns, which acquire and never release.

    Args:
        nodes: steps of a round.
    """
    for at, node in enumerate(nodes):
        if not isinstance(node, Loop):
            continue
        yield from released_behind(node.steps)
        steps = [*all_steps(node.steps)]
        given = {step.key for step in steps if not step.acquires}
        for key in dict.fromkeys(step.key for step in steps if step.key not in given):
            after = [step for step in nodes[at + 1 :] if isinstance(step, Step) and step.key == key]
            if (node.turns or 0) > 1 and len(after) == 1 and not after[0].acquires:
                yield ReleasedBehind(node, after[0])
