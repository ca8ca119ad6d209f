"""A program of IRON, or a text of MLIR, as a design that stands still: its array and its descriptors."""

from __future__ import annotations

import ast
import shlex
import tempfile
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from memtile.access.lowering.certificate import QueueEntry
from memtile.access.request import WORD_BITS
from memtile.arch.tiles import WORD_BYTES
from memtile.bd.windows import place_of_address
from memtile.check.checked_program import Subject, of_mlir
from memtile.check.task_list import GivenTask, StaticBd, kind_of
from memtile.design.array_picture import array_svg
from memtile.errors import InputFileError, MemtileError
from memtile.explain.names import called, channel_name
from memtile.importers.design import load_still
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.token_packets import Text
from memtile.iron.aie_names import LIST
from memtile.iron.program_design import load_iron_still
from memtile.iron.taking import Taking
from memtile.runs.external_uses import ExternalUse
from memtile.sim.loop.engine import Engine

PROGRAM = "program.py"
_ONE_FILE = "The browser has NumPy, memtile and this file; memtile run on your computer has all others."
_NOT_HERE = ("ModuleNotFoundError", "FileNotFoundError", "cannot import name")
_COMPUTED = ("('bfloat16'", "not 'tuple'")  # what NumPy says of the stand-in of bfloat16
_COMMANDS = ("memtile", "python", "python3", PROGRAM)
_DEEP = tuple("abcdef")  # programs look for the folders that they are in
_MOST_PRINTED = 50_000  # characters
_LAST = 40  # lines of what a program prints that are shown with an error
_SHOWN = 12  # names in a line
_AWAY = {"west": -1, "own": 0, "east": 1}  # columns
_LEAST, _MOST, _ROWS, _SHAPE = 4, 1024, 32, 2  # of a row of the picture; how wide one is, beside its height


@dataclass(frozen=True)
class Memory:
    """What a descriptor moves.

    Attributes:
        name: of a buffer, or of an argument of the host sequence.
        first: byte at which it begins, as the channel counts.
        shape: of its elements.
        bits: of an element.
    """

    name: str
    first: int
    shape: tuple[int, ...]
    bits: int


@dataclass(frozen=True)
class Part:
    """A descriptor that a channel is given.

    Attributes:
        label: channel, number, and what it moves.
        bd: the descriptor.
        runs: how often its task is run; 1 of an endless one.
        memory: what it moves.
    """

    label: str
    bd: StaticBd
    runs: int
    memory: Memory


class _Printed(StringIO):
    """What a program prints, up to a length."""

    def write(self, text: str) -> int:
        room = _MOST_PRINTED - self.tell()
        super().write(text if len(text) <= room else text[: max(room, 0)])
        return len(text)


def of_program(text: str, arguments: str) -> tuple[dict[str, Any], list[Part]]:
    """The design of a program of IRON, as the browser shows it, and its descriptors.

    Args:
        text: of the program.
        arguments: of its command line, in one line.

    Raises:
        InputFileError: arguments that are none, or a program that fails, with its line and what it printed.
        MemtileError: a design that the array cannot hold.
    """
    words = _words(arguments)
    _refuse_other_files(text)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, *_DEEP)
        place.mkdir(parents=True)
        file = place / PROGRAM
        file.write_bytes(text.encode("utf-8", "replace"))
        printed = _Printed()
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                loaded, found = load_iron_still(str(file), words)
        except MemtileError as error:
            raise _without(f"{place}/", error, printed.getvalue()) from None
        shown, parts = _shown(loaded, " ".join([PROGRAM, *map(shlex.quote, words)]), _parameters(found))
    return {**shown, "printed": printed.getvalue().replace(f"{place}/", "").rstrip()}, parts


def of_mlir_text(text: str) -> tuple[dict[str, Any], list[Part]]:
    """The design of a text of MLIR, as the browser shows it, and its descriptors.

    Raises:
        MemtileError: as ``memtile.load``.
    """
    return _shown(load_still(Text("design.mlir", text)), "design.mlir")


def names() -> str:
    """What programs may import, a module a line."""
    from memtile.iron.names import names as listed

    return "\n".join(f"{module}: {', '.join(found)}" for module, found in listed().items())


