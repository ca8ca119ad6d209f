"""Kernels of the cores of a device, attached to their tiles.

It also has the end of an object FIFO as a core uses it: how many objects it holds, and which comes next.

It also says what goes wrong while a core body runs: an error of the operation of the text.

A generated line is the number of its operation, and one (``quote.Lines``). Functions of ``arithmetic`` that
may fail get that number, so that compiled code, which knows no lines, can say it too.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from inspect import isgeneratorfunction
from types import TracebackType
from typing import Any

from memtile.arch.core_costs import CoreCosts
from memtile.corelib.call_costs import GIVEN, MEASURED, RANGE, RULE, UNKNOWN, CallCost
from memtile.corelib.registry import External
from memtile.corelib.rounding import OF_REGISTER
from memtile.cpp.comparison import compared
from memtile.cpp.kernel_calls import KernelCalls
from memtile.cpp.kernels import CppFunction
from memtile.design.locks import Lock
from memtile.errors import InputFileError, Problem, raise_if
from memtile.explain.imbalance import IMBALANCES
from memtile.explain.kernel_findings import FINDINGS
from memtile.importers.kernels.arithmetic import (
    AMOUNT,
    DIVISOR,
    ENDLESS,
    GAPS,
    NUMBER,
    OUTSIDE,
    OVERFLOW,
    QUOTIENT,
    SHIFT,
    SIZE,
    STEP,
    ZERO,
    BodyError,
)
from memtile.importers.kernels.body import CoreProgram, translate
from memtile.importers.kernels.body_operands import CoreBuffer, for_user, working_type
from memtile.importers.kernels.body_operations import ENDLESS_TURNS
from memtile.importers.kernels.body_segments import BodySegment
from memtile.importers.kernels.cascade_handlers import from_words, to_words
from memtile.importers.kernels.core_acts import acts_by_text
from memtile.importers.kernels.core_locks import released_by_core
from memtile.importers.kernels.cpp_arguments import cpp_findings
from memtile.importers.kernels.lock_balance import imbalances
from memtile.importers.kernels.user_functions import (
    CALLED,
    FREE_CALLS,
    CoreFunctions,
    Externals,
    asks_for_core,
    check_answer,
    check_functions,
    missing_function,
    published_cost,
    signature_of,
    uncalled,
    without_result,
)
from memtile.importers.kernels.without_words import generator_without_words
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import CoreDescription
from memtile.importers.mlir.fifos import FifoEnd
from memtile.importers.mlir.forms.operand_faults import operation_error
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation
from memtile.runs.core_kernels import WITHOUT_WORDS
from memtile.sim.kernels.actions import Action, LockOperation
from memtile.sim.kernels.isolation import keeps_apart, known_to_reach
from memtile.sim.kernels.kernel_core import BY_TEXT, RELEASES, Core, Kernel
from memtile.sim.kernels.kernel_lines import POLLS, SAID, Said
from memtile.sim.kernels.lost_results import LOST, lost_by
from memtile.sim.loop.timing_only import words_wanted

_LONGEST = 100  # characters of a Python message that are shown
_USERS = "timed"  # function that calls those of the user


@contextmanager
def told(files: Container[str], sites: Sequence[Operation]) -> Iterator[None]:
    """What fails within, in generated lines, is an error of the operation that they came from.

    Args:
        files: names of the body and of its pieces in tracebacks.
        sites: operations by their number.

    Raises:
        InputFileError: in the place of what was raised. What functions of the user raise passes.
    """
    try:
        yield
    except BodyError as error:
        site, code, one, other = error.args
        says, allowed, reason = _FAULTS[code](one, other)
        raise operation_error(sites[site], says, allowed, reason=reason) from error
    except (ArithmeticError, LookupError, NameError, TypeError, ValueError, AttributeError) as error:
        line = _line_of(files, error.__traceback__)
        if line is None:
            raise
        says, allowed = f"it cannot be computed: {_cause(error)}", "values of the types that it needs"
        raise operation_error(sites[line - 1], says, allowed, reason="mlir_body") from error


def said_in(sites: Sequence[Operation]) -> Said:
    """The text that generated Python was made of.

    Args:
        sites: operations by their number; the first one is the core.
    """
    text = sites[0].tokens.text

    @cache
    def line_of(line: int) -> int:
        operation = sites[line - 1]
        tokens = operation.tokens
        return tokens.text.line(tokens.offset(operation.at))

    return Said(text.name, line_of)


def _cause(error: Exception) -> str:
    if isinstance(error, NameError):
        return "a value that it uses has not been computed yet"
    return f"{type(error).__name__}: {str(error)[:_LONGEST]}".rstrip(".")


def _line_of(files: Container[str], traceback: TracebackType | None) -> int | None:
    """Line of the generated code that failed; None if a function of the user did."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in files:
            found = traceback.tb_lineno
        elif code.co_name == _USERS:
            found = None
        traceback = traceback.tb_next
    return found


