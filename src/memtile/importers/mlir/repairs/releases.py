"""Candidates about locks and the ends of object FIFOs: a release that is missing, the wrong lock or end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, owner, siblings
from memtile.importers.mlir.repairs.text_edits import text_of
from memtile.importers.mlir.tree import Operation

ACQUIRE, RELEASE, USE = "aie.objectfifo.acquire", "aie.objectfifo.release", "aie.use_lock"
_PORTS = {"Consume": "Produce", "Produce": "Consume"}
_TERMINATORS = ("aie.end", "scf.yield", "cf.br", "cf.cond_br", "scf.condition", "aie.next_bd", "func.return")
TASKS = ("aiex.dma_configure_task", "aiex.dma_configure_task_for")
_MEMORY = ("aie.mem", "aie.memtile_dma", "aie.shim_dma", *TASKS)

Found = tuple[Operation, Candidate]
"""What a candidate changes, and the candidate."""


@dataclass(frozen=True, slots=True)
class _End:
    """An acquire or a release of an object FIFO: its operation, and tokens of its symbol and its port."""

    operation: Operation
    symbol: int
    port: int
    key: tuple[str, str]


def fifo_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates at the ends of object FIFOs."""
    for core in design.named("aie.core"):
        taken = [*filter(None, (_end(design, each) for each in design.inside(core, ACQUIRE)))]
        given = [*filter(None, (_end(design, each) for each in design.inside(core, RELEASE)))]
        yield from _missing_releases(design, taken, given)
        yield from _surplus_releases(design, taken, given)
        yield from _other_ends(design, taken, given)


def _end(design: DesignText, operation: Operation) -> _End | None:
    symbol = design.symbol_token(operation)
    port = next(
        (at for span in operation.spans for at in range(span.first, span.end) if design.words[at] in _PORTS),
        None,
    )
    if symbol is None or port is None or design.words[operation.at][:1] == '"':
        return None
    return _End(operation, symbol, port, (design.words[symbol], design.words[port]))


def _missing_releases(design: DesignText, taken: Sequence[_End], given: Sequence[_End]) -> Iterator[Found]:
    """A release for each acquire in whose block there are fewer of them."""
    for key in dict.fromkeys(each.key for each in taken):
        acquires = [each for each in taken if each.key == key]
        releases = [each for each in given if each.key == key]
        by_block: dict[int, list[_End]] = defaultdict(list)
        for each in acquires:
            by_block[id(each.operation.parent)].append(each)
        for block, ends in by_block.items():
            here = [each for each in releases if id(each.operation.parent) == block]
            if len(here) >= len(ends):
                continue
            unlikely = 0.0 if not releases else 0.4 if len(releases) < len(acquires) else 1.6
            for end in reversed(ends):
                yield end.operation, _release_of(design, end, unlikely)


def _release_of(design: DesignText, end: _End, unlikely: float) -> Candidate:
    said = text_of(end.operation)
    at = said.index(end.key[0])
    form = said[at:].split(" :", 1)[0].split("->", 1)[0].rstrip()
    line = f"aie.objectfifo.release {form}"
    behind = _last_use(end.operation)
    says = (
        f"release {form} after line {behind.line}: it is acquired in line {end.operation.line}, "
        "and not released"
    )
    return Candidate("release", says, [design.edits.line_behind(behind, line)], unlikely)


def _surplus_releases(design: DesignText, taken: Sequence[_End], given: Sequence[_End]) -> Iterator[Found]:
    """Without one of the releases of a block that acquires less often, or with it behind the block's loop."""
    for end in given:
        block = siblings(end.operation)
        acquires = [each for each in taken if each.key == end.key]
        here = sum(each.operation in block for each in acquires)
        if sum(each.key == end.key and each.operation in block for each in given) <= here:
            continue
        without = [design.edits.without(end.operation)]
        yield end.operation, Candidate("release", f"no second release {end.key[0]}", without, 0.4)
        around = end.operation.parent.region.operation if end.operation.parent else None
        if here == 0 and around is not None and any(each.operation in siblings(around) for each in acquires):
            says = f"release {end.key[0]} after its loop, line {around.line}: it is acquired before that"
            changes = design.edits.moved_behind(end.operation, around)
            yield end.operation, Candidate("release", says, changes, 0.2)


