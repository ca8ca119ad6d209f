"""Whether a state from outside is one that a run could have left: what its columns hold, and their links.

Compiled code checks no index. So what a file says is checked before, column by column against what each one
declares that it holds, and then across columns (``links``). A state that passes may be one that no run leads
to; it is one from which compiled code stays within its arrays, and every cycle ends.

It also says what the columns of a saved state must have in common, beyond the range that each one declares.

A link is a function of the model as it was built and of the saved columns; it yields the values that others
contradict. They are the assumptions of the model's code that no range of a single column expresses: an access
ends within its memory, a list of waiting words is no longer than what waits, a walk is within its counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile.arch.ports import ARBITERS
from memtile.arch.registers import WORD_BITS
from memtile.arch.tiles import COMPRESSED_GROUP_WORDS, MM2S, S2MM, WORD_BYTES
from memtile.arch.trace_facts import PAYLOAD_BYTES
from memtile.model.dma import bd_fields
from memtile.model.state import event_columns as event_state
from memtile.model.state.causes import Phase
from memtile.model.state.columns import (
    NEVER,
    AtBuild,
    Cycle,
    Holds,
    Limit,
    Owner,
    Roster,
    RowLimit,
    Rows,
    Same,
)
from memtile.model.state.dma import EXTERNAL_SLOTS
from memtile.model.state.state import State
from memtile.model.state.state_differences import Values, columns

Array = npt.NDArray[Any]
Saved = Mapping[str, Array]
_BURSTS = 3  # largest value of Burst_Length: two bits
_PACKET = 2  # of SwitchPorts.mode, see switch_config


class Fault(NamedTuple):
    """A value of a saved state that cannot be.

    Attributes:
        name: of the column.
        place: index of the value.
        given: the value.
        allowed: what may be there.
    """

    name: str
    place: tuple[int, ...]
    given: int
    allowed: str


Link = Callable[[State, Saved], Iterator[Fault]]


def wrong(name: str, where: Array, values: Array, allowed: str) -> Iterator[Fault]:
    """The first value of a column that is marked, if one is."""
    marked = np.argwhere(where)
    if len(marked):
        place = tuple(marked[0].tolist())
        yield Fault(name, place, int(values[place]), allowed)


def queued_tasks(_built: State, s: Saved) -> Iterator[Fault]:
    """A channel that starts a task has one in its queue."""
    count = s["channels.queue_count"]
    empty = (s["channels.phase"] == Phase.STARTING) & (count == 0)
    yield from wrong("channels.queue_count", empty, count, "at least 1, as the channel starts a task")


def accesses(built: State, s: Saved) -> Iterator[Fault]:
    """Accesses end within the memory of the tile that they go to, and are no longer than its ports."""
    tiles, local = built.spec.tiles, s["channels.external"] < 0
    widest = np.maximum(s["walks.granule_words"], s["walks.stream_words"])
    for prefix, count_name in (("", "formed"), ("port_", "port_count")):
        count, target = s[f"granules.{count_name}"], s[f"granules.{prefix}target"]
        yield from wrong(f"granules.{count_name}", count > widest, count, "the words of an access at most")
        owner = s[f"granules.{prefix}owner"]
        behind = target + count > tiles.memory_base[owner] + tiles.memory_words[owner]
        outside = local & (count > 0) & (behind | (target < tiles.memory_base[owner]))
        if not prefix:
            outside &= s["granules.is_pad"] == 0
        yield from wrong(f"granules.{prefix}target", outside, target, "an access within its tile's memory")


def collected_words(_built: State, s: Saved) -> Iterator[Fault]:
    """The access that an S2MM collects has room for the next word, and none is left over between BDs."""
    formed, phase = s["granules.formed"], s["channels.phase"]
    receives = (s["channels.direction"] == S2MM) & (phase != Phase.HALTED) & (formed > 0)
    words, after = s["walks.granule_words"], s["granules.target"] + formed
    full = (after % words == 0) | (formed >= words) | ((s["walks.address"] - after) % words != 0)
    left = receives & (((phase == Phase.RUN) & (s["granules.closed"] == 0) & full) | (phase != Phase.RUN))
    yield from wrong("granules.formed", left, formed, "fewer words than complete the access of the channel")


def walks(_built: State, s: Saved) -> Iterator[Fault]:
    """The counters of a walk are below their extents."""
    position, wrap = s["walks.position"][:, :3], s["walks.wrap"]
    around = s["walks.before"] + s["walks.after"]
    yield from wrong(
        "walks.position",
        (wrap > 0) & (position >= around + wrap),
        position,
        "below the extent of its dimension",
    )
    padded = (around > 0).any(axis=1)
    given = s["walks.padded"]
    yield from wrong("walks.padded", given != padded, given, "1 where the walk has padding, else 0")


def external_reads(_built: State, s: Saved) -> Iterator[Fault]:
    """The words of reads under way are counted; whether their buffer is there is asked when they arrive."""
    steps, held = np.arange(EXTERNAL_SLOTS), s["externals.held"][:, None]
    slots = (s["externals.head"][:, None] + steps) % EXTERNAL_SLOTS
    length = np.take_along_axis(s["externals.length"], slots, 1)
    buffered, counted = s["externals.buffered"], np.where(steps < held, length, 0).sum(axis=1)
    yield from wrong("externals.buffered", buffered != counted, buffered, "the words of all reads under way")


def coded_words(_built: State, s: Saved) -> Iterator[Fault]:
    """Check that the position of a codec is within its group."""
    sends = s["channels.direction"] == MM2S
    at, held, coded = s["codecs.at"], s["codecs.held"], s["codecs.coded_held"]
    yield from wrong(
        "codecs.at", sends & (at + coded > COMPRESSED_GROUP_WORDS + 1), at, "within the coded words"
    )
    words = s["codecs.words"].shape[1]
    yield from wrong("codecs.at", ~sends & (at + held > words), at, "within the words of the group")
    mask = s["codecs.coded"][:, 0]
    bytes_ = sum((mask >> bit) & 1 for bit in range(WORD_BITS))
    most = 1 + (bytes_ + WORD_BYTES - 1) // WORD_BYTES
    yield from wrong("codecs.coded_held", ~sends & (coded > most), coded, "the words that the mask names")


def circuits(_built: State, s: Saved) -> Iterator[Fault]:
    """A slave port feeds masters of its own switch."""
    for name in ("switch.feeds", "switch.sibling"):
        fed = s[name]
        other = (s["switch.tile"][fed] != s["switch.tile"]) | (s["switch.is_master"][fed] == 0)
        yield from wrong(name, (fed >= 0) & other, fed, "a master port of the same tile")


def packets(built: State, s: Saved) -> Iterator[Fault]:
    """Packets go to arbiters and masters of their own switch."""
    tile, masters = s["switch.tile"], built.spec.tiles.masters
    for name in ("switch.arbiter", "switch.asked"):
        other = (s[name] >= 0) & (s[name] // ARBITERS != tile)
        yield from wrong(name, other, s[name], "an arbiter of the same tile")
    targets = s["switch.targets"]
    yield from wrong("switch.targets", targets >> masters[tile] != 0, targets, "masters of the same tile")
    chosen = s["arbiters.masters"]
    own = masters[np.arange(len(chosen)) // ARBITERS][:, None]
    yield from wrong("arbiters.masters", chosen >> own != 0, chosen, "masters of the same tile")


def totals(_built: State, s: Saved) -> Iterator[Fault]:
    """Check that counts are those of what they count."""
    slaves = (s["switch.mode"] == _PACKET) & (s["switch.is_master"] == 0)
    for name, count in (
        ("packet_slaves", np.count_nonzero(slaves)),
        ("in_flight", np.count_nonzero(s["flights"])),
        ("cascading", s["cascades.out_held"].sum()),
    ):
        yield from wrong(name, s[name] != count, s[name], str(count))


def zeroised(_built: State, s: Saved) -> Iterator[Fault]:
    """A memory that is being zeroised has a register that asked for it."""
    control = s["memories.control"]
    asked = (s["memories.busy_until"] != NEVER) & (s["gates.off"] == 0) | (s["gates.zeroising"] >= 0)
    asked[s["zeroising"][1 : 1 + s["zeroising"][0]]] = True
    yield from wrong("memories.control", asked & (control < 0), control, "a register, as memory is zeroised")


def events(built: State, s: Saved) -> Iterator[Fault]:
    """Each event has a source that the model has."""
    lines, tiles = s["lines"], len(built.spec.tiles.kind)
    source, thing, kind = (lines[..., n] for n in (event_state.SOURCE, event_state.THING, event_state.KIND))
    things, kinds = (
        np.full(len(event_state.EventSource), -1),
        np.full(len(event_state.EventSource), np.iinfo(np.int64).max),
    )
    for each, rows, most in (
        (event_state.EventSource.GROUP, built.spec.event_groups.first.shape[1], None),
        (event_state.EventSource.CHANNEL, len(s["channels.phase"]), len(event_state.ChannelEvent)),
        (event_state.EventSource.CHANNEL_ERROR, tiles, 2 * event_state.PER_KIND),
        (event_state.EventSource.LOCK, len(s["locks.value"]), len(event_state.LockEvent)),
        (event_state.EventSource.PORT, len(s["switch.held"]), len(event_state.PortEvent)),
        (event_state.EventSource.CONFLICT, len(s["banks.turn"]), None),
        (event_state.EventSource.SIGNAL, tiles, len(event_state.TileSignal)),
        (event_state.EventSource.CORE, len(s["cores.phase"]), len(event_state.CoreEvent)),
    ):
        things[each] = rows
        kinds[each] = kinds[each] if most is None else most
    unknown = (source < 0) | (source >= len(event_state.EventSource))
    yield from wrong("lines", unknown, source, f"0..{len(event_state.EventSource) - 1}, a source of events")
    known = np.where(unknown, 0, source)
    linked = things[known] >= 0
    outside = linked & ((thing < 0) | (thing >= things[known]) | (kind < 0) | (kind >= kinds[known]))
    yield from wrong("lines", outside, thing, "what the source of the event has")
    value = lines[..., event_state.VALUE]
    yield from wrong("lines", (value < 0) | (value >= WORD_BITS * 2), value, "a value of a lock")


def patterns(_built: State, s: Saved) -> Iterator[Fault]:
    """The readiness of a port is within the array that has it."""
    base, length = s["ports.pattern_base"], s["ports.pattern_length"]
    behind = base + length > len(s["pattern"])
    yield from wrong("ports.pattern_base", (length > 0) & behind, base, "within the array pattern")


def scrubbers(built: State, s: Saved) -> Iterator[Fault]:
    """Scrubbers are at a granule with ECC, and what they report are events."""
    kind, facts = built.spec.tiles.kind, built.spec.protections
    words, at = facts.ecc_words[kind], s["guards.at"]
    beyond = (at >= np.maximum(words, 1)) | (at % built.spec.kinds.granule_words[kind] != 0)
    yield from wrong("guards.at", beyond, at, "a granule with ECC")
    busy = (s["guards.left"] > 0) | (s["guards.always"] > 0)
    yield from wrong("guards.left", busy & (words == 0), s["guards.left"], "0, as the tile has no ECC")
    again, most = s["guards.again"], s["stamps"].shape[1] - facts.ecc_event[kind]
    yield from wrong("guards.again", again >> np.clip(most, 0, 62) != 0, again, "events of the tile")


def trace_packets(_built: State, s: Saved) -> Iterator[Fault]:
    """A packet of a trace unit that is not full has room."""
    used, full = s["traces.used"], s["traces.full"] == 1
    yield from wrong(
        "traces.used", ~full & (used >= PAYLOAD_BYTES), used, "less than a packet, as it is not full"
    )


def bursts(_built: State, s: Saved) -> Iterator[Fault]:
    """A burst has a length that its field can have."""
    length = s["fields"][:, bd_fields.BURST_LENGTH]
    yield from wrong("fields", (length < 0) | (length > _BURSTS), length, f"a burst length of 0..{_BURSTS}")


LINKS: tuple[Link, ...] = (
    queued_tasks,
    accesses,
    collected_words,
    walks,
    external_reads,
    coded_words,
    circuits,
    packets,
    totals,
    zeroised,
    events,
    patterns,
    scrubbers,
    trace_packets,
    bursts,
)
"""All of them; each one assumes that the columns are within their ranges."""


Counts = Mapping[Owner, int]


class ArrayForm(NamedTuple):
    """Type and shape of an array in a file.

    Attributes:
        dtype: of its elements; None = any.
        shape: of it, a length of -1 is any; None = any.
    """

    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None

    def fits(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
        """Whether an array has this form."""
        if self.dtype is not None and self.dtype != dtype:
            return False
        if self.shape is None:
            return True
        same = len(shape) == len(self.shape)
        return same and all(b in (-1, a) for a, b in zip(shape, self.shape, strict=True))

    def __str__(self) -> str:
        """As in a message."""
        return f"{self.dtype} {list(self.shape or ())}"


def forms(built: State) -> dict[str, ArrayForm]:
    """The type and shape of each column that is saved of a model, by name."""
    return {each.name: ArrayForm(each.values.dtype, _shape(each)) for each in columns(built)}


def faults(built: State, saved: Mapping[str, Array]) -> list[Fault]:
    """What is wrong with the columns of a saved state, each of the form that :func:`forms` gives.

    Args:
        built: the same model as it was built.
        saved: the values by name of the column.
    """
    table = list(columns(built))
    rows = {each.owner: len(each.values) for each in reversed(table)}
    found = [fault for each in table for fault in _of_column(rows, each, saved)]
    if found:
        return found
    return [fault for link in LINKS for fault in link(built, saved)]


def _shape(each: Values) -> tuple[int, ...]:
    free = isinstance(each.column.holds, Holds) and each.column.holds.any_length
    return (-1, *each.values.shape[1:]) if free else each.values.shape


def _of_column(rows: Counts, each: Values, saved: Mapping[str, Array]) -> Iterator[Fault]:
    holds = each.column.holds
    if isinstance(holds, Roster):
        yield from _of_roster(rows, each.name, holds, saved)
    elif holds is not None:
        values = saved[each.name]
        first = _limit(rows, each, holds.first, saved)
        last = _limit(rows, each, holds.last, saved)
        if isinstance(holds.first, AtBuild) and values.shape != each.values.shape:
            yield Fault(each.name, (), len(values), f"{len(each.values)} rows, as the model has")
        elif not _within(values, first, last):
            yield _outside(each.name, values, first, last)


def _within(values: Array, first: Any, last: Any) -> bool:
    """Whether all values are in the range; of plain numbers the least and the largest value decide."""
    if not values.size:
        return True
    if isinstance(first, int) and isinstance(last, int):
        return bool(first <= int(values.min()) and int(values.max()) <= last)
    return bool(((values >= first) & (values <= last)).all())


def _outside(name: str, values: Array, first: Any, last: Any) -> Fault:
    at = np.argwhere((values < first) | (values > last))[0]
    place = tuple(at.tolist())
    low, high = (int(np.broadcast_to(limit, values.shape)[place]) for limit in (first, last))
    return Fault(name, place, int(values[place]), f"{low}" if low == high else f"{low}..{high}")


def _limit(rows: Counts, each: Values, limit: Limit, saved: Mapping[str, Array]) -> Any:
    """A limit as a number, or as an array of numbers for each element."""
    if isinstance(limit, Rows):
        return rows[limit.owner] - 1 + limit.more
    if isinstance(limit, Cycle):
        return int(saved["clock.now"][0]) + limit.more
    if isinstance(limit, Same):
        table = each.name.partition(".")[0]
        return _by_row(saved[f"{table}.{limit.column}"] + limit.more, each.values)
    if isinstance(limit, RowLimit):
        return _by_row(np.arange(len(each.values)) + limit.more, each.values)
    return each.values if isinstance(limit, AtBuild) else int(limit)


def _by_row(limits: Array, values: Array) -> Array:
    return limits.reshape(-1, *[1] * (values.ndim - 1))


def _of_roster(rows: Counts, name: str, roster: Roster, saved: Mapping[str, Array]) -> Iterator[Fault]:
    values = saved[name]
    most = len(values) - 1 if roster.owner is not None else 0
    if not 0 <= values[0] <= most:
        yield Fault(name, (0,), int(values[0]), f"0..{most}" if most else "0")
    elif roster.owner is not None:
        yield from _of_members(name, rows[roster.owner], roster.flag, saved)


def _of_members(name: str, rows: int, flag: str, saved: Mapping[str, Array]) -> Iterator[Fault]:
    members = saved[name][1 : 1 + saved[name][0]]
    if not _within(members, 0, rows - 1):
        fault = _outside(name, members, 0, rows - 1)
        yield fault._replace(place=(fault.place[0] + 1,))
        return
    times = np.bincount(members, minlength=rows)
    wanted = saved[flag] == 1 if flag else np.minimum(times, 1)
    says = f"each row once in which {flag} is 1" if flag else "each row once"
    yield from wrong(name, times != wanted, times, says)
