"""Candidates in host sequences: waits, tokens, starts, and the order of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memtile.explain.findings import Change
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, siblings
from memtile.importers.mlir.repairs.patterns import MEMCPY, WRITE_BD
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation

SEQUENCES = ("aie.runtime_sequence", "aiex.runtime_sequence")
WAIT = "aiex.npu.dma_wait"
CONFIGURE = ("aiex.dma_configure_task", "aiex.dma_configure_task_for")
START, AWAIT = "aiex.dma_start_task", "aiex.dma_await_task"
_DIRECTIONS = ("S2MM", "MM2S")
_SYNC_OPERANDS = 6
_TOKEN = "issue_token = true"
_PUSHES = ("aiex.npu.push_queue", "aiex.npu.write32")


def host_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates in host sequences."""
    for sequence in design.named(*SEQUENCES):
        steps = [each for block in sequence.regions[0].blocks for each in block.operations]
        yield from _transfer_waits(design, sequence, steps)
        yield from _sync_tokens(design, sequence)
        yield from _task_waits(design, sequence)
        yield from _ids_in_use(design, sequence)
        yield from _ids_twice(design, sequence)
        yield from _exchanges(design, steps)
        yield from _missing_transfers(design, sequence)


def _symbol(design: DesignText, operation: Operation) -> str:
    at = design.symbol_token(operation, "metadata") or design.symbol_token(operation, "symbol")
    return design.words[at] if at is not None else ""


def _transfer_waits(design: DesignText, sequence: Operation, steps: Sequence[Operation]) -> Iterator[Found]:
    """Waits for transfers: missing, too early, of another one; tokens that are missing."""
    transfers = design.inside(sequence, MEMCPY)
    waits = design.inside(sequence, WAIT)
    moved = [*dict.fromkeys(filter(None, (_symbol(design, each) for each in transfers)))]
    waited = {_symbol(design, each) for each in waits}
    last = steps[-1] if steps else None
    for symbol in moved:
        if symbol not in waited and last is not None:
            of_symbol = [each for each in transfers if _symbol(design, each) == symbol]
            unlikely = (0.2 if not waits else 0.7) + 0.1 * ("in" in symbol.lower())
            line = f"{WAIT} {{symbol = {symbol}}}"
            changes = [design.edits.line_behind(last, line), *_tokens(design, of_symbol[-1:])]
            yield (
                of_symbol[-1],
                Candidate("wait", f"wait for {symbol} after line {last.line}", changes, unlikely),
            )
    for wait in waits:
        yield from _wait_candidates(design, wait, transfers, moved)
    yield from _missing_tokens(design, transfers, waited)


