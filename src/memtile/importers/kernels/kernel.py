"""Kernels of the cores of a device, attached to their tiles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from memtile.arch.core_costs import CoreCosts
from memtile.corelib.registry import External
from memtile.errors import InputFileError, Problem, raise_if
from memtile.importers.kernels.body import Program, translate
from memtile.importers.kernels.core_locks import released_by_core
from memtile.importers.kernels.faults import said_in, told
from memtile.importers.kernels.fifo_ports import FifoPort
from memtile.importers.kernels.given import asks_for_core, check_answer, missing_function, wrong_function
from memtile.importers.kernels.links import from_words, to_words
from memtile.importers.kernels.segments import Segment
from memtile.importers.kernels.views import Piece, for_user, working_type
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.fifos import FifoEnd
from memtile.importers.mlir.tree import Operation
from memtile.sim.actions import Action
from memtile.sim.apart import keeps_apart, known_to_reach
from memtile.sim.kernel_lines import SAID
from memtile.sim.kernels import RELEASES, Core, Kernel

Externals = Mapping[str, Callable[..., Any]]
"""Functions of the user by name: they get NumPy views and numbers, the core if they ask for ``*, core``, and
may have ``cycles``; generators give actions of that core."""
_ENDLESS = 1 << 31  # turns of a loop that is meant to have no end
_DIGITS = 10  # of that number


def kernels(
    made: Configured, externals: Externals, costs: CoreCosts | None = None
) -> dict[tuple[int, int], Kernel]:
    """The kernels of all cores that have a body, by column and row.

    Args:
        made: the device in its array.
        externals: functions that the bodies call and the module only declares.
        costs: cycles of operations.

    Raises:
        InputFileError: operations that are not known, or functions that nobody gave; all of them.
    """
    found, problems = {}, list[Problem]()
    missing: dict[str, Operation] = {}
    given: dict[str, Operation] = {}
    for core in made.device.cores:
        if not core.has_body:
            continue
        try:
            program = translate(made.device, core.operation, costs or CoreCosts())
        except InputFileError as error:
            problems += error.problems
            continue
        missing |= {name: op for name, op in program.externals.items() if name not in externals}
        given |= {name: op for name, op in program.externals.items() if name in externals}
        place = made.tiles[core.tile].place
        assert place is not None
        found[place] = _kernel(made, core, program, externals)
    problems += [problem for name, op in missing.items() for problem in missing_function(name, op)]
    problems += [problem for name, op in given.items() for problem in wrong_function(op, externals[name])]
    raise_if(problems, InputFileError)
    return found


def is_endless(core: CoreDescription) -> bool:
    """Whether a body has a loop that is meant to have no end, as IRON writes it."""
    texts = (word.lstrip("0") for inner in core.operation.walk() for word in inner.words)
    numbers = (text for text in texts if text.isascii() and text.isdigit())
    return any(len(text) > _DIGITS or int(text) >= _ENDLESS for text in numbers)


def _kernel(made: Configured, core: CoreDescription, program: Program, externals: Externals) -> Kernel:
    file, said = f"<core {made.tiles[core.tile].title}>", said_in(program.sites)
    helpers = {"for_user": _for_user, "to_words": to_words, "from_words": from_words, SAID: said}
    body: Callable[..., Iterator[Action]] = program.generator(file, helpers)
    segments = [piece for piece in program.names.values() if isinstance(piece, Segment)]
    for segment in segments:
        segment.said = said
    files = {file, *(segment.file for segment in segments)}
    pieces = {value: piece_of(made, value) for value in program.buffers}
    given = {name: externals[name] for name in program.externals if name in externals}

    def kernel(running: Core) -> Iterator[Action]:
        views = {value: running.view(piece) for value, piece in pieces.items()}
        ports = dict(_ports(made, core.tile, running))
        calls = {name: _timed(function, running, program.externals[name]) for name, function in given.items()}
        with told(files, program.sites):
            yield from body(running, views, made.locks, ports, calls)

    kernel.endless = is_endless(core) or None  # type: ignore[attr-defined]
    if all(keeps_apart(each) or isinstance(each, External) for each in given.values()):
        known_to_reach(kernel, _places(made, core.tile, program))
    setattr(kernel, SAID, said)
    setattr(kernel, RELEASES, released_by_core(made, core))
    return kernel


def _places(made: Configured, tile: str, program: Program) -> set[tuple[int, int]]:
    """Columns and rows of the tiles whose buffers and locks a body names, or has as ends of object FIFOs."""
    ends = [end for _, end in _ends(made, tile)]
    buffers, locks = set(program.buffers), set(program.locks)
    buffers.update(value for end in ends for value in end.buffers)
    locks.update(value for end in ends for value in (end.free, end.full) if value in made.locks)
    places = {made.buffers[value].place for value in buffers} | {made.locks[value].place for value in locks}
    return {place for place in places if place is not None}


def piece_of(made: Configured, value: str) -> Piece:
    """A buffer in the type that generated code works with."""
    buffer, shape = made.buffers[value], made.device.buffers[value].shape
    return Piece(buffer.name, buffer.offset, shape.shape or (1,), working_type(shape.element), buffer.place)


def _ports(made: Configured, tile: str, core: Core) -> Iterator[tuple[tuple[str, str], FifoPort]]:
    """The ends of object FIFOs that a core uses, by name of the FIFO and port."""
    for (name, port), end in _ends(made, tile):
        take, give = (end.free, end.full) if port == "Produce" else (end.full, end.free)
        yield (name, port), _port(made, core, end.buffers, take, give)


def _ends(made: Configured, tile: str) -> Iterator[tuple[tuple[str, str], FifoEnd]]:
    for name, end in made.fifos.producers.items():
        if end.tile == tile:
            yield (name, "Produce"), end
    for (name, user), end in made.fifos.consumers.items():
        if user == tile:
            yield (name, "Consume"), end


def _port(made: Configured, core: Core, buffers: Sequence[str], take: str, give: str) -> FifoPort:
    views = [core.view(piece_of(made, value)) for value in buffers]
    return FifoPort(core, views, made.locks.get(take), made.locks.get(give))


def _for_user(array: Any, element: str) -> Any:
    return for_user(array, element)


def _timed(function: Callable[..., Any], core: Core, declared: Operation) -> Callable[..., Iterator[Action]]:
    """The function as actions of the core, which it gets if it asks for that; with the cycles that it takes.

    What the actions give at their end is its answer, and its cycles.
    """
    cycles = getattr(function, "cycles", 0)
    known = {"core": core} if asks_for_core(function) else {}
    no_answer = "->" not in declared.words

    def timed(*given: Any) -> Generator[Action, Any, tuple[Any, int]]:
        answer = function(*given, **known)
        if isinstance(answer, Generator):
            answer = yield from answer
        if no_answer and answer is not None:
            check_answer(declared, answer, given)
        return answer, int(cycles(*given) if callable(cycles) else cycles)

    return timed
