"""Candidates about streams and chains: flows, channels, packet ids, next descriptors, order of buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, owner
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation, OperationBlock

_CHAINS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
_MOST = 16  # ids of packets that are exchanged in pairs
_EXCHANGED_IDS = 0.2
_PAIR = 2  # channels of a direction that all tiles have
Port = tuple[str, str, int]
"""Value of a tile, S2MM or MM2S, and number of a channel."""


def stream_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates about streams and chains of descriptors."""
    tasks = {port: each for port, each, _ in _tasks(design)}
    yield from _flows(design, {**tasks, **_stuck(design)})
    yield from _turned(design)
    yield from _task_channels(design)
    yield from _packet_ids(design)
    yield from _exchanged_ids(design)
    yield from _next_descriptors(design)
    yield from _buffers(design)


def _tasks(design: DesignText) -> list[tuple[Port, Operation, int]]:
    """The channels that have work, each with the operation that says so and the token of its number."""
    found = list[tuple[Port, Operation, int]]()
    for each in design.named(
        "aie.dma_start", "aie.dma", "aie.shim_dma_allocation", "aiex.dma_configure_task"
    ):
        around = owner(each, *_CHAINS)
        words = around.words if around is not None else each.words
        tile = next((word for word in words if word in design.tiles), "")
        for at in (at for span in each.spans for at in range(*span)):
            if design.words[at] in ("S2MM", "MM2S") and (number := design.number(each, at + 2)) is not None:
                found.append(((tile, design.words[at], number), each, at + 2))
    return found


def _turned(design: DesignText) -> Iterator[Found]:
    """Flows with their ends exchanged."""
    for flow in design.named("aie.flow", "aie.packet_flow"):
        ends = [flow, flow]
        if flow.name == "aie.packet_flow":
            ends = design.inside(flow, "aie.packet_source", "aie.packet_dest")
        if len(ends) != _PAIR:
            continue
        tokens = [[at for span in end.spans for at in range(*span) if design.words[at] in design.tiles]
                  for end in ends]  # fmt: skip
        if not all(tokens):
            continue
        one, other = tokens[0][0], tokens[1][-1]
        words = design.words
        changes = [design.edits.token(one, words[other]), design.edits.token(other, words[one])]
        says = f"line {flow.line}: let the flow go from {words[other]} to {words[one]}"
        yield flow, Candidate("flow", says, changes, 0.5)


def _task_channels(design: DesignText) -> Iterator[Found]:
    """Tasks on the channel to which a stream leads that has no task."""
    tasks = _tasks(design)
    often = Counter(port for port, _, _ in tasks)
    joined = {port for flow in design.named("aie.flow") for port, _ in _ends(design, flow)}
    joined |= _packet_ports(design)
    for port, each, at in tasks:
        if (port in joined and often[port] == 1) or design.words[at][:1] == "%":
            continue
        for other in joined:
            if other[:2] == port[:2] and other not in often:
                says = f"line {each.line}: channel {other[2]} instead of {port[2]}"
                yield each, Candidate("channel", says, [design.edits.token(at, str(other[2]))], 0.0)


def _ends(design: DesignText, flow: Operation) -> list[tuple[Port, int]]:
    """The two ends of a flow between DMA channels, each with the token of its channel."""
    span, found = flow.spans[0], list[tuple[Port, int]]()
    for at in range(*span):
        if design.words[at] == "DMA" and design.words[at - 2] in design.tiles:
            number = design.number(flow, at + 2)
            if number is not None:
                found.append(((design.words[at - 2], "MM2S" if not found else "S2MM", number), at + 2))
    return found


def _stuck(design: DesignText) -> dict[Port, Operation]:
    """The channels that findings name, each with the tile; registers may have started them."""
    tiles = {each.results[0]: each for each in design.named("aie.tile") if each.results}
    names = {place: name for name, place in design.tiles.items() if name in tiles}
    return {
        (names[place], direction, channel): tiles[names[place]]
        for place, direction, channel in design.channels
        if place in names
    }


