"""A design of mlir-aie in an array: run it as a host program does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Unpack

import numpy as np
import numpy.typing as npt

from memtile.arch.dispatch import Launch
from memtile.corelib.call_costs import CallCost
from memtile.cpp.comparison import Reference
from memtile.design.array import Array
from memtile.errors import DesignError, InputFileError, Problem
from memtile.explain.conditions import SECONDS as CONDITION_SECONDS
from memtile.explain.findings import Finding
from memtile.explain.imbalance import instead_of_races, with_imbalances, without_races
from memtile.explain.oddities import Oddities, instead_of_waits
from memtile.explain.repairs import SECONDS, Tried
from memtile.importers.external_runs import NamedArrays, filled, run_alone, taken, without_host
from memtile.importers.host_locks import set_instead
from memtile.importers.host_numbers import host_number
from memtile.importers.host_writes import host_write_findings, with_host_writes
from memtile.importers.hosted_array import HostedArray
from memtile.importers.idle_tasks import never_started
from memtile.importers.instructions import instructions_of
from memtile.importers.kernels.call_accounts import CallAccounts
from memtile.importers.kernels.cascade_counts import cascade_findings
from memtile.importers.kernels.host_turns import uneven_findings
from memtile.importers.kernels.lock_balance import imbalances
from memtile.importers.kernels.unheld_buffers import unheld_uses
from memtile.importers.kernels.user_functions import CALLED
from memtile.importers.link_sizes import link_findings, with_links
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.hidden_rules import hidden_findings
from memtile.importers.mlir.left_out_buffers import buffer_findings
from memtile.importers.mlir.moves import moves_of
from memtile.importers.mlir.next_itself import next_findings
from memtile.importers.mlir.sequence.program import (
    NO_SCALARS,
    Scalars,
    SequenceProgram,
    is_scalar,
    program_of,
)
from memtile.importers.mlir.sequence.sequence_reader import NO_PARAMETERS, Parameters
from memtile.importers.mlir.token_flows import token_flow_findings
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.types import Shaped
from memtile.importers.mlir.unstarted_bds import endless_findings, unstarted_findings, with_unstarted
from memtile.importers.timed_alone import timed_alone
from memtile.importers.unmoved_arrays import unmoved_array_findings
from memtile.model.state.causes import CoreCause
from memtile.plain_text import markup_text
from memtile.runs.array_names import Given, Wanted
from memtile.runs.array_regions import LARGEST
from memtile.runs.core_kernels import Kernels, NamedKernels
from memtile.runs.external_uses import ExternalUse, external_uses
from memtile.runs.operation_table import table_of
from memtile.runs.operations import ArrayShape
from memtile.runs.options import USUAL, RunKeywords, RunOptions
from memtile.runs.program import Program, Run
from memtile.runs.session import Session
from memtile.sim.kernels.lost_results import LostResult

_MOST_ZEROS = 1 << 30  # bytes of an argument that was not given
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SHOWN = 8  # arguments that a message lists
_SOURCE = "mlir-aie: aie.device and aie.runtime_sequence"


class Loads(Protocol):
    """Loads another text as a design was loaded."""

    def __call__(self, text: Text, /, *, parameters: Parameters = ...) -> Loaded:
        """With other parameters, where they are given."""
        ...


def _loads_nothing(text: Text, /, *, parameters: Parameters = NO_PARAMETERS) -> Loaded:  # noqa: ARG001
    raise DesignError(f"{text.name}: a design without a run is not loaded again. Load it to run it.")


@dataclass(frozen=True, slots=True, repr=False)
class Loaded:
    """A design of mlir-aie in an array.

    Attributes:
        array: with everything named as in the text; its tiles, buffers, locks and channels.
        configured: the objects made from the values of the text.
        sequence: the host sequence as a program; None if the text has none.
        kernels: that its cores run, by column and row.
        kernels_of: the kernels of another device of the text.
        others: the devices of the text, by symbol.
        notes: parts of the text without effect here.
        parameters: of the scratchpad, by name.
        said: the launch method in the text; None = the text does not give one.
        references: reference functions for calls of C++ functions, by name.
        lost: of a design that is not run, outputs that user functions never write, with the place of the
            core.
        findings: about calls of C++ functions, in a design that is not run.
        source: the text as it was read.
        loads: function that loads another text with the same arguments.
        instead: values of number arguments, by position; they override those of a run.
    """

    array: Array
    configured: Configured
    sequence: SequenceProgram | None
    kernels: Kernels
    kernels_of: Callable[[Configured], Kernels]
    others: Mapping[str, DeviceDescription]
    notes: Sequence[str] = ()
    parameters: Parameters = field(default_factory=dict)
    said: Launch | None = None
    references: Mapping[str, Reference] = field(default_factory=dict)
    lost: Sequence[tuple[tuple[int, int] | None, LostResult]] = ()
    findings: Sequence[Finding] = ()
    source: Text | None = None
    loads: Loads = _loads_nothing
    instead: Scalars = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.sequence is None:
            return f"Loaded({self.array!r}, no host sequence)"
        arguments = ", ".join(_listed_arguments(self.arguments))
        cores = f"{len(self.kernels)} core{'s' * (len(self.kernels) != 1)}"
        return f"Loaded({self.array!r}, {cores}, arguments: {arguments or 'none'})"

    def _repr_html_(self) -> str:
        return f"<p>{markup_text(repr(self))}</p>{self.array._repr_html_()}"

    def run(
        self,
        *arrays: npt.ArrayLike | None,
        parameters: Parameters = NO_PARAMETERS,
        options: RunOptions = USUAL,
        **more: Unpack[RunKeywords],
    ) -> Run:
        """Run the host sequence as the host program does, and return all arguments.

        Args:
            arrays: the arguments by position, arrays or numbers; None or a missing one = zeros, of the length
                in the text.
            parameters: of the scratchpad for this run, by name; the others are as they were loaded.
            options: of the run.
            more: fields of :class:`RunOptions`; they override ``options``.

        Returns:
            The result; ``arrays`` has the final contents of each memory argument, by its number, and the
            external buffers of the text by name. They are the arguments of a text without host sequence.

        Raises:
            DesignError: the text has no host sequence.
            InputFileError: more arrays than arguments, or arrays that are too short.
        """
        options = RunOptions.of(options, more)
        if self._runs_alone:
            return self._alone(arrays, options)
        arguments = self.arguments
        if len(arrays) > len(arguments):
            raise InputFileError(_too_many(arrays, arguments))
        scalars, made = _told_apart(arguments, arrays)
        uses = self.uses(scalars, parameters)
        written = [n for n in made if any(use.writes and use.argument == n for use in uses)]
        done = self.run_with(
            [Given(str(n), array) for n, array in made.items() if uses],
            [Wanted(str(n), made[n].dtype, made[n].shape) for n in written],
            scalars=scalars,
            parameters=parameters,
            options=options,
        )
        if not options.data:
            return done
        own = {str(n): done.arrays.get(str(n), array) for n, array in made.items()}
        return replace(done, arrays={**own, **self.configured.external})

    def repairs(
        self,
        *arrays: npt.ArrayLike | None,
        expected: Mapping[str, npt.NDArray[Any]] | None = None,
        options: RunOptions = USUAL,
        seconds: float = SECONDS,
    ) -> Tried:
        """Try changes of the text, one at a time, and return those that make the design finish.

        Args:
            arrays: the arguments by position, as for :meth:`run`.
            expected: expected arguments after the run, by number; None = unknown.
            options: of each run.
            seconds: time for all runs.

        Returns:
            The repairs, best first; empty for a good design.

        Raises:
            DesignError: the design is not runnable, or the text has no host sequence.
            InputFileError: as :meth:`run`.
        """
        from memtile.importers.text_repairs import repairs

        return repairs(self, arrays, expected, options=options, seconds=seconds)

    def conditions(
        self, *arrays: npt.ArrayLike | None, options: RunOptions = USUAL, seconds: float = CONDITION_SECONDS
    ) -> list[Finding]:
        """Run the design with other host-supplied numbers, and return those that make it hang.

        Args:
            arrays: the arguments by position, as for :meth:`run`.
            options: of each run.
            seconds: time for all runs.

        Returns:
            A finding for each number that decides how the design ends, with its ``condition``.

        Raises:
            InputFileError: a number argument without a number.
        """
        from memtile.importers.scalar_conditions import ScalarConditions

        def once(made: Loaded, how: RunOptions) -> Run:
            return made.run(*arrays, options=how)

        given = [Given(str(n), np.asarray(each)) for n, each in enumerate(arrays) if each is not None]
        return ScalarConditions(self, once, self.numbers_of(given)).search(options, seconds=seconds)

    def numbers_of(self, given: Sequence[Given]) -> dict[int, int]:
        """Return the values of number arguments, by position, from arrays by name.

        Raises:
            InputFileError: a number argument without a number.
        """
        return {} if self.sequence is None else _numbers_of(self.arguments, given)

    def hosted(self, *arrays: npt.ArrayLike | None) -> HostedArray:
        """The design as one that a ``design()`` function returns: its run is that of the host sequence.

        Args:
            arrays: the arguments by position, as for :meth:`run`.
        """
        return HostedArray.of(self, arrays)

    @property
    def arguments(self) -> Sequence[Shaped]:
        """Shapes and types of the arguments of the host sequence, by position.

        Raises:
            DesignError: the text has no host sequence.
        """
        if self.sequence is None:
            raise DesignError(_NO_SEQUENCE)
        return self.sequence.arguments

    @property
    def used_arguments(self) -> frozenset[int]:
        """The arguments of the host sequence, by position, that the array reads or writes.

        Raises:
            DesignError: the text has no host sequence.
            InputFileError: its steps depend on number arguments.
        """
        return self.arguments_used()

    @property
    def oddities(self) -> Oddities:
        """Legal but rarely intended settings in the descriptors and transfers of the text."""
        return self._odd(self.sequence)

    def _odd(self, sequence: SequenceProgram | None) -> Oddities:
        devices = (self.configured, *(sequence.loads if sequence is not None else ()))
        of_chains = (move for made in devices for move in moves_of(made))
        rules = (next_findings, buffer_findings, hidden_findings, cascade_findings)
        chained = {each.message: each for made in devices for rule in rules for each in rule(made)}
        chained |= {each.message: each for each in token_flow_findings(devices)}
        if sequence is not None:
            for of_host in (endless_findings, unstarted_findings, uneven_findings):
                chained |= {each.message: each for each in of_host(self.configured, sequence)}
            used = partial(self._arguments_of, sequence)
            chained |= {each.message: each for each in unmoved_array_findings(sequence, used)}
        moves = sequence.moves if sequence is not None else ()
        chain_findings = tuple(chained.values())  # of a device that is loaded again once
        return Oddities((*of_chains, *moves), chain_findings, partial(_unheld, devices))

    def arguments_used(self, scalars: Scalars = NO_SCALARS) -> frozenset[int]:
        """Return the arguments that the array reads or writes, if the steps depend on number arguments.

        Args:
            scalars: their values, by position.

        Raises:
            DesignError: the text has no host sequence.
            InputFileError: numbers without a value.
        """
        return self._arguments_of(self._sequence(scalars))

    def _arguments_of(self, sequence: SequenceProgram) -> frozenset[int]:
        """The arguments that steps of a host sequence read or write."""
        uses = external_uses(sequence.steps, ArrayShape.of(self.array.device, self.array.columns))
        return frozenset(use.argument for use in uses if use.argument is not None)

    def run_with(
        self,
        given: Sequence[Given],
        wanted: Sequence[Wanted],
        *,
        scalars: Scalars = NO_SCALARS,
        parameters: Parameters = NO_PARAMETERS,
        options: RunOptions = USUAL,
        **more: Unpack[RunKeywords],
    ) -> Run:
        """Run the host sequence with arrays by name, as ``memtile run`` does.

        Args:
            given: arrays in, by name: the number of an argument, an external buffer of the text, or another
                place of a program. Of a text without host sequence external buffers, by name or number.
            wanted: arrays to return at the end.
            scalars: values of the arguments that are numbers, by position.
            parameters: of the scratchpad for this run, by name; the others are as they were loaded.
            options: of the run.
            more: fields of :class:`RunOptions`; they override ``options``.

        Raises:
            DesignError: the text has no host sequence.
            InputFileError: arrays that do not fit.
        """
        alone = self._runs_alone
        numbers = self.numbers_of(given)
        given, scalars = (
            [each for each in given if each.name not in map(str, numbers)],
            {**scalars, **numbers},
        )
        if not alone:
            wanted = [self._declared(each, given) for each in wanted]
        named = filled(self.configured, given, wanted, alone=alone)
        options = RunOptions.of(options, more)
        if alone:
            done = replace(self._alone((), options), arrays={})
        else:
            check_numbers([*(each.name for each in given), *(each.name for each in wanted)], self, scalars)
            done = self._sequence_run(named, self._sequence(scalars, parameters), options)
        arrays = {**done.arrays, **taken(self.configured, named.own)}
        notes = (*self.notes, *_other_types(self, given), *_costs(done), *_calls(self.kernels), *done.notes)
        if not options.data:
            found = replace(done.result, checks=(), words=False, words_needed_by=())
            return replace(done, result=found, arrays={}, notes=notes)
        return replace(done, arrays=arrays, notes=notes)

    def _declared(self, want: Wanted, given: Sequence[Given]) -> Wanted:
        """A wanted array with the shape and type of the text, unless it has its own or one is given."""
        is_plain = want.dtype is None and want.shape is None and want.name.isdecimal()
        arguments = self.arguments
        if not is_plain or int(want.name) >= len(arguments) or any(each.name == want.name for each in given):
            return want
        kind = arguments[int(want.name)]
        if is_scalar(kind) or kind.dtype is None or not 0 < kind.elements * kind.dtype.itemsize <= LARGEST:
            return want
        return replace(want, dtype=kind.dtype, shape=kind.shape, is_declared=True)

    @property
    def _runs_alone(self) -> bool:
        """Whether there is no host sequence, and cores or external buffers that need none."""
        return self.sequence is None and bool(self.configured.external or self.kernels)

    def _alone(self, arrays: Sequence[npt.ArrayLike | None], options: RunOptions) -> Run:
        """The result of the cores of a text without host sequence."""
        accounts = CallAccounts(self.references)
        with timed_alone(options, self.array.engine, self.kernels) as how:
            done = run_alone(self.configured, arrays, self.kernels, how)
        done = accounts.settled(done, self.kernels)
        findings = tuple(map(without_host, done.result.findings))
        done = self._with_links(
            replace(done, result=replace(done.result, findings=findings)), self.configured
        )
        return replace(done, oddities=self.oddities).explained()

    @staticmethod
    def _with_links(done: Run, *devices: Configured) -> Run:
        """A run with what is wrong with links of object FIFOs and uses of objects in its devices."""
        linked = [each for made in devices for each in link_findings(made)]
        findings = with_links(linked, done.result.findings) if linked else done.result.findings
        if findings:
            findings = instead_of_races(findings, (each for made in devices for each in unheld_uses(made)))
        return replace(done, result=replace(done.result, findings=findings))

    def _sequence_run(self, named: NamedArrays, sequence: SequenceProgram, options: RunOptions) -> Run:
        """The result of the steps of the host sequence."""
        given = named.given
        packets = str(len(sequence.arguments))  # behind the others, if it was not given
        if sequence.packets and all(each.name != packets for each in given):
            given = [*given, Given(packets, np.array(sequence.packets, dtype=np.uint32))]
        loads = [NamedKernels(self.kernels_of(made), made.array.engine) for made in sequence.loads]
        steps, kernels = table_of(sequence.steps), self.kernels
        program = Program(
            steps, given, named.wanted, running=kernels, programs=loads, launched=True, said=self.said
        )
        accounts = CallAccounts(self.references)
        by_host = [*host_write_findings(self.array.engine, sequence.steps)]
        by_host += set_instead(self.configured, sequence.steps)
        with timed_alone(options, self.array.engine, kernels, *loads) as how:
            try:
                done = Session(self.array).run(program, how)
            except InputFileError as error:
                raise with_unstarted(error, self.configured, sequence) from error
        done = accounts.settled(done, kernels, *loads)
        if not kernels:  # which have what their text has wrong with them
            found, facts = done.result, imbalances(self.configured)[""]
            waits = with_imbalances(found.findings, found.waits, facts, self.array.engine)
            done = replace(done, result=replace(found, findings=tuple(without_races(waits, waits))))
        idle = tuple(never_started(self.array.engine, sequence))
        done = self._with_links(done, self.configured, *sequence.loads)
        result = with_host_writes(done.result, by_host)
        result = replace(result, findings=instead_of_waits(idle, result.findings)) if idle else result
        return replace(done, result=result, oddities=self._odd(sequence)).explained()

    def instructions(self, *arguments: npt.ArrayLike | None) -> bytes:
        """The host sequence as a file of instructions, such as ``insts.bin`` of a build.

        Args:
            arguments: numbers for those arguments that are numbers, by position; None for the others.

        Returns:
            A transaction of version 1.0, little endian. Devices that the sequence loads are not in it.

        Raises:
            DesignError: the text has no host sequence.
            InputFileError: an argument without a required value, or a step that the format cannot store.
        """
        kinds = self.arguments
        if len(arguments) > len(kinds):
            raise InputFileError(_too_many(arguments, kinds))
        scalars = {n: host_number(n, kinds[n], each) for n, each in enumerate(arguments) if each is not None}
        steps = self._sequence(scalars).steps
        return instructions_of(steps, self.array.device, self.array.columns)

    def uses(self, scalars: Scalars, parameters: Parameters = NO_PARAMETERS) -> Sequence[ExternalUse]:
        """Return the parts of its arguments that the host sequence reads and writes.

        Args:
            scalars: values of the arguments that are numbers, by position.
            parameters: of the scratchpad for this run, by name; the others are as they were loaded.

        Raises:
            DesignError: the text has no host sequence.
            InputFileError: numbers without a value.
        """
        shape = ArrayShape.of(self.array.device, self.array.columns)
        return external_uses(self._sequence(scalars, parameters).steps, shape)

    def _sequence(
        self, scalars: Scalars = NO_SCALARS, parameters: Parameters = NO_PARAMETERS
    ) -> SequenceProgram:
        if self.sequence is None:
            raise DesignError(_NO_SEQUENCE)
        if scalars or parameters or any(map(is_scalar, self.sequence.arguments)):
            given, numbers = {**self.parameters, **parameters}, {**scalars, **self.instead}
            return program_of(self.configured, self.sequence.operation, numbers, self.others, given)
        return self.sequence


def _unheld(devices: Sequence[Configured]) -> list[Finding]:
    """Buffers and objects that cores of some devices use when they do not hold them."""
    return [each for made in devices for each in unheld_uses(made)]


def _told_apart(
    arguments: Sequence[Shaped], arrays: Sequence[npt.ArrayLike | None]
) -> tuple[dict[int, int], dict[int, npt.NDArray[Any]]]:
    """Numbers and arrays among what a host passes, by position; zeros for arrays that were not given."""
    given = dict(enumerate((*arrays, *[None] * (len(arguments) - len(arrays)))))
    scalars = {
        n: host_number(n, kind, value)
        for n, kind in enumerate(arguments)
        if is_scalar(kind) and (value := given[n]) is not None
    }
    made = {
        n: np.asarray(given[n]) if given[n] is not None else _zeros(n, kind)
        for n, kind in enumerate(arguments)
        if not is_scalar(kind) and (given[n] is not None or (kind.dtype is not None and kind.elements >= 0))
    }
    return scalars, made


def _numbers_of(arguments: Sequence[Shaped], given: Sequence[Given]) -> dict[int, int]:
    """Return the values of number arguments, by position, from arrays by name."""
    named = {each.name: each.array for each in given}
    return {
        n: host_number(n, kind, named[str(n)])
        for n, kind in enumerate(arguments)
        if is_scalar(kind) and str(n) in named
    }


def check_numbers(names: Sequence[str], design: Loaded, scalars: Scalars) -> None:
    """See that arrays by number are arguments of the host sequence, or known to its steps.

    Raises:
        InputFileError: a number that is none.
    """
    arguments = design.arguments
    beyond = [name for name in names if _NUMBER.fullmatch(name) and not 0 <= int(name) < len(arguments)]
    used = design.arguments_used(scalars) if beyond else ()
    packets = len(arguments) if design.sequence and design.sequence.packets else None  # behind the others
    wrong = [name for name in beyond if int(name) not in used and int(name) != packets]
    if wrong:
        many = len(arguments)
        says = f"array {wrong[0]} is no argument: the host sequence has {many or 'none'}"
        allowed = f"0..{many - 1}" if many else "none"
        raise InputFileError(design_problem("arguments", wrong[0], allowed, says + _listed(arguments)))


def _listed(arguments: Sequence[Shaped]) -> str:
    """Arguments with their types, for messages."""
    texts = _listed_arguments(arguments)
    return f" ({', '.join(texts)})" if texts else ""


def _listed_arguments(arguments: Sequence[Shaped]) -> list[str]:
    """The first arguments, each with its number and type."""
    texts = ["x".join([*map(str, each.shape), each.element]) for each in arguments[:_SHOWN]]
    more = [".."] if len(arguments) > _SHOWN else []
    return [*(f"{n}: {text}" for n, text in enumerate(texts)), *more]


def _too_many(given: Sequence[object], arguments: Sequence[Shaped]) -> Problem:
    return design_problem("arguments", f"{len(given)} arrays", f"up to {len(arguments)}")


def _zeros(number: int, kind: Shaped) -> npt.NDArray[Any]:
    """An argument that was not given."""
    assert kind.dtype is not None
    size = kind.elements * kind.dtype.itemsize
    if size > _MOST_ZEROS:
        says = f"argument {number} has {size} bytes and was not given"
        allowed, step = f"0..{_MOST_ZEROS} bytes of zeros", "Give the array itself."
        raise InputFileError(design_problem("argument", f"{size} bytes", allowed, says, step=step))
    return np.zeros(kind.shape, kind.dtype)


def _other_types(design: Loaded, given: Sequence[Given]) -> list[str]:
    """A line about each array whose numbers are not of the type that the text says; words go as words."""
    kinds = dict(enumerate(design.arguments)) if design.sequence is not None else {}
    found = []
    for each in given:
        kind = kinds.get(int(each.name)) if each.name.isdecimal() else None
        own, said = each.array.dtype, kind.dtype if kind else None
        if (
            kind is None
            or said is None
            or own.kind in "uV"
            or (own.kind, own.itemsize) == (said.kind, said.itemsize)
        ):
            continue
        types = f"array {each.name} is {own.name} and {kind.element} in the text"
        found.append(f"{types}: its bytes are taken as they are")
    return found


def _costs(done: Run) -> list[str]:
    """How much of the cycles hang on what operations of cores are said to cost."""
    running = [use for use in done.result.cores if use.spent.get(CoreCause.RUNNING)]
    if not running:
        return []
    most = max(running, key=lambda use: use.spent[CoreCause.RUNNING])
    cycles = most.spent[CoreCause.RUNNING]
    return [
        f"cycles of cores are sums of assumed costs of operations: {most.name} computes in {cycles} cycles"
    ]


def _calls(kernels: Kernels) -> list[str]:
    """What calls of library and C++ functions were charged, and where these cycles come from."""
    found: dict[str, dict[CallCost, None]] = {}
    for kernel in kernels.values():
        for name, function in getattr(kernel, CALLED, {}).items():
            found.setdefault(name, {}).update(function.charged)
    texts = [f"{name} {', '.join(map(str, costs))}" for name, costs in found.items() if costs]
    return [f"cycles of a call: {'; '.join(texts)}"] if texts else []


def design_problem(
    field: str, given: str, allowed: str, says: str = "", *, where: str = "MLIR design", step: str = ""
) -> Problem:
    """A problem with a whole design."""
    return Problem(field, given, allowed, says, step, reason=f"mlir_{field}", where=where, source=_SOURCE)


_NO_SEQUENCE = design_problem(
    "sequence",
    "none",
    "aie.runtime_sequence",
    "the text has no host sequence; give the array work from Python",
)
