"""The values that one core puts on a cascade and the next one gets, as far as the text counts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.oddities import Suspect
from memtile.importers.kernels.body_operations import ENDLESS_TURNS
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Branch, Loop, Node, Step, known_way, steps_of
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription

_UNEVEN = "MT0135"


class _End(NamedTuple):
    """What a core does to a cascade.

    Attributes:
        core: it.
        many: values in all.
        steps: the puts or gets, each with the loops around it, the innermost last.
    """

    core: CoreDescription
    many: int
    steps: Sequence[tuple[Step, Sequence[Loop]]]


def cascade_findings(made: Configured) -> Iterator[Finding]:
    """One finding for each cascade whose cores put and get other numbers of values.

    Nothing is known of cores that go on for ever: 3 turns with 2 values are 2 turns with 3.
    """
    yield from (_finding(made, puts, gets) for puts, gets in _uneven(made))


def cascade_mends(made: Configured) -> Mapping[tuple[str, int], Finding]:
    """Those findings with one repair alone, by the place of its loop and the turns that it gives it.

    They are for what else tells the two cores apart, as the object FIFOs that one of them has.
    """
    found: dict[tuple[str, int], Finding] = {}
    for puts, gets in _uneven(made):
        said = _finding(made, puts, gets)
        for end, wanted in ((puts, gets.many), (gets, puts.many)):
            for place, turns, change in _changes(core_text(made, end.core), end, wanted):
                found[place, turns] = replace(said, fix=f"Let {change}.")
    return found


def _uneven(made: Configured) -> Iterator[tuple[_End, _End]]:
    """Both ends of each cascade whose numbers are known and not the same."""
    aliases, device = made.device.aliases, made.device
    cores = {aliases.get(core.tile, core.tile): core for core in device.cores if core.has_body}
    for flow in device.cascades:
        one, other = (cores.get(aliases.get(tile, tile)) for tile in (flow.source, flow.target))
        puts = None if one is None else _end(made, one, gets=False)
        gets = None if other is None else _end(made, other, gets=True)
        if puts is not None and gets is not None and puts.many != gets.many:
            yield puts, gets


def _end(made: Configured, core: CoreDescription, *, gets: bool) -> _End | None:
    """The values of one end; None where the text has none, or does not say how many."""
    found: list[tuple[Step, int, Sequence[Loop]]] = []
    if not _collect(steps_of(made.device, core, cascade=True), 1, (), found):
        return None
    own = [(step, many, loops) for step, many, loops in found if step.acquires is gets]
    many = sum(times for _, times, _ in own)
    return _End(core, many, [(step, loops) for step, _, loops in own]) if many else None


def _collect(
    nodes: Sequence[Node], times: int, loops: Sequence[Loop], found: list[tuple[Step, int, Sequence[Loop]]]
) -> bool:
    """Add the steps of nodes that are done so many times; whether all of it is known."""
    for node in nodes:
        if isinstance(node, Step):
            found.append((node, times, loops))
        elif isinstance(node, Branch):
            way = known_way(node)
            if way is None or not _collect(way, times, loops, found):
                return False
        else:
            turns = ENDLESS_TURNS if node.turns is None else node.turns
            if turns >= ENDLESS_TURNS or not _collect(node.steps, times * turns, (*loops, node), found):
                return False
    return True


def _finding(made: Configured, puts: _End, gets: _End) -> Finding:
    first, second = (core_text(made, end.core) for end in (puts, gets))
    lines = [line_of(end.steps[0][0].operation) for end in (puts, gets)]
    sends = f"puts {_values(puts.many)} on the cascade"
    takes = f"gets {gets.many}"
    message = f"{first} {sends} ({lines[0]}), and {second} {takes} ({lines[1]})."
    both = [*_changes(first, puts, gets.many), *_changes(second, gets, puts.many)]
    changes = [change for _, _, change in both]
    fix = f"Let {', or '.join(changes)}." if changes else f"Let {second} get as many values as {first} puts."
    sides = (
        Side(first, sends, place_of(puts.steps[0][0].operation)),
        Side(second, takes, place_of(gets.steps[0][0].operation)),
    )
    severity = CODES[_UNEVEN].severity
    return Suspect(_UNEVEN, severity, message, sides, fix=fix, waiting=((first, second),))


def _changes(who: str, end: _End, wanted: int) -> Iterator[tuple[str, int, str]]:
    """Other turns of the innermost loop of a core, with which it puts or gets as many values as wanted.

    Each is the place of the loop, the turns, and a sentence without its begin.
    """
    inner = end.steps[0][1][-1] if len(end.steps) == 1 and end.steps[0][1] else None
    if inner is not None and inner.turns is not None:
        turns = Fraction(inner.turns * wanted, end.many)
        if turns.denominator == 1:
            many = "1 turn" if turns == 1 else f"{turns} turns"
            says = f"the loop of {who} in {line_of(inner.operation)} make {many}"
            yield place_of(inner.operation), int(turns), says


def _values(many: int) -> str:
    return f"{many} value{'s' * (many != 1)}"