Says = tuple[str, str, str]
_FAULTS: Mapping[int, Callable[[int, int], Says]] = {
    OUTSIDE: lambda index, size: (
        f"index {index} is outside of {size} elements",
        f"0..{size - 1}",
        "mlir_index",
    ),
    ZERO: lambda number, _: (f"{number} is divided by zero", "another number than 0", "mlir_division"),
    SHIFT: lambda count, bits: (f"it shifts by {count}", f"0..{bits - 1}", "mlir_shift"),
    NUMBER: lambda _, __: (
        "a number that is infinite or none is made whole",
        "finite numbers",
        "mlir_number",
    ),
    OVERFLOW: lambda number, bits: (
        f"a result of {number} and another number does not fit {bits} bits, which the text says it does",
        f"results of {bits} bits",
        "mlir_overflow",
    ),
    QUOTIENT: lambda number, bits: (
        f"the quotient of {number} and -1 does not fit {bits} bits",
        f"results of {bits} bits",
        "mlir_overflow",
    ),
    DIVISOR: lambda number, _: (f"an index is divided by {number}", "1 or more", "mlir_division"),
    SIZE: lambda size, wanted: (
        f"memory that it uses has {size} elements in a dimension where its type has {wanted}",
        f"{wanted} elements",
        "mlir_type",
    ),
    AMOUNT: lambda size, wanted: (
        f"{size} elements get a shape of {wanted}",
        "as many elements",
        "mlir_type",
    ),
    GAPS: lambda _, __: ("its memory has gaps", "elements that follow each other", "mlir_type"),
    STEP: lambda step, _: (f"its step is {step}", "1 or more", "mlir_loop"),
    ENDLESS: lambda cycles, most: (
        f"{cycles} cycles pass in it without an end",
        f"up to {most} cycles between two synchronisations",
        "mlir_endless",
    ),
}


class FifoPort:
    """One end of an object FIFO for one core.

    To acquire n objects is to hold n: only those that are missing are taken, all at once. To release gives
    back the oldest ones (mlir-aie, aie.objectfifo.acquire and release).

    Args:
        core: that uses it.
        views: of the buffers, in turn.
        take: lock that counts the objects it may take; None without locks.
        give: lock that counts those it gave.
        units: by how much the locks change for an object.
    """

    def __init__(
        self, core: Core, views: Sequence[Any], take: Lock | None, give: Lock | None, units: int = 1
    ) -> None:
        self._core, self._views, self._take, self._give, self._units = core, views, take, give, units
        self._held = self._first = 0  # what is held is counted in units of the locks (DEV-FIFO-1)

    def acquire(self, count: int) -> Iterator[LockOperation]:
        """Hold so many objects."""
        missing = (count - self._held) * self._units
        if missing > 0:
            if self._take is not None:
                yield self._core.acquire(self._take, -missing)
            self._held += missing

    def release(self, count: int) -> Iterator[LockOperation]:
        """Give back so many, the oldest first."""
        units = count * self._units
        if self._give is not None and count:
            yield self._core.release(self._give, units)
        self._held -= units
        self._first = (self._first + count) % len(self._views)

    def objects(self, count: int) -> list[Any]:
        """Views of the oldest objects that it holds."""
        return [self.object_at(number) for number in range(count)]

    def object_at(self, number: int) -> Any:
        """View of one of the objects that it holds, counted from the oldest."""
        return self._views[(self._first + number) % len(self._views)]


