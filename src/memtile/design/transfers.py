"""Transfers: what one pass over a buffer moves, as descriptors without numbers yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from memtile.access.lowering.lower import Access, lower
from memtile.access.request import Request
from memtile.access.tiling import TilingParameters
from memtile.access.views import View
from memtile.arch.tiles import TILE_KINDS
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.design.buffers import Buffer
from memtile.errors import Problem, TransferError, raise_if

_GUARDS = "AM025 DMA_BDn_7: one acquire and one release per BD"
Pattern = TilingParameters | View
"""Which elements of a buffer, and in which order."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Descriptors executed one after the other, guarded by at most one acquire and one release.

    Attributes:
        descriptors: in order; links and descriptor numbers are added when the transfer is started.
        runs: executions of the whole that make one pass (iteration).
        place: column and row of the tile from which the buffer is seen so; None = not said.
        access: ``"read"`` for MM2S, ``"write"`` for S2MM; None = not said.
        design: the design that the buffer is part of; None = not said.
        buffer: name of the buffer; empty = not said.
        dtype: type of the buffer's elements; None = not said.
    """

    descriptors: tuple[Descriptor, ...]
    runs: int = 1
    place: tuple[int, int] | None = None
    access: Access | None = None
    design: object = field(default=None, compare=False)
    buffer: str = field(default="", compare=False)
    dtype: np.dtype[Any] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        size = f"{self.words} words, {len(self.descriptors)} descriptors"
        return f"Transfer({size}, {self.runs} runs)" if self.runs > 1 else f"Transfer({size})"

    @property
    def words(self) -> int:
        """Stream words of one pass."""
        return self.runs * sum(d.length for d in self.descriptors)

    def compressed(self) -> Transfer:
        """The same transfer over a compressed stream (AM020 chapter 5): MM2S compresses, S2MM decompresses.

        ``words`` still counts memory words; see ``access.compression`` for what they become.

        Raises:
            TransferError: the tile's format is not public (AIE2P).
        """
        raise_if(list(self._incompressible()), TransferError)
        return replace(self, descriptors=tuple(d.but(compression=True) for d in self.descriptors))

    def repeated(self, times: int) -> Transfer:
        """The same words several times, as descriptors that follow each other.

        Guarded then, it takes its lock before all of them and gives one after.

        Raises:
            TransferError: less than once, or a transfer of several runs or with lock operations.
        """
        raise_if(list(self._unrepeatable(times)), TransferError)
        return replace(self, descriptors=self.descriptors * times)

    def _incompressible(self) -> Iterator[Problem]:
        for kind in (TILE_KINDS[name] for name in dict.fromkeys(d.tile for d in self.descriptors)):
            if not kind.compression_known:
                yield Problem(
                    reason="compression",
                    where=f"{kind.title}, transfer",
                    field="compression",
                    given="compressed()",
                    allowed="an uncompressed stream",
                    source="DEV-AIE2P-3",
                    next_step="Send it uncompressed, or try the design on npu1.",
                    says=f"the format of compressed streams of {kind.generation} is not public",
                )

    def guarded(self, acquire: Acquire | None = None, release: Release | None = None) -> Transfer:
        """The same transfer, taking a lock before its first word and giving one after its last.

        Raises:
            TransferError: something else than lock operations, a second one of a kind, or a transfer of
                several runs, each of which would take and give the lock.
        """
        raise_if(list(self._unguardable(acquire, release)), TransferError)
        descriptors = list(self.descriptors)
        if acquire is not None:
            descriptors[0] = descriptors[0].but(acquire=acquire)
        if release is not None:
            descriptors[-1] = descriptors[-1].but(release=release)
        return replace(self, descriptors=tuple(descriptors))

    def _unrepeatable(self, times: int) -> Iterator[Problem]:
        """Why the transfer cannot be repeated in one chain."""
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            yield Problem(
                reason="repeated",
                where=repr(self),
                field="times",
                given=repr(times),
                allowed="1 or more",
                source="a chain of descriptors",
            )
        elif times > 1 and (
            self.runs > 1 or any(d.acquire.enable or d.release.value for d in self.descriptors)
        ):
            kind = f"{self.runs} runs" if self.runs > 1 else "lock operations already"
            yield Problem(
                reason="repeated",
                where=repr(self),
                field="times",
                given=kind,
                allowed="one run without lock operations",
                source=_GUARDS,
                next_step="Repeat it first and guard it then.",
                says=f"the transfer has {kind}; one that is repeated in a chain must have one run and none",
            )

    def _unguardable(self, acquire: object, release: object) -> Iterator[Problem]:
        """Why the transfer cannot have these lock operations."""
        first, last = self.descriptors[0].acquire, self.descriptors[-1].release
        given: tuple[tuple[str, object, type, bool], ...] = (
            ("acquire", acquire, Acquire, first.enable),
            ("release", release, Release, bool(last.value)),
        )
        for name, action, kind, taken in given:
            if action is None:
                continue
            if not isinstance(action, kind):
                yield Problem(
                    reason="guard",
                    where=repr(self),
                    field=name,
                    given=repr(action),
                    allowed=f"what lock.{name}() returns",
                    source=_GUARDS,
                    next_step=f"Make one with lock.{name}().",
                )
            elif taken:
                yield Problem(
                    reason="guard_twice",
                    where=repr(self),
                    field=name,
                    given=f"a second {name}",
                    allowed="one",
                    source=_GUARDS,
                    next_step="Take the other lock with a transfer before or after this one.",
                    says=f"the transfer has {'an acquire' if name == 'acquire' else 'a release'} already",
                )
        if self.runs > 1 and (acquire is not None or release is not None):
            yield Problem(
                reason="guard_runs",
                where=repr(self),
                field="guard",
                given=f"{self.runs} runs",
                allowed="one run",
                source="AM025 DMA_BDn_7: a BD takes and gives its locks in every run",
                next_step="Lower it without iteration=True, or guard transfers of one run.",
                says=f"the transfer has {self.runs} runs; a guarded one must have one",
            )


def transfer(
    buffer: Buffer,
    tiling: Pattern | None,
    access: Access,
    *,
    address: int | None = None,
    iteration: bool = False,
) -> Transfer:
    """The transfer of a buffer, whole and in order, or as a tiling asks.

    Args:
        buffer: where the data are.
        tiling: UG1603 tiling parameters in elements of the buffer, or a view of it (``memtile.view``); None =
            the whole buffer in order.
        access: ``"read"`` for MM2S, ``"write"`` for S2MM.
        address: its first word as the DMA sees it; that of the buffer's own tile if omitted.
        iteration: allow that one pass takes several runs of the chain.

    Raises:
        TransferError: every reason why the tile cannot do it.
    """
    lowered = lower(
        _request(buffer, tiling, access),
        buffer.kind.name,
        access,
        address=buffer.dma_address if address is None else address,
        iteration=iteration,
    )
    named = buffer.name, buffer.dtype
    return Transfer(lowered.descriptors, lowered.runs, None, access, None, *named)


def _request(buffer: Buffer, pattern: Pattern | None, access: Access) -> Request:
    """The loops over a buffer that a pattern asks for."""
    bits, whole = buffer.dtype.itemsize * 8, prod(buffer.shape)
    where, source = f"buffer {buffer.name}", "UG1603: tiling parameters"
    if pattern is None:
        return TilingParameters(buffer_dimension=tuple(reversed(buffer.shape))).request(bits)
    if isinstance(pattern, TilingParameters):
        request = pattern.request(bits)
        if request.capacity > whole:
            raise TransferError(
                Problem(
                    reason="tiling",
                    where=where,
                    field=access,
                    given=f"a buffer_dimension of {request.capacity} elements",
                    allowed=f"{whole} or fewer",
                    source=source,
                    says=f"buffer_dimension of the tiling has {request.capacity} elements, "
                    f"the buffer has {whole}",
                )
            )
        return request
    if not isinstance(pattern, View):
        raise TransferError(
            Problem(
                reason="tiling",
                where=where,
                field=access,
                given=repr(pattern),
                allowed="TilingParameters, or a view",
                source=source,
                next_step="Give a view such as memtile.view(shape, dtype)[:5].",
                says=f"the pattern to {access} is {pattern!r}; it must be TilingParameters, or a view",
            )
        )
    if (pattern.capacity, pattern.element_bits) != (whole, bits):
        raise TransferError(
            Problem(
                reason="view",
                where=where,
                field=access,
                given=repr(pattern),
                allowed=f"a view of {whole} elements of {bits} bits",
                source=source,
                says=f"the pattern to {access} is {pattern!r}; "
                f"it must be a view of {whole} elements of {bits} bits",
            )
        )
    return pattern.request()


def link(transfers: Sequence[Transfer], numbers: Sequence[int], loop: bool) -> list[Descriptor]:
    """The descriptors of ``transfers`` chained under the given BD numbers; ``loop`` closes the ring."""
    flat = [d for t in transfers for d in t.descriptors]
    following = [*numbers[1:], numbers[0] if loop else None]
    return [d.but(next=after) for d, after in zip(flat, following, strict=True)]
