"""``memtile check``: what is wrong with a design, said before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli import run_options as options
from memtile.cli.exit_codes import ExitCode
from memtile.cli.failure import UsageError
from memtile.cli.graph_file import is_graph
from memtile.cli.iron_program import is_iron
from memtile.cli.kernel_sources import NO_KERNELS, KernelSources
from memtile.cli.mlir_file import SUFFIX
from memtile.cli.repairs import Fixing, fixed
from memtile.cli.runnable import ProgramOptions
from memtile.cli.screen import show_lines
from memtile.plain_text import json_text

if TYPE_CHECKING:
    from memtile.check.check_result import CheckResult
    from memtile.check.checked_program import Subject
    from memtile.cli.runnable import Maker, Runnable
    from memtile.importers.design import ReadText
    from memtile.importers.kernels.cpp_functions import Given

EXAMPLES = """\b
Examples:
  memtile check design.py --set m=32
  memtile check design.mlir --device npu1
  memtile check design.mlir --kernels functions.py
  memtile check design.mlir --kernels kernel.cc
  memtile check build/ --sarif > findings.sarif
  memtile check graph.cpp -I src -D ROUNDS=4
  memtile check *.mlir --junit > findings.xml
  memtile check design.mlir --timing queue_running=0
  memtile check --sandbox design.py
  memtile check --fix --dry-run design.mlir
