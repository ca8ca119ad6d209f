"""Candidates that exchange two of a kind: arrays and numbers of a host, dimensions, zeros, flows, signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from memtile.errors import InputFileError
from memtile.explain.findings import Change
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.forms.locks import lock_form
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.repairs.design_text import DesignText, owner
from memtile.importers.mlir.repairs.host_steps import CONFIGURE, SEQUENCES
from memtile.importers.mlir.repairs.patterns import BD, MEMCPY, part_of
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.value_types import operands_of, uses

_FIFO, _PARAMETER = "aie.objectfifo", "aiex.npu.rtp_write"
_FLOWS, _CALLS = ("aie.flow", "aie.packet_flow"), ("func.call", "call")
_ACCESS = "aie.objectfifo.subview.access"
_ACQUIRE = "aie.objectfifo.acquire"
_VIEWS = (_ACCESS, "memref.load", "memref.reinterpret_cast", "memref.cast")
_ORDERED = tuple(f"arith.{name}" for name in ("subi", "subf", "divsi", "divui", "divf", "remsi", "shli"))
"""Operations of arith in which the order of operands counts."""
_OF_OBJECTS, _OF_VALUES = 0.45, 0.7
"""How unlikely arguments are exchanged: objects of two object FIFOs, other values."""
_SIGNS = ("ext", "shr", "div", "rem", "min", "max")
"""Operations of arith that there are of numbers with a sign and of those without one."""
_CHAINS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
_MOST_USES = 16  # uses of locks of a core or a tile that are exchanged in pairs
_MOST = 12  # streams of a host between which arrays are exchanged
_Stream = tuple[str, str]
"""A channel, as a transfer calls it, and an array of the host."""


def exchange_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates that exchange two of a kind."""
    for sequence in design.named(*SEQUENCES):
        yield from _arrays(design, sequence)
        yield from _parameters(design, sequence)
        yield from _repeated(design, sequence)
    yield from _ends(design)
    yield from _offsets(design)
    yield from _locks(design)
    for each in design.named(*_CALLS, *_ORDERED):
        yield from _operands(design, each)
    yield from _unused(design)
    yield from _not_taken(design)
    yield from _unread(design)
    for each in design.named(*(f"arith.{name}{sign}i" for name in _SIGNS for sign in "su")):
        yield _sign(design, each)
    for each in design.named(MEMCPY, BD, _FIFO):
        yield from _dimensions(design, each)
        yield from _paddings(design, each)


