"""Transfers: what one pass over a buffer moves, as descriptors without numbers yet.

A buffer and a pattern over it become the fewest descriptors, in one task or several. Notebooks show a
transfer drawn on its buffer, and its descriptors as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memtile.access.drawing import NOTHING, Drawing, Numbers, order_drawing, plane_last
from memtile.access.expected import stream_elements
from memtile.access.lowering.certificate import QueueEntry
from memtile.access.lowering.lower import Access, lower
from memtile.access.request import Request
from memtile.access.tiling import NO_PORT, TilingParameters
from memtile.access.views import View
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.bd.copies import with_changes
from memtile.bd.descriptor import Acquire, Descriptor, Release
from memtile.design.buffers import Buffer
from memtile.errors import Problem, TransferError, raise_if
from memtile.sheet import Sheet, SheetColumn


def picture_of(transfer: Transfer, plane: tuple[int, int]) -> Drawing:
    """See :meth:`Transfer.picture`.

    Raises:
        TransferError: a transfer that was not made from a buffer, or no such axes.
    """
    buffer = transfer.buffer
    if buffer is None:
        raise TransferError(_no_buffer(transfer))
    numbers = plane_last(_first_visits(transfer, buffer), plane, f"buffer {buffer.name}")
    verb = "writes" if transfer.access == "write" else "reads"
    title = f"{transfer!r} {verb} {buffer.name}: element of the stream that each element is"
    return order_drawing(numbers, title, _axes(numbers.ndim, plane))


def _first_visits(transfer: Transfer, buffer: Buffer) -> Numbers:
    """The first element of the stream that each element of the buffer is; -1 = none."""
    bits = buffer.dtype.itemsize * 8
    found = stream_elements(transfer.tasks, bits)
    inside = found != NOTHING
    found[inside] -= transfer.first * WORD_BYTES // buffer.dtype.itemsize
    numbers = np.full(int(np.prod(buffer.shape)), NOTHING, np.int64)
    positions = np.flatnonzero(inside & (found >= 0) & (found < len(numbers)))[::-1]
    numbers[found[positions]] = positions  # NumPy keeps the last of equal indices
    return numbers.reshape(buffer.shape)


def _axes(ndim: int, plane: tuple[int, int]) -> tuple[str, str]:
    if ndim < len(plane):
        return "", f"axis {0}"
    rows, columns = (axis % ndim for axis in plane)
    return f"axis {rows}", f"axis {columns}"


def _no_buffer(transfer: Transfer) -> Problem:
    return Problem(
        "buffer",
        "none",
        "a transfer of tile.read or tile.write",
        "the transfer was not made from a buffer, so there is nothing to draw it on",
        "Draw the descriptors with memtile bd explain.",
        reason="picture",
        where=repr(transfer),
        source="a picture is drawn on the buffer",
    )


_DESCRIPTORS = tuple(
    map(SheetColumn, ("BD", "words", "first word", "(step, wrap)", "zeros", "acquire", "release"))
)


def transfer_sheet(transfer: Transfer) -> Sheet:
    """The descriptors of a transfer; tasks that run several times are named below."""
    rows = []
    for number, d in enumerate(transfer.descriptors):
        take = f"lock {d.acquire.id}, {d.acquire.value}" if d.acquire.enable else ""
        give = f"lock {d.release.id}, {d.release.value:+}" if d.release.value else ""
        dims, pads = (" ".join(f"({a}, {b})" for a, b in pairs) for pairs in (_loops(d), d.pad))
        rows.append((str(number), str(d.length), f"{d.address:#x}", dims or "in a row", pads, take, give))
    runs = [
        f"task {n}: {len(task.descriptors)} BDs, {task.runs} runs"
        for n, task in enumerate(transfer.tasks)
        if len(transfer.tasks) > 1 or task.runs > 1
    ]
    return Sheet(_DESCRIPTORS, tuple(rows), title=repr(transfer), below=tuple(runs))


def _loops(descriptor: Descriptor) -> Sequence[tuple[int, int]]:
    """Step and wrap of each loop, also of the one that the registers leave out: step 1 up to the length."""
    inner = prod(wrap for _, wrap in descriptor.dims)
    is_open = bool(descriptor.dims) and inner > 0 and not descriptor.pad and inner < descriptor.length
    return (*descriptor.dims, (1, descriptor.length // inner)) if is_open else descriptor.dims


_GUARDS = "AM025 DMA_BDn_7: one acquire and one release per BD"
Pattern = TilingParameters | View
"""Which elements of a buffer, and in which order."""


class TransferPart(NamedTuple):
    """One of several tasks of a transfer: how many of its descriptors, and how often they run."""

    bds: int
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Transfer:
    """Descriptors executed one after the other, guarded by at most one acquire and one release.

    Attributes:
        descriptors: in order; links and descriptor numbers are added when the transfer is started.
        runs: executions of the chain in one pass (iteration); of several tasks, the total.
        place: column and row of the tile with this view of the buffer; None = not known.
        access: ``"read"`` for MM2S, ``"write"`` for S2MM; None = not known.
        design: the design that the buffer belongs to; None = not known.
        buffer: the buffer that it reads or writes; None = not known.
        first: first word of the buffer as the DMA sees it.
        parts: the tasks of one pass, if there are several; empty = all descriptors are one task.
        once: makes the same transfer as one run of one chain, which rings, guards and longer chains need;
            None = there is no other way to make it.
        port: ``packet_port_id`` of the tiling: port of a packet split or merge; -1 = none.
    """

    descriptors: tuple[Descriptor, ...]
    runs: int = 1
    place: tuple[int, int] | None = None
    access: Access | None = None
    design: object = field(default=None, compare=False)
    buffer: Buffer | None = field(default=None, compare=False)
    first: int = field(default=0, compare=False)
    parts: tuple[TransferPart, ...] = ()
    once: Callable[[], Transfer] | None = field(default=None, compare=False)
    port: int = NO_PORT

    def __repr__(self) -> str:
        bds = len(self.descriptors)
        if self.parts:
            return f"Transfer({self.words} words, {bds} BDs in {len(self.parts)} tasks)"
        size = f"{self.words} words, {bds} descriptors"
        return f"Transfer({size}, {self.runs} runs)" if self.runs > 1 else f"Transfer({size})"

    def _repr_html_(self) -> str:

        return transfer_sheet(self).html() + ("" if self.buffer is None else self.picture().svg)

    def picture(self, path: Path | str | None = None, *, plane: tuple[int, int] = (-2, -1)) -> Drawing:
        """The buffer with the number in the stream of each of its elements, where it comes first.

        Untouched elements have no number; nor have inserted zeros, which are not in the buffer.

        Args:
            path: also write it to a file, ``.svg`` or ``.html``.
            plane: axes of the buffer that are the rows and the columns.

        Returns:
            The drawing, which notebooks show.

        Raises:
            TransferError: a transfer that was not made from a buffer, or no such axes.
            InputFileError: the file cannot be written.
        """
        made = picture_of(self, plane)
        if path is not None:
            made.save(path)
        return made

    @property
    def tasks(self) -> tuple[QueueEntry, ...]:
        """The tasks of one pass: chains, and the number of runs of each."""
        if not self.parts:
            return (QueueEntry(self.descriptors, self.runs),)
        ends = accumulate(part.bds for part in self.parts)
        return tuple(
            QueueEntry(self.descriptors[end - part.bds : end], part.runs)
            for part, end in zip(self.parts, ends, strict=True)
        )

    @property
    def words(self) -> int:
        """Stream words of one pass."""
        return sum(task.runs * sum(d.length for d in task.descriptors) for task in self.tasks)

    @property
    def is_one_run(self) -> bool:
        """Whether one run of one chain is one pass."""
        return self.runs == 1 and not self.parts

    def in_one_run(self) -> Transfer:
        """The transfer in one run of one chain, wherever there is another way to make it.

        Raises:
            TransferError: one run needs more descriptors than the channel reaches.
        """
        return self if self.is_one_run or self.once is None else self.once()

    def of(self, place: tuple[int, int] | None, design: object) -> Transfer:
        """The transfer as the tile at ``place`` of a design makes it."""
        once = self.once
        other = None if once is None else lambda: once().of(place, design)
        return with_changes(self, place=place, design=design, once=other)

    def mapped(self, change: Callable[[Descriptor], Descriptor]) -> Transfer:
        """The transfer with every descriptor changed."""
        once = self.once
        return with_changes(
            self,
            descriptors=tuple(map(change, self.descriptors)),
            once=None if once is None else lambda: once().mapped(change),
        )

    def compressed(self) -> Transfer:
        """The transfer over a compressed stream (AM020 chapter 5): MM2S compresses, S2MM decompresses.

        ``words`` still counts memory words; see ``access.compression`` for what they become.

        Raises:
            TransferError: the tile's format is not public (AIE2P).
        """
        raise_if(list(self._incompressible()), TransferError)
        return self.mapped(lambda descriptor: descriptor.but(compression=True))

    def repeated(self, times: int) -> Transfer:
        """Return the transfer repeated, as consecutive descriptors.

        If guarded, it acquires its lock before all repetitions and releases one after them. A transfer of
        several runs or tasks is made of one run for that.

        Raises:
            TransferError: less than once, several runs for which there is no other way, or a transfer with
                lock operations.
        """
        raise_if(list(self._unrepeatable(times)), TransferError)
        if times == 1:
            return self
        whole = self.in_one_run()
        return with_changes(whole, descriptors=whole.descriptors * times, once=None)

    def _incompressible(self) -> Iterator[Problem]:
        for kind in (TILE_KINDS[name] for name in dict.fromkeys(d.tile for d in self.descriptors)):
            if not kind.compression_known:
                yield Problem(
                    "compression",
                    "compressed()",
                    "an uncompressed stream",
                    f"the format of compressed streams of {kind.generation} is not public",
                    "Send it uncompressed, or try the design on npu1.",
                    reason="compression",
                    where=f"{kind.title}, transfer",
                    source="DEV-AIE2P-3",
                )

    def guarded(self, acquire: Acquire | None = None, release: Release | None = None) -> Transfer:
        """The transfer that acquires a lock before its first word and releases one after its last.

        A transfer of several runs or tasks is made of one run for that, which may take more descriptors.

        Raises:
            TransferError: not lock operations, a second one of a kind, or a transfer that needs several runs,
                each of which would acquire and release the lock.
        """
        if acquire is None and release is None:
            return self
        whole = self.in_one_run()
        raise_if(list(whole._unguardable(acquire, release)), TransferError)
        descriptors = list(whole.descriptors)
        if acquire is not None:
            descriptors[0] = descriptors[0].but(acquire=acquire)
        if release is not None:
            descriptors[-1] = descriptors[-1].but(release=release)
        return with_changes(whole, descriptors=tuple(descriptors), once=None)

    def _unrepeatable(self, times: int) -> Iterator[Problem]:
        """Why the transfer cannot be repeated in one chain."""
        fixed = self.once is None and not self.is_one_run
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            yield Problem(
                "times",
                repr(times),
                "1 or more",
                reason="repeated",
                where=repr(self),
                source="a chain of descriptors",
            )
        elif times > 1 and (fixed or any(d.acquire.enable or d.release.value for d in self.descriptors)):
            kind = f"{self.runs} runs" if fixed else "lock operations already"
            yield Problem(
                "times",
                kind,
                "one run without lock operations",
                f"the transfer has {kind}; one that is repeated in a chain must have one run and none",
                "Repeat it first and guard it then.",
                reason="repeated",
                where=repr(self),
                source=_GUARDS,
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
                    name,
                    repr(action),
                    f"what lock.{name}() returns",
                    next_step=f"Make one with lock.{name}().",
                    reason="guard",
                    where=repr(self),
                    source=_GUARDS,
                )
            elif taken:
                yield Problem(
                    name,
                    f"a second {name}",
                    "one",
                    f"the transfer has {'an acquire' if name == 'acquire' else 'a release'} already",
                    "Take the other lock with a transfer before or after this one.",
                    reason="guard_twice",
                    where=repr(self),
                    source=_GUARDS,
                )
        if not self.is_one_run:
            tasks = f" in {len(self.parts)} tasks" if self.parts else ""
            yield Problem(
                "guard",
                f"{self.runs} runs",
                "one run",
                f"the transfer has {self.runs} runs{tasks}; a guarded one must have one",
                "Lower it without iteration=True, or guard transfers of one run.",
                reason="guard_runs",
                where=repr(self),
                source="AM025 DMA_BDn_7: a BD takes and gives its locks in every run",
            )


_UG1603 = "UG1603: tiling parameters"
_KEPT = 256  # shapes of buffers that were read or written whole last


def transfer(
    buffer: Buffer,
    pattern: Pattern | None,
    access: Access,
    *,
    address: int | None = None,
    iteration: bool | None = None,
) -> Transfer:
    """The transfer of a buffer, whole and in order, or as a pattern asks.

    Args:
        buffer: where the data are.
        pattern: UG1603 tiling parameters in elements of the buffer, or a view of it (``memtile.view``); None
            = the whole buffer in order.
        access: ``"read"`` for MM2S, ``"write"`` for S2MM.
        address: its first word as the DMA sees it; that of the buffer's own tile if omitted.
        iteration: None = several runs and tasks wherever they save descriptors, but one run of one chain
            where a ring, a guard or a longer chain needs that; True = the same, and never otherwise; False =
            always one run of one chain.

    Raises:
        TransferError: every reason why the tile cannot do it; an ``iteration`` that is no truth value.
    """
    allowed = _truth(buffer, iteration)
    first = buffer.dma_address if address is None else address
    request = _request(buffer, pattern, access)
    lowered = lower(request, buffer.kind.name, access, address=first, iteration=allowed is not False)
    made = Transfer(
        lowered.descriptors,
        lowered.runs,
        access=access,
        buffer=buffer,
        first=first,
        parts=_parts(lowered.tasks),
        port=pattern.packet_port_id if isinstance(pattern, TilingParameters) else NO_PORT,
    )
    if allowed is not None or made.is_one_run:
        return made
    once = partial(transfer, buffer, pattern, access, address=address, iteration=False)
    return with_changes(made, once=once)


def _parts(tasks: Sequence[QueueEntry]) -> tuple[TransferPart, ...]:
    """The tasks, where there are several."""
    return tuple(TransferPart(len(task.descriptors), task.runs) for task in tasks) if len(tasks) > 1 else ()


def _truth(buffer: Buffer, iteration: object) -> bool | None:
    """``iteration`` once it is known to be True, False or None."""
    if iteration is None or isinstance(iteration, bool | np.bool_):
        return iteration if iteration is None else bool(iteration)
    raise TransferError.of(
        "iteration",
        repr(iteration),
        "True, False, or None (wherever it saves descriptors)",
        next_step="Leave it out.",
        reason="iteration",
        where=f"buffer {buffer.name}",
        source="it allows runs and tasks, whose number memtile finds",
    )


def _request(buffer: Buffer, pattern: Pattern | None, access: Access) -> Request:
    """The loops over a buffer that a pattern asks for."""
    bits, whole = buffer.dtype.itemsize * 8, prod(buffer.shape)
    if pattern is None:
        return _whole(buffer.shape, bits)
    if isinstance(pattern, TilingParameters):
        request = pattern.over(buffer.shape).request(bits)
        if request.capacity > whole:
            given = f"a buffer_dimension of {request.capacity} elements"
            says = f"buffer_dimension of the tiling has {request.capacity} elements, the buffer has {whole}"
            raise _refused(buffer, access, "tiling", given, f"{whole} or fewer", says)
        return request
    says = f"the pattern to {access} is {pattern!r}; it must be "
    if not isinstance(pattern, View):
        allowed, step = "TilingParameters, or a view", "Give a view such as memtile.view(shape, dtype)[:5]."
        raise _refused(buffer, access, "tiling", repr(pattern), allowed, says + allowed, step)
    if (pattern.capacity, pattern.element_bits) != (whole, bits):
        allowed = f"a view of {whole} elements of {bits} bits"
        raise _refused(buffer, access, "view", repr(pattern), allowed, says + allowed)
    return pattern.request()


@lru_cache(maxsize=_KEPT)
def _whole(shape: tuple[int, ...], bits: int) -> Request:
    """The loops over a whole buffer in order."""
    return TilingParameters().over(shape).request(bits)


def _refused(
    buffer: Buffer, access: Access, reason: str, given: str, allowed: str, says: str, next_step: str = ""
) -> TransferError:
    return TransferError.of(
        access, given, allowed, says, next_step, reason=reason, where=f"buffer {buffer.name}", source=_UG1603
    )
