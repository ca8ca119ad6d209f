"""Changes of what ``main`` gives parameters that may be what was meant: another number, two exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from memtile.adf.graph_changes import GraphChange
from memtile.adf.host_program import Given
from memtile.adf.objects import Objects
from memtile.explain.evidence import Evidence
from memtile.explain.off_by import other_values
from memtile.explain.repairs import Candidate

_OTHER, _EXCHANGED = 0.05, 0.55
"""How unlikely a change is: to a number with which the words would be right, of two values for each other."""
_MOST = 12  # updates between which values are exchanged
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def value_changes(objects: Objects, given: Sequence[Given], evidence: Evidence) -> Iterator[GraphChange]:
    """Other values for the calls of ``update``, in no order.

    Args:
        objects: of the description.
        given: the calls of the run, in order.
        evidence: of the finding about wrong words: by how much they are off.
    """
    for number, each in enumerate(given):
        kind = np.dtype(each.element) if each.element in _INTEGERS else None
        if kind is None or len(each.data) != kind.itemsize:
            continue
        value, limits = int(np.frombuffer(each.data, kind)[0]), np.iinfo(kind)
        for other in other_values(value, evidence):
            if limits.min <= other <= limits.max:
                name, where = _name(objects, each), f" ({each.line})" * bool(each.line)
                of = f"{name}, call {number + 1} of update,"
                says = f"update {of} with {other} instead of {value}{where}"
                target = (name, "update", str(other))
                candidate = Candidate("value", says, (), _OTHER, target, place=each.line)
                yield GraphChange(candidate, (), {number: kind.type(other).tobytes()})
    for (n, one), (m, other_one) in combinations(enumerate(given[:_MOST]), 2):
        if len(one.data) == len(other_one.data) and one.data != other_one.data:
            names = [_name(objects, each) for each in (one, other_one)]
            lines = dict.fromkeys(each.line for each in (one, other_one) if each.line)
            where = f" ({' and '.join(lines)})" * bool(lines)
            says = f"exchange what calls {n + 1} and {m + 1} of update give {names[0]} and {names[1]}{where}"
            candidate = Candidate(
                "value", says, (), _EXCHANGED, (names[0], "update", names[1]), place=one.line
            )
            yield GraphChange(candidate, (), {n: other_one.data, m: one.data})


def _name(objects: Objects, each: Given) -> str:
    return objects.ports[each.port].name
