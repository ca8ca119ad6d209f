"""Variants of a graph in C++: its macros are varied, and ``main`` runs with each set of values.

A variant is compiled and run as ``memtile run graph.cpp -D NAME=VALUE`` does, from the same cache.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from memtile.adf.graph_file import GraphProgram
from memtile.adf.macros import GraphTexts, is_macro
from memtile.adf.program_options import ProgramOptions
from memtile.adf.program_run import ProgramResult, ProgramRun
from memtile.arch.energy import energy_table
from memtile.arch.timing import chosen_timing
from memtile.errors import DesignError, InputFileError, MemtileError, Problem, raise_if
from memtile.explain.results import Status
from memtile.explore.sweep.row import SweepRow, Variant, VariantState, fault, points_of, row_of
from memtile.explore.sweep.sources import own_hash
from memtile.explore.sweep.space import TIMING, Label, Space, SweepAxis, constant_axis, text_axis, text_label
from memtile.explore.sweep.variant_figures import after_run, before_run, energy_of
from memtile.runs.options import RunOptions

_ERROR = "error:"  # of a compiler, in a line
_PATHS = ("folder", "inputs")
_TUPLES = ("flags", "words")
_SHOWN = 12  # names in a message
_problem = partial(Problem, reason="space", source="macros in the sources of the graph")


def graph_hash(graph: GraphProgram) -> str:
    """Hash of all that decides what a variant is but for its values: 16 hexadecimal digits.

    It is of the sources, the files beside them and those that they lead to, the options, and memtile.
    """
    texts = GraphTexts(graph.files, graph.options.include)
    every = {str(path): text for path, text in (*texts.read.items(), *texts.beside.items())}
    said = json.dumps([as_data(graph), dict(sorted(every.items())), own_hash()])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def as_data(graph: GraphProgram) -> dict[str, Any]:
    """A graph as plain data, for a process that tries variants of it; options of a run are the variant's."""
    given = {each.name: getattr(graph.options, each.name) for each in fields(ProgramOptions)}
    del given["run"]
    data = {"files": graph.files, "options": given}
    return dict(json.loads(json.dumps(data, default=_plain)))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def graph_of(data: Mapping[str, Any]) -> GraphProgram:
    """The graph that :func:`as_data` wrote down."""
    options = dict(data["options"])
    options |= {name: None if options[name] is None else Path(options[name]) for name in _PATHS}
    options |= {name: tuple(options[name]) for name in _TUPLES}
    options["include"] = tuple(map(Path, options["include"]))
    return GraphProgram([Path(each) for each in data["files"]], ProgramOptions(**options))


# what is varied ------------------------------------------------------------------------------------------


def macro_space(graph: GraphProgram, vary: Mapping[str, str], fixed: Mapping[str, object]) -> Space:
    """What is varied of a graph.

    Args:
        graph: the graph.
        vary: values of macros as texts: ``8,16,32``, ``1..8``, ``16..128:16``, any text of C++; and those of
            timing constants.
        fixed: what is set, and not varied.

    Raises:
        DesignError: names that are no macros, or that no source has; no values; all at once.
    """
    texts, where = GraphTexts(graph.files, graph.options.include), graph.files[0].name
    problems: list[Problem] = []
    axes: list[SweepAxis] = []
    macros = [name for name in (*vary, *fixed) if not name.startswith(TIMING)]
    for name in dict.fromkeys(macros):
        problems += _name_problems(name, texts, where)
    given = {*fixed, *graph.options.defines}
    problems += [_given(where, name) for name in vary if name in given]
    for name, text in vary.items():
        try:
            axes.append(constant_axis(name, text) if name.startswith(TIMING) else text_axis(name, text))
        except ValueError as error:
            says = f"{name} cannot be varied over {text!r} ({error})"
            step = "Write 8,16,32 or 1..8 or 16..128:16."
            problems.append(_problem(name, repr(text), "values", says, step, where=where))
    if not vary:
        says = f"there is nothing to vary; macros that the sources give a value are {_listed(texts)}"
        step = "Give --vary NAME=VALUES."
        problems.append(_problem("macros", "none", "at least one", says, step, where=where))
    raise_if(problems, DesignError)
    return Space(tuple(axes))


