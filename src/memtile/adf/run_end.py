"""How the run of a graph ended: input that ran out, input that is left over, and what still waits.

A graph whose kernels have ended all iterations that were asked for has done its work, whatever is left in
its input files: AMD's simulators end it with success.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memtile.explain.deadlock.graph import Via
from memtile.explain.results import Result
from memtile.runs.program_run import after_all_waits

_ENDED_CORE = "MT0309"
_PLIO = re.compile(r"^PLIO '([^']+)' at ")


@dataclass(frozen=True, slots=True)
class Missing:
    """Exhausted input: the data that kernels and buffers still wait for.

    Attributes:
        name: of the PLIO.
        elements: that came.
        needed: by the requested iterations; None = a stream, whose length no graph specifies.
        element: their type.
    """

    name: str
    elements: int
    needed: int | None
    element: str

    @property
    def message(self) -> str:
        """One sentence."""
        return self._says("ran", "came")

    @property
    def will_run_out(self) -> str:
        """The message of an input whose length is known, before a run."""
        return self._says("runs", "come")

    def _says(self, runs: str, come: str) -> str:
        """The sentence with its two verbs."""
        data = f"{self.name} {runs} out of data: {self.elements:,} {self.element} {come}"
        if self.needed is None:
            return f"{data}, and its reader waits for more"
        lacks = f"{self.needed - self.elements:,} are missing"
        return f"{data}, the iterations asked for need {self.needed:,}; {lacks}"


@dataclass(frozen=True, slots=True)
class Volume:
    """What an input, a PLIO or a GMIO, was given, and what a graph needs of it.

    Attributes:
        name: of the input.
        given: elements of its file.
        needed: elements of the iterations that were asked for; None = the graph does not say.
        element: their type.
        id: of the PLIO or GMIO: two graphs may have inputs of one name.
    """

    name: str
    given: int
    needed: int | None
    element: str
    id: int


def ended(result: Result) -> Result:
    """The result of a run in which every kernel has ended all iterations that were asked for.

    What still waits, such as a buffer for a kernel that takes no more, is at rest.
    """
    found = after_all_waits(result)
    return replace(found, findings=tuple(each for each in found.findings if each.code != _ENDED_CORE))


def missing_input(volumes: Iterable[Volume], result: Result) -> Iterator[Missing]:
    """Inputs that ran out of data: less than the iterations need, or a stream that its reader waits for."""
    dry = set(_dry(result))
    for each in volumes:
        if each.needed is not None and each.given < each.needed:
            yield Missing(each.name, each.given, each.needed, each.element)
        elif each.needed is None and each.name in dry:
            yield Missing(each.name, each.given, None, each.element)


def left_over(volumes: Iterable[Volume]) -> Iterator[str]:
    """One sentence for each input whose file has more than a finished run has needed."""
    for each in volumes:
        if each.needed and each.given > each.needed:
            yield (
                f"{each.given - each.needed:,} of {each.given:,} {each.element} in the file of {each.name} "
                "are left over: the iterations asked for need no more"
            )


def limit_notes(cycles: int, endless: Sequence[str], busy: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What runs on at the limit of cycles.

    Args:
        cycles: of the run.
        endless: graphs that run without a count.
        busy: per core that is in a call and waits for nothing the streams that it reads and that are empty.
    """
    for name in endless:
        yield f"{name} runs without end (run() has no count) and was stopped at cycle {cycles:,}"
    for name, streams in busy.items():
        yield f"{name} is in a call at the limit of cycles and waits for nothing" + (
            f"; {', '.join(streams)}, which it reads, has no more data: it polls an empty stream"
            if streams
            else ""
        )


def _dry(result: Result) -> Iterator[str]:
    """Names of PLIOs whose words something waits for."""
    names = {node.id: node.name for node in result.waits.nodes}
    for edge in result.waits.edges:
        if edge.via is Via.WORDS and (found := _PLIO.match(names[edge.gives])):
            yield found[1]
