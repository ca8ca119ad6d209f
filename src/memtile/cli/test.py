"""``memtile test``: do designs give what is expected, within their budgets of cycles?"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memtile.cli import run_options as options
from memtile.cli.exit_codes import ExitCode
from memtile.cli.result_output import leave
from memtile.errors import InputFileError
from memtile.explore.suite.settings import (
    LEAST_SECONDS,
    CaseSettings,
    SuiteSettings,
    part_of,
    read_settings,
    settings_beside,
)
from memtile.input_files import read_text
from memtile.output_files import check_writable, write_output
from memtile.plain_text import json_text
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.explore.suite.cases import DesignCase
    from memtile.explore.suite.outcome import SuiteResult

EXAMPLES = """\b
Examples:
  memtile test
  memtile test designs/ --junit tests.xml --sarif findings.sarif --markdown summary.md
  memtile test gemm.mlir --in 0=a.npy --in 1=b.npy --expect 2=c.npy --cycles 65_407 --within 5%
  memtile test softmax.py --tolerance 1e-2 --set size=4096
  memtile test graph.cpp -I src --expect DataOut=golden.txt
  memtile test --baseline cycles.toml --update-baseline designs/
  memtile test --step-summary --seconds 60 --workers 4 designs/
"""
_SUMMARY = "GITHUB_STEP_SUMMARY"
_WIDE = 120  # columns where there is no terminal

_OF_CASE = {
    "inputs": options.In,
    "expect": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="Array that must come out, .npy; of a graph also .txt; repeat."
        ),
    ],
    "tolerance": Annotated[
        float | None, typer.Option(min=0, help="Of expected floats, absolute and relative; else bit by bit.")
    ],
    "cycles": Annotated[str | None, typer.Option(metavar="N", help="Most cycles that the design may take.")],
    "within": Annotated[
        str | None, typer.Option(metavar="PERCENT", help="By how much budgets may be exceeded, such as 5%.")
    ],
    "settings": options.Settings,
    "kernels": Annotated[
        list[str] | None, typer.Option("--kernels", metavar="FILE", help="What cores call; repeat.")
    ],
    "include": options.Include,
    "define": options.Define,
    "cost": options.Costs,
    "device": Annotated[
        str | None, typer.Option(metavar="NAME", help="Device of designs that leave it open, such as npu1.")
    ],
    "in_folder": options.InFolder,
    "seconds": Annotated[
        float | None, typer.Option(min=LEAST_SECONDS, help="Time for each design; else 120.")
    ],
    "allow_unknown": Annotated[
        bool | None,
        typer.Option("--allow-unknown", help="Pass designs of which nothing says what must come out."),
    ],
    "check": Annotated[
        bool | None, typer.Option("--check/--no-check", help="Also look for what memtile check finds.")
    ],
}
"""The option of the command line for each field of the settings of a design."""


@dataclass(frozen=True, slots=True)
class CaseOptions:
    """What the command line says of the settings of designs; None = nothing."""

    inputs: Sequence[str] | None = None
    expect: Sequence[str] | None = None
    tolerance: float | None = None
    cycles: str | None = None
    within: str | None = None
    settings: Sequence[str] | None = None
    kernels: Sequence[str] | None = None
    include: Sequence[str] | None = None
    define: Sequence[str] | None = None
    cost: Sequence[str] | None = None
    device: str | None = None
    in_folder: Path | None = None
    seconds: float | None = None
    allow_unknown: bool | None = None
    check: bool | None = None


def _with_case_options(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command offer the settings of designs in place of its parameter ``of_case``."""
    return options.in_place_of("of_case", _OF_CASE, CaseOptions, command)


_NOTHING = CaseOptions()


_LIMITED = RunOptions(max_cycles=10_000_000)  # the time limit is for designs that hang


