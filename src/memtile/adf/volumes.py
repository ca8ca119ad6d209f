"""What a graph's host and its input files have given, held against the iterations that it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memtile.adf.description import Gmio, Plio, Port
from memtile.adf.lookup import Lookup
from memtile.adf.lowering import Lowered
from memtile.adf.port_times import reached_from
from memtile.adf.run_end import Missing, Volume
from memtile.adf.stream_counts import with_stream_counts
from memtile.arch.tiles import WORD_BYTES
from memtile.explain.deadlock.graph import PartyKind
from memtile.explain.evidence import Evidence
from memtile.explain.findings import CODES, Finding, Severity, Side
from memtile.explain.results import Result

_TOO_FEW, _LOCK = "MT0304", "MT0302"
_LENGTHS = ("MT0323", "MT0324")
_NOT_AWAITED = "MT0318"
_RAN_OUT = "ran out of data"
_AT_LOCKS = (_LOCK, "MT0322")
"""A kernel beside others in its core, or whose code is not known, may be thought to give the update."""
VALUE = "Update it before the graph runs, or give it an initial_value."
CALLS = (
    "Update it once for each call of the kernel, or connect it with adf::async, so that it keeps its value."
)
Asked = Callable[[int], int | None]
"""Iterations that a graph, by its id, was asked for; None = without end."""


def volumes(lowered: Lowered, lookup: Lookup, asked: Asked, sent: Mapping[int, int]) -> Iterator[Volume]:
    """What inputs have sent, and what the iterations that were asked for need.

    Args:
        lowered: the graph in its array.
        lookup: of its description.
        asked: the iterations of each graph.
        sent: bytes of each input GMIO.
    """
    for net in lowered.plan.nets:
        source, target = net.sources[0].port, net.targets[0]
        plio, gmio = lookup.plio_at(source), lookup.gmio_at(source)
        outside = plio or gmio
        if outside is None:
            continue
        rounds = asked(outside.graph)
        is_counted = target.elements and not net.packets and rounds is not None
        given = sent.get(outside.id, 0) if plio is None else lowered.inputs[plio.id].fed * WORD_BYTES
        element = lookup.ports[target.port].element or f"elements of {net.element_bytes} bytes"
        needed = target.elements * target.turns * (rounds or 0) if is_counted else None
        yield Volume(outside.name, given // net.element_bytes, needed, element, outside.id)


def with_counts(result: Result, missing: Sequence[Missing], lowered: Lowered) -> Result:
    """A result whose waits for an input that ran out of data say how much it lacks.

    Both ends of each stream of a graph pass the same volume, or it is refused. Behind an input that ran out
    of data no length of a descriptor is why something waits; that a port reads a part of its buffer may be.
    A buffer that no such input reaches may be read in part on purpose.

    Args:
        result: in the words of the graph.
        missing: of its inputs.
        lowered: the graph, with what ports of shared buffers leave unread.
    """
    result = with_stream_counts(result, lowered)
    by_name = {each.name: each for each in missing if each.needed is not None}
    counted = [_counted(each, by_name) for each in result.findings]
    behind = {name: _reached(lowered, name) for name in by_name}
    no_cause = _names(lowered, set().union(*behind.values(), *_sides_of_unread(lowered)))
    lengths = [each for each in counted if each.code in _LENGTHS and not no_cause.isdisjoint(_who(each))]
    if not by_name or not lengths:
        return replace(result, findings=tuple(counted))
    told = {name for each in counted if each.code == _TOO_FEW for name in _who(each)}
    short = [
        short_behind(lowered, each) or _waited_for(each, result, lowered, behind[name])
        for name, each in by_name.items()
        if name not in told
    ]
    rest = (each for each in counted if each not in lengths)
    return replace(result, findings=(*short, *rest))


def _who(finding: Finding) -> set[str]:
    return {side.who for side in finding.sides}


def _reached(lowered: Lowered, name: str) -> set[int]:
    """The ports that data of an input reach."""
    description = lowered.plan.description
    outside: tuple[Plio | Gmio, ...] = (*description.plios, *description.gmios)
    return set().union(*(reached_from(lowered.plan, each.port) for each in outside if each.name == name))


def _names(lowered: Lowered, ports: set[int]) -> set[str]:
    return {lowered.lookup.name(each) for each in ports}


def _sides_of_unread(lowered: Lowered) -> Iterator[set[int]]:
    """The ports of each buffer of which a part is not read."""
    for number in lowered.unread:
        memory = lowered.lookup.memories[number]
        yield {*memory.inputs, *memory.outputs}


def _unread_behind(lowered: Lowered, ports: set[int]) -> list[int]:
    """Shared buffers that some ports write and of which a part is not read, by id."""
    memories = lowered.lookup.memories
    return [number for number in lowered.unread if not ports.isdisjoint(memories[number].inputs)]


def short_behind(lowered: Lowered, missing: Missing, code: str = _TOO_FEW) -> Finding | None:
    """What an input lacks for buffers of which a part is not read; None if there are none.

    An input whose data suffice but for elements that a port leaves out is seldom what is wrong.

    Args:
        lowered: the graph.
        missing: what its input lacks.
        code: of the finding.
    """
    memories, lookup = _unread_behind(lowered, _reached(lowered, missing.name)), lowered.lookup
    ports = [port for number in memories for port in lookup.memories[number].outputs]
    if not ports:
        return None
    does = "leaves out elements that are written"
    sides = [Side(lookup.name(each), does, lookup.ports[each].line) for each in ports]
    who = " and ".join(side.who for side in sides)
    fix = f"Let the tiling of {who} read all elements, or bring more data."
    unread = "; ".join(lowered.unread[number] for number in memories)
    message = f"{unread}, and {missing.message}."
    return Finding(code, Severity.ERROR, message, (*sides, Side(missing.name, _RAN_OUT)), fix=fix)


def _waited_for(missing: Missing, result: Result, lowered: Lowered, ports: set[int]) -> Finding:
    """What an input lacks, and the first kernel behind it that waits."""
    names = {each.name for each in lowered.plan.description.kernels if not ports.isdisjoint(each.ports)}
    waits = (each for each in result.waits.nodes if each.kind is PartyKind.CORE and each.name in names)
    sides = [Side(each.name, each.state) for each in islice(waits, 1)]
    found = Finding(_TOO_FEW, CODES[_TOO_FEW].severity, "", (*sides, Side(missing.name, _RAN_OUT)))
    return _counted(found, {missing.name: missing})


def _counted(finding: Finding, missing: Mapping[str, Missing]) -> Finding:
    name = next((side.who for side in finding.sides if side.who in missing), None)
    short = missing.get(name or "")
    if finding.code != _TOO_FEW or short is None or short.needed is None:
        return finding
    waits = next((side for side in finding.sides if side.who != name), None)
    says = "" if waits is None else f"{waits.who} {waits.does}, and "
    fix = f"Let {short.name} bring {short.needed:,} {short.element}, or run the graph for fewer iterations."
    evidence = Evidence(short=short.needed - short.elements)
    return replace(finding, message=f"{says}{short.message}.", fix=fix, evidence=evidence)


def bytes_of_iteration(lowered: Lowered, gmio: Gmio) -> int:
    """What an output GMIO gets in an iteration of its graph; 0 = no fixed volume."""
    for net in lowered.plan.nets:
        source, port = net.sources[0], lowered.lookup.ports[net.sources[0].port]
        if net.targets[0].port == gmio.port and not net.packets and not is_free(port):
            return source.elements * source.turns * net.element_bytes
    return 0


def is_free(port: Port) -> bool:
    """Whether a kernel acquires the buffers of a port when it likes, so that no volume is fixed."""
    return port.is_async or port.kind == "async_buffer"


def too_much(gmio: Gmio, nbytes: int, given: int, rounds: int, code: str = _TOO_FEW) -> Finding:
    """What an output GMIO is asked for beyond what its graph gives, and ``main`` waits for.

    Args:
        gmio: the output.
        nbytes: that were asked for.
        given: bytes of all iterations.
        rounds: the iterations.
        code: of the finding.
    """
    does = f"is asked for {nbytes:,} bytes"
    of = f"{rounds} iteration{'s' * (rounds != 1)}"
    message = f"main waits for {gmio.name}, which {does}; {of} of its graph give {given:,}."
    fix = f"Ask {gmio.name} for {given:,} bytes, or run the graph for more iterations."
    return Finding(code, Severity.ERROR, message, (Side(gmio.name, does, gmio.line),), fix=fix)


def too_much_asked(lowered: Lowered, asked: Asked, wanted: Mapping[int, int]) -> Iterator[Finding]:
    """A finding for each output GMIO that was asked for more than the iterations of its graph give.

    Args:
        lowered: the graph in its array.
        asked: the iterations of each graph.
        wanted: bytes by the id of each output GMIO.
    """
    for gmio in lowered.plan.description.gmios:
        rounds, each_round = asked(gmio.graph), bytes_of_iteration(lowered, gmio)
        if rounds and each_round and wanted.get(gmio.id, 0) > rounds * each_round:
            yield too_much(gmio, wanted[gmio.id], rounds * each_round, rounds)


def unread_findings(
    lookup: Lookup, unread: Mapping[int, int], *, profiled: bool, code: str = _NOT_AWAITED
) -> Iterator[Finding]:
    """One finding for each output GMIO that a host has never waited for since it asked for data.

    A host that profiles its graph may want nothing else of it: of its outputs there are only notes.

    Args:
        lookup: of the graph.
        unread: bytes of each output GMIO that were asked for and not waited for.
        profiled: whether the host has profiled anything.
        code: of the findings.
    """
    severity = Severity.NOTE if profiled else CODES[code].severity
    for gmio in lookup.description.gmios:
        if nbytes := unread.get(gmio.id, 0):
            does = f"is asked for {nbytes:,} bytes, and the host never waits for them"
            message = f"{gmio.name} {does}: its memory may not have them when the host reads it."
            fix = f"Call {gmio.name}.wait() after aie2gm_nb, before the memory is read."
            side = Side(gmio.name, does, gmio.line)
            yield Finding(code, severity, message, (side,), fix=fix)


@dataclass(frozen=True, slots=True)
class Updates:
    """What the host has given an input parameter of a kernel.

    Attributes:
        name: of the port that the host updates.
        done: updates so far.
        needed: by the iterations asked for; None = one value, which stays.
    """

    name: str
    done: int
    needed: int | None


def with_updates(result: Result, updates: Mapping[str, Updates]) -> Result:
    """A result whose waits for a parameter say how often the host has updated it.

    Args:
        result: with the names of the array.
        updates: so far, by the name of the lock that each of them releases.
    """
    waits = {each.id: each for each in result.waits.nodes}
    locks = {
        waits[edge.waits].name: lock
        for edge in result.waits.edges
        if waits[edge.waits].kind is PartyKind.CORE
        for lock in updates
        if f"'{lock}'" in waits[edge.gives].name
    }
    return replace(result, findings=tuple(_updated(each, locks, updates) for each in result.findings))


def _updated(finding: Finding, locks: Mapping[str, str], updates: Mapping[str, Updates]) -> Finding:
    """The finding; one about a wait that only the host can end names the host's port and its count."""
    lock = next((locks[side.who] for side in finding.sides if side.who in locks), None)
    if finding.code not in _AT_LOCKS or lock is None:
        return finding
    one, kernel = updates[lock], finding.sides[0]
    if one.needed is None:
        count, fix = "the host has given it no value", VALUE
    elif one.done < one.needed:
        done = f"{one.done} time{'s' * (one.done != 1)}"
        count, fix = f"the host has updated it {done}, for {one.needed} iterations", CALLS
    else:
        return finding
    message = f"{kernel.who} waits for an update of {one.name}; {count}."
    side = Side(kernel.who, f"waits for an update of {one.name}", kernel.place, kernel.cycle)
    return replace(finding, code=_LOCK, severity=Severity.ERROR, message=message, sides=(side,), fix=fix)
