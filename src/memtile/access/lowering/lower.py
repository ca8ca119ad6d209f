"""Lower a request to the fewest legal descriptors of a tile kind, with proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memtile.access.boxes import check_walk
from memtile.access.lowering.certificate import Certificate, certify
from memtile.access.lowering.chain import Chain, best_chain
from memtile.access.lowering.clip import clip
from memtile.access.lowering.fit import Fields, Shape
from memtile.access.lowering.nest import Item, rescaled
from memtile.access.lowering.refusal import (
    DmaSide,
    count_problem,
    padding_problems,
    size_problems,
    step_problems,
)
from memtile.access.lowering.search import fewest
from memtile.access.request import WORD_BITS, Request, misaligned, words
from memtile.access.walk import Addresses, Walk
from memtile.arch.tiles import TILE_KINDS, TileKind, TileName
from memtile.bd.descriptor import Descriptor, Dim, Iteration, Pad
from memtile.bd.windows import DmaAddress
from memtile.errors import Problem, TransferError, raise_if

Access = Literal["read", "write"]

SEARCHED_WORDS = 256  # streams up to here are searched exhaustively, in milliseconds
_COUNTED = 1 << 12  # how far descriptors are counted for a message


@dataclass(frozen=True, slots=True)
class Lowering:
    """Descriptors that do what a request asks.

    Attributes:
        request: what was asked.
        kind: the tile kind.
        clipped: the boxes after clipping at the boundary, in elements.
        boxes: the same in words, merged by address.
        descriptors: one execution of the chain, in order; not yet linked or locked.
        runs: executions of the chain (repeat count of the task).
        certificate: comparison of the descriptors' walk with the request.
    """

    request: Request
    kind: TileKind
    clipped: tuple[Item, ...]
    boxes: tuple[Item, ...]
    descriptors: tuple[Descriptor, ...]
    runs: int
    certificate: Certificate


def lower(
    request: Request,
    tile: TileName = "memory",
    access: Access = "read",
    *,
    address: int = 0,
    most: int | None = None,
    iteration: bool = True,
) -> Lowering:
    """The fewest descriptors for ``request``.

    Args:
        request: what to move.
        tile: kind of the tile whose DMA moves it.
        access: ``"read"`` = MM2S, ``"write"`` = S2MM.
        address: word address of the buffer in the DMA's address scheme.
        most: descriptors that may be used; default = what one channel reaches (AM020).
        iteration: allow several runs of the chain; without, each word is in a single execution.

    Raises:
        TransferError: every reason why there are no such descriptors.
    """
    site = DmaSide(TILE_KINDS[tile], access == "write")
    clipped = clip(request)
    items = _in_words(clipped, request)
    _refuse_early(items, request, site)
    asked = words(request)
    runs = site.kind.max_repeat if iteration else 1
    available = len(site.kind.bd_bank(0)) if most is None else most
    chain = _chain(items, asked, Fields(site.kind), available, runs)
    if chain is None:
        larger = best_chain(items or (), Fields(site.kind), _COUNTED, runs)
        count = count_problem(len(larger.shapes) if larger else None, available, site)
        raise TransferError([*step_problems(items or (), request, site), count])
    descriptors = tuple(_descriptors(chain, tile, address))
    raise_if(_walk_problems(descriptors, site.kind), TransferError)
    certificate = certify(asked, descriptors, chain.runs, address)
    if not certificate.holds:
        raise TransferError(
            f"Word {certificate.difference} of the lowered stream is wrong. This is a fault of memtile: "
            "please report it with the tiling."
        )
    return Lowering(request, site.kind, clipped, items or (), descriptors, chain.runs, certificate)


def _in_words(items: tuple[Item, ...], request: Request) -> tuple[Item, ...] | None:
    """``items`` in 32-bit words; None when some run is not whole words."""
    bits = request.element_bits
    return rescaled(items, max(WORD_BITS // bits, 1), max(bits // WORD_BITS, 1))


def _refuse_early(items: tuple[Item, ...] | None, request: Request, site: DmaSide) -> None:
    padding, size = [*padding_problems(request, site)], [*size_problems(request, site)]
    if padding or size:
        inner = misaligned(request) if items is None else step_problems(items, request, site)
        raise TransferError([*padding, *inner, *size])


def _chain(
    items: tuple[Item, ...] | None, asked: Addresses, fields: Fields, available: int, max_runs: int
) -> Chain | None:
    """The fewest descriptors: by rewriting loops, and for a short stream never more than a search finds."""
    chain = None if items is None else best_chain(items, fields, available, max_runs)
    enough = available if chain is None else len(chain.shapes) - 1
    if enough and len(asked) <= SEARCHED_WORDS:
        return fewest(asked, fields, enough, max_runs) or chain
    return chain


def _walk_problems(descriptors: tuple[Descriptor, ...], kind: TileKind) -> list[Problem]:
    walks = [Walk.of(d, run) for d in descriptors for run in range(d.iteration.wrap)]
    return [problem for walk in walks for problem in check_walk(walk, kind)][-1:]


def _descriptors(chain: Chain, tile: TileName, address: int) -> Iterator[Descriptor]:
    for shape in chain.shapes:
        loops = shape.loops
        all_plain = all(loop.plain for loop in loops)
        yield Descriptor(
            tile=tile,
            length=shape.length,
            address=DmaAddress(address + shape.base),
            dims=tuple(Dim(loop.step or 1, _wrap(shape, d)) for d, loop in enumerate(loops)),
            pad=tuple(Pad(loop.before, loop.after) for loop in loops if not all_plain),
            iteration=Iteration(shape.step, shape.wrap),
        )


def _wrap(shape: Shape, d: int) -> int:
    """The wrap field: the outermost loop is ended by the length unless zeros follow it."""
    loop = shape.loops[d]
    top = d == len(shape.loops) - 1
    return 0 if top and not loop.after else loop.wrap