def _last_use(acquire: Operation) -> Operation:
    """The last operation beside an acquire that uses what it gives, or the releases behind that."""
    known, last = set(acquire.results), acquire
    block = siblings(acquire)
    behind = block[block.index(acquire) + 1 :]
    for each in behind:
        inner = [*each.walk()]
        if any(word in known for part in inner for word in part.words):
            last = each
            known.update(name for part in inner for name in part.results)
    releases = [each for each in behind if each.name == RELEASE and each.at > last.at]
    return releases[-1] if releases else last


def _other_ends(design: DesignText, taken: Sequence[_End], given: Sequence[_End]) -> Iterator[Found]:
    """The other port, or another FIFO, for ends that have no partner in the core."""
    open_ = [each for each in taken if each.key not in {end.key for end in given}]
    loose = [each for each in given if each.key not in {end.key for end in taken}]
    for end, others in (*((each, open_) for each in loose), *((each, loose) for each in open_)):
        port = _PORTS[end.key[1]]
        is_pair = any(other.key == (end.key[0], port) for other in others)
        does = "release" if end in given else "acquire"
        says = f"{does} {end.key[0]} at the end {port}"
        yield (
            end.operation,
            Candidate("port", says, [design.edits.token(end.port, port)], 0.0 if is_pair else 0.6),
        )
        for other in others:
            if other.key[0] == end.key[0]:
                continue
            changes = [design.edits.token(end.symbol, other.key[0])]
            if other.key[1] != end.key[1]:
                changes.append(design.edits.token(end.port, other.key[1]))
            says = f"{does} {other.key[0]} instead of {end.key[0]}"
            yield end.operation, Candidate("object_fifo", says, changes, 0.2 if len(changes) == 1 else 0.7)


@dataclass(frozen=True, slots=True)
class LockUse:
    """A use of a lock: its operation, the token of the lock and its name, and what it does.

    It is a release, or an acquire; an exact one waits for a value and takes nothing of it.
    """

    operation: Operation
    at: int
    lock: str
    releases: bool
    exact: bool = False


