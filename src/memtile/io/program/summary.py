"""What a program sets up, in short: routes, tasks with their chains, locks, cores, memories and waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memtile.arch.register_map import register_at
from memtile.arch.tiles import DIRECTIONS, TILE_KINDS, WORD_BYTES
from memtile.bd.codec import unpack
from memtile.bd.descriptor import Descriptor
from memtile.bd.fields import descriptor_of
from memtile.io.program.register_image import Place, RegisterImage
from memtile.io.program.routes import Route, routes
from memtile.runs.core_kernels import enabled_by
from memtile.runs.firmware import Pointer, is_loaded, pointer_of
from memtile.runs.operations import ArrayShape, MaskPoll, Operation, Other
from memtile.runs.waits import WAIT


@dataclass(frozen=True, slots=True)
class StartedTask:
    """A task that the program starts.

    Attributes:
        channel: such as ``memory(0,1) MM2S 0``.
        chain: its BD numbers, as they are linked when it is started.
        words: of each of them.
        ring: whether the chain loops back, so that the task never ends.
        runs: how often the chain is done; out of order how many packets are taken.
        token: whether it asks for a task-complete token.
    """

    channel: str
    chain: tuple[int, ...]
    words: tuple[int, ...]
    ring: bool
    runs: int
    token: bool


@dataclass(slots=True)
class Summary:
    """What a program sets up.

    Attributes:
        operations: how many.
        routes: ways through the switches as they are at the end.
        tasks: in the order in which they are started.
        locks: last value written to each lock, by tile and number.
        cores: that are enabled, by column and row.
        image: the registers and how many words went into memories.
        polls: how many.
        tokens: how many waits for tokens.
        pointers: arguments that are patched into descriptors.
        others: operations that the model does not do, with how often they occur.
    """

    operations: int
    image: RegisterImage
    routes: list[Route] = field(default_factory=list)
    tasks: list[StartedTask] = field(default_factory=list)
    locks: dict[Place, dict[int, int]] = field(default_factory=dict)
    cores: list[Place] = field(default_factory=list)
    polls: int = 0
    tokens: int = 0
    pointers: list[Pointer] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)


def summary_of(operations: Sequence[Operation], shape: ArrayShape) -> Summary:
    """Follow the operations from the first to the last, without a model.

    Args:
        operations: the program.
        shape: of the array.
    """
    found = Summary(len(operations), RegisterImage(shape))
    for operation in operations:
        found.polls += isinstance(operation, MaskPoll)
        if isinstance(operation, Other):
            _other(found, operation)
        for place, offset, value in found.image.take(operation):
            _register(found, place, offset, value)
    found.routes = routes(found.image)
    found.cores = enabled_by(operations, shape)
    return found


def _other(found: Summary, operation: Other) -> None:
    pointer = pointer_of(operation)
    if pointer is not None:
        found.pointers.append(pointer)
    elif operation.name == WAIT:
        found.tokens += 1
    elif operation.acts and not is_loaded(operation):
        found.others[operation.name] += 1


def _register(found: Summary, place: Place, offset: int, value: int) -> None:
    kind = TILE_KINDS[found.image.kind(place)]
    lock, rest = divmod(offset - kind.lock_value_base, kind.lock_value_stride)
    if 0 <= lock < kind.locks and rest == 0:
        found.locks.setdefault(place, {})[lock] = value
        return
    register = register_at(kind.name, offset)
    values = register.unpack(value) if register else {}
    if "Start_BD_ID" in values:
        number = (offset - kind.queue_base) // kind.channel_stride
        found.tasks.append(_task(found.image, place, number, values))


def _task(image: RegisterImage, place: Place, number: int, values: dict[str, int]) -> StartedTask:
    kind = TILE_KINDS[image.kind(place)]
    direction, channel = divmod(number, kind.channels)
    chain, ring = _chain(image, place, values["Start_BD_ID"])
    return StartedTask(
        channel=f"{kind.name}({place[0]},{place[1]}) {DIRECTIONS[direction]} {channel}",
        chain=chain,
        words=tuple(_descriptor(image, place, bd).length for bd in chain),
        ring=ring,
        runs=values["Repeat_Count"] + 1,
        token=bool(values.get("Enable_Token_Issue")),
    )


def _chain(image: RegisterImage, place: Place, bd: int) -> tuple[tuple[int, ...], bool]:
    """BD numbers of a chain, each once, and whether it loops back."""
    seen: list[int] = []
    following: int | None = bd
    while following is not None and following not in seen:
        seen.append(following)
        following = _descriptor(image, place, following).next
    return tuple(seen), following is not None


def _descriptor(image: RegisterImage, place: Place, bd: int) -> Descriptor:
    kind = TILE_KINDS[image.kind(place)]
    first = kind.bd_base + bd * kind.bd_stride
    words = [image.read(place, first + n * WORD_BYTES) for n in range(kind.bd_words)]
    return descriptor_of(kind, unpack(kind, words))


def channels_of(summary: Summary) -> Iterator[tuple[str, list[StartedTask]]]:
    """Each channel with its tasks, in the order of their first ones."""
    found: dict[str, list[StartedTask]] = {}
    for task in summary.tasks:
        found.setdefault(task.channel, []).append(task)
    yield from found.items()