@_with_case_options
@options.running(max_cycles=options.EachMaxCycles)
def run_tests(
    designs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DESIGN|FOLDER...",
            help="Designs in Python, MLIR, IRON and C++, builds, folders with them; else this folder.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Settings; else memtile-tests.toml beside or above."),
    ] = None,
    of_case: CaseOptions = _NOTHING,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Cycles to compare with, .toml or .json.")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write the cycles of this run into the baseline.")
    ] = False,
    timing: options.TimingConstants = None,
    of_run: RunOptions = _LIMITED,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Designs at a time; else as many as there are cores.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write findings as SARIF.")] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a summary.")] = None,
    step_summary: Annotated[
        bool, typer.Option("--step-summary", help="Also add the summary to that of the GitHub job.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Test designs: check each, run it, compare its outputs, and hold its cycles to a budget.

    Arrays beside a design, inN.npy and outN.npy, are its arguments and what must come out; memtile-tests.toml
    says more (docs/ci.md). Options here are for every design, over the file; --in, --expect and --cycles are
    for one. A design whose results nothing specifies is unknown, which fails unless --allow-unknown is given.

    Ends with exit code 1 unless all designs pass. Ctrl-C ends the tests and shows those that are done.
    """
    targets = [Path(each) for each in designs or ["."]]
    outputs = _Outputs(junit, sarif, markdown, step_summary)
    outputs.check()
    suite = read_settings(config or next(filter(None, map(settings_beside, targets)), None))
    file = baseline or suite.baseline
    if update_baseline and file is None:
        raise InputFileError("--update-baseline needs a file. Give --baseline cycles.toml too.")
    result = _tested(targets, _over(suite, of_case), file, update_baseline, timing, of_run, workers)
    outputs.write(result)
    if as_json:
        typer.echo(json_text(result.as_json(), indent=2))
    else:
        typer.echo("\n".join(result.lines(_width())))
    if result.errors and not result.interrupted:
        raise typer.Exit(ExitCode.INTERNAL)
    leave(interrupted=result.interrupted, good=result.good)


def _tested(
    targets: Sequence[Path],
    suite: SuiteSettings,
    baseline: Path | None,
    update: bool,
    timing: Sequence[str] | None,
    of_run: RunOptions,
    workers: int | None,
) -> SuiteResult:
    """Run the tests, and write the baseline if that is asked for.

    Raises:
        InputFileError: a design that is not there, or a baseline that cannot be read or written.
    """
    from memtile.cli.progress import watched
    from memtile.explore.suite.baseline import other_version, read_baseline
    from memtile.explore.suite.cases import cases_of
    from memtile.explore.suite.outcome import Verdict
    from memtile.explore.suite.suite import run_suite, update_baseline
    from memtile.explore.threads import cores

    known = read_baseline(baseline, missing_ok=update) if baseline is not None else {}
    cases = cases_of(targets, suite)
    _refuse_for_several(cases, suite)
    cases = [replace(case, baseline=None if update else known.get(case.name)) for case in cases]
    count = workers or cores()
    with options.with_timing(timing):
        constants = options.parse_timing(timing or ())
    result = run_suite(
        cases, workers=count, options=of_run, timing=constants, watch=partial(watched, text="designs")
    )
    notes = [update_baseline(baseline, known, result)] if update and baseline is not None else []
    if baseline is not None and result.count(Verdict.SLOW):
        notes += filter(None, [other_version(baseline)])
    return replace(result, notes=notes)


_OF_ONE = {"inputs": "--in", "expect": "--expect", "cycles": "--cycles"}


@dataclass(frozen=True, slots=True)
class _Over(SuiteSettings):
    """Settings with options of the command over them.

    Attributes:
        of_one: options that were given and are for one design.
    """

    of_one: Sequence[str] = ()


def _over(suite: SuiteSettings, given: CaseOptions) -> _Over:
    """The settings, with what the command line says over them.

    Raises:
        InputFileError: an option of another form.
    """
    every = {each.name: getattr(given, each.name) for each in fields(given)}
    chosen: dict[str, Any] = {name: value for name, value in every.items() if value not in (None, [])}
    for name in ("inputs", "expect"):
        if name in chosen:
            chosen[name] = dict(_pair(text, _OF_ONE[name]) for text in chosen[name])
    if "within" in chosen:
        chosen["within"] = part_of(chosen["within"], "--within")
    if "cycles" in chosen:
        chosen["cycles"] = options.number(chosen["cycles"], "--cycles")
    if "settings" in chosen:
        chosen["set"] = chosen.pop("settings")
    in_folder = chosen.get("in_folder")
    chosen |= {"in_folder": str(in_folder)} if in_folder else {}

    def over(usual: CaseSettings) -> CaseSettings:
        return replace(usual, **chosen)

    return _Over(
        suite.folder, over(suite.usual),
        [replace(each, settings=over(each.settings)) for each in suite.tests],
        suite.baseline, suite.exclude, suite.pytest,
        [_OF_ONE[name] for name in _OF_ONE if name in chosen],
    )  # fmt: skip


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise InputFileError(f"command line: {option} is {text!r}; it must be NAME=FILE.")
    return name, file


def _refuse_for_several(cases: Sequence[DesignCase], suite: SuiteSettings) -> None:
    """Refuse options for one design where there are several.

    Raises:
        InputFileError: which they are.
    """
    wrong = suite.of_one if isinstance(suite, _Over) and len(cases) > 1 else ()
    if wrong:
        raise InputFileError(
            f"{' and '.join(wrong)}: for one design, and there are {len(cases)}. Write memtile-tests.toml, "
            f"which says it of each."
        )


def _width() -> int:
    """Columns of the terminal, or of COLUMNS."""
    from shutil import get_terminal_size

    return get_terminal_size((_WIDE, 0)).columns


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Files that are written beside what is shown."""

    junit: Path | None
    sarif: Path | None
    markdown: Path | None
    step_summary: bool

    def check(self) -> None:
        """Refuse files that cannot be written, before the tests.

        Raises:
            InputFileError: which they are.
        """
        for path in filter(None, (self.junit, self.sarif, self.markdown)):
            check_writable(path)
        if self.step_summary and not os.environ.get(_SUMMARY):
            raise InputFileError(
                f"--step-summary is for a job of GitHub Actions, which sets {_SUMMARY}. "
                "Give --markdown FILE elsewhere."
            )

    def write(self, result: SuiteResult) -> None:
        """Write them."""
        from memtile.report.finding_formats import junit, sarif

        if self.junit is not None:
            seconds = [each.seconds for each in result.outcomes]
            write_output(self.junit, junit(result.outcomes, "test", seconds, result.errors))
        if self.sarif is not None:
            by_file = [each.by_file() for each in result.outcomes]
            write_output(self.sarif, json_text(sarif(by_file), indent=2) + "\n")
        if self.markdown is not None:
            write_output(self.markdown, result.markdown())
        if self.step_summary:
            path = Path(os.environ[_SUMMARY])
            before = read_text(path) if path.exists() else ""
            write_output(path, before + result.markdown())