"""


_Designs = Annotated[
    list[str],
    typer.Argument(
        metavar="DESIGN|GRAPH|FILE|BUILD...",
        help="Python files with design(), MLIR files, graphs in C++, files of register writes, builds.",
    ),
]
_Kernels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="What cores of a design in MLIR call, in Python or C++, if not the library's; repeat.",
    ),
]


def check(
    designs: _Designs,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="Device of files that leave it open, such as npu1.")
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Parameter of design(), number or parameter of a design in MLIR, macro of a graph.",
        ),
    ] = None,
    kernels: _Kernels = None,
    include: options.Include = None,
    define: options.Define = None,
    timing: options.TimingConstants = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="SARIF 2.1.0, for code hosts and editors.")
    ] = False,
    as_junit: Annotated[bool, typer.Option("--junit", help="JUnit XML, for build servers.")] = False,
    fix: options.Fix = False,
    dry_run: options.DryRun = False,
    everything: options.AllLines = False,
) -> None:
    """Find errors in designs before they run: budgets, circuits, locks, rows, unordered memory.

    Nothing is run, so memtile run alone finds what depends on data or time. Only a design whose end depends
    on a host value is run, to find the values with which it hangs. Functions that cores call may be unknown;
    those of the library must fit their declarations, or --kernels has others.
    A C++ source is compiled to compare the parameters of its functions with the calls (docs/cpp.md).
    A graph in C++ is compiled with its kernels and placed in an array; a note reports what AMD's compiler
    would refuse by its public rules. Its main runs without a model, up to the first
    call that brings it data of the array: what it gives until then has to suffice for what it waits for.
    Every finding has a stable code, its place in the file if known, and a repair if there is one.

    --fix repairs designs in MLIR with one device, in Python and in IRON: it runs them with changes of their
    texts and writes the likeliest one that finishes without a finding; --dry-run shows the difference.

    Ends with exit code 1 if there is an error, not for warnings and notes alone. What --fix has written is
    checked again.
    """
    if dry_run and not fix:
        raise UsageError("--dry-run is for --fix. Give --fix too.")
    if as_json + as_sarif + as_junit > 1:
        raise UsageError("--json, --sarif and --junit exclude each other. Give one of them.")
    with options.with_timing(timing):
        sources = KernelSources.of(kernels, include=include, define=define)
        results = checked(designs, device, settings or (), sources)
        if fix:
            asked = Fixing(
                device, settings or (), sources, checked, not dry_run, not (as_json or as_sarif or as_junit)
            )
            results = fixed(results, designs, asked)
    _show(results, as_json=as_json, as_sarif=as_sarif, as_junit=as_junit, everything=everything)
    if not all(result.good for result in results):
        raise typer.Exit(ExitCode.BAD_RESULT)


def checked(
    designs: Sequence[str],
    device: str = "",
    settings: Sequence[str] = (),
    kernels: KernelSources = NO_KERNELS,
) -> list[CheckResult]:
    """What is wrong with each design of the files, before it runs.

    Args:
        designs: files and build folders.
        device: of files that leave it open.
        settings: ``NAME=VALUE`` of parameters of designs in Python, and of the scratchpad of designs in MLIR.
        kernels: functions that cores of designs in MLIR call; those in C++ are compiled.

    Raises:
        UsageError: no such file; settings of register writes, which have no parameters.
        InputFileError: settings of another form than the designs take.
    """
    from memtile.check.check import check as check_subject

    missing = [name for name in designs if not Path(name).exists()]
    if missing:
        raise UsageError(f"{missing[0]}: there is no such file or folder.")
    return [
        result
        for name in designs
        for result in (
            [_graph(name, device, settings, kernels)]
            if is_graph([name])
            else [check_subject(part, make) for part, make in _parts(name, device, settings, kernels)]
        )
    ]


def _graph(name: str, device: str, settings: Sequence[str], kernels: KernelSources) -> CheckResult:
    """What is refused of a graph, in the user's names; and what AMD's compiler would refuse."""
    from memtile.check.check import refused
    from memtile.check.check_result import CheckResult
    from memtile.cli.graph_file import graph_program
    from memtile.errors import MemtileError
    from memtile.explain.findings import Severity

    graph, notes = graph_program([name], device, kernels, settings=settings), list[str]()
    try:
        notes += [each.text for each in graph.verdicts()]
        lowered = graph.lowered()
        notes += (*lowered.plan.notes, *(f"{each}." for each in lowered.unread.values()))
    except MemtileError as error:
        return CheckResult(name, tuple(refused(name, error)), notes=notes)
    try:
        of_host = graph.host_findings(lowered)
    except MemtileError as error:
        return CheckResult(name, lowered.findings, notes=[*notes, f"{name}: main is not examined: {error}"])
    findings = sorted((*of_host, *lowered.findings), key=lambda each: [*Severity].index(each.severity))
    return CheckResult(name, tuple(findings), notes=notes)


Part = tuple[str, Callable[[], "Subject"]]
"""A design and what brings it into an array."""


def _parts(name: str, device: str, settings: Sequence[str], kernels: KernelSources) -> Iterator[Part]:
    """The designs of a file: one, but for MLIR files with several devices."""
    suffix = Path(name).suffix
    if suffix == SUFFIX:
        yield from _mlir(name, device, settings, kernels)
    elif is_iron(name):
        yield name, partial(_iron, name, settings, device, kernels)
    elif suffix == ".py":
        yield name, partial(_python, name, settings, device)
    elif settings:
        raise UsageError(f"{name}: --set is for designs; a program of register writes has no parameters.")
    else:
        yield name, partial(_program, name, device)


def _iron(name: str, settings: Sequence[str], device: str, kernels: KernelSources) -> Subject:
    """The design of a program; functions that it only names need not be there."""
    from memtile.check.checked_program import of_mlir
    from memtile.cli.conditions import hosted_conditions
    from memtile.cli.design_file import settings_of
    from memtile.cli.iron_program import iron_array
    from memtile.cli.runnable import iron_loading

    loading = {**iron_loading(kernels, kernels.maker()), "is_looked_at": True}
    made = iron_array(name, (), settings_of(settings), device, loading)
    subject = of_mlir(made.loaded)
    return replace(subject, conditions=hosted_conditions(made).search) if made.loaded.kernels else subject


def _python(name: str, settings: Sequence[str], device: str) -> Subject:
    from memtile.check.checked_program import of_design, of_mlir
    from memtile.cli.conditions import hosted_conditions
    from memtile.cli.design_file import load_design
    from memtile.importers.design_file import guarded
    from memtile.importers.hosted_array import HostedArray

    made = load_design(name, settings, device)
    if isinstance(made, HostedArray):
        conditions = hosted_conditions(made).search
        return replace(of_mlir(made.loaded), conditions=conditions)
    subject: Subject = guarded(name, lambda: of_design(made, name))
    return subject


def _mlir(name: str, device: str, settings: Sequence[str], kernels: KernelSources) -> Iterator[Part]:
    from memtile.cli.kernels_file import load_functions
    from memtile.cli.mlir_file import parameters_of
    from memtile.errors import MemtileError
    from memtile.importers.design import ReadText, sequence_names

    given: ReadText | str = name
    try:
        given = ReadText.of(name)
        found = sequence_names(given)
    except MemtileError:
        found = [("", [])]  # the check itself says why
    parameters, compiles = parameters_of(settings), bool(kernels.sources)
    functions = kernels.with_functions(load_functions(kernels.file) if kernels.file else {})
    several = len(found) > 1
    for n, (each, sequences) in enumerate(found or [("", [])], 1):
        for sequence in sequences if len(sequences) > 1 else [""]:
            chosen = ":".join(filter(None, [each if several else "", sequence]))
            title = f"{name} ({chosen})" if chosen else name
            # By place: a device without a name is called like others of its chip.
            which = f"#{n}" if several else None, sequence or None
            chosen_kernel = f"{which[0] or ''}:{which[1] or ''}"
            run = ProgramOptions(device=device or None, kernels=kernels, kernel=chosen_kernel)
            make = partial(_made, name, run, settings)
            yield title, partial(_still, given, which, device, parameters, functions, compiles, make)


def _still(
    file: str | ReadText,
    which: tuple[str | None, str | None],
    device: str,
    parameters: Mapping[str, float],
    functions: Given,
    compiles: bool,
    make: Maker,
) -> Subject:
    from memtile.check.checked_program import of_mlir
    from memtile.cli.conditions import conditions_of
    from memtile.importers.design import load_still

    name, sequence = which
    options = {"device": device or None, "name": name, "sequence": sequence}
    still = load_still(file, **options, parameters=parameters, functions=functions, compiles=compiles)
    return replace(of_mlir(still), conditions=partial(conditions_of, still, make))


def _made(file: str, options: ProgramOptions, settings: Sequence[str]) -> Runnable:
    from memtile.cli.runnable import mlir_design

    return mlir_design(file, options, settings, sources_beside=True)()


def _program(name: str, device: str) -> Subject:
    from memtile.check.checked_program import of_program
    from memtile.cli.program_files import read_alone

    operations, array, notes = read_alone(name, device)
    subject = of_program(operations, array)
    subject.notes += notes
    return subject


def _show(
    results: list[CheckResult], *, as_json: bool, as_sarif: bool, as_junit: bool, everything: bool
) -> None:
    if as_json:
        typer.echo(json_text({"designs": [result.as_json() for result in results]}, indent=2))
    elif as_sarif:
        from memtile.report.finding_formats import sarif

        typer.echo(json_text(sarif(results), indent=2))
    elif as_junit:
        from memtile.report.finding_formats import junit

        typer.echo(junit(results, "check"), nl=False)
    else:
        show_lines("\n".join(map(str, results)).splitlines(), everything=everything)
