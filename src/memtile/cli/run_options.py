"""The options of runs, with what ``--help`` says about each, ``--timing`` of all commands among them.

Numbers are decimal or have a prefix; a timing constant is NAME=VALUE, or the name of a board.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from memtile.arch.dispatch import Dispatch
from memtile.cli.kernel_sources import KernelSources
from memtile.cli.runnable import Format
from memtile.cli.screen import Shown
from memtile.errors import InputFileError, Problem
from memtile.runs.options import RunOptions

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="DESIGN.py|DESIGN.mlir|GRAPH.cpp|FILE...", help="A design, a graph, or files of a program."
    ),
]
Untimed = Annotated[bool, typer.Option("--untimed", help="Move the data without a clock.")]
Check = Annotated[
    bool,
    typer.Option("--check", help="Look for accesses to memory that no lock, stream or token orders."),
]
Schedules = Annotated[
    int,
    typer.Option(min=0, help="With --check: number of further runs, with DMA and arbiters earlier or later."),
]
FastForward = Annotated[
    bool,
    typer.Option(
        "--fast-forward/--no-fast-forward", help="Skip over time that repeats, or simulate each cycle."
    ),
]
Data = Annotated[
    bool, typer.Option("--data/--no-data", help="Move data, or find cycles and findings without it.")
]
Recall = Annotated[
    bool,
    typer.Option(
        "--recall/--no-recall",
        help="Take the outcome of a run without data from an equal run before it, or run it.",
    ),
]
DispatchName = Annotated[
    Dispatch | None,
    typer.Option(
        "--dispatch", help="How a program is launched, which sets how fast tasks arrive; else the usual way."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
MaxCycles = Annotated[
    int,
    typer.Option(min=1, help="Stop after this many cycles, or after what --untimed could move in them."),
]
EachMaxCycles = Annotated[int, typer.Option(min=1, help="Stop each run after this many cycles.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Parameter of the design, an argument of design(), or macro of a graph; repeat.",
    ),
]
Picture = Annotated[Path | None, typer.Option(help="Also draw each channel's cycles: .png, .svg or .pdf.")]
Vcd = Annotated[
    Path | None, typer.Option(help="Also write what happens in each cycle, for waveform viewers; slow.")
]
Signals = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Signals of the --vcd by name, * for any characters; repeat."),
]
Sensitivity = Annotated[
    bool,
    typer.Option("--sensitivity", help="Run both ends of each assumed constant too: cycles as a band."),
]
Fix = Annotated[
    bool,
    typer.Option("--fix", help="Run designs with changes of their texts, one at a time; write what works."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="With --fix: show the changes, and write nothing.")]
Repair = Annotated[
    bool,
    typer.Option(
        "--repair/--no-repair",
        help="Try repairs of a design that is stuck or wrong, and other host values: 10 s each.",
    ),
]
Bottleneck = Annotated[
    bool, typer.Option("--bottleneck", help="Also run without each limit, to show what it costs.")
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FILE.json", help="Also write the record: verdict, evidence, bytes, provenance."),
]
Coredump = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Also write a coredump of the array at the end, as XRT does: raw, or FILE.elf."
    ),
]
In = Annotated[list[str] | None, typer.Option("--in", metavar="NAME=FILE.npy", help="Array for the program.")]
Out = Annotated[
    list[str] | None,
    typer.Option("--out", metavar="NAME[:DTYPE][:SHAPE]=FILE.npy", help="Array from the program."),
]
Expect = Annotated[
    list[str] | None,
    typer.Option(
        "--expect",
        metavar="NAME=FILE.npy",
        help="Expected array, compared bit by bit; exit code 1 if it differs.",
    ),
]
AsSarif = Annotated[bool, typer.Option("--sarif", help="Findings as SARIF 2.1.0 instead of a table.")]
AsJunit = Annotated[bool, typer.Option("--junit", help="The verdict as JUnit XML instead of a table.")]
DeviceName = Annotated[str | None, typer.Option(help="Device, overriding the files; see memtile info.")]
FileFormat = Annotated[Format, typer.Option(help="Format of the files; auto looks at them.")]
Base = Annotated[str, typer.Option(help="Address of the array in CDO files.")]
Kernels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.py", help="What cores do: functions core_COLUMN_ROW; for MLIR those that they call."
    ),
]
KernelFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--kernels",
        metavar="FILE.py|FILE.cc",
        help="What cores do: functions core_COLUMN_ROW; for MLIR those they call, also C++; repeat.",
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", "-I", metavar="FOLDER", help="Headers of C++ kernels; repeat."),
]
Define = Annotated[
    list[str] | None,
    typer.Option("--define", "-D", metavar="NAME[=VALUE]", help="Macro of C++ kernels; repeat."),
]
Sanitize = Annotated[
    bool,
    typer.Option(
        "--sanitize", help="Check each access of C++ kernels: bounds, alignment, stack, order; slow."
    ),
]
AgainstKernels = Annotated[
    str | None,
    typer.Option(metavar="FILE.py", help="Compare each call of C++ kernels with functions of these names."),
]
Debug = Annotated[
    str | None,
    typer.Option(metavar="core=COLUMN,ROW", help="Wait for a debugger at this core's first call of C++."),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|ID",
        help="Which program of an xclbin, a full ELF or a build folder; DEVICE:SEQUENCE of MLIR.",
    ),
]
PadArguments = Annotated[
    bool, typer.Option("--pad-arguments", help="Pad arrays that are too short with zeros.")
]
KeepOrder = Annotated[bool, typer.Option("--keep-order", help="Execute the files in the order given.")]
Against = Annotated[
    Path | None,
    typer.Option(metavar="BUILD", help="Compare the registers of an MLIR design with a build of it."),
]
Costs = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="FILE.json|KERNEL=CYCLES",
        help="Cycles of cores' operations and calls; of one call of a kernel, repeat.",
    ),
]
InFolder = Annotated[
    Path | None,
    typer.Option(
        "--in-folder", metavar="FOLDER", help="Folder of a graph's input files; else the working folder."
    ),
]
OutFolder = Annotated[
    Path | None,
    typer.Option(
        "--out-folder", metavar="FOLDER", help="Folder for a graph's output files; else memtile_output."
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Also write a report: a page (.html) that needs no network, or .txt."
    ),
]
Perfetto = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Also write the timeline for ui.perfetto.dev: .json, else Perfetto's own format."
    ),
]
All = Annotated[bool, typer.Option("--all", help="Show every channel and core, and each line in full.")]
AllLines = Annotated[
    bool, typer.Option("--all", help="Show all lines on a terminal too, not only the first screen.")
]
Top = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Show up to N groups of channels, findings and other lines."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show the verdict alone, one line.")]
OF_KERNELS = {
    "kernels": KernelFiles,
    "include": Include,
    "define": Define,
    "sanitize": Sanitize,
    "against_kernels": AgainstKernels,
    "debug": Debug,
}
"""The options of the command line for kernels, as ``KernelSources.of`` takes them."""
OF_A_RUN = {
    "max_cycles": MaxCycles,
    "untimed": Untimed,
    "check": Check,
    "fast_forward": FastForward,
    "data": Data,
    "recall": Recall,
    "pad_arguments": PadArguments,
    "dispatch": DispatchName,
}
"""The option of the command line for each field of ``RunOptions``."""
OTHERWISE = {
    "history": "--report and --perfetto ask for it",
    "progress": "a command shows it on a terminal",
}
"""Fields that have no option, and why."""
OF_SHOWN = {"everything": All, "top": Top, "quiet": Quiet}
"""The option of the command line for each field of ``Shown``."""


def running(*names: str, **kinds: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Have a command offer options of a run in place of its parameter ``of_run``, a :class:`RunOptions`.

    What is not given is as in the default of that parameter.

    Args:
        names: of the options; none = those of ``kinds``, or all that there are.
        kinds: options that another text of ``--help`` suits better here.
    """

    offered = {**{name: OF_A_RUN[name] for name in names or kinds or OF_A_RUN}, **kinds}
    return lambda command: in_place_of("of_run", offered, RunOptions, command)


