"""Data memory of tiles while buffers find their places in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memtile.arch.tiles import TileKind


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes that something has, from ``start`` to below ``stop``."""

    start: int
    stop: int
    name: str


@dataclass
class Space:
    """The memory of a tile.

    Attributes:
        nbytes: its size.
        bank_bytes: of a bank as software sees it: banks that are interleaved count as one (UG1079).
        taken: what is used, in order.
    """

    nbytes: int
    bank_bytes: int
    taken: list[Taken] = field(default_factory=list)

    @classmethod
    def of(cls, kind: TileKind) -> Space:
        """The empty memory of a tile."""
        return cls(kind.memory_bytes, kind.bank_bytes * max(kind.bank_group, 1))

    @property
    def banks(self) -> int:
        """Banks as software sees them."""
        return self.nbytes // self.bank_bytes

    @property
    def free(self) -> int:
        """Bytes that nothing has."""
        return self.nbytes - sum(one.stop - one.start for one in self.taken)

    @property
    def largest_gap(self) -> int:
        """Bytes of the largest free piece."""
        return max((gap.stop - gap.start for gap in self._gaps(range(self.nbytes))), default=0)

    def overlap(self, start: int, nbytes: int) -> Taken | None:
        """What has one of some bytes."""
        return next((one for one in self.taken if one.start < start + nbytes and start < one.stop), None)

    def take(self, start: int, nbytes: int, name: str) -> None:
        """Give bytes to something."""
        self.taken.append(Taken(start, start + nbytes, name))
        self.taken.sort(key=lambda one: one.start)

    def find(self, nbytes: int, align: int, *, spread: bool) -> int | None:
        """The first byte of a free piece; None = there is none.

        Args:
            nbytes: its size.
            align: the start is a multiple of this.
            spread: prefer the bank of which least is used, so that buffers of one core meet in few banks.
        """
        if spread and nbytes <= self.bank_bytes:
            for bank in sorted(range(self.banks), key=self._used):
                start = self.find_in(self.bank(bank), nbytes, align)
                if start is not None:
                    return start
        return self.find_in(range(self.nbytes), nbytes, align)

    def bank(self, number: int) -> range:
        """The bytes of a bank."""
        return range(number * self.bank_bytes, (number + 1) * self.bank_bytes)

    def find_in(self, within: range, nbytes: int, align: int) -> int | None:
        """The first byte of the first free piece in some bytes; None = there is none."""
        for gap in self._gaps(within):
            start = -(-gap.start // align) * align
            if start + nbytes <= gap.stop:
                return start
        return None

    def _used(self, bank: int) -> int:
        area = self.bank(bank)
        return sum(max(min(one.stop, area.stop) - max(one.start, area.start), 0) for one in self.taken)

    def _gaps(self, within: range) -> Iterator[range]:
        cursor = within.start
        for one in self.taken:
            if one.start > cursor:
                yield range(cursor, min(one.start, within.stop))
            cursor = max(cursor, one.stop)
            if cursor >= within.stop:
                return
        yield range(cursor, within.stop)


def undo(spaces: Sequence[Space], before: Sequence[list[Taken]]) -> None:
    """Give back what was taken since."""
    for space, taken in zip(spaces, before, strict=True):
        space.taken = list(taken)
