"""Find arrays that a host sequence never moves, while it moves another array of the same type twice.

A host that fills two object FIFOs from one array by mistake leaves another array unused. There is no finding
where one array may be meant: results that go back to the array that was read, or one array for several
columns. Repairs of wrong words try the unused array in these cases too.
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
    """Return a finding for each unused array in whose place another one seems to be moved.

    Args:
        sequence: of a host.
        used: returns the numbers of the arguments that the steps of the sequence read or write.
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
    """Return number and name of each argument that no operation of a host sequence names.

    Args:
        sequence: the operation.
    """
    block = sequence.regions[0].blocks[0]
    named = {word for each in sequence.walk() if each is not sequence for word in each.words}
    yield from ((n, name) for n, (name, _) in enumerate(block.arguments) if name not in named)


def _moved_twice(moves: Sequence[Move], argument: int) -> Iterator[tuple[Move, Move]]:
    """Pairs of channels of one tile and direction that move exactly the same elements of an argument."""
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
