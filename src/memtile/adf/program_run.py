"""A user's graph program on the model: his ``main`` asks, the array answers, files of PLIO are read, written.

The constructors of the program describe its graphs; with the first ``init`` they get their places, kernels
are compiled, and each PLIO with a file is fed. Paths of files are relative to a folder, as in AMD's
simulators that of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from memtile.adf import host_program as asked
from memtile.adf.description import Description, MemoryObject, Plio
from memtile.adf.graph_program import graph_program
from memtile.adf.host_program import Given, HostProgram, Request
from memtile.adf.host_waits import HostWaitError
from memtile.adf.kernel_calls import KernelCode, KernelOptions
from memtile.adf.output_files import CSV, OutputFiles, element_at
from memtile.adf.plan import Plan
from memtile.adf.planning import plan_of
from memtile.adf.program_options import ProgramOptions
from memtile.adf.record import description_of, line_in, refusal
from memtile.arch.devices import device as find_device
from memtile.corelib.call_costs import RANGE, CallCost
from memtile.errors import DesignError, InputFileError
from memtile.io import plio_csv, plio_text
from memtile.io.plio_elements import element_of, values_of

if TYPE_CHECKING:  # the array is imported when a graph runs
    from memtile.adf.graph_result import GraphResult
    from memtile.adf.host_record import Updated
    from memtile.adf.host_transfers import Received
    from memtile.adf.lowering import Lowered
    from memtile.adf.plio_ports import PlioPorts
    from memtile.adf.port_times import PortTimes
    from memtile.adf.run_end import Missing
    from memtile.adf.running import GraphRun
    from memtile.design.array import Array
    from memtile.explain.findings import Finding
    from memtile.explain.results import Result

_SOURCE = "UG1603: run-time graph control"


@dataclass(frozen=True, slots=True, repr=False)
class ProgramResult:
    """The outcome of a graph program.

    Attributes:
        code: exit code of ``main``; None = it did not finish.
        plan: placement of its graphs; None = it requested no run.
        graph: outcome of their run; None = the program requested no run.
        cautions: contents of PLIO files that no guide describes.
        held: why ``main`` did not finish: a call that waits for ever; empty = it did, or Ctrl-C.
        costs: for each kernel, the cost of its last call and the source of the cycles.
        given: what ``main`` gave parameters.
    """

    code: int | None
    plan: Plan | None
    graph: GraphResult | None
    cautions: tuple[str, ...] = ()
    held: str = ""
    costs: Mapping[str, CallCost] = field(default_factory=dict)
    given: tuple[Given, ...] = ()

    def __repr__(self) -> str:
        if self.graph is None:
            return f"ProgramResult(main returned {self.code}, no run)"
        ended = f"{'good' if self.good else 'not good'}, {self.graph.result.status}, {self.cycles} cycles"
        words = "".join(f", {name}: {len(got.words)} words" for name, got in self.graph.outputs.items())
        return f"ProgramResult({ended}{words})"

    def _repr_html_(self) -> str | None:
        return self.result._repr_html_() if self.result is not None else None

    @property
    def result(self) -> Result | None:
        """Of the array: status, cycles, findings; None = ``main`` asked for no run."""
        return self.graph.result if self.graph else None

    @property
    def good(self) -> bool:
        """Whether ``main`` returned 0 and every graph ran without error to the end of its iterations."""
        graph = self.graph
        ran = graph is None or (graph.result.good and not graph.unfinished)
        return self.code == 0 and ran

    @property
    def cycles(self) -> int:
        """Elapsed cycles of the array clock; 0 without a run."""
        return self.graph.cycles if self.graph else 0

    @property
    def times(self) -> tuple[PortTimes, ...]:
        """When data passed each output PLIO."""
        return self.graph.times if self.graph else ()

    @property
    def missing(self) -> tuple[Missing, ...]:
        """Input PLIOs that ran out of data."""
        return self.graph.missing if self.graph else ()

    @property
    def outputs(self) -> dict[str, npt.NDArray[Any]]:
        """Per output PLIO what left the array, by the type of its elements: integers, float32 or complex64;
        those of other complex types are pairs.

        An incomplete element at the end is left out.

        Raises:
            DesignError: a PLIO that nothing with an element type is joined to.
        """
        if self.plan is None or self.graph is None:
            return {}
        plios = {each.name: each for each in self.plan.description.plios}
        return {
            name: _values(got.words, element_at(self.plan, plios[name]), plios[name].width)
            for name, got in self.graph.outputs.items()
        }

    def against(self, expected: Mapping[str, npt.NDArray[Any] | Path]) -> ProgramResult:
        """The result, compared with what must come: see :func:`~memtile.adf.expected.compared`."""
        from memtile.adf.expected import compared

        return compared(self, expected)

    def write_outputs(self, folder: Path, *, timed: bool, functional: bool = False) -> list[Path]:
        """Write the files of output PLIOs below a folder, as AMD's simulators do.

        Args:
            folder: below which the paths of the graph are.
            timed: write the time of each line, as aiesimulator does.
            functional: write no TLAST at the ends of buffers, as x86simulator does (DEV-ADF-57).

        Returns:
            The files.

        Raises:
            InputFileError: one cannot be written.
        """
        if self.plan is None or self.graph is None:
            return []
        files = OutputFiles(folder, timed, functional)
        return files.write(self.plan, self.graph.outputs, self.graph.result.clock_mhz)


def _values(words: npt.NDArray[np.uint32], name: str, width_bits: int) -> npt.NDArray[Any]:
    """Words of a stream as values of an element type: cfloat as complex64, other complex types as pairs."""
    element = element_of(name, width_bits)
    values = values_of(words, element)
    if element.name == "cfloat":
        return values[: len(values) & ~1].view(np.complex64)
    return values[: len(values) & ~1].reshape(-1, 2) if element.parts > 1 else values


def _check_cycles(cycles: Mapping[str, int], found: Description) -> None:
    """Refuse cycles of kernels that there are not."""
    known = dict.fromkeys(name for each in found.kernels for name in (each.name, each.function))
    wrong = [name for name in cycles if name not in known]
    if wrong:
        raise DesignError.of(
            "cost",
            ", ".join(wrong),
            ", ".join(known),
            f"no kernel is called {', '.join(wrong)}; kernels and their functions are {', '.join(known)}",
            reason="adf_cost",
            where=", ".join(each.name for each in found.graphs if each.parent < 0),
            source="names of the graph",
        )


class ProgramRun:
    """A graph program while it runs.

    Args:
        files: C++ sources, one with ``main``.
        options: how it is compiled and run.
        ports: makes the PLIOs; None = those of the model.
    """

    def __init__(
        self, files: Sequence[Path], options: ProgramOptions, ports: Callable[[], PlioPorts] | None = None
    ) -> None:
        self._files, self._options, self._ports = files, options, ports
        self._generation = find_device(options.device).kind("compute").generation
        self._origin = ", ".join(map(str, files))
        defines = {**options.macros, **options.defines}
        self._program = graph_program(
            files, options.include, defines, options.flags, self._generation, options.instance
        )
        self._description: Description | None = None
        self._run: GraphRun | None = None
        self._code: KernelCode | None = None
        self._plan: Plan | None = None
        self._received: list[tuple[int, Received, int, int]] = []
        self._cautions: list[str] = []
        self._given: list[Given] = []
        self._base = 0
        self._watched = ExitStack()

    def run(self) -> ProgramResult:
        """Run ``main`` to its end.

        Raises:
            InputFileError: the program crashes or refuses, a source or a file of a PLIO is wrong.
            DesignError: the graph does not fit the device, or a call of the host is out of order.
        """
        with self._host_program() as host, self._watched:
            self._host = host
            try:
                for request in host:
                    self._answer(request)
            except HostWaitError as error:
                return self._left(None, held="; ".join(error.messages))
            except KeyboardInterrupt:
                if self._run is None:
                    raise
                return self._left(None, interrupted=True)
            return self._left(host.code or 0)

    def _left(self, code: int | None, *, held: str = "", interrupted: bool = False) -> ProgramResult:
        """What the program left when ``main`` goes no further."""
        ends = not held and not interrupted
        graph = self._run.result(interrupted=interrupted, ends=ends) if self._run else None
        costs = self._code.costs if self._code else {}
        said = [f"cycles of a call of {name}: {cost}" for name, cost in costs.items() if cost.basis == RANGE]
        return ProgramResult(
            code, self._plan, graph, (*self._cautions, *said), held, costs, tuple(self._given)
        )

    @property
    def array(self) -> Array | None:
        """The array that the graphs are in; None = ``main`` asked for no run yet."""
        return self._run.lowered.array if self._run else None

    def planned(self) -> Plan:
        """Compile the program and its kernels, and say where its graphs go; ``main`` does not run.

        Raises:
            InputFileError: the program refuses, has no graph, or a source is wrong.
            DesignError: the graph does not fit the device.
        """
        plan = plan_of(self.described(), self._options.device)
        self._compiled(plan)
        return plan

    def lowered(self, plan: Plan) -> Lowered:
        """An array with all of a plan in it, routed; nothing runs.

        Raises:
            DesignError: it does not fit the array.
        """
        from memtile.adf.lowering import lower
        from memtile.adf.plio_ports import plio_ports_of

        ports = self._ports() if self._ports else plio_ports_of(plan.device)
        found = lower(plan, self._compiled(plan).caller, ports)
        found.array.route()
        return found

    def described(self) -> Description:
        """The graphs; ``main`` does not run.

        Raises:
            InputFileError: the program refuses, has no graph, or a source is wrong.
        """
        if self._description is not None and self._description.graphs:
            return self._description
        with self._host_program() as host:
            self._host = host
            for request in host:
                if isinstance(request, asked.Describe):
                    self._description = self._described_by(request)
                    if self._description.graphs:
                        host.stop()
                        break
                    host.done()
                else:
                    self._answer(request)
        return self._described()

    def updates(self) -> list[Updated]:
        """What ``main`` gives parameters, as it runs without a model: see :mod:`memtile.adf.host_record`.

        Raises:
            InputFileError: as of :meth:`run`.
            DesignError: ``main`` never ends.
        """
        from memtile.adf.host_record import HostRecord

        records = list[HostRecord]()

        def goes_on(request: Request) -> bool:
            records[:] = records or [HostRecord(self._described())]
            self._run = cast("GraphRun", records[0])
            return records[0].counted(request)

        self._played(goes_on)
        return records[0].updates if records else []

    def host_findings(self, lowered: Lowered) -> list[Finding]:
        """What ``main`` gives too little of, or never waits for: see :mod:`memtile.adf.host_check`.

        Args:
            lowered: the graph in an array.

        Raises:
            InputFileError: ``main`` crashes or does not end without data of the array, or a file of a PLIO is
                wrong.
            DesignError: a call of the host is out of order.
        """
        from memtile.adf.host_check import HostAccount
        from memtile.adf.host_record import HostRecord

        for plio, path in self._input_files(lowered.plan):
            if path.exists():
                found = self._words(plio, path, lowered.plan)
                lowered.inputs[plio.id].feed(found.words, found.tlast if found.tlast.any() else None)
        account, record = HostAccount(lowered), HostRecord(lowered.plan.description)

        def goes_on(request: Request) -> bool:
            self._run = cast("GraphRun", record)
            return self._description == lowered.plan.description and account.goes_on(request)

        if self._played(goes_on) or account.is_closed:  # it may have found its outputs wrong
            account.ended()
        return account.findings

    def _played(self, goes_on: Callable[[Request], bool]) -> bool:
        """Let ``main`` run while a function of its calls, which takes the model's place, says so.

        Returns:
            Whether it has come to a good end.
        """
        with self._host_program() as host:
            self._host = host
            for request in host:
                if not isinstance(request, asked.Describe | asked.Refuse) and not goes_on(request):
                    host.stop()
                    return False
                self._answer(request)
        return host.code == 0

    def _host_program(self) -> HostProgram:
        o = self._options
        return HostProgram(self._program, o.words, o.folder, o.stdout, o.stderr, o.seconds)

    @property
    def _model(self) -> GraphRun:
        """The graphs in the model, which the first call that needs them makes.

        Raises:
            InputFileError: the program has no graph.
        """
        if self._run is None:
            from memtile.adf.running import GraphRun

            self._plan = plan_of(self._described(), self._options.device)
            self._run = GraphRun(
                self._plan,
                self._compiled(self._plan).caller,
                self._options.run,
                self._ports() if self._ports else None,
            )
            if self._options.watch is not None:
                self._watched.enter_context(self._options.watch(self._run.engine))
            self._feed(self._run, self._plan)
        return self._run

    def _described(self) -> Description:
        """The graphs.

        Raises:
            InputFileError: there is none.
        """
        if self._description is None or not self._description.graphs:
            raise InputFileError(f"{self._origin}: no graph is made here. Make one: my_graph gr;")
        return self._description

    def _compiled(self, plan: Plan) -> KernelCode:
        """The kernels of the graphs.

        Raises:
            DesignError: cycles of a kernel that there is not.
        """
        options = self._options
        _check_cycles(options.cycles, plan.description)
        if self._generation == "AIE-ML v2":
            self._cautions.append(
                "kernels compute as on AIE-ML, with the widths of AIE-ML v2: what its arithmetic does "
                "otherwise is not modelled (DEV-ADF-47)"
            )
        kernels = KernelOptions(
            self._files[0].resolve().parent,
            options.include,
            options.defines,
            options.flags,
            self._generation,
            options.sanitize,
            options.cycles,
            {each.kernel: each.stack_bytes for each in plan.kernels},
            options.end,
        )
        self._code = KernelCode(plan.description, kernels)
        return self._code

    def _feed(self, run: GraphRun, plan: Plan) -> None:
        """Give each input PLIO the words of its file."""
        for plio, path in self._input_files(plan):
            if not path.exists():
                inputs = self._options.inputs or self._options.folder
                raise InputFileError(
                    f"{plio.line or self._origin}: {plio.name} reads {path}, which does not exist. "
                    f"Its path is relative to {inputs.resolve()}: run from another folder, or give one for "
                    "input files."
                )
            found = self._words(plio, path, plan)
            self._cautions.extend(f"{plio.name}: {caution}" for caution in found.cautions)
            run.feed(plio.name, found.words, found.tlast if found.tlast.any() else None)

    def _input_files(self, plan: Plan) -> Iterator[tuple[Plio, Path]]:
        """The input PLIOs with a file."""
        inputs = self._options.inputs or self._options.folder
        for plio in plan.description.plios:
            if plio.direction == "in" and plio.file:
                yield plio, inputs / plio.file

    def _words(self, plio: Plio, path: Path, plan: Plan) -> plio_text.PlioWords:
        """The words of an input PLIO's file."""
        element = element_at(plan, plio)
        if path.suffix == CSV:
            return plio_csv.read_plio_csv(path, element, plio.width)
        return plio_text.read_plio(path, element, plio.width, hex=plio.hex)

    # requests --------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _answer(self, request: Request) -> None:
        """Do what the program asks, and answer it.

        Raises:
            DesignError: a call that the model does not have.
        """
        raise DesignError.of(
            type(request).__name__,
            "a call of the host",
            "calls of docs/adf.md",
            f"{type(request).__name__} is not modelled",
            reason="adf_host_call",
            where=self._origin,
            source=_SOURCE,
        )

    @_answer.register
    def _(self, request: asked.Describe) -> None:
        found = self._described_by(request)
        if self._run is not None and found != self._description:
            raise InputFileError(
                f"{self._origin}: a graph is made after another one was initialised. "
                "Make all graphs before the first init(): they share the array."
            )
        self._description = found
        self._host.done()

    def _described_by(self, request: asked.Describe) -> Description:
        self._base = request.base
        found = description_of(request, self._program, self._host.peek, self._origin)
        return self._options.completed(found)

    @_answer.register
    def _(self, request: asked.Refuse) -> None:
        raise refusal(request, self._program, self._origin)

    @_answer.register
    def _(self, request: asked.Init) -> None:
        self._model.init(request.graph)
        self._host.done()

    @_answer.register
    def _(self, request: asked.RunGraph) -> None:
        self._model.run(request.graph, None if request.iterations < 0 else request.iterations)
        self._host.done()

    @_answer.register
    def _(self, request: asked.Wait) -> None:
        self._model.wait(request.graph, None if request.cycles < 0 else request.cycles)
        self._host.done()

    @_answer.register
    def _(self, request: asked.End) -> None:
        self._model.end(request.graph, None if request.cycles < 0 else request.cycles)
        self._write_files()
        self._host.done()

    def _write_files(self) -> None:
        """Write what has left the array so far, where ``main`` may read it."""
        if self._options.written is not None and self._plan is not None:
            self._model.come_to_rest()
            self._options.written.write(self._plan, self._model.outputs(), self._model.clock_mhz)

    @_answer.register
    def _(self, request: asked.Update) -> None:
        data = self._options.updates.get(len(self._given), request.data)
        line = line_in(self._program, self._base, request.origin)
        self._given.append(Given(request.port, request.element, data, line))
        self._model.update(request.port, data)
        self._host.done()

    @_answer.register
    def _(self, request: asked.Read) -> None:
        self._host.give(self._model.read(request.port))

    @_answer.register(asked.Malloc)
    @_answer.register(asked.Free)
    def _(self, _request: Request) -> None:
        self._host.done()

    @_answer.register
    def _(self, request: asked.Transfer) -> None:
        memory, end = self._host.memories[request.memory], request.offset + request.nbytes
        if request.into_array:
            self._model.send(request.gmio, memory[request.offset : end])
        else:
            received = self._model.receive(request.gmio, request.nbytes)
            self._received.append((request.gmio, received, request.memory, request.offset))
        if request.waits:
            self._wait_for(request.gmio)
        self._host.done()

    @_answer.register
    def _(self, request: asked.WaitFor) -> None:
        self._wait_for(request.object)
        self._host.done()

    def _wait_for(self, number: int) -> None:
        """Wait for the transfers of a GMIO or of a port, and give the host what came."""
        self._model.wait_transfers(number)
        for gmio, received, memory, offset in self._received:
            if gmio == number:
                data = received.data()
                self._host.memories[memory][offset : offset + len(data)] = data
        self._received = [each for each in self._received if each[0] != number]

    @_answer.register
    def _(self, request: asked.SetAddress) -> None:
        memory = next(each for each in self._plan_memories() if each.id == request.buffer)
        nbytes = int(np.prod(memory.dimensions)) * memory.element_bytes
        data = np.frombuffer(self._host.memories[request.memory], np.uint8)
        self._model.set_address(request.buffer, data[request.offset : request.offset + nbytes])
        self._host.done()

    @_answer.register
    def _(self, request: asked.StartTransfer) -> None:
        self._model.start(request.port)
        self._host.done()

    @_answer.register
    def _(self, request: asked.Resume) -> None:
        self._model.resume(request.graph)
        self._host.done()

    @_answer.register
    def _(self, request: asked.StartProfiling) -> None:
        number = self._model.start_profiling(request.first, request.second, request.event, request.nbytes)
        self._host.value(number)

    @_answer.register
    def _(self, request: asked.ReadProfiling) -> None:
        self._host.value(self._model.read_profiling(request.number))

    @_answer.register
    def _(self, request: asked.StopProfiling) -> None:
        self._model.stop_profiling(request.number)
        self._host.done()

    def _plan_memories(self) -> Sequence[MemoryObject]:
        assert self._description is not None
        return self._description.memories


def run_program(files: Sequence[Path], options: ProgramOptions) -> ProgramResult:
    """Compile a graph program and run it on the model.

    Raises:
        InputFileError: see :class:`ProgramRun`.
        DesignError: see :class:`ProgramRun`.
    """
    return ProgramRun(files, options).run()
