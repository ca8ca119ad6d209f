"""Kinds of mistakes: each changes one place of a text of mlir-aie, and knows what it changed.

The kinds and the seed were fixed before any rule was written against them; a kind that is added later stands
behind the others. A mutant is chosen by ``SEED`` and the name of its kind, so that a new kind or a new design
moves none of the others.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memtile.importers.mlir.tree import Operation
from support.culprit.scene import HOST, TASKS, Changed, Scene

SEED = 34
"""Of the choice among all mutants of all designs."""
_ENDLESS = 1 << 31  # rounds of a loop that is meant to have no end
_IDS = 32  # of packets
_WORD = 4  # bytes


class Edit(NamedTuple):
    """Characters of a text and what takes their place."""

    first: int
    end: int
    new: str


class Mutant(NamedTuple):
    """A text with one place changed.

    Attributes:
        kind: of the mistake.
        number: among those of its kind in the text.
        edit: that makes it.
        changed: what it is about.
        about: the change, as a person would write it.
    """

    kind: str
    number: int
    edit: Edit
    changed: Changed
    about: str

    def text(self, content: str) -> str:
        """The text with the mistake."""
        return content[: self.edit.first] + self.edit.new + content[self.edit.end :]


class Kind(NamedTuple):
    """A kind of mistake.

    Attributes:
        name: of it.
        owner: the part of ``memtile`` that has to name it.
        words: parts of words of which a finding has one if it says what is wrong.
        make: all mistakes of the kind in a text.
    """

    name: str
    owner: str
    words: tuple[str, ...]
    make: Callable[[Scene], Iterable[Made]]


Made = tuple[Edit, Changed, str]
KINDS: dict[str, Kind] = {}


def _kind(
    owner: str, *words: str
) -> Callable[[Callable[[Scene], Iterable[Made]]], Callable[[Scene], Iterable[Made]]]:
    def added(make: Callable[[Scene], Iterable[Made]]) -> Callable[[Scene], Iterable[Made]]:
        KINDS[make.__name__] = Kind(make.__name__, owner, words, make)
        return make

    return added


def mutants(scene: Scene, kinds: Iterable[str] = ()) -> Iterator[Mutant]:
    """All mutants of a text, by kind."""
    for name in kinds or KINDS:
        for number, (edit, changed, about) in enumerate(KINDS[name].make(scene)):
            if scene.content[edit.first : edit.end] != edit.new:
                yield Mutant(name, number, edit, changed, about)


def order(kind: str, design: str, number: int, seed: int = SEED) -> float:
    """Where a mutant stands among those of its kind when some of them are drawn."""
    return random.Random(zlib.crc32(f"{seed} {kind} {design} {number}".encode())).random()


# how a text is changed


def _gone(scene: Scene, operation: Operation) -> Edit:
    """Without an operation; the lines stay."""
    first, end = scene.begin(operation), scene.end(operation)
    return Edit(first, end, "\n" * scene.content.count("\n", first, end))


def _token(scene: Scene, operation: Operation, at: int, new: str) -> Edit:
    first, end = scene.span(operation, at)
    return Edit(first, end, new)


def _number(scene: Scene, operation: Operation, at: int, new: int) -> Edit:
    """Another number: a constant of its own is put before an operation that takes a value."""
    word = operation.tokens.words[at]
    if word[0] != "%":
        return _token(scene, operation, at, str(new))
    maker = scene.maker(operation, word)
    assert maker is not None
    kind = maker.words[-1]
    first, end = scene.begin(operation), scene.span(operation, at)[1]
    before = scene.content[first : scene.span(operation, at)[0]]
    return Edit(first, end, f"%changed = arith.constant {new} : {kind} {before}%changed")


def _exchanged(scene: Scene, operation: Operation, one: int, other: int) -> Edit:
    """Two tokens in each other's place."""
    (first, middle), (after, end) = scene.span(operation, one), scene.span(operation, other)
    words, content = operation.tokens.words, scene.content
    return Edit(first, end, f"{words[other]}{content[middle:after]}{words[one]}")


def _others(words: Iterable[str], own: str) -> str | None:
    """The name behind one's own among some."""
    names = list(dict.fromkeys(words))
    if own not in names or len(names) < 2:
        return None
    return names[(names.index(own) + 1) % len(names)]


# locks


def _uses(scene: Scene, what: str, *, core: bool) -> Iterator[tuple[Operation, str]]:
    """Uses of locks by cores or by BDs, with the lock's name."""
    for use in scene.named("aie.use_lock"):
        inside = any(each.name == "aie.core" for each in scene.above(use))
        if inside == core and any(word.strip('"').startswith(what) for word in use.words):
            yield use, next(iter(scene.lock_names(use)), "")


def _without_use(scene: Scene, what: str, *, core: bool) -> Iterator[Made]:
    for use, lock in _uses(scene, what, core=core):
        yield _gone(scene, use), scene.about(use, lock, lines=_same_block(use)), f"no {what} of {lock}"


def _same_block(use: Operation) -> tuple[int, ...]:
    """The lines of the BD of a use of a lock: of its block, if it is one of a DMA."""
    assert use.parent is not None
    bds = [each for each in use.parent.operations if each.name == "aie.dma_bd"]
    return tuple(each.line for each in use.parent.operations) if bds else ()


@_kind("locks", "releas", "give")
def core_release_missing(scene: Scene) -> Iterable[Made]:
    """A core keeps a lock."""
    return _without_use(scene, "Release", core=True)