def _words(arguments: str) -> list[str]:
    try:
        words = shlex.split(arguments)
    except ValueError as error:
        raise InputFileError(f"the arguments cannot be split into words: {error}.") from None
    if words and Path(words[0]).name in _COMMANDS:
        raise InputFileError(
            f"the arguments begin with {words[0]}. Give only what stands behind the program's name, "
            f"such as -M 128 --dev npu."
        )
    return words


def _refuse_other_files(text: str) -> None:
    """Refuse imports of files beside the program; text that is no Python is left to others."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            name = f"{'.' * node.level}{node.module or ''}"
            raise InputFileError(
                f"{PROGRAM}:{node.lineno}: {name} is another file of the program. {_ONE_FILE}"
            )


def _without(folder: str, error: MemtileError, printed: str) -> InputFileError:
    """An error without the folder that the program is in here, and with what the program printed."""
    said = "\n".join(error.messages).replace(folder, "")
    if any(each in said for each in _NOT_HERE):
        said += f"\n{_ONE_FILE}"
    if any(each in said for each in _COMPUTED):
        said += "\nThe browser has no arithmetic of bfloat16, only its places in memory."
    if LIST in said:
        said += "\nThe list is below."
    tail = "\n".join(printed.replace(folder, "").strip().splitlines()[-_LAST:])
    return InputFileError(f"{said}\n\nThe program prints:\n{tail}" if tail else said)


def _parameters(found: Taking) -> Iterator[str]:
    if found.options:
        names = [min(each.option_strings, key=len, default=name) for name, each in found.options.items()]
        yield f"arguments of the program: {_listed(names)}"
    for design, values in found.designs[:1]:
        chosen = [f"{name} = {values[name]}" for name in design.parameters.compile if name in values]
        if chosen:
            yield f"parameters of {design.generator_name}: {_listed(chosen)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _shown(loaded: Loaded, file: str, more: Iterable[str] = ()) -> tuple[dict[str, Any], list[Part]]:
    picture = array_svg(loaded.array)  # before its tasks are taken out of the queues
    subject = of_mlir(loaded)
    parts = list(_parts(loaded, subject))
    runs = f"Runs are not here: memtile run {file} does them on your computer."
    text = "\n".join([*_summary(loaded), *more, "", *_channels(subject), "", runs])
    return {"kind": "design", "array": picture, "text": text, "parts": [each.label for each in parts]}, parts


def _summary(loaded: Loaded) -> Iterator[str]:
    device, array = loaded.configured.device, loaded.array
    tiles, cores = len(array.tiles), len(device.cores)
    yield f"{array.device.name}: {tiles} tiles in use, {cores} core{'s' * (cores != 1)}"
    arguments = loaded.sequence.arguments if loaded.sequence is not None else ()
    kinds = ["x".join([*map(str, each.shape), each.element]) for each in arguments]
    numbered = [f"{n}: {each}" for n, each in enumerate(kinds)]
    yield f"arguments of the host sequence: {_listed(numbered) or 'none'}"
    for fifo in device.fifos.values():
        ends = [_place(loaded, fifo.producer), *(_place(loaded, each) for each in fifo.consumers)]
        kind = "x".join([*map(str, fifo.element.shape), fifo.element.element])
        depth = ", ".join(map(str, fifo.depths))
        yield f"object FIFO {fifo.name}: {ends[0]} -> {', '.join(ends[1:])}, {kind}, depth {depth}"
    external = [name for name, each in device.functions.items() if not each.regions]
    if external:
        yield f"kernels, of which only the names are used here: {_listed(external)}"


def _place(loaded: Loaded, tile: str) -> str:
    found = loaded.configured.tiles.get(tile)
    return found.label.strip() if found is not None else tile


def _channels(subject: Subject) -> Iterator[str]:
    """A line for each channel: its tasks and what they move in all."""
    of = defaultdict[int, list[GivenTask]](list)
    for task in subject.log.tasks:
        of[task.ch].append(task)
    for ch, tasks in sorted(of.items()):
        bds = sorted({bd.number for task in tasks for bd in task.bds})
        words = None if any(task.endless for task in tasks) else sum(task.words or 0 for task in tasks)
        many = f"{len(tasks)} task{'s' * (len(tasks) != 1)}"
        moved = "without an end" if words is None else f"{words} words in all"
        yield f"{called(subject.engine, ch)}: {many}, BD {', '.join(map(str, bds))}, {moved}"


def _parts(loaded: Loaded, subject: Subject) -> Iterator[Part]:
    """The descriptors of each channel, each once."""
    external = _External(loaded, subject.engine)
    seen = set[tuple[int, StaticBd, int, Memory]]()
    for task in sorted(subject.log.tasks, key=lambda task: task.ch):
        for bd in task.bds:
            runs = 1 if task.endless or len(task.bds) > 1 else task.runs
            moved = external.next_of(task.ch, bd) or _buffer_of(loaded, subject.engine, task.ch, bd)
            if (task.ch, bd, runs, moved) not in seen:
                seen.add((task.ch, bd, runs, moved))
                again = f", {task.runs} times" if task.runs > 1 else ""
                label = f"{called(subject.engine, task.ch)} BD {bd.number}: {moved.name}{again}"
                yield Part(label, bd, runs, moved)


class _External:
    """The arguments of the host sequence that its descriptors move, channel by channel in order."""

    def __init__(self, loaded: Loaded, engine: Engine) -> None:
        self._engine, self._uses = engine, defaultdict[str, deque[ExternalUse]](deque)
        self._arguments = loaded.sequence.arguments if loaded.sequence is not None else ()
        if loaded.sequence is not None and not loaded.sequence.is_open:
            for use in loaded.uses({}):
                self._uses[use.who].append(use)

    def next_of(self, ch: int, bd: StaticBd) -> Memory | None:
        """What the next descriptor of a channel moves; None if that is no argument."""
        uses = self._uses[f"{channel_name(self._engine, ch)}, BD {bd.number}"]
        use = uses.popleft() if uses else None
        if use is None or use.argument is None:
            return None
        kind = self._arguments[use.argument]
        bits = kind.dtype.itemsize * 8 if kind.dtype is not None else WORD_BITS
        return Memory(f"argument {use.argument} from byte {use.first} on", 0, kind.shape, bits)


def _buffer_of(loaded: Loaded, engine: Engine, ch: int, bd: StaticBd) -> Memory:
    """The buffer in which a descriptor begins, or memory without a name."""
    index, address = int(engine.channels.tile[ch]), bd.descriptor.address
    kind, column, row = (
        kind_of(engine, index),
        *map(int, (engine.tiles.column[index], engine.tiles.row[index])),
    )
    place = place_of_address(kind, address)
    if place is not None:
        there = (column + _AWAY[place.window], row)
        buffers = [each for tile in loaded.array.tiles if tile.place == there for each in tile.buffers]
        for each in buffers:
            if each.offset <= place.local * WORD_BYTES < each.offset + each.nbytes:
                first = kind.memory_windows[place.window] + each.offset
                return Memory(each.name, first, each.shape, each.dtype.itemsize * 8)
    return Memory(f"memory from word {address} on", address * WORD_BYTES, (), WORD_BITS)


def queue_entry(part: Part) -> QueueEntry:
    """The descriptor with its runs."""
    return QueueEntry((part.bd.descriptor,), part.runs)


def picture_shape(part: Part) -> tuple[int, ...]:
    """The shape in which the buffer of a descriptor is drawn: a long row is cut at a step of its."""
    memory = part.memory
    size = int(np.prod(memory.shape)) if memory.shape else 0
    if not size or len(memory.shape) > 1 or size <= _ROWS:
        return memory.shape
    per_word = WORD_BITS / memory.bits
    steps = [int(dim.step * per_word) for dim in part.bd.descriptor.dims]
    widths = [each for each in steps if _LEAST <= each <= _MOST and size % each == 0 and each < size]
    usual = [each for each in (1 << n for n in range(_MOST.bit_length())) if size % each == 0]
    width = min(widths or usual, key=lambda each: abs(log(each * each / size / _SHAPE)))
    return (size // width, width)
