"""Candidates in the operations of object FIFOs and their links: ends, order, offsets, types of objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations, pairwise
from math import prod

from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText
from memtile.importers.mlir.repairs.releases import ACQUIRE, Found
from memtile.importers.mlir.tree import Operation

FIFO, LINK = "aie.objectfifo", "aie.objectfifo.link"
_SHAPE = re.compile(r"(\d+(?:x\d+)*)x([a-z]\w*)")
_ELEMENTS = ("i8", "i16", "i32", "bf16", "f32")
_TWO = 2
_TYPED = ("aie.buffer", "aie.dma_bd", "aie.external_buffer")


def form_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates in what object FIFOs, links and buffers are said to be."""
    for fifo in design.named(FIFO):
        yield from _ends(design, fifo)
    for link in design.named(LINK):
        yield from _order(design, link)
        yield from _offsets(design, link)
    yield from _types(design)


def _values(design: DesignText, operation: Operation) -> list[int]:
    """Tokens of the values that an operation uses."""
    return [at for span in operation.spans for at in range(*span) if design.words[at][:1] == "%"]


def _ends(design: DesignText, fifo: Operation) -> Iterator[Found]:
    """Producer and consumer exchanged; another tile at an end."""
    at = _values(design, fifo)
    words = design.words
    for other in at[1:]:
        if words[other] != words[at[0]]:
            changes = [design.edits.token(at[0], words[other]), design.edits.token(other, words[at[0]])]
            says = f"let @{design.symbol(fifo)} go from {words[other]} to {words[at[0]]}"
            yield fifo, Candidate("object_fifo", says, changes, 0.6)


def _order(design: DesignText, link: Operation) -> Iterator[Found]:
    """Two object FIFOs of a link exchanged."""
    words = design.words
    at = [a for span in link.spans for a in range(*span) if words[a][:1] == "@"]
    for one, other in combinations(at, 2):
        changes = [design.edits.token(one, words[other]), design.edits.token(other, words[one])]
        says = f"line {link.line}: exchange {words[one]} and {words[other]}"
        yield link, Candidate("object_fifo", says, changes, 0.5 if (one, other) in pairwise(at) else 0.8)
    for parts in _lists(design, link):
        yield from _turned(design, link, parts)


def _lists(design: DesignText, link: Operation) -> Iterator[list[int]]:
    """Tokens of the object FIFOs on each side of a link."""
    for at in (at for span in link.spans for at in range(*span)):
        if design.words[at] == "[" and at in design.tokens.close:
            parts = range(at + 1, design.tokens.close[at])
            yield [each for each in parts if design.words[each][:1] == "@"]


def _turned(design: DesignText, link: Operation, parts: Sequence[int]) -> Iterator[Found]:
    """The parts of a link the other way round, or begun with the last or the second one."""
    words = [design.words[each] for each in parts]
    for order in (words[::-1], [words[-1], *words[:-1]], [*words[1:], words[0]]) if len(words) > _TWO else ():
        changes = [design.edits.token(*each) for each in zip(parts, order, strict=True)]
        says = f"line {link.line}: put the parts in the order {', '.join(order)}, or the cores"
        yield link, Candidate("object_fifo", says, changes, 0.6)


def _offsets(design: DesignText, link: Operation) -> Iterator[Found]:
    """Offsets of a link where the parts before them end."""
    words = design.words
    lists, symbols = list[list[int]](), list[list[str]]()
    for span in link.spans:
        for at in range(*span):
            if words[at] == "[" and at in design.tokens.close:
                inside = range(at + 1, design.tokens.close[at])
                lists.append([a for a in inside if words[a].isdecimal()])
                symbols.append([words[a][1:] for a in inside if words[a][:1] == "@"])
    sizes = {design.symbol(each): design.elements(each) for each in design.named(FIFO)}
    sides = [each for each in symbols if each]
    for numbers in lists:
        parts = next((side for side in sides if len(side) == len(numbers)), [])
        lengths = [sizes.get(name) or 0 for name in parts]
        wanted = [0, *accumulate(lengths[:-1])] if all(lengths) else []
        for at, right in zip(numbers, wanted, strict=False):
            if int(words[at]) != right:
                says = (
                    f"line {link.line}: offset {right} instead of {words[at]}, where the part before it ends"
                )
                yield link, Candidate("offset", says, [design.edits.token(at, str(right))], 0.1)


def _types(design: DesignText) -> Iterator[Found]:
    """Another type for the objects of a FIFO, a buffer or a BD: one that it is used as, or like it."""
    uses = _uses(design)
    for each in design.named(FIFO, *_TYPED):
        at = _shape(design, each)
        if at is None:
            continue
        own, key = design.words[at], _key(design, each)
        used = [word for word in uses.get(key, ()) if word != own]
        for word, unlikely in _others(own, used).items():
            says = f"line {each.line}: type {word} instead of {own}"
            yield each, Candidate("type", says, [design.edits.token(at, word)], unlikely)


def _key(design: DesignText, operation: Operation) -> str:
    """What an operation with a type defines or uses: a FIFO or a value."""
    if operation.name in (FIFO, ACQUIRE):
        return f"@{design.symbol(operation)}"
    return (operation.results or [word for word in operation.words if word[:1] == "%"] or [""])[0]


def _uses(design: DesignText) -> dict[str, list[str]]:
    """The types as which each FIFO and each value stands in other operations."""
    found = dict[str, list[str]]()
    for each in design.operations:
        if each.name == FIFO or each.regions:
            continue
        shapes = _shapes(design, each)
        if each.name == ACQUIRE:
            found.setdefault(_key(design, each), []).extend(shapes)
            continue
        for value in {design.words[at] for at in _values(design, each)} | set(each.results):
            found.setdefault(value, []).extend(shapes)
    return found


def _shapes(design: DesignText, operation: Operation) -> list[str]:
    words = [design.words[at] for span in operation.spans for at in range(*span)]
    return [word for word in words if _SHAPE.fullmatch(word)]


def _shape(design: DesignText, operation: Operation) -> int | None:
    """Token of the type of the elements of a FIFO, a buffer or a BD."""
    places = (at for span in operation.spans for at in range(*span))
    return next((at for at in places if _SHAPE.fullmatch(design.words[at])), None)


def _others(own: str, used: Sequence[str]) -> dict[str, float]:
    """Types that may be meant instead of one, and how unlikely each is."""
    found = dict.fromkeys(used, 0.6)
    match = _SHAPE.fullmatch(own)
    assert match is not None
    sizes, element = [int(each) for each in match[1].split("x")], match[2]
    for other in _ELEMENTS:
        if other != element:
            found.setdefault(f"{match[1]}x{other}", 1.2)
    rest = "".join(f"x{each}" for each in sizes[1:])
    found.setdefault(f"{2 * sizes[0]}{rest}x{element}", 1.1)
    if prod(sizes) > 1 and sizes[0] % 2 == 0:
        found.setdefault(f"{sizes[0] // 2}{rest}x{element}", 1.2)
    return found