@_kind("locks", "releas", "give")
def bd_release_missing(scene: Scene) -> Iterable[Made]:
    """A BD keeps a lock."""
    return _without_use(scene, "Release", core=False)


@_kind("locks", "acquire", "wait", "lock", "order")
def core_acquire_missing(scene: Scene) -> Iterable[Made]:
    """A core begins too early."""
    return _without_use(scene, "Acquire", core=True)


@_kind("locks", "acquire", "wait", "lock", "order")
def bd_acquire_missing(scene: Scene) -> Iterable[Made]:
    """A BD begins too early."""
    return _without_use(scene, "Acquire", core=False)


def _wrong_lock(scene: Scene, what: str) -> Iterator[Made]:
    """Another lock of the same tile."""
    locks: dict[str, list[str]] = {}
    for lock in scene.named("aie.lock"):
        if lock.results and lock.words[1:2]:
            locks.setdefault(lock.words[1], []).append(lock.results[0])
    for core in (True, False):
        for use, name in _uses(scene, what, core=core):
            at = scene.values(use)[0]
            value = use.tokens.words[at]
            maker = scene.maker(use, value)
            other = None if maker is None else _others(locks.get(maker.words[1], ()), value)
            if other is None:
                continue
            made = scene.maker(use, other)
            second = scene.name_of(made) if made is not None else other
            changed = scene.about(use, name, second, lines=_same_block(use))
            yield _token(scene, use, at, other), changed, f"{what} of {second} instead of {name}"


@_kind("locks", "releas", "instead", "give")
def release_wrong_lock(scene: Scene) -> Iterable[Made]:
    """A release goes to another lock of the tile."""
    return _wrong_lock(scene, "Release")


@_kind("locks", "wait", "acquire", "instead")
def acquire_wrong_lock(scene: Scene) -> Iterable[Made]:
    """A wait is for another lock of the tile."""
    return _wrong_lock(scene, "Acquire")


def _count(scene: Scene, what: str) -> Iterator[Made]:
    for core in (True, False):
        for use, lock in _uses(scene, what, core=core):
            at = scene.header(use)[-2]  # before the closing bracket
            value = scene.number(use, at)
            if value is not None:
                edit = _number(scene, use, at, value + 1)
                about = f"{what} {value + 1} instead of {value} of {lock}"
                yield edit, scene.about(use, lock, lines=_same_block(use)), about


@_kind("locks", "acquire", "wait", "at least", "less", "more")
def acquire_count(scene: Scene) -> Iterable[Made]:
    """One more is waited for."""
    return _count(scene, "Acquire")


@_kind("locks", "releas", "more", "give")
def release_count(scene: Scene) -> Iterable[Made]:
    """One more is given."""
    return _count(scene, "Release")


def _init(scene: Scene, new: Callable[[int], int]) -> Iterator[Made]:
    for lock in scene.named("aie.lock"):
        at = scene.attribute(lock, "init")
        value = None if at is None else scene.number(lock, at)
        if at is not None and value is not None and new(value) != value:
            name = scene.name_of(lock)
            changed = scene.about(lock, name)
            yield (
                _number(scene, lock, at, new(value)),
                changed,
                f"{name} begins with {new(value)}, not {value}",
            )


@_kind("locks", "begin", "init", "value", "start")
def lock_init_more(scene: Scene) -> Iterable[Made]:
    """A lock begins one higher."""
    return _init(scene, lambda value: value + 1)


@_kind("locks", "begin", "init", "value", "start")
def lock_init_less(scene: Scene) -> Iterable[Made]:
    """A lock begins one lower."""
    return _init(scene, lambda value: max(0, value - 1))


@_kind("locks", "begin", "init", "value", "start")
def lock_init_zero(scene: Scene) -> Iterable[Made]:
    """A lock of two or more begins with none."""
    return _init(scene, lambda value: 0 if value > 1 else value)


@_kind("circles", "order", "wait", "circle")
def acquires_swapped(scene: Scene) -> Iterator[Made]:
    """Two acquires that follow each other in the other order."""
    for name in ("aie.use_lock", "aie.objectfifo.acquire"):
        for one in scene.named(name):
            assert one.parent is not None
            behind = one.parent.operations[one.parent.operations.index(one) + 1 :]
            other = next((each for each in behind if each.name not in _BETWEEN), None)
            if other is None or other.name != name or not (_takes(one) and _takes(other)):
                continue
            first, middle = scene.begin(one), scene.begin(other)
            end = scene.end(other)
            things = [*_things(scene, one), *_things(scene, other)]
            if name == "aie.use_lock":
                edit = _operands_exchanged(scene, one, other)
            else:
                edit = Edit(
                    first, end, f"{scene.content[middle:end]} {scene.content[first:middle]}".rstrip(" ")
                )
            changed = scene.about(one, *things, lines=(other.line,))
            yield edit, changed, f"{things[-1]} before {things[0]}"


_BETWEEN = ("arith.constant", "aie.objectfifo.subview.access")


def _takes(use: Operation) -> bool:
    return "Release" not in " ".join(use.words)


def _things(scene: Scene, use: Operation) -> list[str]:
    if use.name == "aie.use_lock":
        return scene.lock_names(use)
    return [use.tokens.words[at].lstrip("@") for at in scene.symbols(use)[:1]]