_DIGITS = 10  # of that number


def kernels(
    made: Configured, functions: CoreFunctions, costs: CoreCosts | None = None
) -> dict[tuple[int, int], Kernel]:
    """The kernels of all cores that have a body, by column and row.

    Args:
        made: the device in its array.
        functions: that the bodies call and the module only declares: they get NumPy views and numbers, the
            core if they ask for ``*, core``, and may have ``cycles``; generators give actions of that core.
        costs: cycles of operations.

    Raises:
        InputFileError: operations that are not known, or functions without an implementation; all of them.
    """
    found, problems, wrong = {}, list[Problem](), imbalances(made)
    missing: dict[str, Operation] = {}
    called = set[str]()
    for core in made.device.cores:
        if not core.has_body:
            continue
        try:
            program = translate(
                made.device, core.operation, costs or CoreCosts(), made.array.device.generation
            )
        except InputFileError as error:
            problems += error.problems
            continue
        externals = functions.of(core.tile)
        missing |= {name: op for name, op in program.externals.items() if name not in externals}
        place = made.tiles[core.tile].place
        assert place is not None
        found[place] = _kernel(made, core, program, externals, costs or CoreCosts())
        setattr(found[place], IMBALANCES, wrong[core.tile])
        called |= program.externals.keys()
    problems += [problem for name, op in missing.items() for problem in missing_function(name, op)]
    problems += [uncalled(name, called) for name in (costs or CoreCosts()).functions if name not in called]
    raise_if(problems, InputFileError)
    check_functions(made.device, functions)
    return found


def _polls(program: CoreProgram) -> Iterator[tuple[str, tuple[str, str]]]:
    """Loops that wait for memory: by the place of each of their operations their own, and what they read."""
    buffers = program.device.buffers
    for loop in program.polls:
        reads = [OperationForm(each).values[0] for each in loop.walk() if each.name == "memref.load"]
        names = [buffers[value].name if value in buffers else value for value in dict.fromkeys(reads)]
        yield from ((_place(each), (_place(loop), " and ".join(names))) for each in loop.walk())


def _place(operation: Operation) -> str:
    text = operation.tokens.text
    return f"{text.name}:{text.line(operation.tokens.offset(operation.at))}"


def is_endless(core: CoreDescription) -> bool:
    """Whether a body has a loop that is meant to have no end, as IRON writes it."""
    texts = (word.lstrip("0") for inner in core.operation.walk() for word in inner.words)
    numbers = (text for text in texts if text.isascii() and text.isdigit())
    return any(len(text) > _DIGITS or int(text) >= ENDLESS_TURNS for text in numbers)


def _kernel(
    made: Configured, core: CoreDescription, program: CoreProgram, externals: Externals, costs: CoreCosts
) -> Kernel:
    file, said = f"<core {made.tiles[core.tile].title}>", said_in(program.sites)
    helpers = {"for_user": for_user, "to_words": to_words, "from_words": from_words, SAID: said}
    body: Callable[..., Iterator[Action]] = program.generator(file, helpers)
    segments = [piece for piece in program.names.values() if isinstance(piece, BodySegment)]
    for segment in segments:
        segment.said = said
    files = {file, *(segment.file for segment in segments)}
    pieces = {value: piece_of(made, value) for value in program.buffers}
    free = set[str]()
    given = {name: externals[name] for name in program.externals if name in externals}
    device = made.array.device.name

    def count_of(name: str) -> int | None:
        return None if isinstance(given[name], CppFunction) else costs.functions.get(name)

    def called(name: str, running: Core) -> Callable[..., Any]:
        function = given[name]
        if not isinstance(function, CppFunction):
            return function
        declared = program.externals[name]
        calls = function.calls(running, signature_of(declared, core.stack))
        count = costs.functions.get(name, function.stated)
        return _charged(function, calls, published_cost(declared, device), count, partial(free.add, name))

    def kernel(running: Core) -> Iterator[Action]:
        rounding, saturates, _ = program.modes
        running.modes.set(OF_REGISTER[rounding], "saturate" if saturates else "none")
        views = {value: running.view(piece) for value, piece in pieces.items()}
        ports = dict(_ports(made, core.tile, running))
        timed = _timed if words_wanted() else _timed_alone
        calls = {
            name: timed(
                called(name, running),
                running,
                program.externals[name],
                count_of(name),
                partial(free.add, name),
            )
            for name in given
        }
        run = body if words_wanted() else without_words()
        with told(files, program.sites):
            yield from run(running, views, made.locks, ports, calls)

    without_words = _without_words(program, file, helpers, {n: (given[n], count_of(n)) for n in given})
    setattr(kernel, WITHOUT_WORDS, without_words)
    setattr(kernel, FREE_CALLS, free)
    setattr(kernel, SAID, said)
    _note_facts(kernel, made, core, program, given)
    return kernel


