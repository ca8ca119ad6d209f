"""Report the words that a call of each kernel puts on a stream and gets from it, where the two do not fit.

A graph does not declare these numbers, the source of the kernel decides them. If they do not fit, one kernel
waits for a word that the other never puts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from memtile.adf.description import Kernel
from memtile.adf.lowering import Lowered
from memtile.adf.plan import End
from memtile.explain.findings import Finding
from memtile.explain.results import Result

_LENGTHS = ("MT0304", "MT0309")
_STREAM = "stream"


class _Stream(NamedTuple):
    """A stream to a kernel, with the words that a call moves at each end.

    Attributes:
        source: name of the kernel or input that sends.
        sink: name of the kernel that receives.
        puts: words per call of the source; None = the source is an input.
        gets: words per call of the sink.
        calls: of the sink that have ended.
        turns: calls of the source and of the sink in an iteration.
    """

    source: str
    sink: str
    puts: int | None
    gets: int
    calls: int
    turns: tuple[int, int]

    @property
    def fits(self) -> bool:
        """Whether both ends move the same number of words in an iteration."""
        return self.puts is not None and self.puts * self.turns[0] == self.gets * self.turns[1]


def with_stream_counts(result: Result, lowered: Lowered) -> Result:
    """Return a result whose findings about starved streams give the words per call at both ends.

    Args:
        result: with the names of the graph.
        lowered: the graph, whose cores counted the words of each call.
    """
    if not any(each.code in _LENGTHS for each in result.findings):
        return result
    streams = {(each.source, each.sink): each for each in _streams(lowered) if not each.fits}
    return replace(result, findings=tuple(_counted(each, streams) for each in result.findings))


def _streams(lowered: Lowered) -> Iterator[_Stream]:
    """The streams to kernels where every call moved the same number of words."""
    lookup = lowered.lookup
    for net in lowered.plan.nets:
        source, target = net.sources[0], net.targets[0]
        sink = lookup.kernel_at(target.port)
        if net.packets or len(net.targets) > 1 or sink is None:
            continue
        gets, outside = _words(lowered, sink, target), lookup.plio_at(source.port)
        kernel = lookup.kernel_at(source.port)
        puts = None if kernel is None else _words(lowered, kernel, source)
        owner = outside or kernel
        if gets and owner is not None and (puts or kernel is None):
            calls = sum(core.calls[sink.id] for core in lowered.cores.values())
            yield _Stream(owner.name, sink.name, puts, gets, calls, (source.turns, target.turns))


def _words(lowered: Lowered, kernel: Kernel, end: End) -> int:
    """Words that each call of a kernel moves at an end of a stream; 0 = not known, or calls differ."""
    ports = [lowered.lookup.ports[each] for each in kernel.ports]
    own = lowered.lookup.ports[end.port]
    if [each.id for each in ports if (each.kind, each.direction) == (_STREAM, own.direction)] != [own.id]:
        return 0
    moved = [core.moved[kernel.id] for core in lowered.cores.values() if kernel.id in core.moved]
    counts = {each[own.direction == "out"] for each in moved[0]} if len(moved) == 1 else set()
    return counts.pop() if len(counts) == 1 else 0


def _counted(finding: Finding, streams: Mapping[tuple[str, str], _Stream]) -> Finding:
    """A finding about both ends of a stream, with the words per call added."""
    who = [side.who for side in finding.sides]
    found = next((each for ends, each in streams.items() if all(end in who for end in ends)), None)
    if found is None or finding.code not in _LENGTHS:
        return finding
    gets = f"{found.sink} gets {_count(found.gets)} in each call"
    if found.puts is None:
        needed = f"the next one needs {found.gets * (found.calls + 1):,} words in all"
        message = f"{finding.message[:-1]}; {gets}, of which {found.calls} ended: {needed}."
        fix = f"Feed more, or let {found.sink} get fewer words in each call."
        return replace(finding, message=message, fix=fix)
    message = f"{finding.message[:-1]}: {found.source} puts {_count(found.puts)} in each call, and {gets}."
    return replace(finding, message=message, fix=_fix(found))


def _fix(stream: _Stream) -> str:
    """The fix: words per call with which both ends move the same number in an iteration."""
    assert stream.puts is not None
    given, taken = stream.puts * stream.turns[0], stream.gets * stream.turns[1]
    puts, puts_left = divmod(taken, stream.turns[0])
    gets, gets_left = divmod(given, stream.turns[1])
    ways = [f"let {stream.source} put {_count(puts)} in each call"] if not puts_left else []
    ways += [f"let {stream.sink} get {_count(gets)} in each call"] if not gets_left else []
    if puts_left:
        ways += [f"let {stream.turns[0]} calls of {stream.source} put {_count(taken)}"]
    said = ", or ".join(ways)
    return f"{said[:1].upper()}{said[1:]}."


def _count(words: int) -> str:
    return f"{words} word{'s' * (words != 1)}"
