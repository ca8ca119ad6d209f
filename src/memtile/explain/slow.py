"""Why a run takes longer than its words need: what costs a tenth of the run, with advice that was tried.

Notes, no errors: the words are right. They are asked for (``memtile run --bottleneck``), because what is slow
may be meant. Advice is only given if a run without what it removes is shorter, and says by how much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.first_wait import first_wait
from memtile.explain.limit import LEAST, Lifted, Limit, Resource, best_of, percent
from memtile.explain.names import channel_name, core_name
from memtile.explain.results import ChannelUse, Result
from memtile.explain.uneven import Uneven
from memtile.model.state.causes import Cause, CoreCause
from memtile.sim.loop.engine import Engine

_TENTH = 0.1
_CHOSEN = 0.05  # what descriptors and buffers cost, which a design chooses
_HELPS = 0.05  # of the cycles: advice that saves less is none
_MOST = 0.5
_MANY = 8  # tasks
_LEAST = 64  # cycles: of shorter runs everything is start and end
SHORT = 256
"""Words of a BD: fewer do not hide the latency of external memory."""

_LONGER = "Move more words with each BD: one more dimension, or the iteration."
_PART_OF = {Resource.EXTERNAL: (Resource.ROWS, Resource.PIECES)}
_COSTS: Mapping[Cause, tuple[str, Resource]] = {
    Cause.BANK_CONFLICT: ("MT0501", Resource.BANKS),
    Cause.BD_SWITCH: ("MT0502", Resource.DESCRIPTORS),
    Cause.EXTERNAL: ("MT0506", Resource.EXTERNAL),
}


def slow_findings(
    result: Result,
    lifted: Sequence[Lifted],
    banks: str = "",
    uneven: Uneven | None = None,
    split: Limit | None = None,
) -> tuple[Finding, ...]:
    """Notes on what makes a run slow; none without time, or for a run of a few cycles.

    Args:
        result: of the run.
        lifted: the run without each of its limits.
        banks: what repairs bank conflicts; empty = buffers in different banks.
        uneven: the column or stream that has most of the work, see ``uneven_work``.
        split: the limit of the run with two channels for each stream, where tiles have a free one.
    """
    if not result.timed or result.cycles < _LEAST:
        return ()
    found = [
        *_costs(result, lifted, banks or "Put the buffers into different banks (bank=).", split),
        *_tasks(result, lifted),
        *_buffers(result, lifted),
        *_host(result, lifted),
        *_links(result, lifted),
        *_neighbours(result, lifted),
        *_split(result, lifted, uneven),
        *_slowest(result, lifted, uneven),
        *_waits(result, lifted),
    ]
    return tuple(found)


def _tried(fix: str, result: Result, lifted: Sequence[Lifted], *resources: Resource) -> str:
    """Advice with the cycles of the run in which it was tried; empty if it does not help."""
    best = best_of([each for each in lifted if each.resource in resources], result.cycles)
    if best is None or best.cycles is None or best.saves(result.cycles) < _HELPS:
        return ""
    return f"{fix} Tried: {best.cycles} cycles for {result.cycles} ({percent(result.cycles, best.cycles)})."


def _note(result: Result, code: str, message: str, sides: Sequence[Side], fix: str) -> Finding:
    return Finding(code, Severity.NOTE, message, tuple(sides), cycles=(0, result.cycles), fix=fix)


def _costs(result: Result, lifted: Sequence[Lifted], banks: str, split: Limit | None) -> Iterator[Finding]:
    """One finding for each cause, of the channel or core that it costs most."""
    for cause, (code, resource) in _COSTS.items():
        lost = {_name(use): use.spent.get(cause, 0) for use in result.channels}
        if cause is Cause.EXTERNAL:
            lost = {_name(use): _later(result, use) for use in result.channels}
        if cause is Cause.BANK_CONFLICT:
            lost |= {core.name: core.spent.get(CoreCause.BANK_CONFLICT, 0) for core in result.cores}
        least = _CHOSEN if cause is Cause.BD_SWITCH else _TENTH
        costly = {name: cycles for name, cycles in lost.items() if cycles >= least * result.cycles}
        if not costly:
            continue
        worst = max(costly, key=costly.__getitem__)
        use = next((use for use in result.channels if _name(use) == worst), None)
        advice = {"MT0501": banks, "MT0502": _LONGER, "MT0506": _outside(use, lifted, result.cycles)}
        fix = _tried(advice[code], result, lifted, resource, *_PART_OF.get(resource, ()))
        if cause is Cause.EXTERNAL and not advice[code]:
            fix = _over_two(result, split, worst)
        if fix:
            more = f", and {len(costly) - 1} more" if len(costly) > 1 else ""
            after = " after its first word" if cause is Cause.EXTERNAL else ""
            text = f"loses {costly[worst]} of {result.cycles} cycles{after}: {cause.text}"
            message = f"{worst} {text}{_each(use, cause)}{more}."
            sides = [Side(name, f"loses {cycles} cycles") for name, cycles in costly.items()]
            yield _note(result, code, message, sides, fix)


def _later(result: Result, use: ChannelUse) -> int:
    """Cycles for which a channel waits for external memory after its first word, which advice may shorten."""
    return use.spent.get(Cause.EXTERNAL, 0) - first_wait(result, use)


def _over_two(result: Result, split: Limit | None, name: str) -> str:
    """Advice for one task whose words a second channel could move; empty if that helps little."""
    if split is None or split.name != name or split.cycles is None:
        return ""
    if result.cycles - split.cycles < _HELPS * result.cycles:
        return ""
    return (
        "Move the words over two channels: those on their way over one do not hide the latency. "
        f"Estimated, not tried: {split.cycles} cycles for {result.cycles} "
        f"({percent(result.cycles, split.cycles)})."
    )


def _each(use: ChannelUse | None, cause: Cause) -> str:
    """How short what is started is."""
    if use is not None and cause is Cause.BD_SWITCH and use.bds:
        return f", {use.words // use.bds} words a BD"
    return ""


def _outside(use: ChannelUse | None, lifted: Sequence[Lifted], cycles: int) -> str:
    """Advice for transfers to external memory: longer rows if rows cost something, else larger pieces.

    Empty for one task: only a second channel helps it.
    """
    best = best_of([each for each in lifted if each.resource in (Resource.ROWS, Resource.PIECES)], cycles)
    if best is not None and best.resource == Resource.ROWS and best.saves(cycles) >= LEAST:
        return "Ask for longer rows, so that bursts are full."
    if use is not None and use.bds > 1 and use.words // use.bds < SHORT:
        return f"Ask for more at a time: a BD moves {use.words // use.bds} words, and each waits for memory."
    if use is not None and use.tasks <= 1:
        return ""
    return "Have more words on their way: start the next transfer before this one has ended."


def _tasks(result: Result, lifted: Sequence[Lifted]) -> Iterator[Finding]:
    """The channel that moves longest is without a task half of the time, between many short ones."""
    use = max(result.channels, key=lambda use: use.spent.get(Cause.MOVING, 0), default=None)
    if use is None or use.tasks < _MANY:
        return
    lost = use.spent.get(Cause.IDLE, 0) + use.spent.get(Cause.TASK_START, 0)
    fix = "Start fewer tasks: repeat them, chain their BDs, or keep the queue filled."
    fix = _tried(fix, result, lifted, Resource.TASKS, Resource.HOST)
    if lost >= _MOST * result.cycles and fix:
        text = f"has no task, or starts one, in {lost} of {result.cycles} cycles"
        message = f"{_name(use)} {text}: {use.tasks} tasks of {use.words // use.tasks} words."
        yield _note(result, "MT0503", message, [Side(_name(use), text)], fix)


def _buffers(result: Result, lifted: Sequence[Lifted]) -> Iterator[Finding]:
    """An object FIFO, or a ring of buffers, that one more buffer makes a twentieth faster."""
    best = best_of([each for each in lifted if each.resource == Resource.BUFFERS], result.cycles)
    if best is None or best.saves(result.cycles) < _CHOSEN:
        return
    waits = _lock_waits(result, best.name)
    says = " and ".join(f"{name} waits {cycles}" for name, cycles in waits.items())
    has = "have" if "each of" in best.what else "has"
    message = f"{best.name} {has} too few buffers: {says} of {result.cycles} cycles for a lock."
    sides = [Side(name, f"waits {cycles} cycles for a lock") for name, cycles in waits.items()]
    one = "a second" if best.what.startswith("there was a second") else "one more"
    one = f"{one} buffer{' each' if has == 'have' else ''}"
    fix = f"Give {best.name} {one}, and count it in the lock of the free ones."
    if best.what.startswith("there were twice"):
        fix = f"Take fewer objects of {best.name} at once, or give it twice as many buffers."
    fix = _tried(fix, result, [best], Resource.BUFFERS)
    yield _note(result, "MT0504", message, sides, fix)


def _is_in(label: str, name: str) -> bool:
    """Whether a name is that of several, one of which is a label."""
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", name) is not None


def _lock_waits(result: Result, name: str) -> dict[str, int]:
    """Cycles for locks of the two that wait longest, those first that the buffers are called after."""
    waits = [(_name(use), use.label, use.spent.get(Cause.LOCK_ACQUIRE, 0)) for use in result.channels]
    waits += [(core.name, "", core.spent.get(CoreCause.LOCK_STALL, 0)) for core in result.cores]
    own = [(each, cycles) for each, label, cycles in waits if cycles and label and _is_in(label, name)]
    others = sorted(((each, cycles) for each, _, cycles in waits if cycles), key=lambda wait: -wait[1])
    return dict([*sorted(own, key=lambda wait: -wait[1]), *others][:2])


def _host(result: Result, lifted: Sequence[Lifted]) -> Iterator[Finding]:
    fix = "Write fewer registers in the run: longer tasks, repeats, descriptors that stay."
    fix = _tried(fix, result, lifted, Resource.HOST, Resource.START)
    needed = max((use.tasks for use in result.channels), default=0) == 1  # one task for each channel
    if result.host_cycles >= _MOST * result.cycles and fix and not needed:
        message = f"The host's accesses take {result.host_cycles} of {result.cycles} cycles."
        side = Side("the host", f"is busy for {result.host_cycles} cycles")
        yield _note(result, "MT0505", message, [side], fix)


def _waits(result: Result, lifted: Sequence[Lifted]) -> Iterator[Finding]:
    """Waits of a host without which the run ends as it does, a tenth earlier."""
    best = best_of([each for each in lifted if each.resource == Resource.WAITS], result.cycles)
    if best is not None and best.saves(result.cycles) >= _TENTH:
        fix = "Wait only where the next task needs what the last one wrote: start others before."
        fix = _tried(fix, result, [best], Resource.WAITS)
        side = Side("the host", "waits between its tasks")
        yield _note(
            result, "MT0505", "The host waits between its tasks, and channels wait for it.", [side], fix
        )


def _slowest(result: Result, lifted: Sequence[Lifted], uneven: Uneven | None) -> Iterator[Finding]:
    """A core that computes longer than all others, where that costs a tenth."""
    best = best_of([each for each in lifted if each.resource == Resource.SLOWEST], result.cycles)
    if best is not None and best.saves(result.cycles) >= _TENTH and uneven is None:
        own = max(core.spent.get(CoreCause.RUNNING, 0) for core in result.cores)
        text = f"computes for {own} of {result.cycles} cycles, longer than all others"
        shares = "shared" in best.what
        fix = "Give others a part of its work" + ", or it a kernel as short as theirs" * (not shares) + "."
        fix = _tried(fix, result, [best], Resource.SLOWEST)
        yield _note(result, "MT0507", f"{best.name} {text}.", [Side(best.name, text)], fix)


def _links(result: Result, lifted: Sequence[Lifted]) -> Iterator[Finding]:
    """A link that packets of several channels share."""
    best = best_of([each for each in lifted if each.resource == Resource.LINKS], result.cycles)
    if best is not None and best.saves(result.cycles) >= _TENTH:
        message = f"Packets share one {best.name} in {result.cycles} cycles."
        fix = "Give the streams circuits of their own, or packets over different links."
        fix = _tried(fix, result, lifted, Resource.LINKS)
        yield _note(result, "MT0508", message, [Side(best.name, "is shared by packets")], fix)


def _neighbours(result: Result, lifted: Sequence[Lifted]) -> Iterator[Finding]:
    """Memory of a neighbour, which is reached over one interface for each direction."""
    best = best_of([each for each in lifted if each.resource == Resource.NEIGHBOURS], result.cycles)
    if best is not None and best.saves(result.cycles) >= _TENTH:
        lost = {_name(use): use.spent.get(Cause.NEIGHBOUR_BUSY, 0) for use in result.channels}
        sides = [Side(name, f"loses {cycles} cycles") for name, cycles in lost.items() if cycles]
        more = f", and {len(sides) - 1} more" if len(sides) > 1 else ""
        message = f"{best.name} loses {lost.get(best.name, 0)} of {result.cycles} cycles: " + (
            f"{Cause.NEIGHBOUR_BUSY.text}{more}."
        )
        fix = (
            "Reach the neighbour with fewer channels, or put its buffers into its own tile if they fit there."
        )
        yield _note(result, "MT0509", message, sides, _tried(fix, result, [best], Resource.NEIGHBOURS))


def even_shares(result: Result, engine: Engine, longer: float) -> dict[int, int]:
    """What per cent of its cycles each core would compute with as many words as the others.

    Nothing if not all compute as long for a word.

    Args:
        result: of a run.
        engine: that it ran on.
        longer: how many times as long as another one a core may compute for a word.
    """
    spent = {core.name: core.spent.get(CoreCause.RUNNING, 0) for core in result.cores}
    words = {use.name: use.words for use in result.channels if use.direction == "S2MM"}
    tiles = engine.channels.tile.tolist()
    of = {
        index: (
            next((cycles for name, cycles in spent.items() if name.startswith(core_name(engine, index))), 0),
            sum(words.get(channel_name(engine, ch), 0) for ch, at in enumerate(tiles) if at == tile),
        )
        for index in engine.cores.running
        for tile in [int(engine.state.cores.tile[index])]
    }
    costs = [cycles / count if count else 0.0 for cycles, count in of.values()]
    if not costs or min(costs) * longer < max(costs):
        return {}
    mean = sum(cycles for cycles, _ in of.values()) / len(of)
    return {index: max(round(100 * mean / cycles), 1) for index, (cycles, _) in of.items()}


def _split(result: Result, lifted: Sequence[Lifted], found: Uneven | None) -> Iterator[Finding]:
    """A column or stream that has most of the work; what an even split of channels saves is an estimate."""
    if found is not None:
        side = Side(found.name, f"works for {found.works} of {result.cycles} cycles")
        fix = _tried("Split the work evenly.", result, lifted, Resource.COLUMNS) or (
            f"Split the work evenly. Estimated, not tried: {found.cycles} cycles for {result.cycles} "
            f"({percent(result.cycles, found.cycles)})."
        )
        text = found.text.capitalize() if found.longest else found.text  # a channel keeps its name
        yield _note(result, "MT0507", f"{text}; the others wait.", [side], fix)


def _name(use: ChannelUse) -> str:
    return f"{use.name} {use.label!r}" if use.label else use.name
