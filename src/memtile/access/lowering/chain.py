"""Lower clipped items to a chain of descriptor shapes, with the outermost loop on iteration where that saves.

A chain is executed ``runs`` times; in each run every descriptor moves on by its own iteration step (AM020
ch. 5: the iteration offset applies to a whole execution). Only the outermost loops of the whole stream can go
there. What still does not fit is unrolled, outermost loop first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memtile.access.lowering.fit import Fields, Shape, fit, zeros
from memtile.access.lowering.nest import Item, Nest, Repeat, Zeros, joined
from memtile.access.walk import Loop


@dataclass(frozen=True, slots=True)
class Chain:
    """Shapes in execution order and how often the whole chain runs."""

    shapes: tuple[Shape, ...]
    runs: int = 1


def best_chain(items: Sequence[Item], fields: Fields, most: int, max_runs: int) -> Chain | None:
    """The chain with the fewest descriptors, then the fewest runs; None above ``most`` descriptors."""
    best: Chain | None = None
    for body, runs, step, wrap in _run_choices(joined(items), fields, max_runs):
        shapes = _shapes(body, fields, most if best is None else len(best.shapes) - 1)
        if shapes is not None:
            best = Chain(tuple(shape.iterated(step, wrap) for shape in shapes), runs)
        if best and len(best.shapes) == 1:
            break
    return best


def _run_choices(
    items: list[Item], fields: Fields, max_runs: int
) -> Iterator[tuple[list[Item], int, int, int]]:
    """(items of one run, runs, iteration step, iteration wrap), fewest runs first."""
    repeats, items = _split_repetition(items, max_runs)
    yield items, repeats, 1, 1
    outer = _outer_loop(items)
    if outer is None or not outer.plain:
        return
    for runs in range(2, min(outer.wrap, fields.iteration_wrap, max_runs // repeats) + 1):
        step = outer.step * (outer.wrap // runs)
        if outer.wrap % runs == 0 and 1 <= step <= fields.iteration_step:
            yield _with_outer(items, outer.wrap // runs), repeats * runs, step, runs


def _split_repetition(items: list[Item], max_runs: int) -> tuple[int, list[Item]]:
    """Outermost turns that do not move become runs; what exceeds the repeat count stays in the chain."""
    outer = _outer_loop(items)
    if outer is None or outer.step or not outer.plain:
        return 1, items
    runs = next(n for n in range(min(outer.wrap, max_runs), 0, -1) if outer.wrap % n == 0)
    return runs, _with_outer(items, outer.wrap // runs)


def _outer_loop(items: list[Item]) -> Loop | None:
    """The loop around everything, if there is one."""
    match items:
        case [Nest(loops=[*_, outer])]:
            return outer
        case [Repeat(count=count, step=step)]:
            return Loop(0, count, 0, step)
        case _:
            return None


def _with_outer(items: list[Item], turns: int) -> list[Item]:
    """``items`` with ``turns`` turns of the loop around everything."""
    match items:
        case [Nest(base, [*inner, outer])]:
            return [Nest(base, (*inner, outer._replace(wrap=turns)) if turns > 1 else tuple(inner))]
        case [Repeat(step=step, items=body)] if turns > 1:
            return [Repeat(turns, step, body)]
        case [Repeat(items=body)]:
            return joined(body)
        case _:
            return items


def _shapes(items: Sequence[Item], fields: Fields, most: int) -> list[Shape] | None:
    """``items`` in order as descriptors; None when there are more than ``most``."""
    out: list[Shape] = []
    for item in items:
        if len(out) >= most:
            return None
        match item:
            case Zeros(size):
                part = _zero_shapes(size, fields, most - len(out))
            case Repeat(count, step, body):
                part = _unrolled(_shapes(body, fields, most - len(out)), count, step, most - len(out))
            case Nest():
                part = _nest_shapes(item, fields, most - len(out))
        if part is None:
            return None
        out += part
    return out if len(out) <= most else None


def _zero_shapes(size: int, fields: Fields, most: int) -> list[Shape] | None:
    count = -(-size // fields.length)
    sizes = (
        [min(fields.length, size - done) for done in range(0, size, fields.length)] if count <= most else []
    )
    shapes = [shape for piece in sizes if (shape := zeros(piece, fields))]
    return shapes if shapes and len(shapes) == count else None


def _unrolled(shapes: list[Shape] | None, count: int, step: int, most: int) -> list[Shape] | None:
    if shapes is None or len(shapes) * count > most:
        return None
    return [shape.moved(turn * step) for turn in range(count) for shape in shapes]


def _nest_shapes(nest: Nest, fields: Fields, most: int) -> list[Shape] | None:
    """``nest`` as one descriptor, or cut along its outermost loop, or off the zeros around that."""
    whole = fit(nest, fields)
    if whole or not nest.loops:
        return [whole] if whole else None
    *inner, outer = nest.loops
    unit = Nest(nest.base, tuple(inner))
    pieces = _pieces(nest, outer, unit.size, fields, most)
    if outer.plain:
        if pieces is not None:
            return pieces
        return _unrolled(_nest_shapes(unit, fields, most), outer.wrap, outer.step, most)
    ends = [Zeros(zeros * unit.size) for zeros in (outer.before, outer.after)]
    before, after = (_shapes([end] if end.size else [], fields, most) for end in ends)
    middle = _nest_shapes(replace(nest, loops=(*inner, outer._replace(before=0, after=0))), fields, most)
    if before is None or middle is None or after is None:
        return pieces
    peeled = [*before, *middle, *after]
    return peeled if pieces is None or len(peeled) < len(pieces) else pieces


def _pieces(nest: Nest, outer: Loop, unit: int, fields: Fields, most: int) -> list[Shape] | None:
    """``nest`` cut into pieces of its outermost loop, as long as they fit, each one descriptor."""
    shapes: list[Shape] = []
    done = 0
    while done < outer.wrap:
        before = 0 if done else outer.before
        turns = min(outer.wrap - done, fields.length // unit - before)
        if turns < 1 or len(shapes) >= most:
            return None
        after = outer.after if done + turns == outer.wrap else 0
        piece = Loop(before, turns, after, outer.step)
        shape = fit(Nest(nest.base + done * outer.step, (*nest.loops[:-1], piece)), fields)
        if shape is None:
            return None
        shapes.append(shape)
        done += turns
    return shapes
