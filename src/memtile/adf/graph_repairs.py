"""Repairs of a graph that are tried: which change of its description makes the expected words come out.

``main`` runs anew with each change, without its output and for some seconds at most; its files of PLIOs are
read as before, and what it writes itself is written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any

import numpy.typing as npt

from memtile.adf.description import MemoryObject, Port
from memtile.adf.expected import compared
from memtile.adf.file_changes import file_changes
from memtile.adf.graph_changes import GraphChange, order_changes
from memtile.adf.graph_file import GraphProgram
from memtile.adf.host_program import LateHostError
from memtile.adf.objects import Objects
from memtile.adf.program_run import ProgramResult, ProgramRun
from memtile.adf.size_changes import size_changes
from memtile.adf.value_changes import value_changes
from memtile.arch.tiles import WORD_BYTES
from memtile.errors import MemtileError
from memtile.explain.evidence import NO_EVIDENCE
from memtile.explain.findings import Finding, is_unplaced
from memtile.explain.repairs import (
    FAILED,
    REFUSED,
    SECONDS,
    Candidate,
    OutOfTimeError,
    Trial,
    Tried,
    search,
    trial_of,
    until_late,
    with_repair,
)
from memtile.explain.results import Status
from memtile.runs.options import RunOptions

Expected = Mapping[str, npt.NDArray[Any] | Path]
_NAMED, _SAID = 0.3, 0.6
"""How much likelier a change is of the port that a finding names, and one by as much as it says."""
_LONGER = 4  # times the cycles of the run without a change
_LEAST_CYCLES = 10_000
_WAITED = 1.5  # times the seconds of the processor that all trials may take, ``main`` asleep or not
_LEAST_SECONDS = 1.0  # for ``main`` in a trial


def repaired(
    program: GraphProgram,
    done: ProgramResult,
    expected: Expected,
    options: RunOptions,
    seconds: float = SECONDS,
) -> ProgramResult:
    """The result of a run with the repair that was found, if its outputs are others than expected.

    Args:
        program: that ran.
        done: the result, compared with what must come.
        expected: as for :func:`~memtile.adf.expected.compared`.
        options: of the run.
        seconds: of the processor for all trials.
    """
    result = done.result
    if result is None or done.plan is None or done.graph is None or result.exact is not False:
        return done
    if result.status not in (Status.FINISHED, Status.STUCK) or not result.findings:
        return done
    if result.status is Status.FINISHED and not any(each.wrong for each in result.checks):
        return done  # all words that came are right: the graph ran too few iterations
    objects = Objects(done.plan.description)
    evidence = next((each.evidence for each in result.findings if is_unplaced(each)), NO_EVIDENCE)
    folder = program.options.inputs or program.options.folder
    changes = [*changes_of(objects), *value_changes(objects, done.given, evidence)]
    changes += file_changes(objects, folder, [*expected.values()])
    changes.sort(key=lambda each: each.candidate.unlikely - advised(objects, each, result.findings[0]))
    tried = tried_changes(program, changes, expected, options, result.cycles, seconds)
    findings = with_repair(result.findings, tried)
    if tried.best is not None:  # what was tried comes before what may be meant at the same place
        findings = tuple(sorted(findings, key=lambda each: each.repair is None))
    found = replace(result, findings=findings)
    return replace(done, graph=replace(done.graph, result=found))


def advised(objects: Objects, change: GraphChange, finding: Finding) -> float:
    """How much likelier a change is by what a finding says: of the port that it names, as far as it says."""
    ports = [each for each in change.objects if isinstance(each, Port)]
    if not ports or not finding.sides or any(each.name != finding.sides[0].who for each in ports):
        return 0.0
    words, memory = finding.evidence.further, objects.all.get(ports[0].owner)
    if not words or not isinstance(memory, MemoryObject):
        return _NAMED
    further = _further(objects.ports[ports[0].id], ports[0])
    return _SAID if further * memory.element_bytes == words * WORD_BYTES else _NAMED


def _further(before: Port, after: Port) -> int:
    """Elements by which the first tiling of a port that another one differs in begins later."""
    for access in ("write_access", "read_access"):
        for old, new in zip(getattr(before, access), getattr(after, access), strict=False):
            if old.offset != new.offset:
                sizes = [prod(new.buffer_dimension[:d]) for d in range(len(new.offset))]
                pairs = zip(old.offset, new.offset, sizes, strict=True)
                return sum((to - at) * size for at, to, size in pairs)
    return 0


def changes_of(objects: Objects) -> list[GraphChange]:
    """The changes of a description that may be what was meant, likeliest first."""
    every = chain(order_changes(objects), size_changes(objects))
    return sorted(every, key=lambda each: each.candidate.unlikely)


def tried_changes(
    program: GraphProgram,
    changes: Iterable[GraphChange],
    expected: Expected,
    options: RunOptions,
    cycles: int,
    seconds: float = SECONDS,
) -> Tried:
    """The changes with which a graph gives the expected words.

    Args:
        program: that ran.
        changes: likeliest first.
        expected: as for :func:`~memtile.adf.expected.compared`.
        options: of the run.
        cycles: of the run without a change.
        seconds: of the processor for all trials.
    """
    by_name = {each.candidate.says: each for each in changes}
    end = monotonic() + _WAITED * seconds

    def attempt(candidate: Candidate, until: float, limit: int) -> Trial:
        change = by_name[candidate.says]
        if monotonic() > end:
            return REFUSED
        try:
            run = replace(options, max_cycles=limit, progress=until_late(until), history=False)
            silent = program.options.silent(max(end - monotonic(), _LEAST_SECONDS))
            silent = replace(silent, run=run, change=change.applied, updates=change.updates)
            done = compared(ProgramRun(program.files, silent).run(), expected)
        except (OutOfTimeError, LateHostError):
            return FAILED
        except MemtileError:
            return REFUSED
        return FAILED if done.result is None else replace(trial_of(done.result), good=done.good)

    most = max(_LONGER * cycles, _LEAST_CYCLES)
    candidates = (each.candidate for each in by_name.values())
    return search(candidates, attempt, max_cycles=min(most, options.max_cycles), seconds=seconds)
