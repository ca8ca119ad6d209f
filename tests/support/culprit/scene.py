"""A text of mlir-aie as its objects: which core, channel, lock, BD and object FIFO an operation is about.

A mutant knows from here what was changed, in the words that a finding has to use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.tree import Operation, OperationBlock

KINDS_OF_TILES = ("interface", "memory")  # by row; all others are compute tiles
MEMORIES = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
SEQUENCES = ("aie.runtime_sequence", "aiex.runtime_sequence")
TASKS = ("aiex.dma_configure_task", "aiex.dma_configure_task_for")
HOST = "host"


class Changed(NamedTuple):
    """What a mutant changed.

    Attributes:
        lines: of the operation and of those that hold it and are part of the same thing, the operation first.
        actors: cores, channels and the host that do what was changed, as ``core (0,2)``.
        things: names of locks, object FIFOs, buffers, BDs and tasks that were changed.
        partners: actors at the other side of the same lock, stream or object FIFO.
    """

    lines: tuple[int, ...]
    actors: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    partners: tuple[str, ...] = ()


class Scene:
    """The operations of a text and what they are about.

    Args:
        name: of the file.
        content: of the file.

    Raises:
        InputFileError: it is no MLIR.
    """

    def __init__(self, name: str, content: str) -> None:
        self.name, self.content = name, content
        self.text = Text(name, content)
        self.top = read(self.text)
        self.operations = [
            each for block in self.top.blocks for operation in block.operations for each in operation.walk()
        ]

    def named(self, *names: str) -> Iterator[Operation]:
        """Operations by name, in the order of the text."""
        return (each for each in self.operations if each.name in names)

    # places in the text

    def header(self, operation: Operation) -> list[int]:
        """The tokens of an operation behind its name, without its regions."""
        spans = sorted([*operation.spans, *operation.dicts])
        return [at for first, end in spans for at in range(first, end)]

    def begin(self, operation: Operation) -> int:
        """Where an operation begins in the text, its results included."""
        at = operation.at
        if operation.results:
            words = operation.tokens.words
            while words[at] != "=":
                at -= 1
            at -= 1
            while words[at - 1] == "," or words[at][0] != "%":
                at -= 2 if words[at - 1] == "," else 1
        return operation.tokens.offset(at)

    def end(self, operation: Operation) -> int:
        """Where an operation ends in the text, its regions included."""
        words, close = operation.tokens.words, operation.tokens.close
        inside = next((each.at for each in operation.walk() if each is not operation), None)
        ends = [operation.at, *(end - 1 for _, end in operation.spans), *(end for _, end in operation.dicts)]
        last = max(ends)
        if operation.regions:
            before = max(end for end in ends if inside is None or end < inside)
            last = max(last, close.get(before + 1, before))
        return operation.tokens.offset(last) + len(words[last])

    def span(self, operation: Operation, at: int) -> tuple[int, int]:
        """Where a token begins and ends in the text."""
        first = operation.tokens.offset(at)
        return first, first + len(operation.tokens.words[at])

    # parts of an operation

    def attribute(self, operation: Operation, name: str) -> int | None:
        """The token of the value of ``name = value``."""
        words = operation.tokens.words
        found = (at + 2 for at in self.header(operation) if words[at] == name and words[at + 1] == "=")
        return next(found, None)

    def listed(self, operation: Operation, opening: int) -> list[int]:
        """The tokens of the elements of a flat list that begins with a bracket."""
        words, close = operation.tokens.words, operation.tokens.close
        return [at for at in range(opening + 1, close[opening]) if words[at] != ","]

    def values(self, operation: Operation) -> list[int]:
        """The tokens of an operation's values, in order."""
        words = operation.tokens.words
        return [at for at in self.header(operation) if words[at][0] == "%"]

    def symbols(self, operation: Operation) -> list[int]:
        """The tokens of the symbols that an operation names, in order."""
        words = operation.tokens.words
        return [at for at in self.header(operation) if words[at][0] == "@"]

    def maker(self, operation: Operation, value: str) -> Operation | None:
        """The operation that a value comes from."""
        assert operation.parent is not None
        found = operation.parent.region.find(value)
        return found if isinstance(found, Operation) else None

    def number(self, operation: Operation, at: int) -> int | None:
        """The number that a token is, or that its value is a constant of."""
        word = operation.tokens.words[at]
        if word[0] == "%":
            maker = self.maker(operation, word)
            if maker is None or maker.name != "arith.constant":
                return None
            word = next(iter(maker.words), "")
        return int(word) if word.lstrip("-").isdecimal() else None

    # what it is about

    def above(self, operation: Operation) -> Iterator[Operation]:
        """The operations around one, the nearest first."""
        block = operation.parent
        while block is not None and block.region.operation is not None:
            yield block.region.operation
            block = block.region.operation.parent

    def place(self, operation: Operation, value: str) -> tuple[int, int] | None:
        """Column and row of the tile that a value is."""
        tile = self.maker(operation, value)
        if tile is None or "tile" not in tile.name:
            return None
        numbers = [word for word in tile.words if word.isdecimal()]
        return (int(numbers[0]), int(numbers[1])) if len(numbers) >= 2 else None

    def name_of(self, operation: Operation) -> str:
        """The name of a lock or buffer: its symbol, else its value."""
        at = self.attribute(operation, "sym_name")
        if at is not None:
            return operation.tokens.words[at].strip('"')
        return operation.results[0].lstrip("%") if operation.results else ""

    @cached_property
    def channels(self) -> dict[int, list[str]]:
        """The channels that run the BDs of a block or region, by the identity of the block."""
        found: dict[int, list[str]] = {}
        for memory in self.named(*MEMORIES):
            labels = {block.label: block for region in memory.regions for block in region.blocks}
            for start in memory.walk():
                if start.name == "aie.dma_start":
                    self._chain(memory, start, labels, found)
                elif start.name == "aie.dma":
                    name = self._channel(memory, start)
                    for block in (each.parent for each in start.walk() if each is not start):
                        found.setdefault(id(block), []).append(name)
        for task in self.named(*TASKS):
            name = self._task_channel(task)
            for region in task.regions:
                for block in region.blocks:
                    found.setdefault(id(block), []).append(name)
        return found

    def _chain(
        self,
        memory: Operation,
        start: Operation,
        labels: dict[str, OperationBlock],
        found: dict[int, list[str]],
    ) -> None:
        """Note the channel of each block that its chain comes to."""
        name = self._channel(memory, start)
        label = next((word for word in start.words if word[0] == "^"), "")
        seen = set[str]()
        while label in labels and label not in seen:
            seen.add(label)
            found.setdefault(id(labels[label]), []).append(name)
            last = labels[label].operations[-1]
            label = next((word for word in last.words if word[0] == "^"), "")

    def _channel(self, memory: Operation, start: Operation) -> str:
        words = [word.strip('"') for word in start.words]
        way = next((word for word in words if word in ("S2MM", "MM2S")), "")
        number = next((word for word in words if word.isdecimal()), "")
        tile = next((word for word in memory.words if word[0] == "%"), "")
        return channel_name(self.place(memory, tile), way, number)

    def _task_channel(self, task: Operation) -> str:
        words = [word.strip('"') for word in task.words]
        if task.name.endswith("_for"):
            return self.of_symbol(next((word for word in words if word[0] == "@"), ""))
        way = next((word for word in words if word in ("S2MM", "MM2S")), "")
        number = next((word for word in words if word.isdecimal()), "")
        tile = next((word for word in words if word[0] == "%"), "")
        return channel_name(self.place(task, tile), way, number)

    @cached_property
    def _allocations(self) -> dict[str, str]:
        found = {}
        for each in self.named("aie.shim_dma_allocation"):
            words = [word.strip('"') for word in each.words]
            symbol = next((word for word in words if word[0] == "@"), "")
            tile = next((word for word in words if word[0] == "%"), "")
            way = next((word for word in words if word in ("S2MM", "MM2S")), "")
            numbers = [word for word in words if word.isdecimal()]
            if tile and numbers:
                found[symbol] = channel_name(self.place(each, tile), way, numbers[0])
        return found

    def of_symbol(self, symbol: str) -> str:
        """The channel that a symbol is: of an allocation, or the name of an object FIFO."""
        return self._allocations.get(symbol, symbol.lstrip("@"))

    def actors(self, operation: Operation) -> list[str]:
        """Who does an operation: a core, the channels of its BD, or the host."""
        own = self.channels.get(id(operation.parent), [])
        for each in (operation, *self.above(operation)):
            if each.name == "aie.core":
                tile = next((word for word in each.words if word[0] == "%"), "")
                return [core_name(self.place(each, tile))]
            if each.name == "aie.dma_start":
                memory = next(iter(self.above(each)), each)
                return [self._channel(memory, each)]
            if each.name == "aie.dma":
                memory = next(iter(self.above(each)), each)
                return [self._channel(memory, each)]
            if each.name in TASKS:
                return [self._task_channel(each), HOST]
            if each.name in MEMORIES:
                return own
            if each.name in SEQUENCES:
                return [HOST]
        return []

    @cached_property
    def _lock_users(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for use in self.named("aie.use_lock"):
            for lock in self.lock_names(use):
                found.setdefault(lock, []).extend(self.actors(use))
        return found

    def lock_names(self, use: Operation) -> list[str]:
        """The lock of an operation, as a name; with its number where it has only that."""
        at = next(iter(self.values(use)), None)
        maker = None if at is None else self.maker(use, use.tokens.words[at])
        return [self.name_of(maker)] if maker is not None and maker.name == "aie.lock" else []

    def lock_partners(self, lock: str) -> list[str]:
        """Who uses a lock."""
        return self._lock_users.get(lock, [])

    @cached_property
    def streams(self) -> list[tuple[list[str], list[str], Operation]]:
        """Senders and receivers of each flow and packet flow."""
        found = []
        for flow in self.named("aie.flow"):
            ends = self.ends(flow)
            found.append((ends[:1], ends[1:], flow))
        for flow in self.named("aie.packet_flow"):
            inside = [each for each in flow.walk() if each is not flow]
            sources = [
                e for each in inside if each.name == "aie.packet_source" for e in self.ends(each, "MM2S")
            ]
            targets = [
                e for each in inside if each.name == "aie.packet_dest" for e in self.ends(each, "S2MM")
            ]
            found.append((sources, targets, flow))
        return found

    def ends(self, flow: Operation, way: str = "") -> list[str]:
        """The ports of a flow as channels: of a circuit the sender first."""
        found = []
        words = flow.tokens.words
        for n, at in enumerate(self.values(flow)):
            number = next((words[i] for i in range(at + 1, at + 6) if words[i].isdecimal()), "")
            side = way or ("MM2S" if n == 0 else "S2MM")
            found.append(channel_name(self.place(flow, words[at]), side, number))
        return found

    def stream_partners(self, channels: list[str]) -> list[str]:
        """Channels at the other ends of the streams of some."""
        found = list[str]()
        for senders, receivers, _ in self.streams:
            if set(channels) & {*senders, *receivers}:
                found += [*senders, *receivers]
        return found

    def fifo(self, symbol: str) -> Operation | None:
        """The object FIFO of a symbol."""
        made = self.named("aie.objectfifo", "aie.objectFifo")
        return next((each for each in made if symbol in each.words), None)

    def fifo_partners(self, symbol: str) -> list[str]:
        """Cores, and the host, at the ends of an object FIFO."""
        made, found = self.fifo(symbol), list[str]()
        for at in [] if made is None else self.values(made):
            place = self.place(made, made.tokens.words[at]) if made is not None else None
            if place is not None and place[1] > 1:
                found.append(core_name(place))
            elif place is not None and place[1] == 0:
                found.append(HOST)
        return found

    def synced(self, wait: Operation) -> list[str]:
        """The channel of a sync: column, row, direction, channel."""
        names = ("column", "row", "direction", "channel")
        at = [self.attribute(wait, name) for name in names]
        if at[-1] is None:
            at = [*self.values(wait)[:4]]
        numbers = [None if each is None else self.number(wait, each) for each in at]
        if len(numbers) < len(names) or None in numbers:
            return []
        column, row, way, channel = (number or 0 for number in numbers)
        return [channel_name((column, row), "MM2S" if way else "S2MM", str(channel))]

    def about(self, operation: Operation, *things: str, lines: tuple[int, ...] = ()) -> Changed:
        """What a change of an operation is about."""
        actors = self.actors(operation)
        partners = self.stream_partners(actors)
        for thing in things:
            partners += self.lock_partners(thing)
            if self.fifo(f"@{thing}") is not None:
                partners += self.fifo_partners(f"@{thing}")
        if any(each.startswith("interface") for each in (*actors, *partners)):
            partners.append(HOST)
        own = (operation.line, *lines)
        kept = [dict.fromkeys(word for word in words if word) for words in (actors, things, partners)]
        return Changed(tuple(dict.fromkeys(own)), *(tuple(each) for each in kept))


def core_name(place: tuple[int, int] | None) -> str:
    """A core as findings name it."""
    return "" if place is None else f"core ({place[0]},{place[1]})"


def channel_name(place: tuple[int, int] | None, way: str, number: str) -> str:
    """A channel as findings name it."""
    if place is None or not way or not number:
        return ""
    kind = KINDS_OF_TILES[place[1]] if place[1] < len(KINDS_OF_TILES) else "compute"
    return f"{kind}({place[0]},{place[1]}) {way} {number}"
