"""Candidates that change a number of a text: a length, depth, count, repeat, packet id, channel."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from math import log2, prod

from memtile.explain.findings import Finding
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, owner
from memtile.importers.mlir.repairs.patterns import MEMCPY, WRITE_BD, fitting, part_of
from memtile.importers.mlir.repairs.releases import ACQUIRE, RELEASE, USE, Found
from memtile.importers.mlir.tree import Operation

_KINDS = {
    "aie.dma_bd": "length",
    "aie.objectfifo": "depth",
    ACQUIRE: "count",
    RELEASE: "count",
    USE: "count",
    "aie.dma_start": "repeat",
    "aie.dma": "repeat",
    "aiex.npu.dma_memcpy_nd": "length",
    "aiex.npu.writebd": "length",
    "aiex.dma_configure_task": "repeat",
    "aiex.dma_configure_task_for": "repeat",
    "aie.amsel": "arbiter",
    "arith.constant": "bound",
    "aiex.npu.sync": "wait",
    "aie.rule": "packet_id",
    "aie.packet_rules": "port",
    "aie.masterset": "port",
    "aie.connect": "port",
    "aie.shim_dma_allocation": "channel",
}
"""Operations whose numbers may be at fault, and what a change of them is called."""
_TASKS = ("aiex.dma_configure_task", "aiex.dma_configure_task_for")
_ROUND = {"length", "bound", "repeat"}
_MOST = 1 << 24
_ADVISED = re.compile(r"(offset|stride|size|length) (\d+)")
_LINE = re.compile(r"\(line (\d+)\)")
_ODD = 0.35  # a number that all others like it have is so much likelier
_SHARED = 0.2  # a change of a number that others like it have too is so much less likely


def number_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates with another number somewhere."""
    yield from _loops(design)
    found = [(each, *number) for each in design.named(*_KINDS) for number in design.numbers(each)]
    seen: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for operation, role, _, value in found:
        seen[_alike(design, operation, role)][value] += 1
    for operation, role, at, value in found:
        if _is_taken(design, operation, role) or is_idle(design, operation, at):
            continue
        alike = seen[_alike(design, operation, role)]
        for other, unlikely in _others(design, operation, role, value, alike).items():
            changes = design.with_number(operation, at, other)
            kind = _kind(operation, role)
            unlikely += 0.4 * (kind in ("channel", "packet_id")) + _SHARED * (alike[value] > 1)
            part = part_of(operation, role)
            says = f"{_title(design, operation)}: {f'{part} ' * bool(part)}{other} instead of {value}"
            yield operation, Candidate(kind, says, changes, unlikely)


def advised_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """The number that the advice of a finding has, in the move whose line it names."""
    fix = _ADVISED.search("" if finding is None else finding.fix)
    lines = {int(line) for line in _LINE.findall("" if finding is None else finding.message)}
    for move in design.named(MEMCPY, "aie.dma_bd") if fix else ():
        for role, at, value in design.numbers(move) if move.line in lines else ():
            if fix is not None and part_of(move, role) == fix[1] and not is_idle(design, move, at):
                says = f"{_title(design, move)}: {fix[1]} {fix[2]} instead of {value}"
                yield move, Candidate(fix[1], says, design.with_number(move, at, int(fix[2])), 0.0)


def _loops(design: DesignText) -> Iterator[Found]:
    """Loops over a dimension of what they store to that end before it does."""
    for loop in design.named("scf.for"):
        words, block = loop.words, loop.regions[0].blocks[0] if loop.regions else None
        every = [at for span in loop.spans for at in range(*span)]
        if block is None or "to" not in words:
            continue
        at, index = every[words.index("to") + 1], words[0]
        bound = design.number(loop, at)
        for store in (each for each in block.operations if each.name == "memref.store"):
            places = [word for word in store.words if word[:1] == "%"][2:]
            shape = design.shape(store)
            size = next((size for place, size in zip(places, shape, strict=False) if place == index), bound)
            if bound is not None and size is not None and bound < size:
                says = f"line {loop.line}: the loop ends at {size} instead of {bound}"
                yield loop, Candidate("bound", says, design.with_number(loop, at, size), 0.2)


def is_idle(design: DesignText, operation: Operation, at: int) -> bool:
    """Whether a number is the stride of a dimension of size 1, which no step ever takes.

    So is an offset in a dimension of stride 0, and all but one of several in dimensions of the same stride.
    """
    parts = [(part_of(operation, role), token, value) for role, token, value in design.numbers(operation)]
    sizes, strides, offsets = (
        [each for each in parts if each[0] == part] for part in ("size", "stride", "offset")
    )
    if len(sizes) != len(strides):
        return False
    if any(stride[1] == at and size[2] == 1 for size, stride in zip(sizes, strides, strict=True)):
        return True
    if len(offsets) != len(strides):
        return False
    last = {stride[2]: offset[1] for offset, stride in zip(offsets, strides, strict=True) if stride[2]}
    return any(offset[1] == at for offset in offsets) and at not in last.values()


def _kind(operation: Operation, role: str) -> str:
    """What a change of a number is called: not each number of an operation is what most of them are."""
    if operation.name in ("aie.dma_start", "aie.dma", *_TASKS) and role == "(1":
        return "channel"
    if role.endswith(("pkt_id", "pkt_type", "packet_id")):
        return "packet_id"
    return part_of(operation, role) or ("padding" if "const_pad" in role else _KINDS[operation.name])


