"""Loop nests as one line of text, outermost loop first: ``8 x +64, 4 x +1``."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.access.lowering.nest import Item, Nest, Repeat, Zeros
from memtile.access.request import Request
from memtile.access.walk import Loop

SHOWN = 6  # items of a sequence before it is cut


def request_loops(request: Request) -> str:
    """The loops as they were asked for, by dimension; single turns left out."""
    loops = [f"{wrap} x d{d}{stride:+}" for d, wrap, stride in request.axes if wrap > 1]
    start = ", ".join(str(extent.start) for extent in request.extents)
    return f"from ({start}): {', '.join(loops) or 'one element'}"


def item_lines(items: Sequence[Item], unit: str) -> list[str]:
    """One line per box of accesses; addresses and steps in ``unit``."""
    lines = [_item(item, unit) for item in items[:SHOWN]]
    return [*lines, f"... {len(items) - SHOWN} more"] if len(items) > SHOWN else lines


def _item(item: Item, unit: str) -> str:
    match item:
        case Zeros(size):
            return f"{size} zeros"
        case Repeat(count, step, items):
            return f"{count} x {step:+} of [{'; '.join(item_lines(items, unit))}]"
        case Nest(base, loops):
            return f"from {unit} {base}: {', '.join(map(_loop, reversed(loops))) or 'once'}"


def _loop(loop: Loop) -> str:
    zeros = [f"{n} {side}" for n, side in ((loop.before, "before"), (loop.after, "after")) if n]
    return f"{loop.wrap} x {loop.step:+}" + (f" [zeros: {', '.join(zeros)}]" if zeros else "")
