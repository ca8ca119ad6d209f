"""What must leave a graph: arrays and files that its output PLIOs are compared with, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memtile.adf.description import Plio
from memtile.adf.output_files import CSV, element_at
from memtile.errors import DesignError
from memtile.explain.checks import Check
from memtile.explain.exchanged_outputs import with_exchanges
from memtile.explain.waiting_sentences import finding_in_users_words
from memtile.io import plio_csv, plio_text
from memtile.io.plio_elements import element_of, values_of
from memtile.runs.program import judged

if TYPE_CHECKING:
    from memtile.adf.plan import Plan
    from memtile.adf.program_run import ProgramResult

Array = npt.NDArray[Any]


def compared(done: ProgramResult, expected: Mapping[str, Array | Path]) -> ProgramResult:
    """The result of a graph program, with outputs compared bit by bit.

    Args:
        done: the result.
        expected: by the name of an output PLIO, with or without that of the graph, its label or its file:
            elements in any shape of their order, or a file of a PLIO.

    Returns:
        It, with a check and, where words are others, a finding for each.

    Raises:
        DesignError: there is no such output, or its elements have another type.
        InputFileError: a file that cannot be read.
    """
    if done.plan is None or done.graph is None:
        if expected:
            raise _unknown(next(iter(expected)), ())
        return done
    arrays, checks = list[tuple[Array, Array]](), list[Check]()
    for name, given in expected.items():
        plio = _output(done.plan, name)
        element = element_of(element_at(done.plan, plio), plio.width)
        got = values_of(done.graph.outputs[plio.name].words, element).reshape(-1)
        wanted = _elements(done.plan, plio, given)
        if got.dtype != wanted.dtype:
            raise DesignError.of(
                f"expected output {name!r}",
                f"an array of {wanted.dtype}",
                f"one of {got.dtype}",
                reason="expected_array",
                where="run",
                source="elements of the graph",
            )
        arrays.append((got, wanted.reshape(-1)))
        checks.append(Check.compare(plio.name, got, wanted.reshape(-1), (wanted.shape,)))
    result = judged(done.graph.result, with_exchanges(checks, arrays), done.graph.edges)
    findings = tuple(map(finding_in_users_words, result.findings))
    return replace(done, graph=replace(done.graph, result=replace(result, findings=findings)))


def _output(plan: Plan, name: str) -> Plio:
    """The output PLIO that is meant."""
    outputs = [each for each in plan.description.plios if each.direction == "out"]
    for names in (
        lambda each: (each.name,),
        lambda each: (each.name.rpartition(".")[2], each.label, each.file, Path(each.file).name),
    ):
        found = [each for each in outputs if name in names(each)]
        if len(found) == 1:
            return found[0]
    raise _unknown(name, [each.name for each in outputs])


def _unknown(name: str, known: list[str] | tuple[()]) -> DesignError:
    return DesignError.of(
        f"expected output {name!r}",
        repr(name),
        f"one of {', '.join(known)}" if known else "a graph that main runs",
        reason="expected_array",
        where="run",
        source="output PLIOs of the graph",
    )


def _elements(plan: Plan, plio: Plio, given: Array | Path) -> Array:
    """The elements that are expected at a PLIO; those of a complex type are two each."""
    if isinstance(given, Path):
        element = element_at(plan, plio)
        if given.suffix == CSV:
            words = plio_csv.read_plio_csv(given, element, plio.width).words
        else:
            words = plio_text.read_plio(given, element, plio.width, hex=plio.hex).words
        return values_of(words, element_of(element, plio.width)).reshape(-1)
    found = np.ascontiguousarray(given)
    return found.reshape(-1).view(np.float32) if found.dtype == np.complex64 else found
