"""Lower a request to the fewest legal descriptors of a tile kind, with proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from memtile.access.boxes import check_walk
from memtile.access.lowering.certificate import Certificate, Task, certify, note
from memtile.access.lowering.chain import Chain
from memtile.access.lowering.clip import clip
from memtile.access.lowering.fit import Fields, Shape
from memtile.access.lowering.nest import Item, rescaled
from memtile.access.lowering.plan import bds_needed, best_plan
from memtile.access.lowering.refusal import (
    DmaSide,
    count_problem,
    padding_problems,
    size_problems,
    step_problems,
)
from memtile.access.lowering.tasks import Limits
from memtile.access.request import WORD_BITS, Request, misaligned, words
from memtile.access.walk import Walk
from memtile.arch.tiles import TILE_KINDS, TileKind, TileName
from memtile.bd.descriptor import Descriptor, Dim, Iteration, Pad
from memtile.bd.windows import DmaAddress
from memtile.errors import Problem, TransferError, raise_if

Access = Literal["read", "write"]
_KEPT = 2048  # lowerings, of those that were asked for last


@dataclass(frozen=True, slots=True)
class Lowering:
    """Descriptors that do what a request asks.

    Attributes:
        request: what was asked.
        kind: the tile kind.
        clipped: the boxes after clipping at the boundary, in elements.
        boxes: the same in words, merged by address.
        tasks: what the channel is given, in order; one wherever one is enough.
        certificate: comparison of the descriptors' walk with the request.
    """

    request: Request
    kind: TileKind
    clipped: tuple[Item, ...]
    boxes: tuple[Item, ...]
    tasks: tuple[Task, ...]
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


def _moved(task: Task, address: int) -> Task:
    """The task with its buffer at another word."""
    moved = (d.but(address=DmaAddress(d.address + address)) for d in task.descriptors)
    return Task(tuple(moved), task.runs)


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
    tasks = tuple(Task(tuple(_descriptors(chain, tile)), chain.runs) for chain in plan)
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


def _walk_problems(tasks: tuple[Task, ...], kind: TileKind) -> list[Problem]:
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
