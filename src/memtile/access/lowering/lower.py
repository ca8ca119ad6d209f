"""Lower a request to the fewest legal descriptors of a tile kind, with proof.

A request is clipped at the boundary of its data first. A loop that alone drives its dimension becomes a box
with padding. A loop over tiles that overlap is cut into runs of tiles with the same padding (the padding
classes); runs wholly outside become padding of their neighbour, so that an image border costs no descriptor
of its own. The plan then has the chains that a channel gets as its tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from memtile.access.boxes import check_walk
from memtile.access.layout import merged
from memtile.access.lowering.certificate import Certificate, QueueEntry, certify, note
from memtile.access.lowering.chain import Chain, best_chain
from memtile.access.lowering.fit import Fields, Shape
from memtile.access.lowering.nest import Item, Nest, Repeat, Zeros, joined, rescaled, total_size
from memtile.access.lowering.queue_tasks import Limits, cost, fewest_tasks
from memtile.access.lowering.refusal import (
    DmaSide,
    count_problem,
    padding_problems,
    size_problems,
    step_problems,
)
from memtile.access.lowering.search import fewest, fewest_in_tasks
from memtile.access.request import WORD_BITS, LoopAxis, Request, misaligned, words
from memtile.access.walk import Addresses, Loop, Walk
from memtile.arch.tiles import TILE_KINDS, TileKind, TileName
from memtile.bd.descriptor import Descriptor, Dim, Iteration, Pad
from memtile.bd.windows import DmaAddress
from memtile.errors import Problem, TransferError, raise_if


class Stretch(NamedTuple):
    """Turns of a loop: ``before`` outside the data, ``turns`` alike from turn ``first``, then ``after``."""

    before: int
    first: int
    turns: int
    after: int


def clip(request: Request) -> tuple[Item, ...]:
    """The boxes of ``request``, in elements."""
    starts = [extent.start for extent in request.extents]
    return _clip(request, merged(request.axes), starts)


def _clip(request: Request, axes: Sequence[LoopAxis], starts: list[int]) -> tuple[Item, ...]:
    if not axes:
        return (_single(request, starts),)
    axis, *inner = axes
    d = axis.dimension
    items: list[Item] = []
    span = sum((a.wrap - 1) * a.stride for a in inner if a.dimension == d)
    for run in _runs(starts[d], axis, span, request.extents[d].size):
        moved = starts.copy()
        moved[d] += run.first * axis.stride
        body = _clip(request, inner, moved)
        step = axis.stride * request.extents[d].pitch
        items += _wrapped(body, Loop(run.before, run.turns, run.after, step))
    return tuple(joined(items))


def _single(request: Request, starts: Sequence[int]) -> Item:
    places = list(zip(starts, request.extents, strict=True))
    if any(not 0 <= start < extent.size for start, extent in places):
        return Zeros(1)
    return Nest(request.base + sum(start * extent.pitch for start, extent in places))


def _wrapped(body: tuple[Item, ...], loop: Loop) -> list[Item]:
    """``body`` inside ``loop``."""
    size = total_size(body)
    if len(body) == 1 and isinstance(body[0], Nest):
        return [body[0].inside(loop)]
    if len(body) == 1 and isinstance(body[0], Zeros):
        return [Zeros(size * loop.units)]
    turns = list(body) if loop.wrap == 1 else [Repeat(loop.wrap, loop.step, body)]
    ends = (Zeros(loop.before * size), Zeros(loop.after * size))
    return [*([ends[0]] if loop.before else []), *turns, *([ends[1]] if loop.after else [])]


def _runs(start: int, axis: LoopAxis, span: int, size: int) -> list[Stretch]:
    """Runs of turns that see the boundary alike; ``span`` is the reach of the inner loops."""
    count, stride = axis.wrap, axis.stride
    if stride == 0 or (start >= 0 and start + (count - 1) * stride + span < size):
        return [Stretch(0, 0, count, 0)]
    before = min(max(-(-(-start - span) // stride), 0), count)  # turns that end below 0
    stop = min(max(-(-(size - start) // stride), before), count)  # turns from here on start past the end
    if before == stop:
        return [Stretch(0, 0, count, 0)]  # padding alone
    first_whole = min(max(-(start // stride), before), stop)
    last_whole = min(max((size - 1 - span - start) // stride + 1, first_whole), stop)
    if last_whole == first_whole:
        cuts = list(range(before, stop + 1))
    else:
        cuts = [*range(before, first_whole + 1), *range(last_whole, stop + 1)]
    runs = [Stretch(0, a, b - a, 0) for a, b in pairwise(cuts)]
    runs[0] = runs[0]._replace(before=before)
    runs[-1] = runs[-1]._replace(after=count - stop)
    return runs


SEARCHED_WORDS = 256  # streams up to here are searched exhaustively for one chain, in milliseconds
SEARCHED_IN_TASKS = 16  # and up to here for several tasks
_COUNTED = 1 << 12  # how far descriptors of one chain are counted for a message
_FACTOR = 4  # times what there is, how far those of several tasks are


def best_plan(
    items: tuple[Item, ...] | None, asked: Addresses, fields: Fields, limits: Limits
) -> tuple[Chain, ...] | None:
    """The fewest descriptors: by rewriting loops, and for a short stream never more than a search finds.

    Args:
        items: what to move, in words; None when it cannot be said in whole words.
        asked: the same word by word.
        fields: of the tile kind.
        limits: of one channel.

    Returns:
        Chains to run one after the other, each as a task; None when there are none within the limits.
    """
    chain = None if items is None else best_chain(items, fields, limits.bds, limits.runs)
    enough = limits.bds if chain is None else len(chain.shapes) - 1
    if enough and len(asked) <= SEARCHED_WORDS:
        chain = fewest(asked, fields, enough, limits.runs) or chain
    plan: tuple[Chain, ...] | None = None if chain is None else (chain,)
    if limits.tasks > 1 and (plan is None or cost(plan)[0] > 1):
        plans = (plan, None if items is None else fewest_tasks(items, fields, limits))
        plan = min((found for found in plans if found is not None), key=cost, default=None)
        bds, tasks = (limits.bds, 1) if plan is None else cost(plan)[:2]
        if len(asked) <= SEARCHED_IN_TASKS:
            fewer = limits._replace(bds=bds if plan is None or tasks > 1 else bds - 1)
            plans = (plan, fewest_in_tasks(asked, fields, fewer))
            plan = min((found for found in plans if found is not None), key=cost, default=None)
    return plan


def bds_needed(items: tuple[Item, ...], fields: Fields, limits: Limits) -> int | None:
    """Descriptors that there would have to be; None for too many to count."""
    more = limits._replace(bds=_FACTOR * limits.bds)
    chain = best_chain(items, fields, _COUNTED, limits.runs)
    plan = fewest_tasks(items, fields, more) if limits.tasks > 1 else None
    return min((cost(found)[0] for found in ((chain,) if chain else None, plan) if found), default=None)


Access = Literal["read", "write"]
_KEPT = 2048  # lowerings, of those that were asked for last


@dataclass(frozen=True, slots=True)
class Lowering:
    """Descriptors that implement a request.

    Attributes:
        request: the request.
        kind: the tile kind.
        clipped: the boxes after clipping at the boundary, in elements.
        boxes: the same in words, merged by address.
        tasks: the tasks of the channel, in order; a single one if possible.
        certificate: comparison of the descriptors' walk with the request.
    """

    request: Request
    kind: TileKind
    clipped: tuple[Item, ...]
    boxes: tuple[Item, ...]
    tasks: tuple[QueueEntry, ...]
    certificate: Certificate

    @property
    def descriptors(self) -> tuple[Descriptor, ...]:
        """The descriptors of all tasks, each once, in order; not yet linked or locked."""
        return tuple(descriptor for task in self.tasks for descriptor in task.descriptors)

    @property
    def runs(self) -> int:
        """Executions of the chain (repeat count of the task); of several tasks, of all chains together."""
        return sum(task.runs for task in self.tasks)


def lower(
    request: Request,
    tile: TileName = "memory",
    access: Access = "read",
    *,
    address: int = 0,
    most: int | None = None,
    iteration: bool = True,
) -> Lowering:
    """The fewest descriptors for ``request``, then the fewest tasks, then the fewest runs.

    Args:
        request: what to move.
        tile: kind of the tile whose DMA moves it.
        access: ``"read"`` = MM2S, ``"write"`` = S2MM.
        address: word address of the buffer in the DMA's address scheme.
        most: descriptors that may be used; default = what one channel reaches (AM020).
        iteration: allow several runs of a chain, and several tasks; without, each word is in a single
            execution of one chain.

    Raises:
        TransferError: every reason why there are no such descriptors.
    """
    made = _placed(request, tile, access, address, most, iteration)
    note(made.certificate)
    return made


@lru_cache(maxsize=_KEPT)
def _placed(
    request: Request, tile: TileName, access: Access, address: int, most: int | None, iteration: bool
) -> Lowering:
    """A lowering with its buffer at a word: variants of a design ask for the same again and again."""
    made = _lowered(request, tile, access, most, iteration)
    if address:
        made = replace(made, tasks=tuple(_moved(task, address) for task in made.tasks))
    raise_if(_walk_problems(made.tasks, made.kind), TransferError)
    return made


def _moved(task: QueueEntry, address: int) -> QueueEntry:
    """The task with its buffer at another word."""
    moved = (d.but(address=DmaAddress(d.address + address)) for d in task.descriptors)
    return QueueEntry(tuple(moved), task.runs)


@lru_cache(maxsize=_KEPT)
def _lowered(request: Request, tile: TileName, access: Access, most: int | None, iteration: bool) -> Lowering:
    """A lowering with its buffer at word 0."""
    site = DmaSide(TILE_KINDS[tile], access == "write")
    clipped = clip(request)
    items = _in_words(clipped, request)
    _refuse_early(items, request, site)
    asked = words(request)
    available = len(site.kind.bd_bank(0)) if most is None else most
    limits = Limits(site.kind.queue_depth, site.kind.max_repeat, available)
    fields = Fields(site.kind)
    limits = limits if iteration else limits._replace(tasks=1, runs=1)
    plan = best_plan(items, asked, fields, limits)
    if plan is None:
        count = count_problem(bds_needed(items or (), fields, limits), available, site, one_run=not iteration)
        raise TransferError([*step_problems(items or (), request, site), count])
    tasks = tuple(QueueEntry(tuple(_descriptors(chain, tile)), chain.runs) for chain in plan)
    certificate = certify(asked, tasks)
    if not certificate.holds:
        raise TransferError(
            f"Word {certificate.difference} of the lowered stream is wrong. This is a fault of memtile: "
            "please report it with the tiling."
        )
    return Lowering(request, site.kind, clipped, items or (), tasks, certificate)


def _in_words(items: tuple[Item, ...], request: Request) -> tuple[Item, ...] | None:
    """``items`` in 32-bit words; None when some run is not whole words."""
    bits = request.element_bits
    return rescaled(items, max(WORD_BITS // bits, 1), max(bits // WORD_BITS, 1))


def _refuse_early(items: tuple[Item, ...] | None, request: Request, site: DmaSide) -> None:
    padding, size = [*padding_problems(request, site)], [*size_problems(request, site)]
    if padding or size:
        inner = misaligned(request) if items is None else step_problems(items, request, site)
        raise TransferError([*padding, *inner, *size])


def _walk_problems(tasks: tuple[QueueEntry, ...], kind: TileKind) -> list[Problem]:
    descriptors = [descriptor for task in tasks for descriptor in task.descriptors]
    walks = [Walk.of(d, run) for d in descriptors for run in range(d.iteration.wrap)]
    return [problem for walk in walks for problem in check_walk(walk, kind)][-1:]


def _descriptors(chain: Chain, tile: TileName) -> Iterator[Descriptor]:
    for shape in chain.shapes:
        loops = shape.loops
        all_plain = all(loop.plain for loop in loops)
        yield Descriptor(
            tile=tile,
            length=shape.length,
            address=DmaAddress(shape.base),
            dims=tuple(Dim(loop.step or 1, _wrap(shape, d)) for d, loop in enumerate(loops)),
            pad=tuple(Pad(loop.before, loop.after) for loop in loops if not all_plain),
            iteration=Iteration(shape.step, shape.wrap),
        )


def _wrap(shape: Shape, d: int) -> int:
    """The wrap field: the outermost loop is ended by the length unless zeros follow it."""
    loop = shape.loops[d]
    top = d == len(shape.loops) - 1
    return 0 if top and not loop.after else loop.wrap
