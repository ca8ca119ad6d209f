"""What ``main`` gives a graph before it waits, held against what the graph needs until then; no model runs.

``main`` runs without a model, up to the first call that would bring it data of the array, for what it does
behind that may depend on them. At each call that waits all that is given so far has to suffice: while
``main`` waits, it gives nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatchmethod

from memtile.adf import host_program as asked
from memtile.adf.description import Gmio, Kernel, Plio
from memtile.adf.host_program import Request
from memtile.adf.lowering import Lowered
from memtile.adf.parameters import host_port, kernel_parameters
from memtile.adf.run_end import Missing
from memtile.adf.volumes import (
    CALLS,
    VALUE,
    bytes_of_iteration,
    is_free,
    short_behind,
    too_much,
    unread_findings,
    volumes,
)
from memtile.explain.findings import CODES, Finding, Severity, Side

_LOCK, _TOO_FEW, _NOT_AWAITED = "MT0103", "MT0108", "MT0116"
_MOST_CALLS = 100_000


class HostAccount:
    """What ``main`` has asked for and given so far.

    Args:
        lowered: its graph, with the words of its input files fed.

    Attributes:
        findings: calls that wait for ever, and outputs that ``main`` never waits for.
        is_closed: ``main`` has ended its graph, and no call before brought data of the array.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.findings: list[Finding] = []
        self.is_closed = False
        self._lowered, self._lookup = lowered, lowered.lookup
        self._rounds: dict[int, int | None] = {}
        self._sent: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        self._unread: dict[int, int] = {}
        self._updates: dict[int, int] = {}
        self._calls = 0

    def goes_on(self, request: Request) -> bool:
        """Count a call of ``main``; False = nothing is known of what comes behind it."""
        self._calls += 1
        known = self._calls <= _MOST_CALLS and self._counted(request) and not self.findings
        self.is_closed = known and (self.is_closed or isinstance(request, asked.End))
        return known

    def ended(self) -> None:
        """``main`` has ended, and nothing that it did depended on data of the array."""
        found = unread_findings(self._lookup, self._unread, profiled=False, code=_NOT_AWAITED)
        self.findings.extend(found)

    @singledispatchmethod
    def _counted(self, request: Request) -> bool:
        brings = asked.Read, asked.StartProfiling, asked.ReadProfiling, asked.StartTransfer, asked.SetAddress
        return not isinstance(request, brings)

    @_counted.register
    def _(self, request: asked.RunGraph) -> bool:
        before = self._rounds.get(request.graph, 0)
        endless = request.iterations < 0 or before is None
        self._rounds[request.graph] = None if endless else (before or 0) + request.iterations
        return True

    @_counted.register
    def _(self, request: asked.Update) -> bool:
        for number in kernel_parameters(self._lookup, request.port):
            self._updates[number] = self._updates.get(number, 0) + 1
        return True

    @_counted.register
    def _(self, request: asked.Transfer) -> bool:
        by_gmio = self._sent if request.into_array else self._asked
        by_gmio[request.gmio] = by_gmio.get(request.gmio, 0) + request.nbytes
        if not request.into_array:
            self._unread[request.gmio] = self._unread.get(request.gmio, 0) + request.nbytes
            return not request.waits or self._waited(request.gmio)
        return True

    @_counted.register
    def _(self, request: asked.WaitFor) -> bool:
        return request.object not in self._asked or self._waited(request.object)

    @_counted.register(asked.Wait)
    @_counted.register(asked.End)
    def _(self, request: asked.Wait | asked.End) -> bool:
        if request.cycles < 0 and self._rounds.get(request.graph):
            self.findings.extend(self._short(request.graph, None))
        return isinstance(request, asked.Wait) or not self._writes_files(request.graph)

    def _writes_files(self, graph: int) -> bool:
        """Whether a graph that ends has output files, which ``main`` may read then."""
        outputs = (each for each in self._lookup.description.plios if each.direction == "out" and each.file)
        return any(self._lookup.is_in_graph(each.graph, graph) for each in outputs)

    def _waited(self, gmio: int) -> bool:
        """Account for a wait for all that an output GMIO was asked for; then data of the array come."""
        self._unread.pop(gmio, None)
        found = next(each for each in self._lookup.description.gmios if each.id == gmio)
        root = self._root(found.graph)
        each_round = bytes_of_iteration(self._lowered, found)
        if root is None or not each_round or not self._rounds.get(root):
            return False
        rounds = self._rounds[root] or 0
        if self._asked[gmio] > each_round * rounds:
            self.findings.append(too_much(found, self._asked[gmio], each_round * rounds, rounds, _TOO_FEW))
        else:
            self.findings.extend(self._short(root, -(-self._asked[gmio] // each_round)))
        return False

    def _root(self, graph: int) -> int | None:
        """The graph around a graph that ``main`` has asked to run."""
        return next((each for each in self._rounds if self._lookup.is_in_graph(graph, each)), None)

    def _short(self, graph: int, most: int | None) -> Iterator[Finding]:
        """What a graph lacks for its iterations, or for so many of them at most.

        An input that kernels take without a fixed volume is counted by none of them.
        """

        def rounds(inner: int) -> int | None:
            if not self._lookup.is_in_graph(inner, graph):
                return 0
            every = self._rounds[graph]
            return every if most is None or every is None else min(most, every)

        for each in volumes(self._lowered, self._lookup, rounds, self._sent):
            if each.needed is not None and each.given < each.needed and not self._is_free(each.id):
                missing = Missing(each.name, each.given, each.needed, each.element)
                yield short_behind(self._lowered, missing, _TOO_FEW) or self._ran_out(missing)
        for number, port in self._lowered.parameters.items():
            kernel = self._lookup.kernel_at(number)
            if kernel is not None and not port.writes and port.turns:
                done, needed = self._updates.get(number, 0), rounds(kernel.graph) or 0
                if needed and not port.written and done < (1 if port.is_async else needed):
                    yield self._not_updated(kernel, number, done, None if port.is_async else needed)

    def _is_free(self, number: int) -> bool:
        """Whether no volume is fixed: a kernel acquires its buffers when it likes, or there is no file.

        Args:
            number: id of the PLIO or GMIO.
        """
        for net in self._lowered.plan.nets:
            source = net.sources[0].port
            plio = self._lookup.plio_at(source)
            outside = plio or self._lookup.gmio_at(source)
            if outside is not None and outside.id == number:
                ports = (self._lookup.ports[each.port] for each in net.targets)
                return any(map(is_free, ports)) or (
                    plio is not None and not self._lowered.inputs[plio.id].fed
                )
        return True

    def _ran_out(self, missing: Missing) -> Finding:
        outside: tuple[Plio | Gmio, ...] = (*self._lookup.description.plios, *self._lookup.description.gmios)
        line = next(each.line for each in outside if each.name == missing.name)
        side = Side(missing.name, "runs out of data", line)
        wanted = f"{missing.needed:,} {missing.element}"
        fix = f"Let {missing.name} bring {wanted}, or run the graph for fewer iterations."
        message = f"main waits for the graph, and {missing.will_run_out}."
        return Finding(_TOO_FEW, Severity.ERROR, message, (side,), fix=fix)

    def _not_updated(self, kernel: Kernel, number: int, done: int, needed: int | None) -> Finding:
        name = host_port(self._lookup, number)
        if needed is None:
            count, fix = "the host has given it no value", VALUE
        else:
            count = f"the host has updated it {done} time{'s' * (done != 1)}, for {needed} iterations"
            fix = CALLS
        does = f"waits for an update of {name}"
        side = Side(kernel.name, does, self._lookup.ports[number].line or kernel.line)
        message = f"main waits for the graph, in which {kernel.name} {does}; {count}."
        return Finding(_LOCK, CODES[_LOCK].severity, message, (side,), fix=fix)