def lock_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates about locks: values at the start, uses that are missing or of another lock."""
    uses = [*filter(None, (lock_use(each) for each in design.named(USE)))]
    locks = {each.results[0]: each for each in design.named("aie.lock") if each.results}
    yield from _initial_values(design, locks, uses)
    blocks: dict[int, list[LockUse]] = defaultdict(list)
    for use in uses:
        if use.lock in locks:
            blocks[id(use.operation.parent)].append(use)
    for found in blocks.values():
        yield from _of_block(design, found, uses, locks)
    for use in uses:
        yield from _other_locks(design, use, uses, locks)


def lock_use(operation: Operation) -> LockUse | None:
    """Return what an operation does to a lock; None if it names none."""
    words = operation.tokens.words
    if words[operation.at][:1] == '"':
        return None
    for span in operation.spans:
        value = next((at for at in range(span.first, span.end) if words[at][:1] == "%"), None)
        if value is not None:
            said = words[span.first : span.end]
            return LockUse(operation, value, words[value], "Release" in said, "Acquire" in said)
    return None


def _balance(lock: str, uses: Sequence[LockUse]) -> tuple[int, int]:
    """How many acquires and how many releases of a lock the text has."""
    of_lock = [use.releases for use in uses if use.lock == lock]
    return len(of_lock) - sum(of_lock), sum(of_lock)


def _initial_values(
    design: DesignText, locks: dict[str, Operation], uses: Sequence[LockUse]
) -> Iterator[Found]:
    """Other values for locks to begin with: at most as many as there are buffers that they guard."""
    for name, lock in locks.items():
        acquires, _ = _balance(name, uses)
        value, at = _initial(design, lock), design.attribute(lock, "init")
        buffers, is_free = _guarded(design, name, uses)
        buffers *= _most_taken(design, name, uses)
        unused = not any(use.lock == name for use in uses)  # by registers alone
        for other in sorted({0, 1, buffers} - {value}) if acquires or unused else ():
            says = f"initialise lock {name[1:]} to {other} instead of {value}"
            right = buffers if is_free else 0
            unlikely = 0.4 if other == right else 0.9 if other <= buffers else 1.3
            unlikely += 0.3 * (not is_free and other > 0)
            if at is not None:
                changes = design.with_number(lock, at, other)
            else:
                made = design.with_attribute(lock, f"init = {other} : i32")
                changes = [] if made is None else [made]
            if changes:
                yield lock, Candidate("lock_value", says, changes, unlikely)


def _most_taken(design: DesignText, lock: str, uses: Sequence[LockUse]) -> int:
    """Units of a lock that one of its acquires takes at once, at least 1: a buffer counts as many."""
    takes = [use.operation for use in uses if use.lock == lock and not use.releases]
    return max([1, *(value for each in takes for _, _, value in design.numbers(each))])


def _guarded(design: DesignText, lock: str, uses: Sequence[LockUse]) -> tuple[int, bool]:
    """How many buffers descriptors use under a lock, 1 if none; and whether it counts free ones."""
    buffers, is_free = set[str](), False
    for use in uses:
        if use.lock != lock:
            continue
        bd = next((each for each in siblings(use.operation) if each.name == "aie.dma_bd"), None)
        if bd is not None:
            buffers.update(word for word in bd.words if word[:1] == "%")
            is_free = is_free or _direction(design, bd) == ("MM2S" if use.releases else "S2MM")
    return max(1, len(buffers)), is_free


def _direction(design: DesignText, bd: Operation) -> str:
    """Direction of the channel that a descriptor is of; of chains in blocks, of the start before it."""
    ring = owner(bd, "aie.dma", *TASKS)
    found = ring if ring is not None else _start_before(design, bd)
    words = found.words if found is not None else []
    return next((word for word in words if word in ("S2MM", "MM2S")), "")


def _start_before(design: DesignText, bd: Operation) -> Operation | None:
    memory = owner(bd, *_MEMORY)
    starts = design.inside(memory, "aie.dma_start") if memory is not None else []
    label = bd.parent.label if bd.parent is not None else ""
    own = [each for each in starts if label in each.words[:8]]
    return (
        own[0] if own else max((each for each in starts if each.at < bd.at), key=lambda o: o.at, default=None)
    )


def _initial(design: DesignText, lock: Operation) -> int:
    at = design.attribute(lock, "init")
    return (design.number(lock, at) or 0) if at is not None else 0


def _of_block(
    design: DesignText, here: Sequence[LockUse], uses: Sequence[LockUse], locks: dict[str, Operation]
) -> Iterator[Found]:
    """A release, or an acquire, more in a block that has fewer of them than of the other."""
    taken, given = [use for use in here if not use.releases], [use for use in here if use.releases]
    if len(given) < len(taken):
        yield from _added(design, here, uses, locks, releases=True)
    elif len(taken) < len(given):
        yield from _added(design, here, uses, locks, releases=False)


def _added(
    design: DesignText,
    here: Sequence[LockUse],
    uses: Sequence[LockUse],
    locks: dict[str, Operation],
    *,
    releases: bool,
) -> Iterator[Found]:
    """A release or an acquire of each lock that has too few of them, in a block."""
    tile = design.tile(here[0].operation)
    is_chain = owner(here[0].operation, *_MEMORY) is not None
    same = Counter(use.lock for use in here if use.releases == releases)
    often = max(same.values(), default=0)
    pattern = next((use for use in uses if use.releases == releases), None)
    for name, lock in locks.items():
        acquires, given = _balance(name, uses)
        lacks = acquires - given if releases else given - acquires
        if pattern is None or (same[name] and (is_chain or same[name] >= often)):
            continue
        if design.tile(lock) != tile and not (lacks > 0 and (given if not releases else acquires)):
            continue
        if not given + acquires:
            continue
        lonely = not (given if releases else acquires)
        unlikely = 0.1 if lonely else 0.2 if same[name] else 0.4 if lacks > 0 else 1.4
        own = any(use.lock == name for use in here)
        unlikely += 0.15 * (own and not same[name]) + 0.2 * (design.tile(lock) != tile)
        yield from _inserted(design, here, pattern, name, unlikely, is_chain=is_chain)


def _inserted(
    design: DesignText,
    here: Sequence[LockUse],
    pattern: LockUse,
    lock: str,
    unlikely: float,
    *,
    is_chain: bool,
) -> Iterator[Found]:
    """A use of a lock like another one, in a block."""
    operation, edits = here[-1].operation, design.edits
    line, extra = _like(design, pattern, lock)
    does = "release" if pattern.releases else "acquire"
    for n, (place, behind) in enumerate(_places(here, releases=pattern.releases, is_chain=is_chain)):
        indented = "\n".join([*extra, line]).replace("\n", "\n" + _spaces(design, place))
        made = edits.line_behind(place, indented) if behind else edits.line_before(place, indented)
        says = f"{does} lock {lock[1:]} {'after' if behind else 'before'} line {place.line}"
        yield operation, Candidate(does, says, [made], unlikely + 0.01 * n)


def _places(here: Sequence[LockUse], *, releases: bool, is_chain: bool) -> list[tuple[Operation, bool]]:
    """Where in a block a use of a lock may be missing: operations, and whether it goes behind them."""
    block = siblings(here[-1].operation)
    if is_chain:
        work = next((each for each in block if each.name == "aie.dma_bd"), here[-1].operation)
        return [(work, releases)]
    if not releases:
        return _starts(here, block)
    known = {id(use.operation): use.releases for use in here}
    steps = [each for each in block if each.name not in (*_TERMINATORS, "arith.constant")]
    ends = [
        one
        for one, other in pairwise([*steps, None])
        if one is not None and known.get(id(one)) and not (other is not None and known.get(id(other)))
    ]
    return [(each, True) for each in reversed([*ends, *(steps[-1:] if steps[-1] not in ends else ())])]


def _starts(here: Sequence[LockUse], block: Sequence[Operation]) -> list[tuple[Operation, bool]]:
    """Where acquires begin in a block: the first of those that follow each other, and its first operation."""
    known = {id(use.operation): not use.releases for use in here}
    steps = [each for each in block if each.name not in (*_TERMINATORS, "arith.constant")]
    starts = [
        other
        for one, other in pairwise([None, *steps])
        if other is not None and known.get(id(other)) and not (one is not None and known.get(id(one)))
    ]
    return [(each, False) for each in dict.fromkeys([*starts, steps[0]])]


def _spaces(design: DesignText, operation: Operation) -> str:
    content = design.tokens.text.content
    begin = design.tokens.offset(operation.at)
    start = content.rfind("\n", 0, begin) + 1
    return content[start:begin][: len(content[start:begin]) - len(content[start:begin].lstrip())]


def _like(design: DesignText, pattern: LockUse, lock: str) -> tuple[str, list[str]]:
    """The line of a use of a lock, one unit, in the form of another use, and lines that it needs."""
    words = design.words
    span = next(span for span in pattern.operation.spans if span.first <= pattern.at < span.end)
    values = [at for at in range(pattern.at + 1, span.end) if words[at][:1] == "%"]
    action = "Release" if pattern.releases else "AcquireGreaterEqual"
    if values:
        name = design.free_value("one_unit")
        return f"aie.use_lock({lock}, {action}, {name})", [f"{name} = arith.constant 1 : i32"]
    quoted = any(words[at][:1] == '"' for at in range(span.first, span.end))
    shown = f'"{action}"' if quoted else action
    return f"aie.use_lock({lock}, {shown}, 1)", []


def _other_locks(
    design: DesignText, use: LockUse, uses: Sequence[LockUse], locks: dict[str, Operation]
) -> Iterator[Found]:
    """Another lock of the same tile for a use: likely if this one lacks the other side."""
    lock = locks.get(use.lock)
    if lock is None or use.exact:
        return  # a barrier has a purpose of its own
    acquires, releases = _balance(use.lock, uses)
    alone = not acquires if use.releases else not releases
    spare = (releases - acquires if use.releases else acquires - releases) > 0
    beside = siblings(use.operation)
    is_bd = any(each.name == "aie.dma_bd" for each in beside)
    own = {each.lock for each in uses if each.operation in beside and each.releases != use.releases}
    for name, other in locks.items():
        if name == use.lock or not _in_one_tile(design, other, lock):
            continue
        if is_bd and name in own:
            continue  # a BD that gives itself what it takes guards nothing
        other_acquires, other_releases = _balance(name, uses)
        lonely = not other_releases if use.releases else not other_acquires
        wanted = (other_acquires - other_releases if use.releases else other_releases - other_acquires) > 0
        unlikely = 0.1 if alone and lonely else 0.3 if alone or lonely else 0.6 if wanted and spare else 1.5
        does = "release" if use.releases else "acquire"
        says = f"{does} lock {name[1:]} instead of {use.lock[1:]}"
        changes = [design.edits.token(use.at, name)]
        yield use.operation, Candidate("lock", says, changes, unlikely, takes=not use.releases)


def _in_one_tile(design: DesignText, one: Operation, other: Operation) -> bool:
    """Whether two locks are in one tile, which may have no place yet."""
    if design.tile(one) is not None or design.tile(other) is not None:
        return design.tile(one) == design.tile(other)
    values = (next((word for word in each.words if word[:1] == "%"), "") for each in (one, other))
    return next(values) == next(values)
