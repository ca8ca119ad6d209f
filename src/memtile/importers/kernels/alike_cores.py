"""Cores that do the same with their locks and object FIFOs, of which one makes another number of turns.

Cores that share the work of a design mostly have one text. Where one loop of one core turns more or less
often than those of all others, and somebody waits because of it, that loop is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.imbalance import OTHER_TURNS, Imbalance
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Branch, Key, Loop, Node, Step
from memtile.importers.kernels.lock_users import Texts
from memtile.importers.mlir.configure import Configured


class _Text(NamedTuple):
    """What a core does.

    Attributes:
        tile: value of its tile.
        shape: its steps, without names of locks and without numbers of turns.
        loops: in the order of the text.
    """

    tile: str
    shape: object
    loops: Sequence[Loop]


def turn_faults(made: Configured, texts: Texts) -> Iterator[Imbalance]:
    """Loops whose number of turns is not that of other cores with the same text.

    Args:
        made: the device in its array.
        texts: steps of all cores, by tile.
    """
    alike: dict[object, list[_Text]] = {}
    for tile, nodes in texts.items():
        loops: list[Loop] = []
        shape = _shape(nodes, {}, loops)
        if loops:
            alike.setdefault(shape, []).append(_Text(tile, shape, loops))
    for group in alike.values():
        yield from _odd_ones(made, group)


def _shape(nodes: Sequence[Node], names: dict[Key, int], loops: list[Loop]) -> object:
    """The steps of a text; locks and object FIFOs are numbers, in the order in which they are used."""
    found: list[object] = []
    for node in nodes:
        if isinstance(node, Step):
            number = names.setdefault(node.key, len(names))
            found.append((number, node.key.port, node.acquires, node.many))
        elif isinstance(node, Loop):
            loops.append(node)
            found.append(("loop", _shape(node.steps, names, loops)))
        elif isinstance(node, Branch):
            found.append(tuple(_shape(way, names, loops) for way in node.ways))
    return tuple(found)


def _odd_ones(made: Configured, group: Sequence[_Text]) -> Iterator[Imbalance]:
    """The core of which one loop alone differs from those of all others, which agree; of two either does."""
    found = list[tuple[_Text, Loop, int]]()
    for loops in zip(*(text.loops for text in group), strict=True):
        turns = [loop.turns for loop in loops]
        for n, loop in enumerate(loops):
            usual = turns[n - 1]  # that of another one
            if loop.turns is not None and usual is not None and usual != loop.turns:
                same = turns.count(usual) == len(turns) - 1
                found += [(group[n], loop, usual)] if same else []
    if len(found) == 1:
        text, loop, usual = found[0]
        yield _made(made, text, loop, usual, [each for each in group if each is not text])


def _made(made: Configured, text: _Text, loop: Loop, usual: int, others: Sequence[_Text]) -> Imbalance:
    names = {core.tile: core_text(made, core) for core in made.device.cores}
    who, where = names[text.tile], line_of(loop.operation)
    does = f"makes {loop.turns} turns of its loop in {where}"
    more = f"{len(others) - 1} more core{'s' * (len(others) > 2)}"
    message = (
        f"{who} {does}, and {names[others[0].tile]} and {more}, which do the same with their locks and "
        f"object FIFOs, make {usual}."
    )
    side = Side(who, does, place_of(loop.operation))
    fix = f"Let the loop of {who} in {where} make {usual} turns."
    return Imbalance(Finding(OTHER_TURNS, Severity.ERROR, message, (side,), fix=fix), certain=False)