def _arrays(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """Two arrays of as many elements, exchanged in all transfers of two channels."""
    streams: dict[_Stream, list[tuple[Operation, int]]] = {}
    for each in design.inside(sequence, MEMCPY, BD):
        at = array_token(design, each)
        if at is not None:
            streams.setdefault(stream_of(design, each), []).append((each, at))
    if len(streams) > _MOST:
        return
    for (one, first), (other, second) in combinations(streams.items(), 2):
        elements = {design.elements(each) for each, _ in (*first, *second)}
        if one[0] == other[0] or one[1] == other[1] or len(elements) > 1:
            continue
        changes = [design.edits.token(at, other[1]) for _, at in first]
        changes += [design.edits.token(at, one[1]) for _, at in second]
        lines = f"{first[0][0].line} and {second[0][0].line}"
        says = f"lines {lines}: exchange {one[1]} and {other[1]}, which {one[0]} and {other[0]} move"
        yield first[0][0], Candidate("array", says, changes, 0.4)


def stream_of(design: DesignText, move: Operation) -> _Stream:
    """The channel and the array of a transfer of the host."""
    at = array_token(design, move)
    return _channel(design, move), "" if at is None else design.words[at]


def array_token(design: DesignText, move: Operation) -> int | None:
    """Token of the array of a transfer; None if it names none."""
    return next((at for span in move.spans for at in range(*span) if design.words[at][:1] == "%"), None)


def _parameters(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """The values of two runtime parameters in each other's place."""
    every = design.inside(sequence, _PARAMETER)
    writes = [(each, [*design.numbers(each)][-1:]) for each in every]
    for (one, first), (other, second) in combinations(writes[:_MOST], 2):
        if first and second and first[0][2] != second[0][2]:
            changes = [
                *design.with_number(one, first[0][1], second[0][2]),
                *design.with_number(other, second[0][1], first[0][2]),
            ]
            says = f"lines {one.line} and {other.line}: exchange the values {first[0][2]} and {second[0][2]}"
            yield one, Candidate("array", says, changes, 0.6)

    for each in every[:_MOST]:
        yield from _places(design, each, every)


def _places(design: DesignText, write: Operation, every: Sequence[Operation]) -> Iterator[Found]:
    """A runtime parameter at another place of its buffer, which no other one has."""
    symbol = design.symbol(write)
    same = [[*design.numbers(each)] for each in every if design.symbol(each) == symbol]
    size = next(
        (design.elements(each) for each in design.named("aie.buffer") if symbol in design.names(each)), 0
    )
    taken = {numbers[0][2] for numbers in same if len(numbers) > 1}
    (_, at, value), *rest = [*design.numbers(write)] or [("", 0, 0)]
    for other in range(min(size or 0, _MOST)) if rest else ():
        if other not in taken:
            says = f"line {write.line}: place {other} of @{symbol} instead of {value}"
            yield write, Candidate("array", says, design.with_number(write, at, other), 0.65)


def _ends(design: DesignText) -> Iterator[Found]:
    """The receivers of two flows from one tile, or the senders of two to one, in each other's place."""
    flows = [(each, _tokens(design, each)) for each in design.named(*_FLOWS)]
    for (one, first), (other, second) in combinations(flows[:_MOST], 2):
        if len(first) != len(second) or len(first) != 2 or one.name != other.name:
            continue
        same = [design.words[a] == design.words[b] for a, b in zip(first, second, strict=True)]
        if same.count(True) != 1:
            continue
        at = same.index(False)
        tiles = [design.words[each[at]] for each in (first, second)]
        changes = []
        for mine, theirs in ((first[at], second[at]), (second[at], first[at])):
            changes += [
                design.edits.token(mine + by, design.words[theirs + by])
                for by in (0, 4)
                if design.words[mine + by] != design.words[theirs + by]
            ]
        says = f"lines {one.line} and {other.line}: exchange {' and '.join(tiles)}"
        rises = design.tiles[tiles[1]] < design.tiles[tiles[0]]  # then
        yield one, Candidate("flow", says, changes, 0.55 if rises else 0.75)


def _offsets(design: DesignText) -> Iterator[Found]:
    """The offsets of two descriptors of as many elements of one buffer, in each other's place."""
    of = [(each, _offset(design, each)) for each in design.named(BD)]
    found = [(each, offset) for each, offset in of if offset is not None]
    for (one, first), (other, second) in combinations(found[:_MOST], 2):
        if first[2:] != second[2:] or first[1] == second[1]:
            continue
        changes = [
            *design.with_number(one, first[0], second[1]),
            *design.with_number(other, second[0], first[1]),
        ]
        says = f"lines {one.line} and {other.line}: exchange the offsets {first[1]} and {second[1]}"
        yield one, Candidate("offset", says, changes, 0.45 if second[1] < first[1] else 0.75)


def _locks(design: DesignText) -> Iterator[Found]:
    """The locks of two acquires, or of two releases, of one core or of the chains of one tile, exchanged."""
    for around in design.named("aie.core", *_CHAINS):
        uses = [(each, _use(design, each)) for each in design.inside(around, "aie.use_lock")]
        known = [(each, use) for each, use in uses if use is not None][:_MOST_USES]
        for (one, first), (other, second) in combinations(known, 2):
            if first[1] == second[1] and design.words[first[0]] != design.words[second[0]]:
                names = [design.words[at] for at, _ in (first, second)]
                changes = [design.edits.token(first[0], names[1]), design.edits.token(second[0], names[0])]
                says = f"lines {one.line} and {other.line}: exchange {names[0]} and {names[1]}"
                near = one.parent is not None and _follows(one.parent, other.parent)
                unlikely = 0.4 if near and first[1] else 0.5 if near else 0.75
                yield one, Candidate("lock", says, changes, unlikely)


def _follows(block: OperationBlock, other: OperationBlock | None) -> bool:
    """Whether two uses are in one block, or a descriptor leads to the other's."""
    labels = [word for each in block.operations if each.name == "aie.next_bd" for word in each.words]
    return block is other or (other is not None and other.label in labels)


def _use(design: DesignText, operation: Operation) -> tuple[int, bool] | None:
    """Token of the lock of a use, and whether it is released; None of one that says nothing that locks do."""
    try:
        said = lock_form(OperationForm(operation))
    except InputFileError:
        return None  # the text is refused for it: what it means to do is the matter of other candidates
    every = (at for span in operation.spans for at in range(*span))
    at = next((at for at in every if said is not None and design.words[at] == said.lock), None)
    return None if at is None or said is None else (at, said.action == "release")


def _repeated(design: DesignText, sequence: Operation) -> Iterator[Found]:
    """A descriptor of a host that moves the words of one before it on the same channel: those behind them."""
    moved: dict[_Stream, dict[tuple[int, int], int]] = {}
    for each in design.inside(sequence, BD):
        found = _offset(design, each)
        if found is None or found[3] <= 0:
            continue
        at, offset, buffer, length = found
        known = moved.setdefault((_channel(design, each), buffer), {})
        if (offset, length) in known:
            other = max(known.values())
            says = f"line {each.line}: offset {other} instead of {offset}, which is moved before"
            yield each, Candidate("offset", says, design.with_number(each, at, other), 0.4)
        known[offset, length] = offset + length


def _offset(design: DesignText, bd: Operation) -> tuple[int, int, str, int] | None:
    """Token and value of the offset of a descriptor, its buffer and its length."""
    numbers = [(part_of(bd, role), at, value) for role, at, value in design.numbers(bd)]
    offset = next((each for each in numbers if each[0] == "offset"), None)
    length = next((value for part, _, value in numbers if part == "length"), -1)
    buffer = next((word for word in bd.words if word[:1] == "%"), "")
    return None if offset is None else (*offset[1:], buffer, length)


def _tokens(design: DesignText, flow: Operation) -> list[int]:
    """The values of tiles of a flow's ends, the sender's first; each is followed by ``, DMA : 0``."""
    ends = design.inside(flow, "aie.packet_source", "aie.packet_dest") or [flow]
    every = (at for end in ends for span in end.spans for at in range(*span))
    return [at for at in every if design.words[at] in design.tiles]


def _operands(design: DesignText, call: Operation) -> Iterator[Found]:
    """Two arguments of one type exchanged, of a call or of an operation in which their order counts."""
    every = [*uses(call, operands_of(call))][:_MOST]
    function = design.symbol(call)
    of = f" of {function}" if function else f", {call.name}"
    for (n, one), (m, other) in combinations(enumerate(every, 1), 2):
        if one.kind == other.kind and one.value != other.value:
            changes = [design.edits.token(one.at, other.value), design.edits.token(other.at, one.value)]
            objects = [_object(design, call, each.value) for each in (one, other)]
            says = f"line {call.line}{of}: exchange arguments {n} and {m} ({objects[0]} and {objects[1]})"
            is_input = all(name[:1] == "@" for name in objects)
            yield call, Candidate("array", says, changes, _OF_OBJECTS if is_input else _OF_VALUES)


def _object(design: DesignText, operation: Operation, value: str) -> str:
    """The object FIFO that a value is an object of; else the value."""
    found = design.definition(operation, value)
    while found is not None and found.name != _ACQUIRE:
        before = next((word for word in found.words if word[:1] == "%"), "")
        found = design.definition(found, before) if before and found.name in _VIEWS else None
    return value if found is None else f"@{design.symbol(found)}"


def _unused(design: DesignText) -> Iterator[Found]:
    """A load of another one of the objects that were acquired at once, which nothing else uses."""
    windows: dict[Operation | None, list[Operation]] = {}
    for each in design.named(_ACCESS):
        windows.setdefault(design.definition(each, each.words[0]), []).append(each)
    for accesses in windows.values():
        unused = [each for each in accesses if design.uses[each.results[0]] == 1]
        others = {each.results[0] for each in accesses if each not in unused}
        core = owner(accesses[0], "aie.core")
        for load in design.inside(core, "memref.load") if core is not None else []:
            every = (at for span in load.spans for at in range(*span))
            for at, each in product((at for at in every if design.words[at] in others), unused):
                loaded = f"{each.results[0]}, which nothing uses, instead of {design.words[at]}"
                says = f"line {load.line}: load of {loaded}"
                yield load, Candidate("buffer", says, [design.edits.token(at, each.results[0])], 0.6)


def _not_taken(design: DesignText) -> Iterator[Found]:
    """Another one of the objects that were acquired at once where one is taken twice and it never is."""
    windows: dict[Operation, list[tuple[Operation, int, int]]] = {}
    for each in design.named(_ACCESS):
        acquire = design.definition(each, each.words[0])
        place = next(((at, value) for _, at, value in design.numbers(each)), None)
        if acquire is not None and place is not None:
            windows.setdefault(acquire, []).append((each, *place))
    for acquire, accesses in windows.items():
        many = next((value for _, _, value in design.numbers(acquire)), 0)
        taken = [value for _, _, value in accesses]
        for access, at, value in (each for each in accesses if taken.count(each[2]) > 1):
            for other in sorted({*range(min(many, _MOST))} - {*taken}):
                object_ = f"object {other} of the {many} of @{design.symbol(acquire)}"
                says = f"line {access.line}: {object_}, which nothing takes, instead of {value}"
                unlikely = 0.2 if access is not accesses[taken.index(value)][0] else 0.3
                yield access, Candidate("buffer", says, design.with_number(access, at, other), unlikely)


def _unread(design: DesignText) -> Iterator[Found]:
    """A load of a buffer that is stored to and never read, instead of another one of its tile and type."""
    buffers = {each.results[0]: each for each in design.named("aie.buffer") if each.results}
    stored, read = (
        {word for each in design.named(name) for word in each.words if word in buffers}
        for name in ("memref.store", "memref.load")
    )
    moved = {word for each in design.named(BD) for word in each.words if word in buffers}
    for name in sorted(stored - read - moved):
        for load in design.named("memref.load"):
            for at in (at for span in load.spans for at in range(*span)):
                other = buffers.get(design.words[at])
                if other is not None and _form(design, other) == _form(design, buffers[name]):
                    instead = f"{name}, which nothing reads, instead of {design.words[at]}"
                    says = f"line {load.line}: load of {instead}"
                    yield load, Candidate("buffer", says, [design.edits.token(at, name)], 0.3)


def _form(design: DesignText, buffer: Operation) -> tuple[object, ...]:
    """Tile and type of a buffer."""
    words = buffer.words
    behind = max((at for at, word in enumerate(words) if word == ":"), default=-1)
    return design.tile(buffer), "".join(words[behind + 1 :]).partition("=")[0]


def _sign(design: DesignText, operation: Operation) -> Found:
    """An operation on numbers with a sign for one on numbers without, or the other way round."""
    name = operation.name
    other = name[:-2] + ("u" if name[-2] == "s" else "s") + name[-1]
    changes = [design.edits.token(operation.at, other)]
    return operation, Candidate("type", f"line {operation.line}: {other} instead of {name}", changes, 0.75)


def _channel(design: DesignText, move: Operation) -> str:
    """What a transfer of the host calls its channel."""
    at = design.symbol_token(move, "metadata")
    task = owner(move, *CONFIGURE)
    if at is None and task is None:
        return f"line {move.line}"
    if at is not None or task is None:
        return design.words[at or 0]
    symbol = design.symbol(task)
    return f"@{symbol}" if symbol else " ".join(word for word in task.words[:6] if word not in "(,)")


def _dimensions(design: DesignText, move: Operation) -> Iterator[Found]:
    """Two dimensions of a move in the other order."""
    sizes, strides = ([*_parts(design, move, part)] for part in ("size", "stride"))
    if len(sizes) != len(strides):
        return
    yield from _across(design, move, sizes, strides)
    for one, other in combinations(range(len(sizes)), 2):
        if sizes[one][1] <= 1 or sizes[other][1] <= 1:
            continue
        of_sizes = _exchanged(design, move, sizes[one], sizes[other])
        of_strides = _exchanged(design, move, strides[one], strides[other])
        which = f"{one} and {other} of its {len(sizes)}"
        if of_sizes or of_strides:
            says = f"line {move.line}: exchange dimensions {which}"
            yield move, Candidate("stride", says, [*of_sizes, *of_strides], 0.85)
        for part, changes in (("stride", of_strides), ("size", of_sizes)):
            if of_sizes and of_strides:
                says = f"line {move.line}: exchange the {part}s of dimensions {which}"
                yield move, Candidate(part, says, changes, 0.87)


def _across(
    design: DesignText,
    move: Operation,
    sizes: Sequence[tuple[int, int]],
    strides: Sequence[tuple[int, int]],
) -> Iterator[Found]:
    """The last two dimensions, if they take elements as they lie, across them: of rows of the other size."""
    if len(sizes) < 2 or min(sizes[-1][1], sizes[-2][1]) <= 1:
        return
    if (strides[-2][1], strides[-1][1]) == (sizes[-1][1], 1):
        rows = sizes[-2][1]
        changes = [
            *design.with_number(move, strides[-2][0], 1),
            *design.with_number(move, strides[-1][0], rows),
        ]
        says = f"line {move.line}: strides 1 and {rows} instead of {strides[-2][1]} and 1, across the rows"
        yield move, Candidate("stride", says, changes, 0.8)


def _parts(design: DesignText, move: Operation, part: str) -> Iterator[tuple[int, int]]:
    """Tokens and values of sizes or strides that stand in the move itself."""
    for role, at, value in design.numbers(move):
        if part_of(move, role) == part and design.words[at][:1] != "%":
            yield at, value


def _exchanged(
    design: DesignText, move: Operation, one: tuple[int, int], other: tuple[int, int]
) -> list[Change]:
    if one[1] == other[1]:
        return []
    return [*design.with_number(move, one[0], other[1]), *design.with_number(move, other[0], one[1])]


def _paddings(design: DesignText, move: Operation) -> Iterator[Found]:
    """The zeros of a dimension on the other side of its data, or as many on each side."""
    pads = [(at, value) for role, at, value in design.numbers(move) if "const_pad_" in role]
    for before, after in zip(pads[::2], pads[1::2], strict=False):
        both = before[1] + after[1]
        for first in dict.fromkeys((after[1], both // 2)):
            if first != before[1]:
                changes = [
                    *design.with_number(move, before[0], first),
                    *design.with_number(move, after[0], both - first),
                ]
                says = f"line {move.line}: {first} zeros before and {both - first} after the data"
                yield move, Candidate("padding", says, changes, 0.8)