def _operands_exchanged(scene: Scene, one: Operation, other: Operation) -> Edit:
    """The locks of two uses in each other's place."""
    (first, middle), (after, end) = (scene.span(use, scene.values(use)[0]) for use in (one, other))
    names = [use.tokens.words[scene.values(use)[0]] for use in (one, other)]
    return Edit(first, end, f"{names[1]}{scene.content[middle:after]}{names[0]}")


# object FIFOs


def _about_fifo(scene: Scene, use: Operation, *more: str) -> Changed:
    """Of a use of an object FIFO, or of its own operation."""
    names = [use.tokens.words[at].lstrip("@") for at in scene.symbols(use)]
    return scene.about(use, *(names[:1] if use.name != "aie.objectfifo.link" else names), *more)


@_kind("fifowords", "releas", "give")
def fifo_release_missing(scene: Scene) -> Iterator[Made]:
    """A core keeps an object."""
    for use in scene.named("aie.objectfifo.release"):
        changed = _about_fifo(scene, use)
        yield _gone(scene, use), changed, f"no release of @{changed.things[0]}"


@_kind("fifowords", "end", "produc", "consum", "releas")
def fifo_release_wrong_end(scene: Scene) -> Iterator[Made]:
    """A release of the other end."""
    for use in scene.named("aie.objectfifo.release"):
        for at in scene.header(use):
            word = use.tokens.words[at]
            if word in ("Produce", "Consume"):
                new = "Consume" if word == "Produce" else "Produce"
                changed = _about_fifo(scene, use)
                yield (
                    _token(scene, use, at, new),
                    changed,
                    f"release of the end {new} of @{changed.things[0]}",
                )


@_kind("fifowords", "releas", "give")
def fifo_release_wrong_fifo(scene: Scene) -> Iterator[Made]:
    """A core gives back an object of another FIFO."""
    for use in scene.named("aie.objectfifo.release"):
        core = next((each for each in scene.above(use) if each.name == "aie.core"), None)
        at = scene.symbols(use)[0]
        if core is None:
            continue
        uses = [each for each in core.walk() if each.name == use.name]
        other = _others((each.tokens.words[scene.symbols(each)[0]] for each in uses), use.tokens.words[at])
        if other is not None:
            changed = _about_fifo(scene, use, other.lstrip("@"))
            yield (
                _token(scene, use, at, other),
                changed,
                f"release of {other} instead of @{changed.things[0]}",
            )


def _fifo_count(scene: Scene, name: str) -> Iterator[Made]:
    for use in scene.named(name):
        symbol = scene.symbols(use)[:1]
        bracket = next((at for at in scene.header(use) if use.tokens.words[at] == "("), None)
        if bracket is None or not symbol:
            continue
        at = scene.listed(use, bracket)[-1]
        value = scene.number(use, at)
        if value is not None:
            changed = _about_fifo(scene, use)
            about = f"{name.rpartition('.')[2]} {value + 1} instead of {value} of @{changed.things[0]}"
            yield _number(scene, use, at, value + 1), changed, about


@_kind("fifowords", "acquire", "depth", "object", "at least", "hold")
def fifo_acquire_count(scene: Scene) -> Iterable[Made]:
    """One object more is waited for."""
    return _fifo_count(scene, "aie.objectfifo.acquire")


@_kind("fifowords", "releas", "more", "give")
def fifo_release_count(scene: Scene) -> Iterable[Made]:
    """One object more is given back."""
    return _fifo_count(scene, "aie.objectfifo.release")


def _fifo_parts(scene: Scene, made: Operation) -> tuple[int, list[int], list[int]] | None:
    """Tokens of a FIFO's producer, consumers and depths."""
    words, close = made.tokens.words, made.tokens.close
    bracket = next((at for at in scene.header(made) if words[at] == "("), None)
    if bracket is None:
        return None
    inside = range(bracket + 1, close[bracket])
    brace = next((at for at in inside if words[at] == "{" and words[at - 1] in (",", "(", "]")), None)
    producer = next((at for at in inside if words[at][0] == "%"), None)
    if brace is None or producer is None:
        return None
    consumers = [at for at in range(brace + 1, close[brace]) if words[at][0] == "%"]
    behind = [at for at in range(close[brace] + 1, close[bracket]) if words[at].isdecimal()]
    return producer, consumers, behind


@_kind("fifowords", "depth", "object", "buffer")
def fifo_depth_lower(scene: Scene) -> Iterator[Made]:
    """A FIFO is one object less deep."""
    for made in scene.named("aie.objectfifo"):
        for at in (_fifo_parts(scene, made) or (0, [], []))[2]:
            depth = int(made.tokens.words[at])
            if depth > 1:
                changed = _about_fifo(scene, made)
                about = f"depth {depth - 1} instead of {depth} of @{changed.things[0]}"
                yield _number(scene, made, at, depth - 1), changed, about


@_kind("fifowords", "end", "produc", "consum", "tile", "core")
def fifo_ends_swapped(scene: Scene) -> Iterator[Made]:
    """Producer and consumer of a FIFO in each other's place."""
    for made in scene.named("aie.objectfifo"):
        parts = _fifo_parts(scene, made)
        if parts is not None and len(parts[1]) == 1:
            changed = _about_fifo(scene, made)
            yield (
                _exchanged(scene, made, parts[0], parts[1][0]),
                changed,
                f"ends of @{changed.things[0]} swapped",
            )


