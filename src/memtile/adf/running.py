"""The run of a graph, as its host asks for it: init, run, wait, end, update, read, transfers, streams.

Calls of the host take no time (DEV-ADF-33). Those that wait let the array run until what they wait for is
there, or nothing can move any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.adf.core_loop import MakeCaller
from memtile.adf.end_notes import busy_cores, surplus
from memtile.adf.graph_result import GraphResult, input_times, output_times
from memtile.adf.graph_states import GraphStates
from memtile.adf.host_transfers import HostTransfers, Received
from memtile.adf.host_waits import HostWaitError, are_at_rest, computing, limit_reached
from memtile.adf.limits import kernel_works, single_buffer_findings
from memtile.adf.lookup import Lookup
from memtile.adf.lowering import Fill, Lowered, lower, name_givers
from memtile.adf.parameters import HostParameters, host_port, kernel_parameters
from memtile.adf.plan import Plan
from memtile.adf.plio_ports import Collected, PlioPorts, edge_streams, plio_ports_of
from memtile.adf.pools import ELEMENTS
from memtile.adf.port_times import latencies
from memtile.adf.profiling import Profiling
from memtile.adf.run_end import Missing, ended, left_over, limit_notes, missing_input
from memtile.adf.volumes import Updates, too_much_asked, unread_findings, volumes, with_counts, with_updates
from memtile.arch.boards import CLOCK_MHZ
from memtile.arch.tiles import WORD_BYTES
from memtile.arch.timing import ARRAY_CLOCK_MHZ
from memtile.errors import DesignError
from memtile.explain.results import Result, Status
from memtile.explain.waiting_sentences import in_users_words, named_waits, with_users_names
from memtile.runs.design_run import run_on, stopped
from memtile.runs.observing import Observed, observing
from memtile.runs.options import USUAL, RunOptions
from memtile.sim.doors.polling import POLL_CYCLES
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine

_SOURCE = "UG1603: run-time graph control"


class GraphRun:
    """A graph in the model, and its host.

    Args:
        plan: where everything goes.
        make: makes the calls of kernels, such as ``KernelCode.caller``.
        options: of the run; ``max_cycles`` limits each call that waits.
        plio_ports: makes the PLIOs; None = those of the device.

    Attributes:
        lowered: the array with all that the plan has put into it.
    """

    def __init__(
        self,
        plan: Plan,
        make: MakeCaller,
        options: RunOptions = USUAL,
        plio_ports: PlioPorts | None = None,
    ) -> None:
        self.lowered: Lowered = lower(plan, make, plio_ports or plio_ports_of(plan.device))
        self._lookup: Lookup = self.lowered.lookup
        self._array, self._options = self.lowered.array, options
        self._array.route()
        self._parameters = HostParameters(self._array, self.lowered.parameters, self.advance)
        self._transfers = HostTransfers(self._array, self.lowered.host_channels, self.advance)
        self._profiling = Profiling(self._lookup, self.lowered.inputs, self.lowered.outputs)
        self._graphs = GraphStates(self.lowered, self._lookup)
        self._waited = self._is_over = False
        self._stack, self._observed = ExitStack(), None
        self._observed = self._stack.enter_context(observing(self._array, options))

    @property
    def engine(self) -> Engine:
        """The model."""
        return self._array.engine

    # the graph -------------------------------------------------------------------------------------------

    def init(self, graph: int) -> None:
        """``graph.init()``: the array is loaded already.

        Raises:
            DesignError: a second time.
        """
        self._graphs.init(graph)

    def run(self, graph: int, iterations: int | None = None) -> None:
        """``graph.run(n)``: let its cores begin with so many iterations; returns at once.

        Args:
            graph: id of the graph.
            iterations: None = without end.

        Raises:
            DesignError: before ``init`` or after ``end``, below 1, or while an earlier run has not ended.
        """
        state = self._graphs.ready(graph, "run")
        if iterations is not None and iterations < 1:
            raise self._graphs.wrong(graph, "run", f"of {iterations} iterations", "1 or more")
        if not self._graphs.is_done(graph):
            kind = HostWaitError if self._waited else DesignError
            raise self._graphs.wrong(graph, "run", "while an earlier run continues", "a wait before it", kind)
        state.is_endless = iterations is None
        state.asked += iterations or 0
        for place, core in self._graphs.cores(graph):
            tile = self._array.compute_tile(*place)
            tile.run_kernel(core.program(iterations), endless=iterations is None)
        for each in self.lowered.fills:
            if self._lookup.is_in_graph(each.graph, graph):
                self._start_fill(each, iterations)

    def _start_fill(self, fill: Fill, iterations: int | None) -> None:
        """Let a buffer that no port writes be read as often as the iterations ask, or without end."""
        channel, most = fill.channel, fill.channel.tile.kind.max_repeat
        left = None if iterations is None else iterations * fill.turns
        if left is None or left > most * channel.tile.kind.queue_depth:
            channel.start(*fill.work, loop=True)
            return
        while left:
            channel.start(*fill.work, repeat=min(left, most))
            left -= min(left, most)

    def wait(self, graph: int, cycles: int | None = None) -> None:
        """``graph.wait()``: until its iterations have ended, or nothing moves; ``wait(cycles)``: so long.

        Args:
            graph: id of the graph.
            cycles: of the array clock; None = until the end.

        Raises:
            HostWaitError: the graph runs without end.
            DesignError: a graph that does not run.
        """
        state = self._graphs.ready(graph, "wait")
        if cycles is not None:
            self._array.engine.wait(cycles)
            return
        if state.is_endless:
            self._run_out()
            allowed = "a number of iterations for run(), or of cycles for wait()"
            raise self._graphs.wrong(graph, "wait", "for a run without end", allowed, HostWaitError)
        engine, cores = self._array.engine, self._graphs.core_numbers(graph)
        self._waited |= not self.advance(lambda: are_at_rest(engine, cores), lambda: computing(engine, cores))

    def resume(self, graph: int) -> None:
        """``graph.resume()`` after ``wait(cycles)``: its cores go on with the next call that waits.

        Raises:
            DesignError: before ``init`` or after ``end``.
        """
        self._graphs.ready(graph, "resume")

    def end(self, graph: int, cycles: int | None = None) -> None:
        """``graph.end()``: wait for it, then it runs no more.

        Args:
            graph: id of the graph.
            cycles: as for :meth:`wait`.

        Raises:
            DesignError: before ``init``, or a second time.
        """
        state = self._graphs.ready(graph, "end")
        if cycles is not None or not state.is_endless:
            self.wait(graph, cycles)
        state.ended = True

    # parameters ------------------------------------------------------------------------------------------

    def update(self, port: int, data: bytes) -> None:
        """``graph.update(port, value)``; of a synchronous parameter it waits until there is room.

        Args:
            port: id of the graph's port, or of the kernel's.
            data: bytes of the value.

        Raises:
            DesignError: another size; a parameter that kernels give; or the kernel never takes the value.
        """
        for number in kernel_parameters(self._lookup, port):
            if not self._parameters.update(number, data):
                raise self._stalled("update", number, "takes the value before")

    def read(self, port: int) -> bytes:
        """``graph.read(port, value)``; of a synchronous parameter it waits for the next call.

        Args:
            port: as for :meth:`update`.

        Raises:
            DesignError: a parameter that the host gives, or no call of the kernel gives one.
        """
        number = kernel_parameters(self._lookup, port)[0]
        data = self._parameters.read(number)
        if data is None:
            raise self._stalled("read", number, "gives a value")
        return data

    def _stalled(self, call: str, number: int, verb: str) -> HostWaitError:
        kernel = self._lookup.kernel_at(number)
        assert kernel is not None
        return HostWaitError.of(
            call,
            "waiting for ever",
            "a call of the kernel",
            f"{call}() waits, but no further call of {kernel.name} {verb}",
            "Run the graph for more iterations, or look at what the kernel waits for.",
            reason="adf_stalled",
            where=self._lookup.ports[number].name,
            source=_SOURCE,
        )

    # memory of the host ----------------------------------------------------------------------------------

    def send(self, gmio: int, data: bytes) -> None:
        """``gm2aie_nb``: see :meth:`HostTransfers.send`."""
        self._transfers.send(gmio, data)

    def receive(self, gmio: int, nbytes: int) -> Received:
        """``aie2gm_nb``: see :meth:`HostTransfers.receive`; complete after :meth:`wait_transfers`."""
        return self._transfers.receive(gmio, nbytes)

    def set_address(self, memory: int, data: npt.NDArray[Any]) -> None:
        """``setAddress`` of an external buffer: an array, which transfers read and write in place.

        Raises:
            DesignError: another size.
        """
        described = self._lookup.memories[memory]
        nbytes = prod(described.dimensions) * described.element_bytes
        if data.nbytes != nbytes:
            raise self._wrong_bytes(described.name, data.nbytes, f"{nbytes} bytes, the size of the buffer")
        dtype = np.dtype(ELEMENTS[described.element_bytes])
        self._transfers.place(
            memory, described.name, data.reshape(-1).view(dtype).reshape(described.dimensions[::-1])
        )

    def start(self, port: int) -> None:
        """``gm2aie_nb(port)``, ``aie2gm_nb(port)`` of an external buffer: see :meth:`HostTransfers.start`."""
        memory = self._lookup.memory_at(port)
        assert memory is not None
        self._transfers.start(port, memory.id)

    def wait_transfers(self, number: int) -> None:
        """``wait`` of a GMIO, by its id, or of a port of an external buffer.

        Raises:
            DesignError: its transfers never end.
        """
        self._transfers.wait(number)

    def fill(self, memory: int, data: bytes) -> None:
        """Put data into a shared buffer that no port writes.

        Raises:
            DesignError: another size.
        """
        described, pool = self._lookup.memories[memory], self.lowered.memories[memory]
        if len(data) != pool.blocks.nbytes:
            raise self._wrong_bytes(
                described.name, len(data), f"{pool.blocks.nbytes} bytes, the size of the buffer"
            )
        pool.store(self._array, data)

    def _wrong_bytes(self, name: str, given: int, allowed: str) -> DesignError:
        return DesignError.of(
            "data",
            f"{given} bytes",
            allowed,
            reason="adf_bytes",
            where=name,
            source=_SOURCE,
        )

    # profiling -------------------------------------------------------------------------------------------

    def start_profiling(self, first: int, second: int, event: str, nbytes: int = 0) -> int:
        """``event::start_profiling``: see :meth:`Profiling.start`; the number of the profile."""
        return self._profiling.start(first, second, event, nbytes, self._array.engine.now)

    def read_profiling(self, number: int) -> int:
        """``event::read_profiling``: see :meth:`Profiling.read`."""
        return self._profiling.read(number)

    def stop_profiling(self, number: int) -> None:
        """``event::stop_profiling``."""
        self._profiling.stop(number)

    # streams ---------------------------------------------------------------------------------------------

    def feed(self, plio: str, words: npt.NDArray[Any], tlast: npt.NDArray[np.uint8] | None = None) -> None:
        """Let an input PLIO send words after those before.

        Args:
            plio: its name: the user's member, or the label of ``create``.
            words: any array of whole 32-bit words.
            tlast: per word 1 where a block ends; None = nowhere.

        Raises:
            DesignError: no such PLIO, or no whole words.
        """
        number, data = self._plio(plio), np.ascontiguousarray(words)
        if data.nbytes % WORD_BYTES:
            raise self._wrong_bytes(plio, data.nbytes, "whole 32-bit words")
        self.lowered.inputs[number].feed(data.reshape(-1).view(np.uint8).view(np.uint32), tlast)

    def collected(self, plio: str) -> Collected:
        """What an output PLIO has received so far.

        Raises:
            DesignError: no such PLIO.
        """
        return self.lowered.outputs[self._plio(plio)].collected()

    def outputs(self) -> dict[str, Collected]:
        """What each output PLIO has received so far, by its name."""
        return {
            self._lookup.plios[plio].name: port.collected() for plio, port in self.lowered.outputs.items()
        }

    @property
    def clock_mhz(self) -> int:
        """Of the array."""
        return CLOCK_MHZ.get(self._array.engine.board, ARRAY_CLOCK_MHZ)

    def come_to_rest(self) -> None:
        """After the ``end`` of every graph, none of which runs without end: let what is still on its way
        arrive (DEV-ADF-140).
        """
        if self._graphs.have_ended():
            self._run_out()

    def _plio(self, name: str) -> int:
        for plio in self._lookup.plios.values():
            if name in (plio.name, plio.label):
                return plio.id
        names = ", ".join(plio.name for plio in self._lookup.plios.values())
        raise DesignError.of(
            "PLIO", repr(name), names, reason="adf_plio", where="graph", source="names of the graph"
        )

    # time ------------------------------------------------------------------------------------------------

    def advance(self, is_met: Callable[[], bool], in_vain: Callable[[], int] = lambda: 0) -> bool:
        """Let the array run until a condition is met; polls are ``POLL_CYCLES`` cycles apart.

        Args:
            is_met: the condition.
            in_vain: cycles from now on in which it cannot be met; polls in these are left out.

        Returns:
            Whether it is met; False = nothing moves any more.

        Raises:
            HostWaitError: the limit of cycles is reached.
        """
        engine = self._array.engine
        end = engine.now + self._options.max_cycles
        while not is_met():
            if engine.now >= end:
                self._is_over = True
                raise limit_reached(self._options.max_cycles)
            polls = max(in_vain() // POLL_CYCLES, 1)
            stop = engine.resume(min(engine.now + polls * POLL_CYCLES, end), self._options.progress)
            if stop is Stop.QUIET:
                return is_met()
        return True

    def _run_out(self) -> None:
        """Let the array run until nothing moves any more, or to the limit."""
        self.advance(lambda: False, lambda: self._options.max_cycles)

    def result(self, *, interrupted: bool = False, ends: bool = True) -> GraphResult:
        """Let all that still moves come to rest, and say how the run ended.

        Args:
            interrupted: Ctrl-C came: nothing moves on.
            ends: ``main`` has returned: it waits for nothing more.
        """
        found = self._stopped(interrupted=interrupted)
        unfinished, endless = tuple(core.name for core in self._graphs.unfinished()), self._graphs.endless()
        is_done = not unfinished and not endless and not interrupted and found.status is not Status.LIMIT
        if is_done:
            found = ended(found)
        self._stack.close()
        observed: Observed | None = self._observed
        found = found if observed is None else observed.added_to(found)
        found = found if found.kept is None else replace(found, kept=found.kept.holding())
        collected = {plio: port.collected() for plio, port in self.lowered.outputs.items()}
        plios, mhz = self._lookup.plios, found.clock_mhz
        times = output_times(plios, collected, mhz)
        sent = input_times(plios, self.lowered.inputs, mhz)
        given = list(volumes(self.lowered, self._lookup, self._graphs.asked, self._transfers.sent))
        waits = tuple(named_waits(found.waits)) or tuple(map(in_users_words, found.waiting))
        is_short = bool(unfinished) or found.status is Status.STUCK
        missing = tuple(missing_input(given, found)) if is_short else ()
        return GraphResult(
            self._with_host_counts(found, missing, ends=ends and not self._is_over),
            {plios[plio].name: each for plio, each in collected.items()},
            missing=missing,
            times=tuple(times.values()),
            input_times=tuple(sent.values()),
            latencies=tuple(latencies(self.lowered.plan, sent, times)),
            iterations=self._graphs.iterations(),
            unfinished=unfinished,
            notes=(
                *self.lowered.notes,
                *left_over(given if is_done else ()),
                *(self._limit_notes(found.cycles, endless) if found.status is Status.LIMIT else ()),
            ),
            endless=endless,
            waits=waits,
            kernels=tuple(kernel_works(self.lowered, found.cores)),
            limits=tuple(single_buffer_findings(self.lowered, found)),
            edges=edge_streams(self.lowered.inputs, self.lowered.outputs, plios),
        )

    def _limit_notes(self, cycles: int, endless: Sequence[str]) -> Iterator[str]:
        yield from limit_notes(
            cycles, endless, busy_cores(self.lowered, self._lookup, self._graphs.unfinished())
        )
        yield from surplus(self.lowered, self._lookup, self._graphs.most_asked)

    def _stopped(self, *, interrupted: bool) -> Result:
        """The result of the array, which runs on unless it was interrupted or has met its limit."""
        name_givers(self.lowered)
        if interrupted or self._is_over:
            return stopped(self._array, None if interrupted else Stop.LIMIT)
        return run_on(self._array, self._options)

    # inside ----------------------------------------------------------------------------------------------

    def _with_host_counts(self, result: Result, missing: Sequence[Missing], *, ends: bool) -> Result:
        """The result in the graph's names, with what the host has brought."""
        updates = dict[str, Updates]()
        for number, done in self._parameters.updates().items():
            kernel, port = self._lookup.kernel_at(number), self.lowered.parameters[number]
            lock = port.turns[0].acquire
            if kernel is not None and lock is not None and done is not None:
                needed = None if port.is_async else self._graphs.asked(kernel.graph) or 0
                updates[lock.name] = Updates(host_port(self._lookup, number), done, needed)
        found = with_counts(with_users_names(with_updates(result, updates)), missing, self.lowered)
        unread, was_used = self._transfers.unread if ends else {}, self._profiling.was_used
        of_host = [*unread_findings(self._lookup, unread, profiled=was_used)]
        if not ends and not self._is_over and not self._graphs.unfinished():  # main alone waits
            of_host += too_much_asked(self.lowered, self._graphs.asked, self._transfers.asked)
        return replace(found, findings=(*self.lowered.findings, *of_host, *found.findings))
