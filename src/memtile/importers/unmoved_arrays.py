"""Arrays of a host that its sequence never moves, while another one of their type is moved twice.

A sequence that fills two object FIFOs with one array is written like the right one, and its words are wrong.
An array that nothing moves is the other half of that mistake. Results in the array that was read, or one
array for several columns, are as often meant: nothing is said of them, and the repair that moves the other
array is tried all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.moves import Move
from memtile.explain.oddities import UNMOVED_ARRAY
from memtile.importers.mlir.sequence.program import SequenceProgram
from memtile.importers.mlir.tree import Operation


def unmoved_array_findings(
    sequence: SequenceProgram, used: Callable[[], Collection[int]]
) -> Iterator[Finding]:
    """A finding for each array that another one of its type seems to have been given instead of.

    Args:
        sequence: of a host.
        used: function that returns the arguments that the steps of the sequence read or write.
    """
    if sequence.is_open:
        return
    unnamed = [*unused_arguments(sequence.operation)]
    moved = used() if unnamed else ()  # an address that is patched names its argument by number
    shapes = [(each.shape, each.element) for each in sequence.arguments]
    for number, name in unnamed:
        if number in moved:
            continue
        twice = [
            pair
            for other, shape in enumerate(shapes)
            if other != number and shape == shapes[number] and shape[0]
            for pair in _moved_twice(sequence.moves, other)
        ]
        if len(twice) == 1:
            yield _finding(number, name, *twice[0])


def unused_arguments(sequence: Operation) -> Iterator[tuple[int, str]]:
    """The arguments of a host sequence that none of its operations names: number and name in the text.

    Args:
        sequence: the operation.
    """
    block = sequence.regions[0].blocks[0]
    named = {word for each in sequence.walk() if each is not sequence for word in each.words}
    yield from ((n, name) for n, (name, _) in enumerate(block.arguments) if name not in named)


def _moved_twice(moves: Sequence[Move], argument: int) -> Iterator[tuple[Move, Move]]:
    """Two channels of a tile that move the same elements of an argument in one direction, and no others."""
    by_channel: dict[str, list[Move]] = {}
    for move in moves:
        if move.key == argument:
            by_channel.setdefault(move.who, []).append(move)
    for one, other in combinations(by_channel.values(), 2):
        tiles = {each[0].who.partition(" ")[0] for each in (one, other)}
        if len(tiles) > 1 or one[0].writes != other[0].writes:
            continue
        if [each.same for each in one] == [each.same for each in other]:
            yield one[0], other[0]


def _finding(number: int, name: str, one: Move, other: Move) -> Finding:
    title = f"argument {number} ({name})"
    ends = [f"{each.who} ({line_of(each.place)})" for each in (one, other)]
    both = f"{ends[0]} and {ends[1]}"
    verb = "write" if one.writes else "read"
    message = f"The host never moves {title}; {both} both {verb} the same elements of {one.memory}."
    fix = f"Give one of these two transfers {title}."
    sides = [Side(each.who, f"{verb}s {each.memory}", each.place) for each in (one, other)]
    return Finding(UNMOVED_ARRAY, CODES[UNMOVED_ARRAY].severity, message, sides, fix=fix)