@_kind("fifowords", "link", "order", "end", "offset", "type", "element", "size")
def fifo_link_swapped(scene: Scene) -> Iterator[Made]:
    """Two FIFOs of a link in each other's place: its sides, or two of one side."""
    for link in scene.named("aie.objectfifo.link"):
        at = scene.symbols(link)
        changed = _about_fifo(scene, link)
        for one, other in itertools.pairwise(at):
            names = [link.tokens.words[each] for each in (one, other)]
            yield _exchanged(scene, link, one, other), changed, f"{' and '.join(names)} of a link swapped"


@_kind("fifowords", "offset", "link", "element", "size")
def fifo_link_offset(scene: Scene) -> Iterator[Made]:
    """An offset of a link is off by one word."""
    for link in scene.named("aie.objectfifo.link"):
        numbers = [at for at in scene.header(link) if link.tokens.words[at].isdecimal()]
        for at in numbers:
            changed = _about_fifo(scene, link)
            yield (
                _number(scene, link, at, int(link.tokens.words[at]) + _WORD),
                changed,
                "an offset of a link is off",
            )


def _shapes(made: Operation, scene: Scene) -> Iterator[tuple[int, int, str]]:
    """Tokens that are shapes: 4x8xi32, with the first size and what follows it."""
    for at in scene.header(made):
        first, by, rest = made.tokens.words[at].partition("x")
        if by and first.isdecimal():
            yield at, int(first), rest


@_kind("fifowords", "element", "length", "type", "size", "word", "memref")
def fifo_elements_halved(scene: Scene) -> Iterator[Made]:
    """The objects of a FIFO are half as long."""
    for made in scene.named("aie.objectfifo"):
        for at, size, rest in _shapes(made, scene):
            if size % 2 == 0:
                changed = _about_fifo(scene, made)
                yield (
                    _token(scene, made, at, f"{size // 2}x{rest}"),
                    changed,
                    f"objects of @{changed.things[0]} halved",
                )


@_kind("unowned", "type", "element", "width", "memref", "i32", "i16", "i8")
def wrong_type(scene: Scene) -> Iterator[Made]:
    """A FIFO, buffer or BD of another type of element."""
    for made in scene.named("aie.objectfifo", "aie.buffer", "aie.dma_bd"):
        for at, size, rest in _shapes(made, scene):
            other = {"i32": "i16", "i16": "i8", "i8": "i16", "f32": "bf16", "bf16": "f32"}.get(
                rest.rpartition("x")[2]
            )
            if other is not None:
                word = f"{size}x{rest.rpartition('x')[0]}{'x' if 'x' in rest else ''}{other}"
                yield (
                    _token(scene, made, at, word),
                    _about_made(scene, made),
                    f"{word} instead of {size}x{rest}",
                )


def _about_made(scene: Scene, made: Operation) -> Changed:
    """Of a FIFO, buffer or BD."""
    if made.name == "aie.objectfifo":
        return _about_fifo(scene, made)
    if made.name == "aie.buffer":
        users = [use for use in scene.named("aie.dma_bd") if made.results and made.results[0] in use.words]
        return scene.about(made, scene.name_of(made), lines=tuple(use.line for use in users))
    return _about_bd(scene, made)


@_kind("balance", "repeat", "often", "times", "length", "word")
def repeat_count(scene: Scene) -> Iterator[Made]:
    """A repeat count of a task, a channel or a FIFO is one more."""
    for made in scene.named("aie.objectfifo", "aie.dma_start", "aie.dma", *TASKS):
        at = scene.attribute(made, "repeat_count")
        value = None if at is None else scene.number(made, at)
        if at is not None and value is not None:
            changed = _about_fifo(scene, made) if made.name == "aie.objectfifo" else _about_task(scene, made)
            yield _number(scene, made, at, value + 1), changed, f"repeat_count {value + 1} instead of {value}"


def _about_task(scene: Scene, made: Operation) -> Changed:
    inside = tuple(each.line for each in made.walk()) if made.regions else ()
    return scene.about(made, *(word.lstrip("@") for word in made.words if word[0] == "@"), lines=inside)


# BDs


def _about_bd(scene: Scene, made: Operation) -> Changed:
    """Of a BD or a host's transfer."""
    at = next(iter(scene.values(made)), None)
    maker = None if at is None else scene.maker(made, made.tokens.words[at])
    things = [scene.name_of(maker)] if maker is not None else []
    tasks = [each for each in scene.above(made) if each.name in TASKS]
    lines = [each.line for each in tasks]
    if not tasks:
        lines += _same_block(made)
    changed = scene.about(made, *things, lines=tuple(lines))
    symbol = scene.attribute(made, "metadata")
    if symbol is None:
        return changed
    name = made.tokens.words[symbol].lstrip("@")
    channel = scene.of_symbol(f"@{name}")
    partners = [*changed.partners, *scene.stream_partners([channel])]
    partners += scene.fifo_partners(f"@{name}") if scene.fifo(f"@{name}") is not None else []
    actors = dict.fromkeys([*changed.actors, channel])
    return changed._replace(actors=tuple(actors), things=(*changed.things, name), partners=tuple(partners))


_LENGTHS = ("len", "buffer_length")


def _lengths(scene: Scene) -> Iterator[tuple[Operation, int, int]]:
    """BDs with the token and value of their length."""
    for made in scene.named("aie.dma_bd", "aiex.npu.writebd"):
        at = next((at for name in _LENGTHS if (at := scene.attribute(made, name)) is not None), None)
        value = None if at is None else scene.number(made, at)
        if at is not None and value is not None:
            yield made, at, value