def _name_problems(name: str, texts: GraphTexts, where: str) -> Iterator[Problem]:
    """Why a macro changes nothing, or is none."""
    if not is_macro(name):
        says = f"{name!a} is no macro, which must be an identifier of C++"
        yield _problem("macro", ascii(name), "an identifier", says, where=where)
    elif not texts.has(name):
        says = f"no source of the graph uses the macro {name}, so that all variants would be the same"
        step = f"Macros that the sources give a value are {_listed(texts)}."
        yield _problem("macro", name, "a macro that the sources use", says, step, where=where)
    elif place := texts.fixed_at(name):
        says = f"{place} defines {name} itself, so that other values have no effect"
        step = f"Put #ifndef {name} and #endif around it."
        yield _problem("macro", name, "a macro that the sources leave open", says, step, where=where)


def _listed(texts: GraphTexts) -> str:
    found = texts.offered
    more = f" and {len(found) - _SHOWN} more" if found[_SHOWN:] else ""
    return ", ".join(found[:_SHOWN]) + more if found else "none"


def _given(where: str, name: str) -> Problem:
    says = f"{name} is both varied and given a value by --set or -D"
    return _problem(name, "given twice", "one of both", says, "Leave one of both out.", where=where)


# one variant ---------------------------------------------------------------------------------------------


def attempt_graph(graph: GraphProgram, task: Variant) -> SweepRow:
    """Compile a variant, run its ``main``, and judge what came of it; its output is dropped.

    Args:
        graph: without the macros of the variant.
        task: the variant.
    """
    given, constants = points_of(task)
    defines = {**graph.options.defines, **{name: str(value) for name, value in given.items()}}
    run = RunOptions(**task.changed())
    options = replace(graph.options, defines=defines, run=run, stdout=subprocess.DEVNULL)
    bad = VariantState.INFEASIBLE
    try:
        with chosen_timing({name: int(str(value)) for name, value in constants.items()}):
            program = ProgramRun(graph.files, options)
            return _judged(task, program, program.run())
    except InputFileError as error:
        return row_of(task, bad, error_line(error), "failed", {})
    except MemtileError as error:
        return row_of(task, bad, error_line(error), "refused", {})


def _judged(task: Variant, program: ProgramRun, done: ProgramResult) -> SweepRow:
    if done.result is None or program.array is None:
        return row_of(task, VariantState.INFEASIBLE, "main ran no graph", "failed", {})
    if done.result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    figures = before_run(program.array)
    if not done.good:
        kind, why = graph_fault(done)
        return row_of(task, VariantState.INFEASIBLE, why, kind, figures)
    figures = after_run(program.array, figures, done.result)
    if task.energy:
        figures["energy"] = energy_of(program.array, done.result, energy_table(task.energy))
    return row_of(task, VariantState.GOOD, "", "", figures)


def graph_fault(done: ProgramResult) -> tuple[str, str]:
    """Code or word, and a line, for what is wrong with a run, in the names of the graph."""
    assert done.graph is not None
    result = done.graph.result
    if done.missing:
        return "missing", "; ".join(each.message for each in done.missing)
    if not result.good:
        return fault(result)
    if done.graph.unfinished:
        return "unfinished", f"{', '.join(done.graph.unfinished)}: not all iterations finished"
    return "code", f"main returned {done.code}"


def error_line(error: MemtileError) -> str:
    """One line of an error: of a compiler's its first error."""
    lines = "\n".join(error.messages).splitlines()
    first = next((line for line in lines[1:] if _ERROR in line), None)
    return " ".join((f"{lines[0]} {first}" if first else " ".join(lines)).split())


def fixed_labels(settings: Mapping[str, object]) -> dict[str, Label]:
    """Labels of macros that are set: whole numbers as such, all else as it is written."""
    return {name: text_label(str(value)) for name, value in settings.items()}