def _alike(design: DesignText, operation: Operation, role: str) -> tuple[str, str]:
    """What numbers have in common that are likely the same: operation, place in it, and what it is of."""
    about = ""
    if operation.name in (ACQUIRE, RELEASE):
        about = design.symbol(operation)
    elif operation.name == USE:
        about = next((word for word in operation.words if word[:1] == "%"), "")
    elif operation.name == "aie.dma_bd":
        about = str(design.elements(operation))
    elif operation.name == "arith.constant":
        about = operation.words[-1]
    name = "fifo ends" if operation.name in (ACQUIRE, RELEASE) else operation.name
    return name, f"{role} {about}"


def _is_taken(design: DesignText, operation: Operation, role: str) -> bool:
    """Whether a number is one that others of these candidates, or none, are about."""
    if operation.name == "arith.constant":
        return not _is_bound(design, operation)
    if operation.name in (MEMCPY, WRITE_BD, "aie.dma_bd") and role.endswith("id"):
        return not role.endswith("pkt_id")
    return operation.name == "aie.objectfifo" and role.endswith("padDimensions")


def _is_bound(design: DesignText, constant: Operation) -> bool:
    """Whether a constant is the upper bound of a loop of a core in which something is released."""
    core = owner(constant, "aie.core")
    loops = design.inside(core, "scf.for") if core is not None else []
    for loop in loops:
        words = loop.words
        at = words.index("to") + 1 if "to" in words else len(words)
        if words[at : at + 1] == constant.results[:1] and design.inside(loop, RELEASE, USE):
            return not _is_once(design, constant, loop)
    return False


def _is_once(design: DesignText, constant: Operation, loop: Operation) -> bool:
    """Whether a loop around others has one turn: a body that is done once, as IRON writes it."""
    is_one = any(value == 1 for _, _, value in design.numbers(constant))
    return is_one and any(
        each is not loop and design.inside(each, RELEASE, USE) for each in design.inside(loop, "scf.for")
    )


def _title(design: DesignText, operation: Operation) -> str:
    names = [word for word in (*operation.results, *operation.words) if word[:1] in "@%" and len(word) > 1]
    name = design.symbol(operation) or (names[0][1:] if names else "")
    return f"line {operation.line}, {operation.name}{f' {name}' if name else ''}"


def _others(
    design: DesignText, operation: Operation, role: str, value: int, alike: Counter[int]
) -> dict[int, float]:
    """Numbers that may be meant instead of one, and how unlikely each is."""
    found: dict[int, float] = {}

    least = value if operation.name == "arith.constant" else 0

    def offer(other: int | None, unlikely: float) -> None:
        if other is not None and other != value and other >= least:
            found[other] = min(unlikely, found.get(other, unlikely))

    kind, rest = _KINDS[operation.name], alike - Counter({value: 1})
    total = rest.total()
    for other, times in rest.most_common(4):
        if other > _MOST:
            continue  # a loop without end
        odd = alike[value] == 1 and times == total
        far = 0.05 * log2(other / value) if kind == "bound" and value > 0 and other > 0 else 0.0
        offer(other, 1.0 - _ODD * odd - 0.1 * (times / total) + far)
    offer(_complete(design, operation, role, value), 0.55)
    for other, unlikely in fitting(design, operation, role, value).items():
        offer(other, unlikely)
    offer(_deep_enough(design, operation, value), 0.05)
    if kind in _ROUND:
        offer(2 * value, 1.15)
        offer(value // 2 if value % 2 == 0 else None, 1.25)
    if kind == "count":
        offer(1, 0.9)  # more of a release would let words through twice
    else:
        offer(value + 1, 0.85 if kind == "depth" else 1.35)
    offer(value - 1 if value > 1 or kind not in ("count", "depth") else None, 1.3)
    if kind == "depth":
        offer(2 * value, 1.0)
    return found


def _complete(design: DesignText, operation: Operation, role: str, value: int) -> int | None:
    """The number with which a transfer has all elements of its memref."""
    elements = design.elements(operation)
    if elements is None:
        return None
    if operation.name == "aie.dma_bd":
        is_length = role.endswith("len") or role == "(2"
        offset = next((v for r, _, v in design.numbers(operation) if r.endswith("offset") or r == "(1"), 0)
        return elements - offset if is_length and elements > offset else None
    if operation.name == "aiex.npu.dma_memcpy_nd":
        return _size(design, operation, role, value, elements)
    return None


def _size(design: DesignText, operation: Operation, role: str, value: int, elements: int) -> int | None:
    """The size of a dimension with which a transfer of the host has all elements."""
    numbers = [*design.numbers(operation)]
    sizes = {r: v for r, _, v in numbers if r.startswith("([[") and not r.startswith("([[[")}
    if role not in sizes:
        return None
    rest = prod(sizes.values()) // max(value, 1)
    strides = {r: v for r, _, v in numbers if r.startswith("([[[")}
    same = next((v for r, v in strides.items() if r[4:] == role[3:]), 0)
    count = elements // rest if rest and elements % rest == 0 else None
    return count if same or value > 1 else None


def _deep_enough(design: DesignText, operation: Operation, depth: int) -> int | None:
    """The depth of an object FIFO from which as much is acquired at once as the text says."""
    if operation.name != "aie.objectfifo":
        return None
    symbol = design.symbol(operation)
    counts = [
        value
        for each in design.named(ACQUIRE)
        if design.symbol(each) == symbol
        for _, _, value in design.numbers(each)
    ]
    most = max(counts, default=0)
    return most if most > depth else None