@_kind("balance", "length", "word", "half", "len")
def bd_length_halved(scene: Scene) -> Iterator[Made]:
    """A BD is half as long."""
    for made, at, value in _lengths(scene):
        if value > 1:
            about = f"length {value // 2} instead of {value}"
            yield _number(scene, made, at, value // 2), _about_bd(scene, made), about


@_kind("balance", "length", "word", "len")
def bd_length_less(scene: Scene) -> Iterator[Made]:
    """A BD is four elements shorter."""
    for made, at, value in _lengths(scene):
        if value > _WORD:
            about = f"length {value - _WORD} instead of {value}"
            yield _number(scene, made, at, value - _WORD), _about_bd(scene, made), about


@_kind("unowned", "offset", "word", "buffer", "beyond", "overlap", "order")
def bd_offset(scene: Scene) -> Iterator[Made]:
    """A BD begins four elements later."""
    for made in scene.named("aie.dma_bd", "aiex.npu.writebd"):
        for name in ("offset", "buffer_offset"):
            at = scene.attribute(made, name)
            value = None if at is None else scene.number(made, at)
            if at is not None and value is not None:
                about = f"offset {value + _WORD} instead of {value}"
                yield _number(scene, made, at, value + _WORD), _about_bd(scene, made), about


def _elements(scene: Scene, made: Operation, name: str) -> list[int]:
    """Tokens of the elements of ``sizes = [..]`` or ``strides = [..]``."""
    at = scene.attribute(made, name)
    return scene.listed(made, at) if at is not None and made.tokens.words[at] == "[" else []


def _transfer_lists(scene: Scene, made: Operation) -> list[list[int]]:
    """Tokens of offsets, sizes and strides of a host's transfer."""
    words, found = made.tokens.words, list[list[int]]()
    header = scene.header(made)
    for at in header:
        if words[at] == "[" and len(found) < 3:
            found.append(scene.listed(made, at))
    return found if len(found) == 3 else []


def _halved_sizes(scene: Scene, made: Operation, sizes: list[int]) -> Iterator[Made]:
    numbers = [(at, scene.number(made, at)) for at in sizes]
    halves = [(at, value) for at, value in numbers if value is not None and value > 1 and value % 2 == 0]
    for at, value in halves[:1]:
        about = f"size {value // 2} instead of {value}"
        yield _number(scene, made, at, value // 2), _about_bd(scene, made), about


@_kind("balance", "length", "word", "half", "size", "len")
def host_size_halved(scene: Scene) -> Iterator[Made]:
    """A transfer of the host is half as long."""
    for made in scene.named("aiex.npu.dma_memcpy_nd"):
        lists = _transfer_lists(scene, made)
        if lists:
            yield from _halved_sizes(scene, made, lists[1])


@_kind("unowned", "offset", "word", "order", "beyond", "overlap")
def host_offset(scene: Scene) -> Iterator[Made]:
    """A transfer of the host begins four elements later."""
    for made in scene.named("aiex.npu.dma_memcpy_nd"):
        for at in [each[-1] for each in _transfer_lists(scene, made)[:1]]:
            value = scene.number(made, at)
            if value is not None:
                about = f"offset {value + _WORD} instead of {value}"
                yield _number(scene, made, at, value + _WORD), _about_bd(scene, made), about


@_kind("unowned", "stride", "order", "step", "word", "beyond")
def stride(scene: Scene) -> Iterator[Made]:
    """The outer stride of a BD, a transfer or a FIFO's dimensions is off."""
    for made in scene.named("aie.dma_bd", "aiex.npu.dma_memcpy_nd", "aie.objectfifo"):
        if made.name == "aiex.npu.dma_memcpy_nd":
            lists = _transfer_lists(scene, made)
            pairs = list(zip(lists[1], lists[2], strict=False)) if lists else []
        elif made.name == "aie.dma_bd":
            sizes, strides = (_elements(scene, made, name) for name in ("sizes", "strides"))
            pairs = list(zip(sizes, strides, strict=False))
        else:
            named = [[at + 2 for at in scene.header(made) if made.tokens.words[at] == n] for n in _DIMENSION]
            pairs = list(zip(*named, strict=False))
        for size, at in pairs:
            value, many = scene.number(made, at), scene.number(made, size)
            if value is not None and many is not None and many > 1 and value > 1:
                about = f"stride {value + _WORD} instead of {value}"
                changed = (
                    _about_fifo(scene, made) if made.name == "aie.objectfifo" else _about_bd(scene, made)
                )
                yield _number(scene, made, at, value + _WORD), changed, about
                break


_DIMENSION = ("size", "stride")


@_kind("unowned", "pad", "word")
def padding(scene: Scene) -> Iterator[Made]:
    """A padding is off by one."""
    for made in scene.named("aie.dma_bd", "aie.objectfifo"):
        for at in scene.header(made):
            if made.tokens.words[at - 2] not in ("const_pad_before", "const_pad_after"):
                continue
            value = scene.number(made, at)
            if value is not None:
                changed = (
                    _about_fifo(scene, made) if made.name == "aie.objectfifo" else _about_bd(scene, made)
                )
                yield _number(scene, made, at, value + 1), changed, f"padding {value + 1} instead of {value}"


@_kind("unowned", "buffer", "order", "again", "round", "twice", "written")
def bd_wrong_buffer(scene: Scene) -> Iterator[Made]:
    """A BD uses another buffer of its tile with the same type."""
    buffers: dict[tuple[str, str], list[str]] = {}
    for made in scene.named("aie.buffer"):
        if made.results:
            buffers.setdefault((made.words[1], made.words[-2]), []).append(made.results[0])
    for made in scene.named("aie.dma_bd"):
        at = next(iter(scene.values(made)), None)
        maker = None if at is None else scene.maker(made, made.tokens.words[at])
        if at is None or maker is None or maker.name != "aie.buffer":
            continue
        other = _others(buffers[(maker.words[1], maker.words[-2])], made.tokens.words[at])
        if other is not None:
            second = scene.maker(made, other)
            changed = _about_bd(scene, made)
            name = scene.name_of(second) if second is not None else other
            changed = changed._replace(things=(*changed.things, name))
            yield _token(scene, made, at, other), changed, f"buffer {name} instead of {changed.things[0]}"


@_kind("circles", "next", "chain", "itself", "again", "order")
def next_bd_itself(scene: Scene) -> Iterator[Made]:
    """A BD is followed by itself."""
    for made in scene.named("aie.next_bd"):
        assert made.parent is not None
        at = next((at for at in scene.header(made) if made.tokens.words[at][0] == "^"), None)
        if at is not None and made.parent.label and made.tokens.words[at] != made.parent.label:
            own = made.parent.label
            bd = next((each for each in made.parent.operations if each.name == "aie.dma_bd"), made)
            changed = _about_bd(scene, bd) if bd is not made else scene.about(made)
            yield (
                _token(scene, made, at, own),
                changed._replace(lines=(made.line, *changed.lines)),
                "next_bd itself",
            )


# ids of packets and BDs, streams


def _packet_ids(scene: Scene, *names: str) -> Iterator[tuple[Operation, int, int]]:
    for made in scene.named(*names):
        for at in scene.header(made):
            if made.tokens.words[at - 2] in ("pkt_id", "packet_id") and made.tokens.words[at - 1] == "=":
                value = scene.number(made, at)
                if value is not None:
                    yield made, at, value


@_kind("balance", "id", "packet")
def bd_packet_id(scene: Scene) -> Iterator[Made]:
    """A BD or transfer sends packets of another id."""
    for made, at, value in _packet_ids(scene, "aie.dma_bd", "aiex.npu.dma_memcpy_nd"):
        new = (value + 1) % _IDS
        yield _number(scene, made, at, new), _about_bd(scene, made), f"packets of id {new} instead of {value}"


@_kind("balance", "id", "packet")
def flow_packet_id(scene: Scene) -> Iterator[Made]:
    """A packet flow is one of another id."""
    for flow in scene.named("aie.packet_flow"):
        bracket = next((at for at in scene.header(flow) if flow.tokens.words[at] == "("), None)
        word = "" if bracket is None else flow.tokens.words[bracket + 1]
        if bracket is None or not word[:1].isdecimal():
            continue
        value = int(word, 0)
        new = (value + 1) % _IDS
        changed = _about_flow(scene, flow)
        yield _token(scene, flow, bracket + 1, str(new)), changed, f"packet flow {new} instead of {value}"


def _about_flow(scene: Scene, flow: Operation) -> Changed:
    """Of a flow, a packet flow or one of its ends."""
    whole = flow
    for each in scene.above(flow):
        whole = each if each.name == "aie.packet_flow" else whole
    senders, receivers = next((s, r) for s, r, made in scene.streams if made is whole)
    lines = tuple(each.line for each in whole.walk())
    ends = tuple(dict.fromkeys(each for each in (*senders, *receivers) if each))
    things = tuple(word for end in ends for word in (end.partition(" ")[0],))
    partners = scene.stream_partners([*ends])
    return Changed((flow.line, *lines), ends, (), (*partners, *things, HOST))


@_kind("balance", "flow", "connect", "stream", "id", "receiv", "packet", "circuit", "task")
def flow_missing(scene: Scene) -> Iterator[Made]:
    """A flow, a packet flow or one of its destinations is missing."""
    for flow in scene.named("aie.flow", "aie.packet_flow"):
        yield _gone(scene, flow), _about_flow(scene, flow), "no flow"
    for flow in scene.named("aie.packet_flow"):
        targets = [each for each in flow.walk() if each.name == "aie.packet_dest"]
        for target in targets if len(targets) > 1 else []:
            yield _gone(scene, target), _about_flow(scene, target), "no destination"


@_kind("balance", "flow", "connect", "stream", "receiv", "send", "circuit", "task", "port")
def flow_ends_swapped(scene: Scene) -> Iterator[Made]:
    """Source and destination of a flow in each other's place."""
    for flow in scene.named("aie.flow"):
        at = scene.values(flow)
        if len(at) == 2:
            yield _exchanged(scene, flow, *at), _turned(_about_flow(scene, flow)), "ends of a flow swapped"
    for flow in scene.named("aie.packet_flow"):
        inside = [each for each in flow.walk() if each.name in ("aie.packet_source", "aie.packet_dest")]
        if len(inside) == 2:
            values = [scene.values(each)[0] for each in inside]
            first, middle = scene.span(inside[0], values[0])
            after, end = scene.span(inside[1], values[1])
            words = flow.tokens.words
            new = f"{words[values[1]]}{scene.content[middle:after]}{words[values[0]]}"
            changed = _turned(_about_flow(scene, flow))
            yield Edit(first, end, new), changed, "ends of a packet flow swapped"


def _turned(changed: Changed) -> Changed:
    """With the channels that a flow has when its ends are swapped."""
    other = [_other_way(each) for each in changed.actors]
    return changed._replace(actors=(*changed.actors, *other))


def _other_way(channel: str) -> str:
    return channel.replace("MM2S", "\0").replace("S2MM", "MM2S").replace("\0", "S2MM")


@_kind(
    "balance", "flow", "connect", "stream", "receiv", "send", "task", "channel", "port", "circuit", "master"
)
def flow_channel(scene: Scene) -> Iterator[Made]:
    """A flow ends at another channel."""
    for flow in scene.named("aie.flow", "aie.packet_dest", "aie.packet_source"):
        words = flow.tokens.words
        for value in scene.values(flow)[-1:]:
            at = next((i for i in range(value + 1, value + 6) if words[i].isdecimal()), None)
            if at is not None and "DMA" in [word.strip('"') for word in words[value:at]]:
                new = 1 - int(words[at]) if int(words[at]) < 2 else int(words[at]) - 1
                about = f"channel {new} instead of {words[at]}"
                changed = _about_flow(scene, flow)
                other = [_renumbered(end, new) for end in changed.actors]
                yield (
                    _token(scene, flow, at, str(new)),
                    changed._replace(partners=(*changed.partners, *other)),
                    about,
                )


def _renumbered(channel: str, number: int) -> str:
    return f"{channel.rpartition(' ')[0]} {number}"


@_kind("balance", "channel", "connect", "stream", "task", "flow")
def dma_channel(scene: Scene) -> Iterator[Made]:
    """BDs, a task or a symbol of another channel."""
    for made in scene.named("aie.dma_start", "aie.dma", "aie.shim_dma_allocation", "aiex.dma_configure_task"):
        words = made.tokens.words
        at = next((at for at in scene.header(made) if words[at].isdecimal()), None)
        if at is None or words[at - 1] != ",":
            continue
        new = 1 - int(words[at]) if int(words[at]) < 2 else int(words[at]) - 1
        changed = _about_task(scene, made)
        if made.name == "aie.shim_dma_allocation":
            channel = scene.of_symbol(words[scene.symbols(made)[0]])
            changed = changed._replace(
                actors=(channel, HOST), partners=tuple(scene.stream_partners([channel]))
            )
        other = tuple(_renumbered(each, new) for each in changed.actors if each != HOST)
        changed = changed._replace(actors=(*changed.actors, *other), partners=(*changed.partners, *other))
        yield _token(scene, made, at, str(new)), changed, f"channel {new} instead of {words[at]}"


@_kind("descriptors", "id", "BD", "again", "use")
def bd_id_again(scene: Scene) -> Iterator[Made]:
    """A BD of the host has the id of another one."""
    ids: dict[int, list[tuple[Operation, int, int]]] = {}
    for name, key in (
        ("aie.dma_bd", "bd_id"),
        ("aiex.npu.dma_memcpy_nd", "id"),
        ("aiex.npu.writebd", "bd_id"),
    ):
        for made in scene.named(name):
            at = scene.attribute(made, key)
            value = None if at is None else scene.number(made, at)
            if at is not None and value is not None:
                holder = next(
                    (e for e in scene.above(made) if "sequence" in e.name or e.name.startswith("aie.mem")),
                    made,
                )
                ids.setdefault(id(holder), []).append((made, at, value))
    for found in ids.values():
        for (made, at, value), (_, _, other) in zip(found[1:], found, strict=False):
            if value != other:
                yield (
                    _number(scene, made, at, other),
                    _about_bd(scene, made),
                    f"id {other} instead of {value}",
                )


# the host


_WAITS = ("aiex.npu.dma_wait", "aiex.dma_await_task", "aiex.npu.sync")


def _about_wait(scene: Scene, wait: Operation) -> Changed:
    """Of a wait or a start: the task or channel that is waited for too."""
    words = wait.tokens.words
    things, channels, lines = list[str](), list[str](), list[int]()
    for at in scene.symbols(wait):
        things.append(words[at].lstrip("@"))
        channels.append(scene.of_symbol(words[at]))
    for at in scene.values(wait):
        maker = scene.maker(wait, words[at])
        if maker is not None and maker.name in TASKS:
            lines += [each.line for each in maker.walk()]
            channels += scene.actors(maker)
            things.append(words[at].lstrip("%"))
    if wait.name == "aiex.npu.sync":
        channels += scene.synced(wait)
    partners = [*scene.stream_partners(channels)]
    for thing in things:
        partners += scene.fifo_partners(f"@{thing}") if scene.fifo(f"@{thing}") is not None else []
    actors = dict.fromkeys([HOST, *channels])
    return Changed((wait.line, *dict.fromkeys(lines)), tuple(actors), tuple(things), tuple(partners))


@_kind("descriptors", "wait", "before", "task", "token", "end")
def wait_missing(scene: Scene) -> Iterator[Made]:
    """The host does not wait."""
    for wait in scene.named(*_WAITS):
        yield _gone(scene, wait), _about_wait(scene, wait), "no wait"


@_kind("descriptors", "wait", "token", "task", "end")
def wait_wrong(scene: Scene) -> Iterator[Made]:
    """The host waits for another channel or task."""
    for wait in scene.named("aiex.npu.dma_wait"):
        at = scene.symbols(wait)[0]
        sent = list(scene.named("aiex.npu.dma_memcpy_nd", "aiex.dma_configure_task_for"))
        names = [each.tokens.words[s] for each in sent for s in scene.symbols(each)]
        other = _others(names, wait.tokens.words[at])
        if other is not None:
            yield _waits_for(scene, wait, at, other)
    for wait in scene.named("aiex.dma_await_task"):
        for at in scene.values(wait)[:1]:
            tasks = [
                each.results[0] for each in scene.named(*TASKS) if each.results and each.parent is wait.parent
            ]
            before = [name for name in tasks if (m := scene.maker(wait, name)) is not None and m.at < wait.at]
            other = _others(before, wait.tokens.words[at])
            if other is not None:
                yield _waits_for(scene, wait, at, other)
    for wait in scene.named("aiex.npu.sync"):
        for at in _sync_parts(scene, wait, "direction", 2):
            value = scene.number(wait, at)
            if value in (0, 1):
                changed = _about_wait(scene, wait)
                yield (
                    _number(scene, wait, at, 1 - value),
                    changed,
                    f"direction {1 - value} instead of {value}",
                )


def _waits_for(scene: Scene, wait: Operation, at: int, other: str) -> Made:
    changed = _about_wait(scene, wait)
    channel = scene.of_symbol(other)
    maker = scene.maker(wait, other) if other[0] == "%" else None
    more = scene.actors(maker) if maker is not None else [channel]
    changed = changed._replace(actors=(*changed.actors, *more), things=(*changed.things, other.lstrip("@%")))
    return _token(scene, wait, at, other), changed, f"wait for {other} instead of {wait.tokens.words[at]}"


def _sync_parts(scene: Scene, wait: Operation, name: str, place: int) -> list[int]:
    at = scene.attribute(wait, name)
    if at is not None:
        return [at]
    values = scene.values(wait)
    return [values[place]] if len(values) > place else []


@_kind("descriptors", "start", "task", "wait", "queue", "word")
def start_missing(scene: Scene) -> Iterator[Made]:
    """A task is not started, a transfer not made."""
    for start in scene.named("aiex.dma_start_task", "aiex.npu.push_queue"):
        yield _gone(scene, start), _about_wait(scene, start), "no start"
    for made in scene.named("aiex.npu.dma_memcpy_nd"):
        yield _gone(scene, made), _about_bd(scene, made), "no transfer"


@_kind("descriptors", "before", "wait", "order", "start", "task", "queue")
def start_too_early(scene: Scene) -> Iterator[Made]:
    """A wait comes behind the start that it was before."""
    for wait in scene.named(*_WAITS):
        assert wait.parent is not None
        behind = wait.parent.operations[wait.parent.operations.index(wait) + 1 :]
        starts = ("aiex.dma_start_task", "aiex.npu.dma_memcpy_nd", "aiex.npu.push_queue")
        found = next((each for each in behind if each.name in (*starts, *_WAITS)), None)
        if found is None or found.name not in starts:
            continue
        first, end, last = scene.begin(wait), scene.end(wait), scene.end(found)
        changed = _about_wait(scene, wait)
        new = f"{scene.content[end:last]} {scene.content[first:end]}"
        own = found.line
        yield Edit(first, last, new), changed._replace(lines=(*changed.lines, own)), "start before the wait"


@_kind("descriptors", "token", "wait", "end")
def token_missing(scene: Scene) -> Iterator[Made]:
    """A task gives no token."""
    for made in scene.named("aiex.npu.dma_memcpy_nd", *TASKS, "aiex.npu.push_queue"):
        at = scene.attribute(made, "issue_token")
        if at is not None and made.tokens.words[at] == "true":
            changed = (
                _about_bd(scene, made) if made.name == "aiex.npu.dma_memcpy_nd" else _about_task(scene, made)
            )
            yield _token(scene, made, at, "false"), changed, "no token"


# cores


@_kind("balance", "core", "ended", "often", "round", "word", "loop", "releas")
def core_loop_less(scene: Scene) -> Iterator[Made]:
    """A core makes one round less."""
    for loop in scene.named("scf.for"):
        words = loop.tokens.words
        at = next((i + 1 for i in scene.header(loop) if words[i] == "to"), None)
        core = [each for each in scene.above(loop) if each.name == "aie.core"]
        value = None if at is None else scene.number(loop, at)
        inside = any(each.name.endswith((".acquire", "use_lock")) for each in loop.walk())
        if at is None or not core or value is None or not 1 < value < _ENDLESS or not inside:
            continue
        things = [thing for each in loop.walk() for thing in _used(scene, each)]
        changed = scene.about(loop, *things, lines=tuple(each.line for each in loop.walk()))
        yield _number(scene, loop, at, value - 1), changed, f"{value - 1} rounds instead of {value}"


def _used(scene: Scene, use: Operation) -> list[str]:
    return _things(scene, use) if use.name in ("aie.use_lock", *_FIFO_USES) else []


_FIFO_USES = ("aie.objectfifo.acquire", "aie.objectfifo.release")


@_kind("balance", "program", "core")
def core_missing(scene: Scene) -> Iterator[Made]:
    """A core has no program."""
    for core in scene.named("aie.core"):
        things = [thing for each in core.walk() for thing in _used(scene, each)]
        changed = scene.about(core, *things, lines=tuple(each.line for each in core.walk()))
        yield _gone(scene, core), changed, "no core"
