"""The buffers that a program expects in external memory: its uses, joined to regions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memtile.runs.external_uses import ExternalUse


@dataclass(slots=True)
class ExternalRegion:
    """A buffer that a program expects in external memory.

    Attributes:
        argument: kernel argument that it is; None = it has an address of its own.
        first: byte address; 0 for an argument.
        end: byte behind the last that is touched.
        reads: who reads it, first use first.
        writes: who writes it.
    """

    argument: int | None
    first: int
    end: int
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    @property
    def needed(self) -> int:
        """Bytes that the buffer must have."""
        return self.end - self.first

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{self.first:#x}" if self.argument is None else f"argument {self.argument}"

    @property
    def text(self) -> str:
        """The region and who uses it, for messages."""
        users = [f"{word} by {names[0]}" for word, names in self._users() if names]
        return f"{self.title}, {self.needed} bytes, {', '.join(users)}"

    def add(self, use: ExternalUse) -> None:
        """Let the region take in a use."""
        self.first, self.end = min(self.first, use.first), max(self.end, use.end)
        (self.writes if use.writes else self.reads).append(use.who)

    def _users(self) -> Iterator[tuple[str, list[str]]]:
        yield "read", self.reads
        yield "written", self.writes


def regions_of(
    uses: Sequence[ExternalUse], fixed: Iterable[tuple[int, int]] = (), arguments: Iterable[int] = ()
) -> list[ExternalRegion]:
    """The buffers of a program: one for each argument, then by address.

    Uses that overlap share a buffer, and so do those that touch and go the same way.

    Args:
        uses: of the program.
        fixed: first byte and end of buffers that are known; they take the uses that begin in them.
        arguments: kernel arguments that are known, used or not.
    """
    of_argument = {number: ExternalRegion(number, 0, 0) for number in arguments}
    ends = dict(sorted(fixed))
    known = [ExternalRegion(None, first, first) for first in ends]
    free: list[ExternalUse] = []
    for use in uses:
        if use.argument is not None:
            of_argument.setdefault(use.argument, ExternalRegion(use.argument, 0, 0)).add(use)
            continue
        home = next((r for r in known if r.first <= use.first < ends[r.first]), None)
        home.add(use) if home else free.append(use)
    by_address = sorted([*known, *_joined(free)], key=lambda region: region.first)
    return [*(of_argument[n] for n in sorted(of_argument)), *by_address]


def _joined(uses: Sequence[ExternalUse]) -> list[ExternalRegion]:
    """Regions of uses with addresses: first what goes the same way, then what overlaps across directions."""
    one_way = [r for writes in (False, True) for r in _one_way([u for u in uses if u.writes is writes])]
    joined: list[ExternalRegion] = []
    for region in sorted(one_way, key=lambda region: region.first):
        if joined and region.first < joined[-1].end:
            last = joined[-1]
            last.end = max(last.end, region.end)
            last.reads += region.reads
            last.writes += region.writes
        else:
            joined.append(region)
    return joined


def _one_way(uses: Sequence[ExternalUse]) -> Iterator[ExternalRegion]:
    region: ExternalRegion | None = None
    for use in sorted(uses, key=lambda use: use.first):
        if region is not None and use.first > region.end:
            yield region
            region = None
        region = region or ExternalRegion(None, use.first, use.first)
        region.add(use)
    if region is not None:
        yield region
