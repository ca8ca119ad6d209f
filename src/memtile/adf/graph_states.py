"""The graphs of a host: whether each runs, how often it was asked to, and which of its cores have ended."""

from __future__ import annotations

from dataclasses import dataclass

from memtile.adf.core_loop import CoreState
from memtile.adf.host_waits import are_at_rest
from memtile.adf.lookup import Lookup
from memtile.adf.lowering import Lowered
from memtile.errors import DesignError

_SOURCE = "UG1603: run-time graph control"


@dataclass(slots=True)
class GraphState:
    """A graph of the host.

    Attributes:
        initialised: ``init`` was called.
        ended: ``end`` was called.
        asked: iterations of all calls of ``run`` that have a number.
        is_endless: the last ``run`` had none.
    """

    initialised: bool = False
    ended: bool = False
    asked: int = 0
    is_endless: bool = False


class GraphStates:
    """The graphs by their id.

    Args:
        lowered: the array with the cores of all graphs.
        lookup: the parts of the description by their id.
    """

    def __init__(self, lowered: Lowered, lookup: Lookup) -> None:
        self._lowered, self._lookup, self._array = lowered, lookup, lowered.array
        self._states: dict[int, GraphState] = {}
        self._names = {each.id: each.name for each in lowered.plan.description.graphs}

    def init(self, graph: int) -> None:
        """``graph.init()``.

        Raises:
            DesignError: a second time.
        """
        state = self._states.setdefault(graph, GraphState())
        if state.initialised:
            raise self.wrong(graph, "init", "a second time", "one init for each graph")
        state.initialised = True

    def ready(self, graph: int, call: str) -> GraphState:
        """Return the state of a graph for a call of its host.

        Args:
            graph: its id.
            call: such as ``wait``.

        Raises:
            DesignError: before ``init``, or after ``end``.
        """
        state = self._states.get(graph)
        if state is None or not state.initialised:
            raise self.wrong(graph, call, "before init", "init first")
        if state.ended:
            raise self.wrong(graph, call, "after end", "nothing more")
        return state

    def wrong(
        self, graph: int, call: str, when: str, allowed: str, kind: type[DesignError] = DesignError
    ) -> DesignError:
        """Return the error of a call that comes at a wrong time.

        Args:
            graph: id of the graph.
            call: such as ``wait``.
            when: it is called, as a part of a sentence.
            allowed: instead of that.
            kind: of the error.
        """
        return kind.of(
            call,
            when,
            allowed,
            f"{call}() is called {when}; allowed is {allowed}",
            reason="adf_call",
            where=self._names.get(graph, f"graph {graph}"),
            source=_SOURCE,
        )

    def cores(self, graph: int) -> list[tuple[tuple[int, int], CoreState]]:
        """The cores that have a kernel of a graph."""
        return [
            (place, core)
            for place, core in self._lowered.cores.items()
            if any(
                self._lookup.is_in_graph(self._lookup.kernels[each.kernel].graph, graph)
                for each in core.kernels
            )
        ]

    def is_done(self, graph: int) -> bool:
        """Whether all cores of a graph are at rest."""
        return are_at_rest(self._array.engine, self.core_numbers(graph))

    def core_numbers(self, graph: int) -> list[int]:
        """The cores of a graph as the engine counts them."""
        return [self._core_number(place) for place, _ in self.cores(graph)]

    def _core_number(self, place: tuple[int, int]) -> int:
        return int(self._array.engine.spec.tiles.core[self._array.compute_tile(*place).index])

    def unfinished(self) -> list[CoreState]:
        """The cores that have not ended the iterations that were asked for."""
        endless = {graph for graph, state in self._states.items() if state.is_endless}
        done = [id(core) for graph in endless for _, core in self.cores(graph)]
        return [
            core
            for place, core in self._lowered.cores.items()
            if id(core) not in done and not are_at_rest(self._array.engine, [self._core_number(place)])
        ]

    def asked(self, graph: int) -> int | None:
        """The iterations that a graph, or the one around it, was asked for; None = without end."""
        states = (state for root, state in self._states.items() if self._lookup.is_in_graph(graph, root))
        state = next(states, GraphState())
        return None if state.is_endless else state.asked

    def endless(self) -> tuple[str, ...]:
        """The names of the graphs that run without end."""
        return tuple(self._names[graph] for graph, state in self._states.items() if state.is_endless)

    def iterations(self) -> dict[str, int]:
        """By name of a graph that ran the fewest iterations that one of its cores has ended."""
        return {
            self._names[graph]: min((core.iterations for _, core in self.cores(graph)), default=0)
            for graph in self._states
        }

    def have_ended(self) -> bool:
        """Whether ``end`` was called for all graphs of the host, and none runs without end."""
        graphs = [each.id for each in self._lowered.plan.description.graphs if each.parent < 0]
        states = [self._states.get(graph, GraphState()) for graph in graphs]
        return all(state.ended and not state.is_endless for state in states)

    @property
    def most_asked(self) -> int:
        """The iterations of the graph that was asked for most."""
        return max((state.asked for state in self._states.values()), default=0)
