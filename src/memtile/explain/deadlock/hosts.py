"""What a host waits for beside an array that has stopped."""

from __future__ import annotations

from dataclasses import dataclass

from memtile.explain.deadlock.graph import Via


@dataclass(frozen=True, slots=True)
class HostWaiting:
    """A host that has not come to its end.

    Attributes:
        name: as messages have it: ``host sequence 'run'``, a place in a program.
        text: one line: what it waits for.
        channels: model indices of the channels whose tasks, tokens or queues it waits for.
        via: what of them: ``Via.END``, ``Via.TOKEN`` or ``Via.ROOM``.
        starts: model indices of the channels to which it would push tasks afterwards; None = not known.
        releases: locks that these tasks release, or it itself, as far as is known.
    """

    name: str
    text: str
    channels: tuple[int, ...] = ()
    via: Via = Via.END
    starts: frozenset[int] | None = None
    releases: frozenset[int] = frozenset()

    def may_start(self, ch: int) -> bool:
        """Whether it would start a task on a channel, as far as is known."""
        return self.starts is None or ch in self.starts
