"""What limits a run: the resource without which it would be shortest, as runs without each of them show.

A run is made again without one resource at a time. What such a run saves is what the resource costs, with all
that it makes others wait. Cores and channels that work nearly all the time limit a run whatever else is
removed: they are the work itself; everything else is what the work waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memtile.documents import Count

LEAST = 0.02  # of the cycles: what saves less limits nothing
_SHOWN = 0.01  # of the cycles
_SATURATED = 0.85  # of the cycles: what works so long is the limit itself
_AS_MUCH = 0.95  # of what another run saves
_BESIDE_CORES = 0.4  # of what cores in no time would save: waits that save less are not the limit
_ENOUGH = 0.1  # of the cycles: a wait that costs so much comes before cores that do not work all the time
_BUSY = 0.6  # of the cycles
_FAIR = 0.25  # of what two channels save: what a design chooses and saves less comes behind them
_OF_HOST = 0.75  # of what one transfer would save, by fewer tasks of a host alone
_WAIT = 0.05  # unless this much of them is saved by something that it waits for


class Resource(StrEnum):
    """What a run is made again without."""

    EXTERNAL = "external memory"
    ROWS = "short rows in external memory"
    PIECES = "small pieces in external memory"
    OUTSIDE = "streams outside of the design"
    HOST = "the host"
    WAITS = "waits of the host"
    START = "start-up by the host"
    TASKS = "task start"
    BANKS = "memory banks"
    NEIGHBOURS = "neighbour interface"
    LINKS = "links under packets"
    DESCRIPTORS = "BD switches"
    BUFFERS = "buffers"
    PADDING = "padding"
    CHANNELS = "channels"
    STREAM = "one stream"
    CORES = "cores"
    SLOWEST = "one core slower than the others"
    COLUMNS = "the split over columns"
    STREAMS = "the split over streams"


_SPECIAL: Mapping[str, Sequence[str]] = {
    Resource.EXTERNAL: (Resource.ROWS, Resource.PIECES),
    Resource.PIECES: (Resource.PIECES,),
    Resource.HOST: (Resource.WAITS,),
    Resource.CORES: (Resource.SLOWEST,),
    Resource.CHANNELS: (Resource.STREAM,),
}
_ALIKE: Mapping[str, float] = {
    Resource.ROWS: 0.25,
    Resource.PIECES: 0.7,
    Resource.BUFFERS: 0.75,
    Resource.WAITS: 0.5,
    Resource.SLOWEST: 0.3,
    Resource.STREAM: 0.3,
}
"""Part of what is saved by removing all of a resource that a repair must save to be named instead."""
WORK = (
    Resource.CORES,
    Resource.SLOWEST,
    Resource.COLUMNS,
    Resource.STREAMS,
    Resource.CHANNELS,
    Resource.STREAM,
)
"""Those that do the work of a design; all others are what the work waits for."""
_CHOSEN = (Resource.DESCRIPTORS, Resource.BUFFERS)
"""Those that a design chooses: what saves a twentieth of a run comes before work that waits for it."""
LAST = (*WORK, Resource.START)
"""Those that limit a run only if nothing else does: a start-up does not grow with the work."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A run without one of its limits.

    Attributes:
        what: is lifted, ``external memory answered at once``.
        cycles: of the run then; None = it did not end as the run did.
        resource: of which the limit is.
        name: of the object that the limit costs most, as the user calls it.
    """

    what: str
    cycles: Count | None
    resource: str = ""
    name: str = ""

    def saves(self, elapsed: int) -> float:
        """The part of a run's cycles that it saves, 0 to 1; 0 if it did not end as the run did."""
        return 0.0 if self.cycles is None else max(elapsed - self.cycles, 0) / max(elapsed, 1)


@dataclass(frozen=True, slots=True)
class Limit:
    """The one resource that limits a run.

    Attributes:
        resource: which, as in ``Lifted``.
        name: of the channel, core, object FIFO, buffer or link.
        what: is without it, ``banks served all requests at once``.
        elapsed: cycles of the run.
        cycles: without it; None = no run is shorter without any one of them.
        estimated: whether no run was made without it.
    """

    resource: str
    name: str
    what: str
    elapsed: Count
    cycles: Count | None
    estimated: bool = False

    @property
    def text(self) -> str:
        """One sentence."""
        if self.cycles is None:
            return f"Limited by {self.name}: no resource that was removed saves {LEAST:.0%} of the cycles."
        is_said = not self.name or self.name == self.resource or self.name in self.what
        of = "" if is_said else f" ({self.name})"
        saved = percent(self.elapsed, self.cycles)
        if self.estimated:
            cycles = f"{self.cycles:,} cycles instead of {self.elapsed:,} ({saved})"
            return f"Limited by {self.resource}: {self.name}. Estimated with {self.what}: {cycles}."
        return (
            f"Limited by {self.resource}{of}: {self.cycles:,} cycles instead of {self.elapsed:,} ({saved}) "
            f"if {self.what}."
        )


