"""Words of a core's memory that a host writes when all work is started: the core may have read them by then.

What a host writes comes before the work that it starts afterwards, and before a lock that it sets. After the
last of these nothing orders a write and a core that reads the word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.explain.bd_findings import line_of
from memtile.explain.findings import Finding, Severity, Side
from memtile.importers.kernels.body_operations import STORES
from memtile.importers.kernels.core_locks import reached_by_core
from memtile.importers.kernels.lock_names import core_text, number_of, place_of
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation as Node
from memtile.runs.channel_addresses import channel_addresses
from memtile.runs.operations import MaskPoll, Operation, Other, Write, locate, words_written
from memtile.runs.waits import WAIT, pushed_channels

_UNORDERED = "MT0201"


class _Word(NamedTuple):
    """A word of a buffer that the host writes: the value of the buffer, which word, and where."""

    value: str
    word: int
    step: Operation


def late_parameters(made: Configured, steps: Sequence[Operation]) -> Iterator[Finding]:
    """One finding for each buffer that the host writes too late, and that a core reads.

    Args:
        made: the device.
        steps: of the host sequence.
    """
    late = _late(made, steps)
    for value in dict.fromkeys(word.value for word in late):
        word = next(each for each in late if each.value == value)
        for core in made.device.cores:
            if (use := _use(made, core, value)) is not None:
                yield _finding(made, core, word, use)
                break
    told = {word.value for word in late}
    for let_go in _let_go(made, steps):
        for core in made.device.cores if let_go.word.value not in told else ():
            use = _use(made, core, let_go.word.value)
            if use is not None and (lock := _lets_go(made, core, use, let_go)) is not None:
                told.add(let_go.word.value)
                yield _after_lock(made, core, let_go, use, lock)


class _LetGo(NamedTuple):
    """A word that the host writes behind locks that it sets: by lock where, and the locks it sets then."""

    word: _Word
    before: dict[int, Operation]
    then: set[int]


def _late(made: Configured, steps: Sequence[Operation]) -> list[_Word]:
    """The words that a host writes after its last push, lock or other register, with work under way."""
    kinds = {tile.place: tile.kind for tile in made.array.tiles}
    started, late = False, list[_Word]()
    words = {n: found for n, step in enumerate(steps) if (found := _word_at(made, kinds, step)) is not None}
    for n, step in enumerate(steps) if words else ():
        pushes = any(True for _ in pushed_channels(made.array.engine, step))
        word = words.get(n)
        if isinstance(step, MaskPoll) or (isinstance(step, Other) and step.name == WAIT):
            started = False
        elif word is not None:
            late += [word] if started else []
        elif pushes or any(True for _ in words_written(step)):
            started, late = started or pushes, []  # what is written before this may be in order
    return late


def _let_go(made: Configured, steps: Sequence[Operation]) -> list[_LetGo]:
    """The words that a host writes when it has set locks, and has waited for nothing since."""
    kinds = {tile.place: tile.kind for tile in made.array.tiles}
    locks = channel_addresses(made.array.engine).locks
    before, found = dict[int, Operation](), list[_LetGo]()
    for step in steps:
        lock = locks.get(step.address, -1) if isinstance(step, Write) else -1
        word = _word_at(made, kinds, step) if isinstance(step, Write) else None
        if isinstance(step, MaskPoll) or (isinstance(step, Other) and step.name == WAIT):
            before = {}
        elif isinstance(step, Write) and lock >= 0 and step.value > 0:
            before = {**before, lock: step}
            for each in found:
                each.then.add(lock)
        elif word is not None and before:
            found.append(_LetGo(word, before, set()))
    return found


def _lets_go(made: Configured, core: CoreDescription, use: Node, let_go: _LetGo) -> int | None:
    """The last lock that a core waits for before a use, if the host has set it, and all others, too early."""
    taken: list[int] = []
    for each in reached_by_core(core.operation, made.device):
        if each is use:
            break
        if each is not None and each.name == "aie.objectfifo.acquire":
            return None
        said = lock_form(OperationForm(each)) if each is not None and each.name == "aie.use_lock" else None
        if said is not None and said.action != "release":
            taken.append(number_of(made, said.lock))
    early = bool(taken) and all(lock in let_go.before and lock not in let_go.then for lock in taken)
    return taken[-1] if early else None


def _word_at(
    made: Configured, kinds: dict[tuple[int, int] | None, TileKind], step: Operation
) -> _Word | None:
    """The word of a compute tile's buffer that a step writes, if it is one."""
    if not isinstance(step, Write):
        return None
    at = locate(step.address)
    kind = kinds.get((at.column, at.row))
    if kind is None or kind.role != "compute" or at.offset >= kind.memory_bytes:
        return None
    for value, buffer in made.buffers.items():
        tile = made.tiles.get(made.device.buffers[value].tile) if value in made.device.buffers else None
        if tile is not None and tile.place == (at.column, at.row):
            index = (at.offset - buffer.offset) // WORD_BYTES
            if 0 <= index * WORD_BYTES < buffer.nbytes:
                return _Word(value, index, step)
    return None


def _use(made: Configured, core: CoreDescription, value: str) -> Node | None:
    """The first operation of a core that takes a buffer and does not only store into it."""
    if not core.has_body:
        return None
    for each in reached_by_core(core.operation, made.device):
        if each is not None and value in each.words and each.name not in STORES:
            return each
    return None


def _finding(made: Configured, core: CoreDescription, word: _Word, use: Node) -> Finding:
    name, who = made.buffers[word.value].name, core_text(made, core)
    line, place = line_of(word.step.place), place_of(use)
    does = f"writes word {word.word} of buffer '{name}' in {line}, after it has started all transfers"
    reads = f"reads it ({line_of(place)})"
    message = f"The host {does}, and {who} {reads}: nothing that the core waits for comes after the write."
    fix = (
        f"Write it before the first transfer is started, or let {who} acquire a lock that the host gives "
        f"after {line} (aiex.set_lock, WorkerRuntimeBarrier.set)."
    )
    sides = (Side("the host", does, word.step.place), Side(who, reads, place))
    return Finding(_UNORDERED, Severity.ERROR, message, sides, fix=fix)


def _after_lock(made: Configured, core: CoreDescription, let_go: _LetGo, use: Node, lock: int) -> Finding:
    word, place = let_go.word, place_of(use)
    name, who, line = made.buffers[word.value].name, core_text(made, core), line_of(word.step.place)
    sets = line_of(let_go.before[lock].place)
    does = f"writes word {word.word} of buffer '{name}' in {line}, after it has let {who} go in {sets}"
    reads = f"reads it ({line_of(place)})"
    message = f"The host {does}, which {reads} then."
    fix = f"Write it before {sets}."
    sides = (Side("the host", does, word.step.place), Side(who, reads, place))
    return Finding(_UNORDERED, Severity.ERROR, message, sides, fix=fix)