def _flows(design: DesignText, tasks: Mapping[Port, Operation]) -> Iterator[Found]:
    """Flows with another channel at one end, and flows that are missing."""
    flows = design.named("aie.flow")
    ends = [(flow, n, *end) for flow in flows for n, end in enumerate(_ends(design, flow))]
    joined = {port for _, _, port, _ in ends}
    packets = _packet_ports(design)
    loose = [port for port in tasks if port not in joined and port not in packets]
    for flow, n, port, at in ends:
        tile, direction, number = port
        direction = "MM2S" if n == 0 else "S2MM"
        for other in loose:
            if other[:2] == (tile, direction):
                says = f"line {flow.line}: channel {other[2]} instead of {number} of {tile[1:]}"
                unlikely = 0.1 if (tile, direction, number) not in tasks else 0.8
                yield flow, Candidate("flow", says, [design.edits.token(at, str(other[2]))], unlikely)
        if number < _PAIR:  # the other one of two, whose task registers may have started
            says = f"line {flow.line}: channel {1 - number} instead of {number} of {tile[1:]}"
            yield flow, Candidate("flow", says, [design.edits.token(at, str(1 - number))], 0.7)
    place = flows[-1] if flows else None
    if place is None:
        tiles = design.named("aie.tile")
        place = tiles[-1] if tiles else None
    yield from _missing_flows(design, loose, {*joined, *packets}, place)


def _missing_flows(
    design: DesignText, loose: Sequence[Port], joined: set[Port], place: Operation | None
) -> Iterator[Found]:
    """A flow from a channel that has work and no stream to another one, or to one that may have work."""
    spare = {(tile, direction, 0): 0.7 for tile in design.tiles for direction in ("MM2S", "S2MM")}
    ends = {port: 0.7 for port in spare if port not in joined} | dict.fromkeys(loose, 0.1)
    for one, first in ends.items():
        for other, second in ends.items():
            apart = one[0] != other[0] and min(first, second) < max(spare.values())
            if place is None or not apart or (one[1], other[1]) != ("MM2S", "S2MM"):
                continue
            line = f"aie.flow({one[0]}, DMA : {one[2]}, {other[0]}, DMA : {other[2]})"
            changes = [design.edits.line_behind(place, line)]
            yield place, Candidate("flow", f"add `{line}`", changes, max(first, second) + 0.1)


def _packet_ports(design: DesignText) -> set[Port]:
    """The channels that packet flows join."""
    found = set[Port]()
    for each in design.named("aie.packet_source", "aie.packet_dest"):
        direction = "MM2S" if each.name == "aie.packet_source" else "S2MM"
        for at in (at for span in each.spans for at in range(*span)):
            if design.words[at] == "DMA" and design.words[at - 2] in design.tiles:
                number = design.number(each, at + 2)
                if number is not None:
                    found.add((design.words[at - 2], direction, number))
    return found


def _sent_ids(design: DesignText) -> list[tuple[Operation, int, int]]:
    """The ids of packets that are sent: operation, token and value."""
    found = []
    for each in design.operations:
        at = design.attribute(each, "pkt_id") if each.name != "aie.packet_flow" else None
        if at is not None and (value := design.number(each, at)) is not None:
            found.append((each, at, value))
        if each.name == "aie.dma_bd_packet":
            numbers = [*design.numbers(each)]
            if len(numbers) >= 2:
                found.append((each, numbers[1][1], numbers[1][2]))
    return found


def _taken_ids(design: DesignText) -> list[tuple[Operation, int, int]]:
    """The ids of packets that switches pass on: operation, token and value."""
    found = []
    for each in design.named("aie.packet_flow", "aie.rule"):
        numbers = [*design.numbers(each)]
        n = 1 if each.name == "aie.rule" else 0
        if len(numbers) > n:
            found.append((each, numbers[n][1], numbers[n][2]))
    return found


def _packet_ids(design: DesignText) -> Iterator[Found]:
    """Ids of packets that one side has, for those that only the other side has."""
    sent, taken = _sent_ids(design), _taken_ids(design)
    sent_ids, taken_ids = (Counter(value for _, _, value in each) for each in (sent, taken))
    known = {*sent_ids, *taken_ids}
    for here, there, own in ((sent, taken_ids, sent_ids), (taken, sent_ids, taken_ids)):
        for operation, at, value in here:
            for other in sorted(known - {value}):
                alone, lonely = value not in there, other not in own
                unlikely = 0.1 if alone and lonely else 0.4 if alone or (lonely and own[value] > 1) else 1.2
                if here is taken and not lonely:
                    unlikely = 1.2  # two flows of one id send each packet both ways
                order = [other if each is operation else found for each, _, found in here]
                unlikely -= 0.1 * (order == sorted(order))
                says = f"line {operation.line}: packet id {other} instead of {value}"
                changes = design.with_number(operation, at, other)
                yield operation, Candidate("packet_id", says, changes, unlikely)