def _sync_tokens(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """Tokens of transfers by the channels that ``aiex.npu.sync`` waits for."""
    channels: dict[tuple[int | None, str, int | None], set[str]] = {}
    for symbol, channel in _allocations(design):
        channels.setdefault(channel, set()).add(symbol)
    transfers = design.inside(sequence, MEMCPY)
    for sync in design.inside(sequence, "aiex.npu.sync"):
        said = {name: design.attribute(sync, name) for name in ("column", "direction", "channel")}
        values = [None if at is None else design.number(sync, at) for at in said.values()]
        operands = [value for _, _, value in design.numbers(sync)]
        if not any(said.values()) and len(operands) == _SYNC_OPERANDS:
            values = [operands[0], *operands[2:4]]  # column, row, direction, channel, columns, rows
        symbols = channels.get((values[0], "MM2S" if values[1] else "S2MM", values[2]), set())
        of_symbol = [each for each in transfers if each.at < sync.at and _symbol(design, each) in symbols]
        for each in of_symbol[-1:]:
            if made := [*_tokens(design, [each])]:
                says = f"line {each.line}: have the task report its end (issue_token)"
                yield each, Candidate("issue_token", says, made, 0.3)


def _allocations(design: DesignText) -> Iterator[tuple[str, tuple[int | None, str, int | None]]]:
    """The symbols of channels of interface tiles: column, direction and number of each."""
    for each in design.named("aie.shim_dma_allocation"):
        place = design.tile(each)
        at = next((at for span in each.spans for at in range(*span) if design.words[at] in _DIRECTIONS), None)
        symbol = design.symbol_token(each)
        if place is not None and at is not None and symbol is not None:
            yield design.words[symbol], (place[0], design.words[at], design.number(each, at + 2))


def _wait_candidates(
    design: DesignText, wait: Operation, transfers: Sequence[Operation], moved: Sequence[str]
) -> Iterator[Found]:
    """A wait for another transfer, or a later one."""
    own = _symbol(design, wait)
    at = design.symbol_token(wait, "symbol") or design.symbol_token(wait)
    before = [each for each in transfers if each.at < wait.at and _symbol(design, each) == own]
    for symbol in moved if at is not None else ():
        if symbol != own:
            outputs = not any(_reports_end(design, each) for each in transfers
                              if _symbol(design, each) == own)  # fmt: skip
            unlikely = 0.1 if own not in moved else 0.15 if outputs else 1.0
            changes = [design.edits.token(at, symbol)] if at is not None else []
            yield wait, Candidate("wait", f"wait for {symbol} instead of {own}", changes, unlikely)
    after = [each for each in transfers if each.at > wait.at and each.parent is wait.parent]
    if after:
        changes = design.edits.moved_behind(wait, after[-1])
        says = f"wait for {own} after line {after[-1].line}"
        yield wait, Candidate("order", says, changes, 0.1 if not before else 0.8)


def _is_silent(design: DesignText, symbol: str, transfers: Sequence[Operation]) -> bool:
    """Whether transfers to the array report no end; those from it always do."""
    return not any(_reports_end(design, each) for each in transfers) and _brings(design, symbol)


def _brings(design: DesignText, symbol: str) -> bool:
    """Whether the channel of a symbol sends words of a host to the array."""
    directions = {name: channel[1] for name, channel in _allocations(design)}
    fifo = next((each for each in design.named("aie.objectfifo") if design.symbol(each) == symbol[1:]), None)
    if fifo is not None:
        producer = design.tiles.get(next((word for word in fifo.words if word[:1] == "%"), ""))
        return producer is not None and producer[1] == 0
    return directions.get(symbol) == "MM2S"


def _tokens(design: DesignText, tasks: Sequence[Operation]) -> Iterator[Change]:
    """Tokens for tasks that have none."""
    for each in tasks:
        at = design.attribute(each, "issue_token")
        if at is not None and design.words[at] == "false":
            yield design.edits.token(at, "true")
        elif at is None and (made := design.with_attribute(each, _TOKEN)) is not None:
            yield made


def _reports_end(design: DesignText, task: Operation) -> bool:
    """Whether a task asks for a token."""
    at = design.attribute(task, "issue_token")
    return at is not None and design.words[at] != "false"


def _missing_tokens(design: DesignText, tasks: Sequence[Operation], waited: set[str]) -> Iterator[Found]:
    """A token of a task that is waited for, as no task of its channel sends one, or fewer than before."""
    for each in tasks:
        if _symbol(design, each) in waited and (made := [*_tokens(design, [each])]):
            same = [other for other in tasks if _symbol(design, other) == _symbol(design, each)]
            none = not any(_reports_end(design, other) for other in same)
            says = f"line {each.line}: have the task report its end (issue_token)"
            last = each is same[-1]
            yield each, Candidate("issue_token", says, made, (0.2 if none else 0.6) + 0.2 * (not last))


def _task_waits(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """Tasks that are never started, waits for tasks that are missing or come too early, tokens."""
    started = {each.words[1]: each for each in design.inside(sequence, START) if len(each.words) > 2}
    awaited = {each.words[1]: each for each in design.inside(sequence, AWAIT) if len(each.words) > 2}
    for task in design.inside(sequence, *CONFIGURE):
        if not task.results:
            continue
        name = task.results[0]
        if name not in started:
            changes = [design.edits.line_behind(task, f"{START}({name})")]
            yield task, Candidate("start", f"start task {name} after line {task.line}", changes, 0.0)
        elif name not in awaited:
            last = [each for each in siblings(task) if each.name not in ("aiex.dma_free_task",)][-1]
            unlikely = 0.3 if not awaited else 0.6
            unlikely += 0.0 if "S2MM" in task.words else 0.2
            changes = [design.edits.line_behind(last, f"{AWAIT}({name})"), *_tokens(design, [task])]
            says = f"wait for task {name} after line {last.line}"
            yield task, Candidate("wait", says, changes, unlikely)
        elif made := [*_tokens(design, [task])]:
            says = f"line {task.line}: have task {name} report its end (issue_token)"
            yield task, Candidate("issue_token", says, made, 0.0)
    tasks = {each.results[0]: each for each in design.inside(sequence, *CONFIGURE) if each.results}
    yield from _late_starts(design, tasks, started, awaited)


def _late_starts(
    design: DesignText,
    tasks: dict[str, Operation],
    started: dict[str, Operation],
    awaited: dict[str, Operation],
) -> Iterator[Found]:
    """Waits moved behind the last start, or for other tasks."""
    if not started:
        return
    last = max(started.values(), key=lambda each: each.at)
    for name, wait in awaited.items():
        if last.at > wait.at and last.parent is wait.parent:
            changes = design.edits.moved_behind(wait, last)
            early = name in started and started[name].at > wait.at
            says = f"wait for task {name} after line {last.line}"
            yield wait, Candidate("order", says, changes, 0.1 if early else 0.8)
        silent = name in tasks and not _reports_end(design, tasks[name])
        meant = silent or name not in started
        brings = name in tasks and _task_brings(design, tasks[name])
        for other, start in started.items():
            if other in awaited:
                continue
            if meant or (brings and start.at < wait.at):
                changes = [design.edits.token(wait.spans[0].first + 1, other)]
                says = f"wait for task {other} instead of {name}"
                yield wait, Candidate("wait", says, changes, 0.7 if meant else 0.8)
            elif start.at < wait.at and other in tasks and not _task_brings(design, tasks[other]):
                changes = [design.edits.line_behind(wait, f"{AWAIT}({other})")]
                changes += _tokens(design, [tasks[other]])
                says = f"wait for task {other} too, after line {wait.line}"
                yield wait, Candidate("wait", says, changes, 0.8)


def _task_brings(design: DesignText, task: Operation) -> bool:
    """Whether a task sends words of a host to the array."""
    at = design.symbol_token(task)
    return "MM2S" in task.words or (at is not None and _brings(design, design.words[at]))


def _ids_in_use(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """A wait before the BD of a task that may still run is written again."""
    last: dict[tuple[object, int], Operation] = {}
    awaited = {each.words[1]: each for each in design.inside(sequence, AWAIT) if len(each.words) > 2}
    for task in design.inside(sequence, *CONFIGURE):
        for bd in design.inside(task, "aie.dma_bd"):
            at = design.attribute(bd, "bd_id")
            number = design.number(bd, at) if at is not None else None
            if number is None or not task.results:
                continue
            key = design.tile(task) or task.words[0], number
            former = last.get(key)
            if former is not None and former is not task and former.parent is task.parent:
                wait = awaited.get(former.results[0])
                if wait is None or wait.at > task.at:
                    name = former.results[0]
                    changes = [design.edits.line_before(task, f"{AWAIT}({name})"), *_tokens(design, [former])]
                    says = f"wait for task {name} before its BD {number} is written again in line {task.line}"
                    yield task, Candidate("wait", says, changes, 0.3)
            last[key] = task


def _ids_twice(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """Of two transfers, or writes of BDs, with the same BD another one for one of them: one that none has."""
    for name, key in ((MEMCPY, "id"), (WRITE_BD, "bd_id"), ("aie.dma_bd", "bd_id")):
        found: dict[tuple[object, ...], dict[int, Operation]] = {}
        channels = dict(_allocations(design)) if name == MEMCPY else {}
        for each in design.inside(sequence, name):
            places = [design.attribute(each, part) for part in ("column", "row")]
            numbers = [None if at is None else design.number(each, at) for at in places]
            tile: tuple[object, ...] = tuple(numbers) if name != "aie.dma_bd" else (design.tile(each),)
            if name == MEMCPY:
                tile = channels.get(_symbol(design, each), (None,))[:1]
            at = design.attribute(each, key)
            number = None if at is None else design.number(each, at)
            if at is None or number is None:
                continue
            own = found.setdefault(tile, {})
            former = own.setdefault(number, each)
            free = next(n for n in range(len(own) + 1) if n not in own)
            if former is not each and name == WRITE_BD and _is_started(design, sequence, former, each):
                continue  # another number needs another start
            for again in (each, former) if former is not each else ():
                says = f"line {again.line}: BD {free} instead of {number}, which is written twice"
                token = design.attribute(again, key)
                if token is not None:
                    yield again, Candidate("bd_id", says, design.with_number(again, token, free), 0.4)


def _is_started(design: DesignText, sequence: Operation, first: Operation, second: Operation) -> bool:
    """Whether a host starts tasks between two steps of its sequence."""
    return any(first.at < each.at < second.at for each in design.inside(sequence, *_PUSHES))


def _exchanges(design: DesignText, steps: Sequence[Operation]) -> Iterator[Found]:
    """Two steps of the same kind that follow each other, exchanged."""
    for names in ((MEMCPY,), (START,), (MEMCPY, WAIT), (START, AWAIT)):
        found = [each for each in steps if each.name in names]
        for one, other in pairwise(found):
            if len(names) > 1 and one.name == other.name:
                continue
            changes = design.edits.exchanged(one, other)
            says = f"exchange lines {one.line} and {other.line}"
            yield one, Candidate("order", says, changes, 1.2)


def _missing_transfers(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """A transfer of an argument that nothing uses, for a channel of the host that has no task."""
    used = {_symbol(design, each) for each in design.inside(sequence, MEMCPY, *CONFIGURE)}
    channels = [design.words[at] for each in design.named("aie.shim_dma_allocation")
                if (at := design.symbol_token(each)) is not None]  # fmt: skip
    arguments = sequence.regions[0].blocks[0].arguments
    first = next(iter(design.inside(sequence, MEMCPY)), None)
    if first is None:
        return
    ids = [v for each in design.inside(sequence, MEMCPY) if (at := design.attribute(each, "id")) is not None
           and (v := design.number(each, at)) is not None]  # fmt: skip
    for symbol in channels:
        for name, kind in arguments:
            if symbol in used or design.uses[name] > 1:
                continue
            size = _length(kind)
            free = max(ids, default=-1) + 1
            line = (
                f"{MEMCPY}({name}[0, 0, 0, 0][1, 1, 1, {size}][0, 0, 0, 1]) "
                f"{{id = {free} : i64, metadata = {symbol}}} : {kind}"
            )
            changes = [design.edits.line_before(first, line)]
            if size:
                yield first, Candidate("start", f"start the transfer of {name} by {symbol}", changes, 0.2)


def _length(kind: str) -> int:
    from memtile.importers.mlir.types import shaped

    found = shaped(kind)
    return found.elements if found is not None else 0
