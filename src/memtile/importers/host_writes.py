"""Locks that a host sets again, and channels that it resets, while what it started may still need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memtile.explain.bd_findings import line_of
from memtile.explain.findings import CODES, Finding, Severity, Side
from memtile.explain.lock_waits import lock_text
from memtile.explain.names import called
from memtile.explain.results import Result, Status
from memtile.model.dma.channel_registers import QUEUE_TOKEN_LSB
from memtile.model.state.causes import Phase
from memtile.runs.channel_addresses import ChannelAddresses, channel_addresses
from memtile.runs.operations import (
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    addresses_written,
    words_written,
)
from memtile.runs.waits import WAIT, channel_at, pushed_channels
from memtile.sim.loop.engine import Engine

_SET_AGAIN, _RESET, _TOKEN = "MT0132", "MT0133", "MT0112"
_FOLLOW = ("MT0302", "MT0304")
"""Codes of waits for a lock, or for words, that do not come."""
_TOKENS = ("MT0112", "MT0313")
"""Codes of waits for tokens that do not come."""
_WRITES = (Write, MaskWrite)


@dataclass(frozen=True, slots=True)
class HostWrite:
    """A finding about what a host writes, and what other findings may follow from.

    Attributes:
        finding: that says so.
        about: the lock or channel, as other findings name it; empty of a wait for a token.
    """

    finding: Finding
    about: str = ""


def host_write_findings(engine: Engine, steps: Sequence[Operation]) -> Iterator[HostWrite]:
    """One finding for each lock that is set twice between two waits, and each channel whose reset ends work.

    Args:
        engine: the model, before the steps.
        steps: of the host.
    """
    yield from _set_again(engine, steps)
    yield from _resets(engine, steps)
    yield from _other_channels(engine, steps)


def with_host_writes(result: Result, by_host: Sequence[HostWrite]) -> Result:
    """The result of a run with those of its host; where it is stuck they come first, and for others."""
    found = [each.finding for each in by_host]
    if not found or result.status is not Status.STUCK:
        return replace(result, findings=(*result.findings, *found))
    about, codes = [each.about for each in by_host if each.about], {each.code for each in found}
    follow = [each for each in result.findings if each.code in _FOLLOW and _names(each, about)]
    follow += [each for each in result.findings if _TOKEN in codes and each.code in _TOKENS]
    rest = [each for each in result.findings if each not in follow]
    return replace(result, findings=(*(replace(e, severity=Severity.ERROR) for e in found), *rest))


def _names(finding: Finding, about: Sequence[str]) -> bool:
    return any(each in finding.message for each in about)


def _waits(step: Operation) -> bool:
    """Whether a host waits in a step."""
    return isinstance(step, MaskPoll) or (isinstance(step, Other) and step.name == WAIT)


def _set_again(engine: Engine, steps: Sequence[Operation]) -> Iterator[HostWrite]:
    """Settings that replace one of the same value, which nothing need have taken so far."""
    since, locks = dict[int, Write](), channel_addresses(engine).locks
    told = set[int]()
    for step in steps:
        if _waits(step):
            since.clear()
        elif isinstance(step, Write) and (lock := locks.get(step.address, -1)) >= 0:
            before = since.get(lock)
            if before is not None and before.value == step.value > 0 and lock not in told:
                told.add(lock)
                yield _again(engine, lock, before, step)
            since[lock] = step


def _again(engine: Engine, lock: int, before: Write, step: Write) -> HostWrite:
    does = f"sets {lock_text(engine, lock)} to {step.value} again"
    first = "" if before.place == step.place else f" in {line_of(before.place)}"
    says = f"waits for nothing since it was set{first}: a value replaces the one before, and is not added"
    message = f"The host {does} in {line_of(step.place)}, and {says}."
    fix = f"Wait before {line_of(step.place)} for the end of what the first one starts."
    side = Side("the host", does, step.place)
    finding = Finding(_SET_AGAIN, CODES[_SET_AGAIN].severity, message, (side,), fix=fix)
    return HostWrite(finding, lock_text(engine, lock))


def _resets(engine: Engine, steps: Sequence[Operation]) -> Iterator[HostWrite]:
    """Resets of channels that have work, get none afterwards, and of which the host then still waits."""
    channels, addresses = engine.channels, channel_addresses(engine)
    if all(_channel_reset(addresses, step) < 0 for step in steps):
        return
    busy = {ch for ch in range(len(channels.phase)) if channels.queue_count[ch] or _runs(engine, ch)}
    pushed = set[int]()  # since the last wait
    open_: dict[int, tuple[Operation, bool]] = {}
    for step in steps:
        if _waits(step):
            pushed.clear()
            open_ = {ch: (reset, True) for ch, (reset, _) in open_.items()}
            continue
        given = set(pushed_channels(engine, step))
        pushed |= given
        busy |= given
        for ch in given & open_.keys():
            del open_[ch]
        ch = _channel_reset(addresses, step)
        if ch in busy and pushed:
            open_.setdefault(ch, (step, False))
    for ch, (step, waits) in open_.items():
        if waits:
            yield _lost_work(engine, ch, step)


def _lost_work(engine: Engine, ch: int, step: Operation) -> HostWrite:
    name, line = called(engine, ch), line_of(step.place)
    does = "is reset by the host while it has work, and is given no task afterwards"
    message = f"{name} {does} ({line}): the rest of its transfer is lost."
    fix = f"Reset it after the wait for what it moves, push its task again after {line}, or leave {line} out."
    sides = (Side(name, does, step.place),)
    return HostWrite(Finding(_RESET, CODES[_RESET].severity, message, sides, fix=fix), name)


def _other_channels(engine: Engine, steps: Sequence[Operation]) -> Iterator[HostWrite]:
    """Waits for a channel that lacks a token, where nothing waits for the token of another one.

    A wait right after a task of that one is wrong itself. Of a channel that sends its token later, or has a
    task that asks for none, other findings tell.
    """
    sent, taken, pushes = Counter[int](), Counter[int](), Counter[int]()
    after: dict[int, list[tuple[Other, int]]] = {}  # by channel: its waits, each with the push before it
    lacks: dict[int, tuple[Operation, int]] = {}  # by channel: the first such wait, and the tokens by then
    last, queues = -1, channel_addresses(engine).queues
    for step in steps:
        if isinstance(step, MaskPoll):
            return  # which may ask for any of them
        if isinstance(step, Other) and step.name == WAIT:
            ch = _awaited(engine, step)
            taken[ch] += 1
            after.setdefault(ch, []).append((step, last))
            if ch >= 0 and taken[ch] > sent[ch]:
                lacks.setdefault(ch, (step, sent[ch]))
            last = -1
        for ch, token in _pushed(queues, step):
            last = ch
            pushes[ch] += 1
            sent[ch] += token
    for ch, (lacking, by_then) in lacks.items():
        if 0 < sent[ch] == pushes[ch] < taken[ch]:
            spare = [other for other in sent if sent[other] > taken[other] and other != ch]
            wrong = next(((step, pushed) for step, pushed in after[ch] if pushed in spare), None)
            if wrong is not None:
                yield _wrong_channel(engine, ch, wrong[1], wrong[0], lacking)
            elif len(spare) == 1 and not taken[-1] and by_then == sent[ch]:
                yield _spare_token(engine, ch, spare[0], [step for step, _ in after[ch]], lacking)


def _pushed(queues: Mapping[int, int], step: Operation) -> list[tuple[int, int]]:
    """The channels that a step gives tasks, each with the number of tokens that the task asks for."""
    if not any(address in queues for address in addresses_written(step)):
        return []
    written = ((address, value) for address, value, _ in words_written(step) if address in queues)
    return [(queues[address], value >> QUEUE_TOKEN_LSB & 1) for address, value in written]


def _wrong_channel(engine: Engine, ch: int, pushed: int, step: Other, lacking: Operation) -> HostWrite:
    names, line = [called(engine, each) for each in (ch, pushed)], line_of(step.place)
    does = f"waits for a token of {names[0]} right after it starts a task of {names[1]}"
    then = "" if step is lacking else f"; {line_of(lacking.place)} waits for one more than {names[0]} sends"
    message = f"The host {does} ({line}), for whose token nothing waits{then}."
    side = Side("the host", does, step.place)
    fix = f"Let {line} wait for {names[1]}."
    return HostWrite(Finding(_TOKEN, CODES[_TOKEN].severity, message, (side,), fix=fix))


def _spare_token(
    engine: Engine, ch: int, spare: int, waits: Sequence[Other], lacking: Operation
) -> HostWrite:
    """Of one channel too many tokens are waited for, of another one too few."""
    names = [called(engine, each) for each in (ch, spare)]
    lines = list(dict.fromkeys(line_of(step.place) for step in waits))
    number = next(n for n, step in enumerate(waits, 1) if step is lacking)
    does = f"waits for token {number} of {names[0]} ({line_of(lacking.place)})"
    message = (
        f"The host {does}, of which {number - 1} {'is' if number == 2 else 'are'} sent by then, and nothing "
        f"waits for the token of {names[1]}."
    )
    which = lines[0] if len(lines) == 1 else f"one of {' and '.join(lines[-2:])}"
    fix = f"Let {which} wait for {names[1]}."
    side = Side("the host", does, lacking.place)
    return HostWrite(Finding(_TOKEN, CODES[_TOKEN].severity, message, (side,), fix=fix))


def _awaited(engine: Engine, step: Other) -> int:
    """The channel for whose token a host waits; -1 = several, or none of the model."""
    said = dict(step.details)
    if (said.get("columns"), said.get("rows")) != (1, 1):
        return -1
    return channel_at(engine, said["column"], said["row"], said["direction"], said["channel"])


def _runs(engine: Engine, ch: int) -> bool:
    return bool(engine.channels.phase[ch] != Phase.IDLE or engine.channels.task_bd[ch] >= 0)


def _channel_reset(addresses: ChannelAddresses, step: Operation) -> int:
    """The channel whose reset a step turns on; -1 = none."""
    if not isinstance(step, _WRITES):
        return -1
    channel, mask = addresses.controls.get(step.address, (-1, 0))
    value = step.value & (step.mask if isinstance(step, MaskWrite) else -1)
    return channel if value & mask else -1