def _exchanged_ids(design: DesignText) -> Iterator[Found]:
    """The ids of two packets that are sent, in each other's place: likelier where they rise after it."""
    sent = _sent_ids(design)[:_MOST]
    for n, (one, first, own) in enumerate(sent):
        for other, second, its in sent[n + 1 :]:
            if own == its or _sender(one) != _sender(other):
                continue
            changes = [*design.with_number(one, first, its), *design.with_number(other, second, own)]
            says = f"lines {one.line} and {other.line}: exchange the packet ids {own} and {its}"
            unlikely = _EXCHANGED_IDS + 0.05 * (own < its) + 0.15 * (other is not sent[n + 1][0])
            yield one, Candidate("packet_id", says, changes, unlikely)


def _sender(operation: Operation) -> str:
    """Whether a host sequence or an array sends a packet: these do not stand beside each other."""
    around = owner(operation, "aie.runtime_sequence", "aiex.runtime_sequence", "aie.device")
    return around.name if around is not None else ""


def _next_descriptors(design: DesignText) -> Iterator[Found]:
    """Another descriptor behind one: likely the first of its chain, where it goes into another chain."""
    for memory in design.named(*_CHAINS):
        blocks = {block.label: block for region in memory.regions for block in region.blocks}
        following = {label: _goes_on(block) for label, block in blocks.items()}
        entries = [_label(each) for each in design.inside(memory, "aie.dma_start")]
        for label, step in following.items():
            if step is None or label not in blocks:
                continue
            chain = next((each for each in entries if label in _reached(each, following, label)), "")
            others = {
                found for each in entries if each != chain for found in _reached(each, following, label)
            }
            yield from _other_next(design, step, chain, following, others)


def _other_next(
    design: DesignText,
    step: Operation,
    entry: str,
    following: Mapping[str, Operation | None],
    others: set[str],
) -> Iterator[Found]:
    """Other labels for one operation that goes on with a descriptor."""
    target, own = _label(step), step.parent.label if step.parent is not None else ""
    used = Counter(_label(each) for each in following.values() if each is not None)
    at = next(at for span in step.spans for at in range(*span) if design.words[at] == target)
    for label, other in following.items():
        if label == target or other is None or not label:
            continue
        strays = target in others or target == own
        reached = used[label] or label in others or label == entry
        closes = label == entry and following.get(target) is None  # the chain ended there
        unlikely = 0.1 if strays and label == entry else 0.3 if not reached or closes else 1.3
        says = f"line {step.line}: continue with {label} instead of {target}"
        kind = "loop" if closes else "next_bd"
        yield step, Candidate(kind, says, [design.edits.token(at, label)], unlikely)


def _goes_on(block: OperationBlock) -> Operation | None:
    """What goes on from the descriptor of a block; None of a block without one."""
    if not any(each.name == "aie.dma_bd" for each in block.operations):
        return None
    return next((each for each in block.operations if each.name == "aie.next_bd"), None)


def _label(operation: Operation) -> str:
    return next((word for word in operation.words if word[:1] == "^"), "")


def _reached(entry: str, following: Mapping[str, Operation | None], without: str) -> set[str]:
    """The labels from one on, where nothing goes on behind one of them."""
    found, label = set[str](), entry
    while label and label not in found:
        found.add(label)
        step = following.get(label) if label != without else None
        label = _label(step) if step is not None else ""
    return found


def _buffers(design: DesignText) -> Iterator[Found]:
    """Another buffer of the same tile and type for a descriptor."""
    buffers = {each.results[0]: each for each in design.named("aie.buffer") if each.results}
    descriptors = [each for each in design.named("aie.dma_bd") if _buffer(each) in buffers]
    used = Counter(_buffer(each) for each in descriptors)
    for each in descriptors:
        own = _buffer(each)
        kind = buffers[own].words
        for name in _like(design, own, buffers, kind):
            at = next(a for span in each.spans for a in range(*span) if design.words[a] == own)
            unlikely = 0.6 if used[own] > used[name] else 1.2
            says = f"line {each.line}: buffer {name[1:]} instead of {own[1:]}"
            yield each, Candidate("buffer", says, [design.edits.token(at, name)], unlikely)


def _like(design: DesignText, own: str, buffers: dict[str, Operation], kind: Sequence[str]) -> Iterator[str]:
    for name, each in buffers.items():
        if name != own and each.words == kind and design.tile(each) == design.tile(buffers[own]):
            yield name


def _buffer(bd: Operation) -> str:
    return next((word for word in bd.words if word[:1] == "%"), "")