def _places(made: Configured, tile: str, program: CoreProgram) -> set[tuple[int, int]]:
    """Columns and rows of the tiles whose buffers and locks a body names, or has as ends of object FIFOs."""
    ends = [end for _, end in _ends(made, tile)]
    buffers, locks = set(program.buffers), set(program.locks)
    buffers.update(value for end in ends for value in end.buffers)
    locks.update(value for end in ends for value in (end.free, end.full) if value in made.locks)
    places = {made.buffers[value].place for value in buffers} | {made.locks[value].place for value in locks}
    return {place for place in places if place is not None}


def piece_of(made: Configured, value: str) -> CoreBuffer:
    """A buffer in the type that generated code works with."""
    buffer, shape = made.buffers[value], made.device.buffers[value].shape
    return CoreBuffer(
        buffer.name, buffer.offset, shape.shape or (1,), working_type(shape.element), buffer.place
    )


def _ports(made: Configured, tile: str, core: Core) -> Iterator[tuple[tuple[str, str], FifoPort]]:
    """The ends of object FIFOs that a core uses, by name of the FIFO and port."""
    for (name, port), end in _ends(made, tile):
        take, give = (end.free, end.full) if port == "Produce" else (end.full, end.free)
        views = [core.view(piece_of(made, value)) for value in end.buffers]
        locks = made.locks.get(take), made.locks.get(give)
        yield (name, port), FifoPort(core, views, *locks, end.units)


def _ends(made: Configured, tile: str) -> Iterator[tuple[tuple[str, str], FifoEnd]]:
    for name, end in made.fifos.producers.items():
        if end.tile == tile:
            yield (name, "Produce"), end
    for (name, user), end in made.fifos.consumers.items():
        if user == tile:
            yield (name, "Consume"), end


_WITH_COST = External, CppFunction
_TRUSTED = MEASURED, RULE, RANGE


def _charged(
    function: CppFunction,
    calls: KernelCalls,
    published: Callable[..., CallCost] | None,
    count: int | None,
    free: Callable[[], object],
) -> Callable[..., Any]:
    """A C++ function that says what its calls take: what is given, else published, else counted.

    Where none of these says it, ``free`` is called.
    """

    reference = function.reference
    checked: Callable[..., Generator[Action, Any, Any]] = calls
    if reference is not None:
        checked = compared(function.__name__, calls, reference, calls.where)

    def run(*given: Any) -> Generator[Action, Any, Any]:
        return (yield from checked(*given))

    def cycles(*given: Any) -> int:
        found = CallCost(count, GIVEN) if count is not None else published(*given) if published else None
        if found is None or found.basis not in (*_TRUSTED, GIVEN):
            found = calls.cost()
        if found.basis == UNKNOWN:
            free()
        function.charged[found] = None
        return found.cycles

    run.cycles = cycles  # type: ignore[attr-defined]
    return run


