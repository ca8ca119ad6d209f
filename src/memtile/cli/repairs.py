"""Repairs on the command line: tried after a run that is stuck or wrong, and written by ``check --fix``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from memtile.cli.failure import UsageError
from memtile.cli.iron_program import is_iron
from memtile.cli.kernel_sources import KernelSources
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.runnable import (
    ProgramOptions,
    design_of,
    iron_design,
    mlir_design,
    python_design,
    python_repairs,
    refused_repairs,
)
from memtile.errors import MemtileError
from memtile.input_files import read_bytes
from memtile.output_files import write_output
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    import numpy.typing as npt

    from memtile.check.check_result import CheckResult
    from memtile.cli.runnable import Runnable
    from memtile.explain.findings import Finding
    from memtile.explain.repairs import Tried
    from memtile.explain.results import Result
    from memtile.importers.mlir.token_packets import Text
    from memtile.importers.repairs import Repairs
    from memtile.runs.program import Run

_OPTIONS = RunOptions(check=True, pad_arguments=True)


_LEAST = 2.0
"""Seconds of the processor that a search for races, and one for what mends them, has in any case."""


def with_tried_repair(
    made: Runnable, done: Run, options: RunOptions, expected: Mapping[str, npt.NDArray[Any]] | None = None
) -> Run:
    """The run, its first finding with the change of the text with which the design finishes.

    Args:
        made: what was run.
        done: its run; one that is good is given back as it is.
        options: of the run.
        expected: arrays that must come out, by name.
    """
    from memtile.explain.findings import is_unplaced
    from memtile.explain.repairs import SECONDS, is_wanted, spent, with_repair
    from memtile.explain.wrong_words import without_followers

    result, repairs = done.result, made.repairs
    if repairs is None or options.untimed or not is_wanted(result) or not result.findings:
        return done
    if expected:
        repairs = replace(repairs, expected=expected)
    until = spent() + SECONDS  # for all that follows
    tried = _searched(repairs, result, (), options)
    left = max(until - spent(), _LEAST)
    if tried.best is None and not options.check and any(map(is_unplaced, result.findings)):
        races = repairs.races(options, seconds=left)
        result = replace(result, findings=without_followers((*races, *result.findings)))
        left = max(until - spent(), _LEAST)
        tried = _searched(repairs, result, (), options, left) if races else tried
    return replace(done, result=replace(result, findings=with_repair(result.findings, tried)))


def _searched(
    repairs: Repairs,
    before: Result | None,
    findings: Sequence[Finding],
    options: RunOptions,
    seconds: float | None = None,
) -> Tried:
    """The repairs of a design; after two seconds a line on stderr says what is done."""
    from memtile.cli.progress import repair_progress
    from memtile.explain.repairs import SECONDS
    from memtile.importers.design_file import silent

    with silent(), repair_progress() as watch:
        return repairs.search(before, findings, options, seconds=seconds or SECONDS, watch=watch)


class Fixing(NamedTuple):
    """What ``check --fix`` is asked.

    Attributes:
        device: of files that leave it open.
        settings: of parameters of the scratchpad.
        kernels: functions that cores call.
        check: checks files again.
        write: the repaired texts, else show the difference alone.
        shown: whether differences are printed.
    """

    device: str
    settings: Sequence[str]
    kernels: KernelSources
    check: Callable[[Sequence[str], str, Sequence[str], KernelSources], list[CheckResult]]
    write: bool
    shown: bool


def fixed(results: Sequence[CheckResult], names: Sequence[str], asked: Fixing) -> list[CheckResult]:
    """The results of a check, with the repairs that were tried; those of texts that were written anew.

    Args:
        results: of the check.
        names: of the designs, each with one result.
        asked: how.

    Raises:
        UsageError: a design that is no MLIR text, or has several devices.
        InputFileError: a file that has changed meanwhile.
        MemtileError: what keeps a design from being run.
    """
    for name in names:
        if Path(name).suffix not in (SUFFIX, ".py"):
            raise UsageError(f"{name}: --fix is for designs in MLIR, Python with design(), and IRON.")
    if len(results) != len(names):
        raise UsageError("--fix is for texts with one device and one host sequence.")
    return [_fixed(result, name, asked) for result, name in zip(results, names, strict=True)]


def _fixed(result: CheckResult, name: str, asked: Fixing) -> CheckResult:
    from memtile.explain.repairs import is_wanted

    try:
        made = _made(name, asked)
    except MemtileError as error:
        return _of_refused(result, name, asked, error)
    options = _OPTIONS if made.is_program else RunOptions()
    before = made.run(replace(options, check=True)).result
    if result.good and not is_wanted(before):
        return replace(result, notes=[*result.notes, f"{name}: nothing to repair; a run of it finishes."])
    if made.repairs is None:
        raise UsageError(f"{name}: --fix changes one text; this design is made of others.")
    found = result if result.findings else replace(result, findings=before.findings)
    if is_iron(name):
        return _offered(found, *_program_repairs(made, name, before, result.findings, asked), asked)
    return _repaired(found, made.repairs, before, asked, options)


def _of_refused(result: CheckResult, name: str, asked: Fixing, error: MemtileError) -> CheckResult:
    """The result for a text that is refused, with its repair."""
    from memtile.check.check import refused

    if is_iron(name) or any(problem.reason == "mlir_external" for problem in error.problems):
        raise error  # no change of the text brings a function; a program prints none
    found = result if not result.good else replace(result, findings=(*refused(name, error), *result.findings))
    if Path(name).suffix == ".py":
        return _repaired(found, python_repairs(name, asked.settings), None, asked, RunOptions())
    repairs = refused_repairs(name, _program_options(asked), asked.settings)
    return _repaired(found, repairs, None, asked, _OPTIONS)


def _repaired(
    found: CheckResult, repairs: Repairs, before: Result | None, asked: Fixing, options: RunOptions
) -> CheckResult:
    """The result with the repair that was found; what is written is checked again."""
    repairs = replace(repairs, accept=partial(_is_clean, asked))
    return _offered(found, repairs.text, _searched(repairs, before, found.findings, options), "", asked)


def _offered(found: CheckResult, text: Text, tried: Tried, said: str, asked: Fixing) -> CheckResult:
    """The result with the best repair of a text, or with what there is to say without one."""
    from memtile.explain.repairs import with_repair

    name = found.name
    if tried.best is None:
        note = f"{name}: {said or f'no repair found in {tried.runs} runs with a change each'}."
        return replace(found, notes=[*found.notes, note])
    found = replace(found, findings=with_repair(found.findings, tried))
    _write(text, tried, name, write=asked.write, shown=asked.shown)
    again = asked.check([name], asked.device, asked.settings, asked.kernels) if asked.write else [found]
    return again[0]


def _program_repairs(
    made: Runnable, name: str, before: Result, findings: Sequence[Finding], asked: Fixing
) -> tuple[Text, Tried, str]:
    """The source of a program, the repairs of it, and why there is none."""
    from memtile.importers.mlir.token_packets import Text
    from memtile.importers.python.program_repairs import ProgramRepairs
    from memtile.iron.program_file import source_instead

    def once(source: str, options: RunOptions) -> tuple[Result, bool]:
        with source_instead(name, source):
            result = _made(name, asked).run(options).result
            again = asked.check([name], asked.device, asked.settings, asked.kernels) if result.good else []
            return result, bool(again) and all(each.good for each in again)

    text = Text(name, read_bytes(name, "text_bytes").decode("utf-8").replace("\r\n", "\n"))
    assert made.repairs is not None
    repairs = ProgramRepairs(made.repairs, text, once)
    search = partial(_searched, before=before, findings=findings, options=_OPTIONS)
    tried, said = repairs.search(search, before)
    return text, tried, said


def _program_options(asked: Fixing) -> ProgramOptions:
    return ProgramOptions(device=asked.device or None, kernels=asked.kernels)


def _made(name: str, asked: Fixing) -> Runnable:
    """A design, loaded to be run."""
    if is_iron(name):
        return iron_design(name, (), asked.settings, device=asked.device, kernels=asked.kernels)()
    if Path(name).suffix == ".py":
        return python_design(name, asked.settings)()
    return mlir_design(name, _program_options(asked), asked.settings, sources_beside=True)()


def _is_clean(asked: Fixing, text: Text) -> bool:
    """Whether a check finds no error in a repaired text."""
    from memtile.check.check import check
    from memtile.check.checked_program import of_design, of_mlir
    from memtile.cli.mlir_file import parameters_of
    from memtile.importers.design import load_still

    if Path(text.name).suffix == ".py":
        return check(
            text.name, lambda: of_design(design_of(text.name, text.content, asked.settings), text.name)
        ).good

    functions, parameters = asked.kernels.with_functions({}), parameters_of(asked.settings)
    device = asked.device or None
    still = partial(load_still, text, device=device, parameters=parameters, functions=functions)
    return check(text.name, lambda: of_mlir(still())).good


def _write(text: Text, tried: Tried, name: str, *, write: bool, shown: bool) -> None:
    """Show the difference of the best repair, and write it."""
    from memtile.importers.mlir.repairs.text_edits import applied_to_file

    assert tried.best is not None
    before = read_bytes(name, "text_bytes").decode("utf-8")
    after = applied_to_file(before, text, tried.best.changes)
    if shown:
        lines = difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
        )
        typer.echo("".join(lines), nl=False)
        typer.echo(f"{name}: {tried.best.text}")
    if write:
        write_output(name, after)
