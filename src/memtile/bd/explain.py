"""What register words do, in words: transfer, order, padding, iteration, locks, chain, stream, AXI.

Data first: an ``Explanation`` is topics and sentences that a command renders or a program reads. The picture
of the access order is drawn by ``access.picture`` from the walk itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtile.arch.tiles import TILE_KINDS, WORD_BYTES, TileKind, TileName
from memtile.bd.codec import GATES, OVERRULED, decode, idle_fields
from memtile.bd.descriptor import NO_ITERATION, Acquire, Descriptor, Dim, Pad, Release
from memtile.bd.fields import has_axi
from memtile.bd.legality import check
from memtile.bd.windows import Place, place_of_address, place_of_lock
from memtile.errors import Problem

UNITS = ("word", "row", "plane", "block")  # what a dimension counts: D1 counts rows, a row is a D0 loop


class Line(NamedTuple):
    """One sentence and what it is about."""

    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a descriptor.

    Attributes:
        descriptor: the descriptor.
        bd: number of the BD, if known.
        lines: sentences in the order in which things happen.
        problems: why the tile would not run it as it is; empty for a legal descriptor.
    """

    descriptor: Descriptor
    bd: int | None
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...]


def explain_words(tile: TileName, words: Sequence[int], bd: int | None = None) -> Explanation:
    """Explain register words.

    Raises:
        DescriptorError: the words are not those of a BD (see ``codec.decode``).
    """
    descriptor = decode(tile, words, bd)
    idle = [
        Line("without effect", f"{name} holds {value}, but {_reason(name)}")
        for name, value in idle_fields(TILE_KINDS[tile], words).items()
    ]
    explained = explain(descriptor, bd)
    return Explanation(descriptor, bd, (*explained.lines, *idle), explained.problems)


def _reason(idle: str) -> str:
    return f"{GATES[idle]} is 0" if idle in GATES else f"{OVERRULED[idle]} is 1"


def explain(d: Descriptor, bd: int | None = None) -> Explanation:
    """Explain a descriptor; illegal ones too, as far as they make sense."""
    lines = (
        *_validity(d),
        *_locks_before(d),
        *_transfer(d),
        *_order(d),
        *_unfinished(d),
        *_padding(d),
        *_iteration(d),
        *_stream(d),
        *_axi(d),
        *_locks_after(d),
        *_chain(d, bd),
        *oddities(d),
    )
    return Explanation(d, bd, lines, tuple(check(d, bd)))


def oddities(d: Descriptor) -> Iterator[Line]:
    """What is legal and seldom meant: a length of 0, or one that ends in the middle of a row or plane."""
    if d.length == 0:
        yield Line("note", "a length of 0: the BD takes and gives its locks and moves nothing (DEV-BD-3)")
        return
    turn = 1
    for n, dim in enumerate(d.dims[: d.kind.dimensions - 1]):
        if not dim.wrap:
            return
        pad = d.pad[n] if n < len(d.pad) else Pad()
        turn *= pad.before + dim.wrap + pad.after
        if d.length % turn:
            size = f"{UNITS[n + 1]} of {count(turn, 'word')}"
            yield Line("note", f"the length of {count(d.length, 'word')} ends in the middle of a {size}")
            return


def count(n: int, unit: str) -> str:
    """A number with its unit: ``1 word``, ``2 words``."""
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


def _validity(d: Descriptor) -> Iterator[Line]:
    if not d.valid:
        yield Line("valid", "Valid_BD is 0: a channel that executes this BD stops with an error")


def _locks_before(d: Descriptor) -> Iterator[Line]:
    lock = d.acquire
    if not lock.enable:
        yield Line("acquire", "starts without waiting for a lock")
        return
    name, amount = _lock_name(d.kind, lock), abs(lock.value)
    relation = ">=" if lock.value < 0 else "=="
    taking = f", then takes {amount}" if amount else ""
    yield Line("acquire", f"waits until {name} {relation} {amount}{taking}")


def _locks_after(d: Descriptor) -> Iterator[Line]:
    lock = d.release
    if lock.value > 0:
        yield Line("release", f"at the end gives {lock.value} to {_lock_name(d.kind, lock)}")
    elif lock.value < 0:
        yield Line(
            "release", f"at the end takes {-lock.value} from {_lock_name(d.kind, lock)} without waiting"
        )
    else:
        yield Line("release", "at the end releases no lock")


def _lock_name(kind: TileKind, lock: Acquire | Release) -> str:
    return f"lock {lock.id}{_aside(kind, place_of_lock(kind, lock.id), 'lock')}"


