"""Proof that descriptors do what was asked: their walk, word for word, against the request.

Nothing here comes from the lowering: one side is ``access.request``, the other ``access.walk``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memtile.access.walk import PAD, Addresses, Walk, addresses
from memtile.bd.descriptor import Descriptor


class QueueEntry(NamedTuple):
    """One entry of a channel's queue: a chain and how often it runs."""

    descriptors: tuple[Descriptor, ...]
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was compared and how it came out.

    Attributes:
        words: stream words asked for, padding included.
        pads: how many of them are padding.
        difference: first stream word that differs; ``None`` = the walks are equal.
    """

    words: int
    pads: int
    difference: int | None

    @property
    def holds(self) -> bool:
        """Whether the descriptors move exactly the words asked for, in order."""
        return self.difference is None


_PROOFS: ContextVar[list[Certificate] | None] = ContextVar("proofs", default=None)


@contextmanager
def proofs() -> Iterator[list[Certificate]]:
    """Collect the certificates of all that is lowered within."""
    found: list[Certificate] = []
    token = _PROOFS.set(found)
    try:
        yield found
    finally:
        _PROOFS.reset(token)


def note(certificate: Certificate) -> None:
    """Give a certificate to those who collect them."""
    found = _PROOFS.get()
    if found is not None:
        found.append(certificate)


def certify(asked: Addresses, tasks: Sequence[QueueEntry], address: int = 0) -> Certificate:
    """Compare what ``tasks`` move, their buffer at word ``address``, with the words asked for."""
    pads = int(np.count_nonzero(asked == PAD))
    return Certificate(len(asked), pads, _first_difference(asked, stream(tasks), address))


def stream(tasks: Sequence[QueueEntry]) -> Addresses:
    """Word addresses that ``tasks`` visit one after the other: int64, -1 for padding."""
    walks = [Walk.of(descriptor, run) for task in tasks for run in range(task.runs) for descriptor in task[0]]
    return (
        np.concatenate([np.empty(0, np.int64), *map(addresses, walks)])
        if len(walks) != 1
        else addresses(walks[0])
    )


def _first_difference(asked: Addresses, given: Addresses, address: int) -> int | None:
    if address:
        given = np.where(given == PAD, PAD, given - address)
    shared = min(len(asked), len(given))
    unequal = asked[:shared] != given[:shared]
    if unequal.any():
        return int(unequal.argmax())
    return None if len(asked) == len(given) else shared