def with_kernels(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command offer ``--kernels``, and options for C++, in place of its parameter ``kernels``."""
    return in_place_of("kernels", OF_KERNELS, KernelSources.of, command)


def with_shown(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command offer ``--all``, ``--top`` and ``--quiet`` in place of its parameter ``shown``."""
    return in_place_of("shown", OF_SHOWN, Shown, command)


def in_place_of(
    parameter: str, offered: Mapping[str, Any], make: Callable[..., Any], command: Callable[..., None]
) -> Callable[..., None]:
    """A command with options in place of a parameter, which ``make`` makes of them."""

    def with_options(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in offered}
        command(**given, **{parameter: make(**chosen)})

    every = list[Parameter]()
    for each in signature(command, eval_str=True).parameters.values():
        own = each.replace(kind=Parameter.KEYWORD_ONLY)
        every += (
            [own]
            if each.name != parameter
            else [
                own.replace(name=name, annotation=kind, default=getattr(each.default, name))
                for name, kind in offered.items()
            ]
        )
    with_options.__signature__ = Signature(every)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in every}
    with_options.__doc__, with_options.__name__ = command.__doc__, command.__name__
    return with_options


FOR_PROGRAMS = (
    "a design is run alone, without --in, --out, --device, --format, --base, --kernel, --kernels, "
    "--pad-arguments, --dispatch and --keep-order."
)


