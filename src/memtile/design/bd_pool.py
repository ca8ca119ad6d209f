"""Descriptor numbers of a tile; on a memory tile a channel has half of them, by its parity (AM020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from memtile.arch.tiles import TileKind
from memtile.design.undo import Journal, undoable
from memtile.errors import DesignError, Problem


class BdPool:
    """Free BD numbers of one tile.

    Args:
        kind: the tile kind.
        title: the tile, for messages.
        journal: of the design; None = of no design.
    """

    _taken: Mapping[int, str] = undoable()

    def __init__(self, kind: TileKind, title: str = "", journal: Journal | None = None) -> None:
        self._kind, self._title, self.journal = kind, title or kind.title, journal or Journal()
        self._taken = {}

    @property
    def used(self) -> int:
        """How many BDs somebody has."""
        return len(self._taken)

    def free(self, channel: int) -> int:
        """How many BDs channel ``channel`` of either direction can still get."""
        return len(self._numbers(channel))

    def take(self, channel: int, count: int, name: str) -> tuple[int, ...]:
        """:meth:`choose`, and keep them for ``name``."""
        numbers = self.choose(channel, count, name)
        self._taken = {**self._taken, **dict.fromkeys(numbers, name)}
        return numbers

    def choose(self, channel: int, count: int, name: str) -> tuple[int, ...]:
        """The lowest ``count`` numbers that the channel may use.

        Raises:
            DesignError: fewer are free; names the half, who has how many of it, and channels with room.
        """
        numbers = self._numbers(channel)
        if len(numbers) < count:
            bank = self._kind.bd_bank(channel)
            problem = Problem(
                "descriptors",
                f"{count} more",
                f"{len(numbers)} free of BDs {bank.start}..{bank.stop - 1}",
                f"the work needs {count} more BD{'s' * (count != 1)}, "
                f"but only {len(numbers)} of BDs {bank.start}..{bank.stop - 1} "
                f"{'is' if len(numbers) == 1 else 'are'} free",
                self._way_out(channel, count),
                reason="bd_count",
                where=f"{self._title}, {name}",
                source=self._rule(bank),
            )
            raise DesignError(problem)
        return tuple(numbers[:count])

    def holders(self, channel: int) -> dict[str, int]:
        """The channels that hold BDs which a channel may use, and how many each."""
        return dict(Counter(self._taken[n] for n in self._kind.bd_bank(channel) if n in self._taken))

    def give_back(self, names: Collection[str]) -> None:
        """Forget who has BDs, of those whose tasks have ended."""
        self._taken = {bd: name for bd, name in self._taken.items() if name not in names}

    def release(self, numbers: Collection[int]) -> None:
        """Forget who has these BDs, of a task that has ended."""
        self._taken = {bd: name for bd, name in self._taken.items() if bd not in numbers}

    def saved(self) -> list[list[int | str]]:
        """The holder of each BD, as plain data."""
        return [[bd, name] for bd, name in self._taken.items()]

    def restore(self, saved: Iterable[tuple[int, str]]) -> None:
        """Have what :meth:`saved` found in another pool of the same kind."""
        self._taken = dict(saved)

    def _numbers(self, channel: int) -> list[int]:
        return [n for n in self._kind.bd_bank(channel) if n not in self._taken]

    def _rule(self, bank: range) -> str:
        who = "per channel, by channel parity" if len(self._kind.bd_banks) > 1 else "for all channels"
        return f"AM020: {len(bank)} BDs {who}"

    def _way_out(self, channel: int, count: int) -> str:
        """Who has how many of the channel's half, and which channels could take ``count``."""
        takers = self.holders(channel)
        steps = []
        if takers:
            steps.append(f"Of these, {', '.join(f'{name} has {taken}' for name, taken in takers.items())}")
        fitting = [str(n) for n in range(self._kind.channels) if self.free(n) >= count]
        if fitting:
            free = self.free(int(fitting[0]))
            steps.append(
                f"Move to channel {', '.join(fitting)}: a channel of the other parity has {free} free"
            )
        elif len(self._kind.bd_banks) > 1:
            steps.append(f"A channel of the other parity has {self.free(channel + 1)} free")
        return " ".join(f"{step}." for step in steps)
