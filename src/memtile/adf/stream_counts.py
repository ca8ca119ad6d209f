"""How many words kernels put on their streams and get from them in a call, where one waits for the other.

A kernel's source decides that, and nothing declares it: two numbers that do not fit show only when one of
the two kernels waits for a word that the other one never puts.
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
    """A stream to a kernel, and how many words each of its ends moves in a call.

    Attributes:
        source: name of the kernel or input that it comes from.
        sink: name of the kernel that it leads to.
        puts: words that a call of the source puts; None = it is an input.
        gets: words that a call of the sink gets.
        calls: that the sink has ended.
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
    """A result whose waits for words of a stream say how many words each of its ends moves in a call.

    Args:
        result: in the words of the graph.
        lowered: the graph, whose cores have counted them.
    """
    if not any(each.code in _LENGTHS for each in result.findings):
        return result
    streams = {(each.source, each.sink): each for each in _streams(lowered) if not each.fits}
    return replace(result, findings=tuple(_counted(each, streams) for each in result.findings))


def _streams(lowered: Lowered) -> Iterator[_Stream]:
    """The streams to kernels whose calls all moved as many words."""
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
    """Words that each call of a kernel moves at the end of a stream; 0 = not known, or not always as many."""
    ports = [lowered.lookup.ports[each] for each in kernel.ports]
    own = lowered.lookup.ports[end.port]
    if [each.id for each in ports if (each.kind, each.direction) == (_STREAM, own.direction)] != [own.id]:
        return 0
    moved = [core.moved[kernel.id] for core in lowered.cores.values() if kernel.id in core.moved]
    counts = {each[own.direction == "out"] for each in moved[0]} if len(moved) == 1 else set()
    return counts.pop() if len(counts) == 1 else 0


def _counted(finding: Finding, streams: Mapping[tuple[str, str], _Stream]) -> Finding:
    """A finding about both ends of a stream with what they move."""
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
    """The words of a call with which both ends move as many in an iteration, where whole numbers do."""
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