def number(text: str, option: str) -> int:
    """The value of ``text``; raises :class:`typer.BadParameter` that names ``option``."""
    try:
        return int(text, 0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.", param_hint=option) from None


TimingConstants = Annotated[
    list[str] | None,
    typer.Option(
        "--timing",
        metavar="NAME=VALUE",
        help="Timing constant of docs/timing.md, over the design's; repeat. Or a set: assumed or a board.",
    ),
]


def with_timing(texts: Sequence[str] | None) -> AbstractContextManager[None]:
    """Have what is made inside take the constants of ``--timing``.

    Raises:
        InputFileError: a text of another form, a value that is no whole number, a name given twice.
        DesignError: names that are no constants, values outside their ranges.
    """
    from memtile.arch.timing import chosen_timing

    return chosen_timing(parse_timing(texts or ()))


def parse_timing(texts: Sequence[str]) -> dict[str, int]:
    """Values by name, decimal or hexadecimal; those given by name stand over those of a board.

    Raises:
        InputFileError: a text of another form, a value that is no whole number, a name given twice.
    """
    from memtile.arch.timing import sets

    known = sets()
    boards = [text for text in texts if text in known]
    if len(boards) > 1:
        given = " and ".join(boards)
        raise InputFileError(_wrong(given, f"--timing gives boards twice, {given}"))
    found: dict[str, int] = {}
    for text in texts:
        if text not in known:
            name, number = _parsed(text)
            if name in found:
                given = f"{found[name]} and {number}"
                raise InputFileError(_wrong(given, f"--timing gives {name} twice, as {given}"))
            found[name] = number
    return {**(known[boards[0]] if boards else {}), **found}


def _parsed(text: str) -> tuple[str, int]:
    """Name and value of a text."""
    name, _, value = text.partition("=")
    try:
        return name, int(value, 0)
    except ValueError:
        says = f"--timing is {text!r}; it must be NAME=NUMBER or the name of a board"
        raise InputFileError(_wrong(repr(text), says)) from None


def _wrong(given: str, says: str) -> Problem:
    return Problem(
        "--timing",
        given,
        "NAME=NUMBER, once for each constant, or the name of a board",
        says,
        reason="timing",
        where="command line",
        source="form of the option",
    )
