"""Candidates within the bodies of cores: another memory, the number of other cores, a whole loop."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation

_LOAD, _STORE, _LOOP, _CONSTANT = "memref.load", "memref.store", "scf.for", "arith.constant"
_MOST = 16  # memories that a load is tried with, and cores that are compared
_MEMORY, _ODD, _START = 0.5, 0.25, 0.4
"""How unlikely another memory is, a number that only one of many cores has, and a loop from 0 on."""


def body_candidates(design: DesignText) -> Iterator[Found]:
    """Changes of what cores compute, which only expected words tell apart.

    Args:
        design: the text.
    """
    cores = design.named("aie.core")
    for core in cores[:_MOST]:
        yield from _memories(design, core)
    yield from _starts(design, cores[:_MOST])
    yield from _odd_numbers(design, cores[:_MOST])


def _memories(design: DesignText, core: Operation) -> Iterator[Found]:
    """A load of another memory of the same type that the core loads from or stores to before."""
    known = dict[str, str]()
    for each in design.inside(core, _LOAD, _STORE):
        if (at := _memory(design, each)) is not None:
            known.setdefault(design.words[at], _type(design, each))
    for load in design.inside(core, _LOAD):
        at, kind = _memory(design, load), _type(design, load)
        for name in [*known][:_MOST]:
            if at is None or name == design.words[at] or known[name] != kind or not _sees(design, load, name):
                continue
            says = f"line {load.line}: load of {name} instead of {design.words[at]}"
            yield load, Candidate("buffer", says, [design.edits.token(at, name)], _MEMORY)


def _memory(design: DesignText, access: Operation) -> int | None:
    """Token of the memory of a load or a store: what stands before the places in it."""
    for first, end in access.spans:
        for at in range(first, end - 1):
            if design.words[at][:1] == "%" and design.words[at + 1] == "[":
                return at
    return None


def _type(design: DesignText, access: Operation) -> str:
    """The type of the memory, as the text has it."""
    words = [design.words[at] for first, end in access.spans for at in range(first, end)]
    colon = max((n for n, word in enumerate(words) if word == ":"), default=len(words))
    return "".join(words[colon + 1 :])


def _sees(design: DesignText, operation: Operation, name: str) -> bool:
    """Whether a value is defined before an operation."""
    made = design.definition(operation, name)
    return made is not None and made.line < operation.line


def _starts(design: DesignText, cores: Sequence[Operation]) -> Iterator[Found]:
    """A loop that goes over what it stores to from the first element on, in all cores that do the same.

    One body of a program is often that of many cores.
    """
    for same in _alike(cores).values():
        for loops in zip(*(design.inside(core, _LOOP) for core in same), strict=True):
            begins = [each for loop in loops if (each := _begin(design, loop)) is not None]
            if len(begins) < len(loops) or len({value for _, _, value in begins}) > 1:
                continue
            changes = [change for loop, at, _ in begins for change in design.with_number(loop, at, 0)]
            lines = ", ".join(dict.fromkeys(str(loop.line) for loop in loops))
            says = f"line {lines}: the loop begins at 0 instead of {begins[0][2]}"
            yield loops[0], Candidate("bound", says, changes, _START)


def _begin(design: DesignText, loop: Operation) -> tuple[Operation, int, int] | None:
    """Token and value of where a loop begins that stores at its index; None if that is 0 or not known."""
    words = loop.words
    if "to" not in words or not any(words[0] in each.words for each in design.inside(loop, _STORE)):
        return None
    at = [at for span in loop.spans for at in range(*span)][words.index("to") - 1]
    value = design.number(loop, at)
    return (loop, at, value) if value else None


def _alike(cores: Sequence[Operation]) -> dict[tuple[str, ...], list[Operation]]:
    """Cores by the names of what they do, one after another."""
    found = defaultdict[tuple[str, ...], list[Operation]](list)
    for core in cores:
        found[tuple(each.name for each in core.walk())].append(core)
    return found


def _odd_numbers(design: DesignText, cores: Sequence[Operation]) -> Iterator[Found]:
    """A number of one core where all others that do the same have another one.

    Of two cores neither is the odd one: each is tried with the number of the other.
    """
    for same in _alike(cores).values():
        for column in zip(*(design.inside(core, _CONSTANT) for core in same), strict=True):
            found = [(each, [*design.numbers(each)][:1]) for each in column]
            values = [(each, *first[0][1:]) for each, first in found if first]
            counts = Counter(value for _, _, value in values)
            if len(counts) != 2:
                continue
            (usual, _), (odd, times) = counts.most_common()
            for constant, at, value in values:
                if times > 1 or (value == usual and len(values) > 2):
                    continue
                other = usual if value == odd else odd
                says = f"line {constant.line}: the value {other}, as other cores have it, instead of {value}"
                yield constant, Candidate("value", says, design.with_number(constant, at, other), _ODD)
