"""What a channel that limits a run would save in another design, where no run of this one shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from memtile.access.walk import PAD, Walk, addresses, loops
from memtile.arch.pl_interface import PLIO_WIDTHS
from memtile.arch.tiles import GRANULE_WORDS, MM2S, WORD_BYTES
from memtile.explain.bd_chains import BdChains
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords, descriptor_of
from memtile.explain.first_wait import first_wait
from memtile.explain.limit import LEAST, Limit, Resource
from memtile.explain.names import channel_name
from memtile.explain.results import ChannelUse, Result
from memtile.explain.switch_ways import configured_ways, reached
from memtile.explain.uneven import Takers, place_of
from memtile.jit.tables import plain
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.event_columns import ChannelEvent
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine

_TWO_CHANNELS = "two channels for each stream"
_TWO = 2  # channels
_BUSY = 0.6  # of the cycles: what works less is not worth a second channel
_SATURATED = 0.85  # of the cycles: a PLIO that moves so long is the limit itself
_PADDED = 0.25  # of the words of a channel


def channel_begins(result: Result, engine: Engine) -> dict[str, int]:
    """The cycle in which each channel to external memory begins its work, by its name.

    One of several tasks begins as long before its last end as it has anything to do.
    """
    seen, begins = np.asarray(engine.state.seen), dict[str, int]()
    uses = {use.name: use for use in result.channels}
    for ch in np.flatnonzero(engine.channels.external >= 0).tolist():
        use = uses.get(channel_name(engine, ch))
        if use is not None and use.tasks:
            works = result.cycles - use.spent.get(Cause.IDLE, 0)
            last = int(seen[ch, ChannelEvent.FINISHED_TASK]) - works
            begins[use.name] = max(int(seen[ch, ChannelEvent.START_TASK]) if use.tasks == 1 else last, 0)
    return begins


def stream_takers(result: Result, engine: Engine) -> dict[str, Takers]:
    """The other end of each stream to or from external memory that only tiles of cores are at.

    Args:
        result: of the run.
        engine: that it ran on.
    """
    planned, found = PlannedWords.of(engine, BdChains(engine)), dict[str, Takers]()
    kernels = {place_of(core.name): core.kernel for core in result.cores}
    for ch in np.flatnonzero(engine.channels.external >= 0).tolist():
        senders = {bd.ch for bd in planned.senders.get(ch, ())}
        ends = senders | {end for bd in planned.bds.get(ch, ()) for end in planned.receivers(bd)}
        names = [channel_name(engine, end) for end in ends]
        if ends and all(name.startswith("compute") for name in names):
            tiles = [place_of(name) for name in names]
            words = (tuple(sorted({bd.length for bd in planned.bds.get(end, ())})) for end in ends)
            shapes = zip((kernels.get(tile, "") for tile in tiles), words, strict=True)
            found[channel_name(engine, ch)] = Takers(frozenset(tiles), tuple(sorted(shapes)))
    return found


def host_of_tasks(result: Result, external: Collection[str], use: ChannelUse) -> int:
    """Cycles of a host for as many more tasks as a channel has, which it needs for a second channel.

    Args:
        result: of the run.
        external: names of the channels that a host starts.
        use: of the channel; one that no host starts needs none.
    """
    tasks = {each.name: each.tasks for each in result.channels if each.name in external}
    return result.host_cycles * tasks.get(use.name, 0) // max(sum(tasks.values()), 1)


def one_for_all(result: Result, engine: Engine, limited: Limit) -> Limit:
    """A channel that sends packets to several others, by an estimate with a channel for each of them.

    Then the longest of its streams stays, and no other one stands before it: words of one receiver do not go
    over two channels.
    """
    sender = next((use for use in result.channels if called(use) == limited.name), None)
    ends = [] if sender is None else _packet_ends(engine, sender.name)
    moves = [use.spent.get(Cause.MOVING, 0) for use in result.channels if use.name in ends]
    if sender is None or len(moves) < _TWO:
        return limited
    cycles = result.cycles - sender.spent.get(Cause.MOVING, 0) + max(moves)
    if cycles > (1 - LEAST) * result.cycles:
        return limited
    says = f"{limited.name} sends to {len(moves)} others"
    return Limit(Resource.CHANNELS, says, "a channel for each of them", result.cycles, cycles, estimated=True)


def two_channels(result: Result, engine: Engine, external: Mapping[str, int], name: str) -> Limit | None:
    """A channel with several words in a beat that works nearly always, by an estimate with two for each.

    Beats have no room for twice as many words, so that no run shows this. Half of the words take half of the
    time, and so do the waits for external memory between them, but not the one before the first word, and
    both channels share the AXI master of their tile, which gets no faster, and neither does a core.

    Args:
        result: of the run.
        engine: that it ran on.
        external: the channels that a host starts, by name.
        name: of the channel and what it moves.

    Returns:
        The estimate; None where tiles have no second channel for each, or it saves nothing.
    """
    use = next((use for use in result.channels if called(use) == name), None)
    if use is None or use.beat_words == 1:
        return None
    busy = [each for each in result.channels if _works(each) >= _BUSY * result.cycles]
    if use not in busy or not _have_second(result, engine, busy):
        return None
    first = first_wait(result, use)
    work = first + max((_works(use) - first) // _TWO, _of_masters(result, engine, external))
    more = sum(host_of_tasks(result, external, each) for each in busy)
    cores = (core.spent.get(CoreCause.RUNNING, 0) for core in result.cores)
    cycles = max([result.cycles - _works(use) + work + more, *cores])
    if result.cycles - cycles < LEAST * result.cycles:
        return None
    return Limit(Resource.CHANNELS, name, _TWO_CHANNELS, result.cycles, cycles, estimated=True)


def _works(use: ChannelUse) -> int:
    """Cycles in which a channel moves words, or has asked external memory for more than it gives at once."""
    return use.spent.get(Cause.MOVING, 0) + use.spent.get(Cause.EXTERNAL, 0)


def _have_second(result: Result, engine: Engine, busy: Sequence[ChannelUse]) -> bool:
    """Whether tiles have a channel more for each of some, which nothing uses."""
    ends = list(zip(engine.channels.tile.tolist(), engine.channels.direction.tolist(), strict=True))
    by_name = {channel_name(engine, ch): end for ch, end in enumerate(ends)}
    needed = Counter(by_name[use.name] for use in (*result.channels, *busy))
    there = Counter(ends)
    return all(many <= there[end] for end, many in needed.items())


def _of_masters(result: Result, engine: Engine, external: Mapping[str, int]) -> int:
    """Cycles in which the AXI master that has the most to do is busy: beats, and the begin of each burst."""
    words, spent = {use.name: use.words for use in result.channels}, Counter[tuple[int, int]]()
    overhead, planned = engine.timing.external_burst_overhead, PlannedWords.of(engine, BdChains(engine))
    for name, ch in external.items():
        moved = busy = 0
        for bd in planned.bds.get(ch, ()):
            moved += bd.length
            busy += _begins(bd, GRANULE_WORDS) + overhead * _begins(bd, bd.descriptor.axi.burst // WORD_BYTES)
        if moved:
            at = int(engine.channels.tile[ch]), int(engine.channels.direction[ch])
            spent[at] += words.get(name, 0) * busy // moved
    return max(spent.values(), default=0)


def _begins(bd: PlannedBd, words: int) -> int:
    """How many beats or bursts a BD at external memory has, which begin at a multiple of so many words."""
    places = addresses(Walk.of(bd.descriptor))
    return 1 + int(((np.diff(places) != 1) | (places[1:] % words == 0)).sum())


def of_logic(result: Result, engine: Engine, limited: Limit) -> Limit:
    """A PLIO that has a word in nearly every period of its clock, by an estimate with twice its width.

    So get all that are as busy; the other streams, channels and cores stay as they are.

    Args:
        result: of the run.
        engine: that it ran on.
        limited: what limits it by runs.
    """
    logic, streams = plain(engine.state.logic), engine.logic
    moves = {
        port: int(logic.beats[port]) * int(logic.cycles[port]) // int(logic.ticks[port])
        for port in streams.ports
    }
    port = max(moves, key=lambda each: moves[each], default=-1)
    if port < 0 or moves[port] < _SATURATED * result.cycles:
        return limited
    alike = [each for each in moves if moves[each] >= _SATURATED * result.cycles]
    others = [time for each, time in moves.items() if each not in alike]
    others += [core.spent.get(CoreCause.RUNNING, 0) for core in result.cores]
    others += [use.spent.get(Cause.MOVING, 0) for use in result.channels]
    cycles = max([result.cycles - moves[port] // _TWO, *others])
    if cycles > (1 - LEAST) * (result.cycles if limited.cycles is None else limited.cycles):
        return limited
    period, bits = int(logic.cycles[port]) / int(logic.ticks[port]), 8 * WORD_BYTES * int(logic.words[port])
    more = f", and {len(alike) - 1} more" if len(alike) > 1 else ""
    says = f"{streams.names.get(port, 'a PLIO')}{more}, which moves {bits} bits every {period:g} cycles"
    width = "twice the width" if bits < PLIO_WIDTHS[-1] else "two PLIOs for it"
    return Limit(Resource.OUTSIDE, says, width, result.cycles, cycles, estimated=True)


def without_zeros(result: Result, engine: Engine, limited: Limit) -> Limit:
    """A channel that pads what it sends, by an estimate without the zeros."""
    use = next((use for use in result.channels if called(use) == limited.name), None)
    if use is None:
        return limited
    chains = BdChains(engine)
    walks = [
        Walk.of(descriptor_of(engine, ch, bd))
        for ch, bd in chains.present()
        if channel_name(engine, ch) == use.name
    ]
    words = sum(walk.length for walk in walks)
    zeros = sum(int((addresses(walk) == PAD).sum()) for walk in walks if walk.padded)
    if not words or zeros < _PADDED * words:
        return limited
    cycles = result.cycles - use.spent.get(Cause.MOVING, 0) * zeros // words
    if limited.cycles is not None and cycles >= limited.cycles:
        return limited
    says = f"{zeros} of {words} words of {limited.name} are zeros of its padding"
    return Limit(Resource.CHANNELS, says, "no padding", result.cycles, cycles, estimated=True)


def unpadded_lengths(result: Result, engine: Engine) -> Iterator[tuple[str, Mapping[tuple[int, int], int]]]:
    """Channels that pad much of what they send: what is said of each, and lengths of BDs without zeros.

    The lengths are those of its own BDs and of those that receive its words, by tile and number. Nothing
    where it ran other BDs before, or where those at the other end are not as long.
    """
    planned = PlannedWords.of(engine, BdChains(engine))
    uses = {use.name: use for use in result.channels}
    for ch, bds in planned.bds.items():
        padded = [bd for bd in bds if any(map(sum, bd.descriptor.pad))]
        use = uses.get(channel_name(engine, ch))
        if planned.receives(ch) or not padded or use is None:
            continue
        zeros = {bd.number: int((addresses(Walk.of(bd.descriptor)) == PAD).sum()) for bd in bds}
        words = sum(bd.length for bd in bds)
        lengths = _without(planned, bds, zeros)
        if lengths and sum(zeros.values()) >= _PADDED * words:
            says = f"{sum(zeros.values())} of {words} words of {called(use)} are zeros of its padding"
            yield says, lengths


def _without(
    planned: PlannedWords, bds: Sequence[PlannedBd], zeros: Mapping[int, int]
) -> dict[tuple[int, int], int]:
    """Lengths without zeros of the BDs of a channel, and of those that receive them; empty if not known."""
    tiles, data = planned.engine.channels.tile, [bd.length - zeros[bd.number] for bd in bds]
    ends = {end for bd in bds for end in planned.receivers(bd)}
    other = [bd for end in ends for bd in planned.senders[end] if bd.ch != bds[0].ch]
    there = [bd for end in ends for bd in planned.bds.get(end, ())]
    alike = len({bd.length for bd in (*bds, *there)}) == len(set(data)) == 1
    done = planned.engine.channels.tasks_done
    known = all(planned.is_complete(ch) or done[ch] <= 1 for ch in (bds[0].ch, *ends))
    if other or not alike or not known or any(len(loops(Walk.of(bd.descriptor))) > 1 for bd in there):
        return {}
    return {(int(tiles[bd.ch]), bd.number): data[0] for bd in (*bds, *there)}


def _packet_ends(engine: Engine, name: str) -> list[str]:
    """Names of the channels to which one sends its packets; empty without packets."""
    switch, channels = plain(engine.state.switch), engine.channels
    for ch in np.flatnonzero((channels.direction == MM2S) & (channels.switch_port >= 0)).tolist():
        first = int(channels.switch_port[ch])
        if channel_name(engine, ch) == name and switch.mode[first] == PACKET:
            ports = reached([first], lambda port: configured_ways(engine, port))
            ends = [int(switch.channel[port]) for port in ports if switch.is_master[port]]
            return [channel_name(engine, end) for end in ends if end >= 0]
    return []


def called(use: ChannelUse) -> str:
    """A channel and what it moves, for messages."""
    return f"{use.name} {use.label!r}" if use.label else use.name