def _aside(kind: TileKind, place: Place | None, what: str) -> str:
    """Says which tile's thing it is, where more than one tile is within reach."""
    if place is None:
        return " (beyond every window)"
    return f" ({place.window} {what} {place.local})" if len(kind.memory_windows) > 1 else ""


def _transfer(d: Descriptor) -> Iterator[Line]:
    size = f"{count(d.length, 'word')} ({d.length * WORD_BYTES} bytes)"
    start = f"word {d.address}{_aside(d.kind, place_of_address(d.kind, d.address), 'word')}"
    yield Line("transfer", f"moves {size} per execution, from {start} on, byte 0x{d.address * WORD_BYTES:X}")


def _order(d: Descriptor) -> Iterator[Line]:
    """One line per loop, innermost first, up to the loop that uses up the length."""
    size = 1
    for n, (dim, pad) in enumerate(_loops(d)):
        left = -(-d.length // size)
        turns = dim.wrap or left
        apart = "in a row" if dim.step == 1 and n == 0 else f"{count(dim.step, 'word')} apart"
        size *= pad.before + turns + pad.after
        cut = "" if dim.wrap and size <= d.length else ", until the length is used up"
        yield Line(f"order D{n}", f"{count(turns, UNITS[n])} {apart}{cut}")
        if size >= d.length:
            return


def _unfinished(d: Descriptor) -> Iterator[Line]:
    """What the length leaves undone, which is legal and seldom meant."""
    if d.length == 0:
        yield Line("remark", "the length is 0: no word is moved")
        return
    size = 1
    for n, (dim, pad) in enumerate(_loops(d)):
        if not dim.wrap:
            return
        inner, size = size, size * (pad.before + dim.wrap + pad.after)
        rest = d.length % size
        if rest:
            name, unit = UNITS[n + 1], UNITS[n]
            done = f"{rest // inner} of its {count(size // inner, unit)}"
            done += f" and a part of the next {unit}" if rest % inner else ""
            yield Line("remark", f"the length ends in the middle of a {name}: the last one has {done}")
            return


def _loops(d: Descriptor) -> list[tuple[Dim, Pad]]:
    """Dimensions with their pads, and the one beyond the last that a zero register still describes."""
    dims = [*d.dims, Dim(1, 0)][: d.kind.dimensions]
    pads = [*d.pad, *[Pad()] * d.kind.dimensions]
    return list(zip(dims, pads, strict=False))


def _padding(d: Descriptor) -> Iterator[Line]:
    for n, (pad, unit) in enumerate(zip(d.pad, UNITS, strict=False)):
        if pad != Pad():
            before, after = count(pad.before, f"zero {unit}"), count(pad.after, f"zero {unit}")
            yield Line(f"padding D{n}", f"{before} before, {after} after (MM2S only; the length counts them)")


def _iteration(d: Descriptor) -> Iterator[Line]:
    if d.iteration == NO_ITERATION:
        return
    step, wrap, current = d.iteration
    if d.iteration.different == 1:
        yield Line("iteration", "every execution starts at the same address (iteration wrap 1)")
        return
    start = d.address + current * step
    turns = f"{count(wrap, 'position')} in turn; next is {current}, at word {start}"
    turns += ", beyond them, then 0" if current >= wrap else ""
    yield Line("iteration", f"each execution starts {count(step, 'word')} further, {turns}")


def _stream(d: Descriptor) -> Iterator[Line]:
    if d.packet is not None:
        text = (
            f"sends a packet header first: id {d.packet.id}, type {d.packet.type}, out-of-order id {d.ooo_id}"
        )
        yield Line("packet", f"{text} (MM2S)")
    if d.compression:
        yield Line("compression", "compresses (MM2S) or decompresses (S2MM) if the channel is set to do so")
    if d.tlast_suppress:
        yield Line("TLAST", "the last word carries no TLAST (MM2S)")


def _axi(d: Descriptor) -> Iterator[Line]:
    if has_axi(d.kind):
        burst, qos, cache, smid, secure = d.axi
        access = "secure" if secure else "non-secure"
        yield Line("AXI", f"bursts of {burst} bytes, QoS {qos}, cache {cache}, SMID {smid}, {access}")


def _chain(d: Descriptor, bd: int | None) -> Iterator[Line]:
    if d.next is None:
        yield Line("chain", "then the task ends")
    elif d.next == bd:
        yield Line("chain", f"then BD {d.next} again: a task without end")
    else:
        yield Line("chain", f"then BD {d.next}")
