"""Which blocks of a region every way to another block goes through.

The tree of immediate dominators is found by the rounds of Cooper, Harvey and Kennedy ("A Simple, Fast
Dominance Algorithm", 2001): texts have few loops, so two rounds do. Numbers of a walk through it answer each
question at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.importers.mlir.tree import OperationBlock, Region


class Dominance:
    """The blocks of a region and the ways between them.

    Args:
        region: whose operations name the blocks that may come next.
    """

    def __init__(self, region: Region) -> None:
        labels = {block.label: n for n, block in enumerate(region.blocks)}
        self._numbers = {id(block): n for n, block in enumerate(region.blocks)}
        after = [
            [labels[word] for each in block.operations for word in each.words if word in labels]
            for block in region.blocks
        ]
        order = _order(after)
        self._spans = _spans(_parents(after, order), order)

    def holds(self, block: OperationBlock, other: OperationBlock) -> bool:
        """Whether every way to ``other`` goes through ``block``; one that no way leads to is no matter."""
        there = self._spans.get(self._numbers[id(other)])
        here = self._spans.get(self._numbers[id(block)])
        return there is None or (here is not None and here[0] <= there[0] <= here[1])


def _order(after: Sequence[Sequence[int]]) -> list[int]:
    """The blocks that are reached from the first one, each before those that only it leads to."""
    seen, found = {0}, list[int]()
    ways: list[tuple[int, Iterator[int]]] = [(0, iter(after[0]))]
    while ways:
        block, left = ways[-1]
        if (following := next(left, None)) is None:
            found.append(block)
            ways.pop()
        elif following not in seen:
            seen.add(following)
            ways.append((following, iter(after[following])))
    return found[::-1]


def _parents(after: Sequence[Sequence[int]], order: Sequence[int]) -> dict[int, int]:
    """The immediate dominator of each block that is reached; the first one is its own."""
    place = {block: n for n, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for following in after[block]:
            before[following].append(block)
    found, changes = {order[0]: order[0]}, True
    while changes:
        changes = False
        for block in order[1:]:
            known = [each for each in before[block] if each in found]
            parent = known[0]
            for each in known[1:]:
                parent = _common(found, place, parent, each)
            if found.get(block) != parent:
                found[block], changes = parent, True
    return found


def _common(found: dict[int, int], place: dict[int, int], one: int, other: int) -> int:
    """The nearest block that dominates both."""
    while one != other:
        while place[one] > place[other]:
            one = found[one]
        while place[other] > place[one]:
            other = found[other]
    return one


def _spans(parents: dict[int, int], order: Sequence[int]) -> dict[int, tuple[int, int]]:
    """For each block its number in the tree, and the last one of those below it."""
    sizes = dict.fromkeys(order, 1)
    for block in reversed(order[1:]):
        sizes[parents[block]] += sizes[block]
    found, free = {order[0]: (0, sizes[order[0]] - 1)}, {order[0]: 1}
    for block in order[1:]:
        parent = parents[block]
        first = free[parent]
        free[parent] += sizes[block]
        found[block], free[block] = (first, first + sizes[block] - 1), first + 1
    return found