def _note_facts(
    kernel: Any, made: Configured, core: CoreDescription, program: CoreProgram, given: Externals
) -> None:
    """Note on a kernel what is known of it without running it."""
    kernel.endless = is_endless(core) or None
    setattr(kernel, POLLS, dict(_polls(program)))
    if all(keeps_apart(each) or isinstance(each, External) for each in given.values()):
        known_to_reach(kernel, _places(made, core.tile, program))
    setattr(kernel, CALLED, {name: each for name, each in given.items() if isinstance(each, _WITH_COST)})
    setattr(kernel, LOST, lost_by(without_result(given, program.externals)))
    setattr(kernel, FINDINGS, cpp_findings(made.device, core.operation, given))
    takes_locks = any(asks_for_core(each) for each in given.values())
    setattr(kernel, RELEASES, None if takes_locks else released_by_core(made, core))
    computes = not takes_locks and not any(isinstance(each, CppFunction) for each in given.values())
    setattr(kernel, BY_TEXT, computes and acts_by_text(made.device, core))


def _without_words(
    program: CoreProgram,
    file: str,
    helpers: Mapping[str, Any],
    calls: Mapping[str, tuple[Callable[..., Any], int | None]],
) -> Callable[[], Callable[..., Iterator[Action]]]:
    """What gives the body for runs without data, see :func:`generator_without_words`.

    Args:
        program: of the core.
        file: that tracebacks show.
        helpers: what the body calls beside its pieces.
        calls: functions of the user, and their cycles where they are given, by name.
    """

    @cache
    def made() -> Callable[..., Iterator[Action]]:
        for name, (function, count) in calls.items():
            _must_be_timed_alone(program.externals[name], function, count, program.tile)
        return generator_without_words(program, file, helpers)

    return made


def _must_be_timed_alone(
    declared: Operation, function: Callable[..., Any], count: int | None, tile: str
) -> None:
    """Refuse a function whose actions or cycles only its run shows.

    Raises:
        InputFileError: it is such.
    """
    name = getattr(function, "__name__", "a function")
    if isinstance(function, External):
        return
    if isinstance(function, CppFunction):
        says = "its C++ code decides what it does, and may look at words"
    elif asks_for_core(function) or isgeneratorfunction(function):
        says = "it acts upon its core, and may look at words"
    elif count is None and callable(getattr(function, "cycles", None)):
        says = "a function of its arguments gives its cycles, and may look at words"
    else:
        return
    where = f"core {tile} calls {name}"
    raise operation_error(
        declared, f"{where}: {says}, which a run without data has not", "a run with data", reason="no_words"
    )


def _charged_cycles(function: Callable[..., Any], count: int | None) -> Any:
    """``count``, noted with a function of the library, or what the function says of its cycles."""
    if isinstance(function, External) and count is not None:
        function.charged[CallCost(count, GIVEN)] = None
    return getattr(function, "cycles", None) if count is None else count


def _timed_alone(
    function: Callable[..., Any],
    core: Core,
    declared: Operation,
    count: int | None,
    free: Callable[[], object],
) -> Callable[..., Iterator[Action]]:
    """The cycles of a function that is not called; one that uses the cascade or events is."""
    if isinstance(function, External) and any(p.name == "core" for p in function.entry.parameters):
        return _timed(function, core, declared, count, free)
    cycles = _charged_cycles(function, count)

    def timed(*given: Any) -> Generator[Action, Any, tuple[Any, int]]:
        if cycles is None:
            free()
        yield from ()
        return None, int(cycles(*given) if callable(cycles) else cycles or 0)

    return timed


def _timed(
    function: Callable[..., Any],
    core: Core,
    declared: Operation,
    count: int | None,
    free: Callable[[], object],
) -> Callable[..., Iterator[Action]]:
    """The function as actions of the core, which it gets if it asks for that; with the cycles that it takes.

    What the actions give at their end is its answer, and its cycles: ``count``, or what the function says.
    Where neither says them and it is no generator, which passes time itself, ``free`` is called.
    """
    cycles = _charged_cycles(function, count)
    known = {"core": core} if asks_for_core(function) else {}
    no_answer = "->" not in declared.words

    def timed(*given: Any) -> Generator[Action, Any, tuple[Any, int]]:
        answer = function(*given, **known)
        if isinstance(answer, Generator):
            answer = yield from answer
        elif cycles is None:
            free()
        if no_answer and answer is not None:
            check_answer(declared, answer, given)
        return answer, int(cycles(*given) if callable(cycles) else cycles or 0)

    return timed
