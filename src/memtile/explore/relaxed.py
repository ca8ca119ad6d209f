"""What limits a run: the resources that it waits for, and the run made again without each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from memtile.access.walk import Walk, loops
from memtile.arch.timing import Timing, Unlimited, default_timing, of_run
from memtile.explain.bank_use import bank_advice
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.planned_words import PlannedWords, descriptor_of
from memtile.explain.limit import LEAST, WORK, Lifted, Limit, Resource, limit_of
from memtile.explain.names import channel_name, core_name
from memtile.explain.results import ChannelUse, Result, Status
from memtile.explain.slow import SHORT, even_shares, slow_findings
from memtile.explain.uneven import Uneven, column_of, uneven_work
from memtile.explore.channel_costs import EXTERNAL, HOST, channel_costs, conflicted, most_spent
from memtile.explore.limit_estimates import (
    called,
    channel_begins,
    host_of_tasks,
    of_logic,
    one_for_all,
    stream_takers,
    two_channels,
    unpadded_lengths,
    without_zeros,
)
from memtile.explore.more_buffers import more_buffers
from memtile.explore.shared_links import busiest_link
from memtile.explore.trial import Again, Trial, Watch, cycles_of
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.event_columns import ChannelEvent
from memtile.sim.doors.relaxed_model import Relaxed, relaxed_models
from memtile.sim.loop.engine import Engine

_OF_STREAMS = (Resource.EXTERNAL, Resource.CHANNELS)
_MANY = 8  # pieces
_TWO = 2  # channels, or cores
_LONGER = 1.25  # times as long as the next core: what one must compute to be the slow one
_APART = 0.1  # of the cycles: between starts of tasks, for waits of a host to be between them
_BUSY = 0.6  # of the cycles: what moves less is not worth a second channel


def lifted(result: Result, again: Again, watch: Watch = iter) -> tuple[Lifted, ...]:
    """Return what the run takes without each of the limits that cost it cycles.

    Args:
        result: of the run itself.
        again: does it anew.
        watch: goes through the limits, for progress.
    """
    return with_limit(result, again, watch).lifted


def _lifted(result: Result, again: Again, watch: Watch, seen: Relaxed) -> Iterator[Lifted]:
    """The run without each limit; ``seen`` has the model of a run without changes."""
    engine = seen.engine
    trials = {trial.what: trial for trial in _trials(result, engine)}
    yield from (trials[what].done(result, again) for what in watch(list(trials)))
    if engine is not None:
        yield from more_buffers(result, again, engine, seen.began, watch)


def with_limit(result: Result, again: Again, watch: Watch = iter) -> Result:
    """A result with what limits its run: ``lifted``, ``limit`` and notes with advice that was tried.

    One without time, or that has not come to its end, is as it was.

    Args:
        result: of the run itself.
        again: does it anew.
        watch: goes through the limits, for progress.
    """
    if not result.timed or result.status is not Status.FINISHED:
        return result
    with relaxed_models({}) as seen:
        cycles_of(result, again, Trial(Resource.BUFFERS, "", "nothing was changed"))
    found = tuple(_lifted(result, again, watch, seen))
    banks = "" if seen.engine is None else bank_advice(seen.engine)
    uneven = uneven_work(result) if seen.engine is None else _uneven(result, seen.engine)
    limited, split = limit(result, found, uneven), None
    if (
        seen.engine is not None
        and limited is not None
        and limited.resource in (Resource.CHANNELS, Resource.STREAM)
    ):
        limited = without_zeros(result, seen.engine, one_for_all(result, seen.engine, limited))
    if seen.engine is not None and limited is not None and limited.resource in _OF_STREAMS:
        split = two_channels(result, seen.engine, _external(seen.engine), limited.name)
        limited = _shorter(limited, split)
    if seen.engine is not None and limited is not None and limited.resource in (*WORK, Resource.OUTSIDE):
        limited = of_logic(result, seen.engine, limited)
    findings = (*result.findings, *slow_findings(result, found, banks, uneven, split))
    return replace(result, lifted=found, limit=limited, findings=findings)


def _shorter(limited: Limit, split: Limit | None) -> Limit:
    """The estimate with two channels if it is shorter than what limits a run by runs."""
    if split is None or split.cycles is None:
        return limited
    is_shorter = limited.cycles is None or split.cycles <= (1 - LEAST) * limited.cycles
    return split if is_shorter else limited


def limit(result: Result, found: Sequence[Lifted], uneven: Uneven | None = None) -> Limit | None:
    """The resource that limits a run; None without time, or if nothing was done in it.

    Args:
        result: of the run.
        found: the run without each limit.
        uneven: the column or stream that has most of the work.
    """
    bound = result.bound
    if bound is None:
        return None
    computes = bound.does == "computing"
    share = 0.0 if bound.resource == Resource.HOST else bound.share
    chosen = limit_of(result.cycles, found, bound.resource, share, computes=computes)
    if chosen.resource not in WORK or uneven is None:
        return chosen
    tried = next((each for each in found if each.resource == Resource.COLUMNS and each.cycles), None)
    if tried is not None:
        return Limit(tried.resource, tried.name, tried.what, result.cycles, tried.cycles)
    resource = Resource.COLUMNS if uneven.longest else Resource.STREAMS
    split = (resource, uneven.text, "an even split")
    return Limit(*split, result.cycles, uneven.cycles, estimated=True)


def _trials(result: Result, engine: Engine | None) -> Iterator[Trial]:
    """What is worth a run: each resource on which cycles were spent, but for buffers."""
    yield from (Trial(*cost) for cost in channel_costs(result))
    yield from _rows(result, engine)
    yield from _pieces(result, engine)
    if name := conflicted(result):
        banks = {"unlimited": int(Unlimited.BANKS)}
        yield Trial(Resource.BANKS, name, "banks served all of their requests at once", banks)
    if engine is not None and (link := busiest_link(engine)):
        ways = {"unlimited": int(Unlimited.PACKETS), "packet_arbitration": 0}
        yield Trial(Resource.LINKS, link, "each stream of packets had a circuit of its own", ways)
    if result.host_cycles or (engine is not None and engine.host.free_at):
        host = Resource.START if engine is not None and _only_starts(engine) else Resource.HOST
        yield Trial(host, host, "the host needed no time", HOST)
        yield from _fewer_tasks(result, host)
        if host == Resource.HOST or (engine is not None and _starts_apart(engine)):
            yield Trial(Resource.WAITS, "the host", "the host did not wait between its tasks", no_waits=True)
    if engine is not None and engine.paced:
        paced = channel_name(engine, engine.paced[0])
        yield Trial(Resource.OUTSIDE, paced, "ports outside were ready in every cycle", unpaced=True)
    if engine is not None:
        for says, lengths in unpadded_lengths(result, engine):
            yield Trial(Resource.PADDING, says, "nothing was padded", unpadded=lengths)
    yield from _of_work(result, engine)


def _fewer_tasks(result: Result, host: Resource) -> Iterator[Trial]:
    """Accesses of a host that take as long as if each channel to which it gives many tasks had one.

    Twice as long and so on where more tasks were started than queues take.
    """
    tasks, timing = [use.tasks for use in result.channels if use.tasks >= _MANY], _timing(result)
    trial: Trial | None = None
    for slower in (4, 2, 1) if tasks else ():
        share = slower * len(tasks) / sum(tasks)
        constants = {name: round(getattr(timing, name) * share) for name in HOST}
        what = f"the host had one task for each {sum(tasks) / slower / len(tasks):.0f}"
        trial = Trial(host, host, what, constants, instead=trial)
    if trial is not None:  # of one task the host waits for one end
        trial = replace(trial, no_waits=True, instead=trial)
    if trial is not None:
        yield trial


def _of_work(result: Result, engine: Engine | None) -> Iterator[Trial]:
    """Cores and channels: what all of them cost, and what the one does that works longest."""
    core = max(result.cores, key=lambda core: core.spent.get(CoreCause.RUNNING, 0), default=None)
    if core is not None and core.spent.get(CoreCause.RUNNING):
        yield Trial(Resource.CORES, core.name, "cores computed in no time", computing={-1: 0})
        yield from _slowest(result, engine)
        yield from _even(result, engine)
    use = max(result.channels, key=lambda use: use.busy, default=None)
    if use is not None and use.busy >= _BUSY and all(use.beat_words == 1 for use in result.channels):
        half = _latency(result)["MM2S"] // _TWO  # each of two has as many words on their way
        what = "each stream was split over two channels"
        rate = {"external_latency": max(half, 1)}
        yield Trial(Resource.CHANNELS, called(use), what, rate, two_words=(-1,))
        if engine is not None and (stream := _stream(engine, use)):
            what, more = (
                "this stream was split over two channels",
                host_of_tasks(result, _external(engine), use),
            )
            yield Trial(Resource.STREAM, called(use), what, rate, two_words=stream, remains=more)


def _stream(engine: Engine, use: ChannelUse) -> list[int]:
    """A channel and those at the other end of its stream; empty where there are none, or packets on it."""
    found = PlannedWords.of(engine, BdChains(engine))
    own = [ch for ch in found.bds if channel_name(engine, ch) == use.name]
    ends = [end for ch in own for bd in found.bds[ch] for end in found.receivers(bd)]
    senders = [bd.ch for ch in own for bd in found.senders.get(ch, ())]
    return sorted({*own, *ends, *senders}) if ends or senders else []


def _slowest(result: Result, engine: Engine | None) -> Iterator[Trial]:
    """One core that computes far longer than any other: as long as that one, or with less of their work."""
    order = sorted(result.cores, key=lambda core: -core.spent.get(CoreCause.RUNNING, 0))[:_TWO]
    times = [core.spent.get(CoreCause.RUNNING, 0) for core in order]
    if engine is None or len(order) < _TWO or times[0] < _LONGER * times[1] or not times[1]:
        return
    index = next((n for n in engine.cores.running if order[0].name.startswith(core_name(engine, n))), -1)
    if shared := even_shares(result, engine, _LONGER):
        yield Trial(Resource.SLOWEST, order[0].name, "the cores shared their work evenly", computing=shared)
    elif index >= 0:
        what = f"{core_name(engine, index)} computed no longer than the next one"
        percent = {index: round(100 * times[1] / times[0])}
        yield Trial(Resource.SLOWEST, order[0].name, what, computing=percent)


def _uneven(result: Result, engine: Engine) -> Uneven | None:
    """The column or stream that has most of the work, with what its engine knows."""
    return uneven_work(result, channel_begins(result, engine), stream_takers(result, engine))


def _even(result: Result, engine: Engine | None) -> Iterator[Trial]:
    """Cores that compute as long in each column as in the others, and begin when they do."""
    uneven = None if engine is None else _uneven(result, engine)
    if engine is None or uneven is None or not uneven.computes:
        return
    mean = sum(uneven.longest.values()) / len(uneven.longest)
    columns = {index: column_of(core_name(engine, index)) for index in engine.cores.running}
    percent = {
        index: max(round(100 * mean / uneven.longest[column]), 1)
        for index, column in columns.items()
        if column is not None and column in uneven.longest
    }
    yield Trial(Resource.COLUMNS, uneven.text, "the work was split evenly", computing=percent)


def _rows(result: Result, engine: Engine | None) -> Iterator[Trial]:
    """Rows in external memory that follow each other, where a channel reads or writes some that do not."""
    if engine is None:
        return
    external = _external(engine)
    uses = [use for use in result.channels if use.name in external and _has_rows(engine, external[use.name])]
    lost = sum(use.spent.get(Cause.EXTERNAL, 0) for use in uses)
    if lost >= LEAST * result.cycles and (use := most_spent(uses, Cause.EXTERNAL)):
        what, again = "its rows followed each other in memory", max(use.bds - use.tasks, 0)
        latency = _latency(result)[use.direction]  # rows that follow each other need no second run of a BD
        remains = -min(again * latency, use.spent[Cause.EXTERNAL]) if again < _MANY else 0
        yield Trial(Resource.ROWS, called(use), what, rows_follow=True, remains=remains)


def _external(engine: Engine) -> dict[str, int]:
    """The channels to external memory, by name."""
    return {channel_name(engine, ch): ch for ch in np.flatnonzero(engine.channels.external >= 0).tolist()}


def _has_rows(engine: Engine, ch: int) -> bool:
    """Whether a BD of a channel, as its registers are now, leaves gaps in memory."""
    descriptors = (descriptor_of(engine, each, bd) for each, bd in BdChains(engine).present() if each == ch)
    return any(len(loops(Walk.of(each))) > 1 or loops(Walk.of(each))[0].step != 1 for each in descriptors)


def _pieces(result: Result, engine: Engine | None) -> Iterator[Trial]:
    """External memory in one transfer where it is asked for small pieces: each direction waits once."""
    small = [use for use in result.channels if use.bds >= _MANY and use.words < SHORT * use.bds]
    waits = [use for use in small if use.spent.get(Cause.EXTERNAL, 0) >= LEAST * result.cycles]
    if engine is None or not waits:
        return
    latency = _latency(result)
    once = sum(latency[direction] for direction in {use.direction for use in waits})
    name = called(max(waits, key=lambda use: use.spent[Cause.EXTERNAL]))
    constants = {**EXTERNAL, **HOST, "task_start": 1, "task_load": 0}
    constants["unlimited"] = int(Unlimited.DESCRIPTORS)
    pieces = "tasks" if all(use.bds == use.tasks for use in waits) else "pieces"
    yield Trial(Resource.PIECES, name, f"its {pieces} were one transfer", constants, remains=once)


def _latency(result: Result) -> dict[str, int]:
    """Cycles that a transfer waits for external memory, by its direction."""
    timing = _timing(result)
    return {"MM2S": timing.external_latency, "S2MM": timing.external_write_latency}


def _timing(result: Result) -> Timing:
    """The timing constants of a run."""
    return replace(default_timing(result.board), **of_run(result.board, result.timing))


def _only_starts(engine: Engine) -> bool:
    """Whether the host has started its last task before half of the cycles were over."""
    outside = engine.channels.external >= 0
    started = np.asarray(engine.state.seen)[outside, ChannelEvent.START_TASK]
    return bool(outside.any() and started.max() <= engine.now / 2)


def _starts_apart(engine: Engine) -> bool:
    """Whether the host has started the last task of some channel long after that of another one."""
    outside = engine.channels.external >= 0
    started = np.asarray(engine.state.seen)[outside, ChannelEvent.START_TASK]
    started = started[started >= 0]
    return bool(len(started) and started.max() - started.min() >= _APART * engine.now)