def limit_of(elapsed: int, lifted: Sequence[Lifted], busiest: str, share: float, *, computes: bool) -> Limit:
    """What limits a run.

    Args:
        elapsed: cycles of the run.
        lifted: the run without each resource.
        busiest: name of the channel, core or host that works longest.
        share: the part of the cycles in which it works, 0 to 1.
        computes: whether it is a core.
    """
    counts = [each for each in lifted if each.saves(elapsed) >= LEAST]
    waits = [each for each in counts if each.resource not in LAST]
    cores = [each for each in counts if each.resource in (Resource.CORES, Resource.SLOWEST)]
    starts = [each for each in counts if each.resource == Resource.START]
    uneven = _most([each for each in cores if each.resource == Resource.SLOWEST], elapsed)
    work = Resource.CORES if computes else Resource.CHANNELS
    streams = [each for each in counts if each.resource in (Resource.CHANNELS, Resource.STREAM)]
    own = cores if computes else streams
    of_design = _most([each for each in waits if each.resource in _CHOSEN], elapsed)
    if not computes and of_design < _FAIR * _most(streams, elapsed):
        of_design = 0.0
    if share >= _SATURATED and not any(each.saves(elapsed) >= _WAIT for each in waits):
        chosen = own
    elif of_design < max(uneven, _WAIT) and _most(waits, elapsed) < max(
        uneven, min(_BESIDE_CORES * _most(cores, elapsed), _ENOUGH)
    ):
        chosen = cores
    elif (
        share >= _BUSY
        and of_design < _WAIT
        and _most(waits, elapsed) < min(_BESIDE_CORES * _most(own, elapsed), _ENOUGH)
    ):
        chosen = own
    elif _most(waits, elapsed) < min(_WAIT, _most(starts, elapsed)):
        chosen = starts
    else:
        chosen = waits or own or counts
    best = best_of(chosen, elapsed)
    if best is None:
        return Limit(work, busiest, "", elapsed, None)
    best = _instead_of_host(best, counts, elapsed)
    name = busiest if best.resource == work and best.resource in WORK else best.name
    resource = Resource.HOST if _is_of_host(best, counts, elapsed) else best.resource
    return Limit(resource, name, best.what, elapsed, best.cycles)


def _instead_of_host(best: Lifted, counts: Sequence[Lifted], elapsed: int) -> Lifted:
    """Waits instead of a host that was only tried in no time, as none with fewer tasks could be."""
    hosts = [each for each in counts if each.resource == Resource.HOST]
    waits = [each for each in counts if each.resource == Resource.WAITS and each.saves(elapsed) >= _ENOUGH]
    return waits[0] if waits and [best] == hosts else best


def _is_of_host(best: Lifted, counts: Sequence[Lifted], elapsed: int) -> bool:
    """Whether small pieces cost what they do because a host starts each of them."""
    saves = _most([each for each in counts if each.resource == Resource.HOST], elapsed)
    return best.resource == Resource.PIECES and saves >= _OF_HOST * best.saves(elapsed)


def _most(lifted: Sequence[Lifted], elapsed: int) -> float:
    """The part of a run's cycles that the best of some runs saves."""
    return max((each.saves(elapsed) for each in lifted), default=0.0)


def best_of(lifted: Sequence[Lifted], elapsed: int) -> Lifted | None:
    """The run that saves most; of those that save about as much the most special one, which comes last."""
    most = _most(lifted, elapsed)
    if not most:
        return None
    best = next(each for each in lifted if each.saves(elapsed) == most)
    as_much = [
        each
        for each in lifted
        if each.resource in (best.resource, *_SPECIAL.get(best.resource, ()))
        and each.saves(elapsed) >= _ALIKE.get(each.resource, _AS_MUCH) * most
    ]
    return as_much[-1]


def percent(elapsed: int, cycles: int) -> str:
    """``-39 %``."""
    return f"{(cycles - elapsed) / max(elapsed, 1) * 100:+.0f} %".replace("-0 %", "0 %")


def table_lines(lifted: Sequence[Lifted], elapsed: int) -> Iterator[str]:
    """Resource, cycles without it and what that saves, a line for each, what saves most first."""
    rows = [("without", "cycles", "saves")]
    for each in sorted(lifted, key=lambda each: -each.saves(elapsed)):
        called = f"{each.resource}: {each.what}"
        if each.cycles is None:
            rows.append((called, "-", "the run does not end as it did"))
        elif each.saves(elapsed) >= _SHOWN:
            rows.append((called, f"{each.cycles:,}", f"{each.saves(elapsed):.0%}"))
    if len(rows) > 1:
        wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
        yield from (f"{one:<{wide[0]}}  {two:>{wide[1]}}  {three}" for one, two, three in rows)
    none = dict.fromkeys(
        each.resource for each in lifted if each.cycles is not None and each.saves(elapsed) < _SHOWN
    )
    if none:
        yield f"saves less than {_SHOWN:.0%}: {', '.join(none)}"
