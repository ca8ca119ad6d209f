"""``memtile sweep``: variants of a design tried and compared, and what the log of a sweep says.

It also has the options of ``memtile sweep``, with what ``--help`` says about each.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from memtile.cli.graph_file import NO_GRAPH, GraphOptions, of_graphs, swept
from memtile.cli.result_output import leave, show_result
from memtile.cli.run_options import EachMaxCycles, Recall, TimingConstants, parse_timing, running
from memtile.errors import InputFileError
from memtile.output_files import check_writable
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.explore.sweep.row import SweepRow
    from memtile.explore.sweep.sweep import Sweep, SweepPlan, Watch
    from memtile.explore.sweep.sweep_attempt import Subject
    from memtile.explore.sweep.sweep_result import SweepResult


class Sampler(StrEnum):
    """How the next variants are chosen."""

    TPE = "tpe"
    NSGA2 = "nsga2"


DesignFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DESIGN.py|GRAPH.cpp...",
        help="A design in Python, IRON or MLIR, or the sources of a graph, to be varied.",
    ),
]
Grid = Annotated[bool, typer.Option("--grid", help="Try all variants (default).")]
Random = Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of random variants to try.")]
Optimise = Annotated[
    str | None,
    typer.Option(metavar="FIGURES", help="Search for the best by these objectives: cycles,l2,bds."),
]
By = Annotated[str, typer.Option(metavar="FIGURES", help="Objective that ranks a grid.")]
Vary = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[=VALUES]", help="8,16,32 or 1..8 or 16..128:16; also timing.NAME."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Parameter that is not varied; repeat."),
]
Budget = Annotated[str | None, typer.Option(metavar="TIME", help="Start no run after 90s, 5m or 2h.")]
Trials = Annotated[
    int | None, typer.Option(min=1, help="Variants that --optimise tries; 100 without a --budget.")
]
SamplerName = Annotated[Sampler, typer.Option(help="How --optimise chooses: Bayesian or evolutionary.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of random choices.")]
Prune = Annotated[
    bool | None, typer.Option("--prune/--no-prune", help="Stop variants early that cannot beat others.")
]
Energy = Annotated[
    str | None,
    typer.Option(metavar="TABLE", help="Count energy: published, or l1=PJ,l2=PJ,l3=PJ for each byte."),
]
Check = Annotated[bool, typer.Option("--check", help="Treat races as infeasible too.")]
Data = Annotated[bool, typer.Option("--data/--no-data", help="Move and compare data, or find cycles alone.")]
Workers = Annotated[
    int | None, typer.Option(min=0, help="Local processes; 0 = this one. Default: one per processor.")
]
Seconds = Annotated[float, typer.Option(min=0.1, help="Time limit of a variant in a local process.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler, to run on its workers instead.")
]
LogOption = Annotated[
    Path | None, typer.Option(metavar="LOG.parquet", help="Log file; default DESIGN.sweep.parquet.")
]
NoLog = Annotated[bool, typer.Option("--no-log", help="Write no log.")]
Restart = Annotated[bool, typer.Option("--restart", help="Discard the results in the log.")]


EXAMPLES = """\b
Examples:
  memtile sweep gemm.py
  memtile sweep --vary tall=32,64,128 --vary depth=1..3 --set columns=4 gemm.py
  memtile sweep whole_array.py --set dev=npu2 --vary m=32,64 --vary k=32,64
  memtile sweep design.mlir --vary device=npu1,npu2
  memtile sweep --vary timing.external_latency=50..400:50 gemm.py
  memtile sweep --random 500 --seed 7 --by cycles,l2 gemm.py
  memtile sweep --optimise cycles,l2,bds --budget 300s gemm.py
  memtile sweep --vary N=1,2,4 --set MODE=2 -I src graph.cpp
  memtile sweep --energy l3=60 --by cycles,energy gemm.py
  memtile sweep --scheduler tcp://10.0.0.1:8786 gemm.py
  memtile sweep show gemm.sweep.parquet --picture gemm.html
  memtile sweep replay --trust gemm.sweep.parquet
"""
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_LIVE = 5  # variants of the table that moves


class _Sweeps(TyperGroup):
    """``memtile sweep DESIGN.py`` is ``memtile sweep run DESIGN.py``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else "--help"
        if first not in self.commands and first not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Sweeps,
    help="Try variants of a design, and compare them. Without a command: run.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=EXAMPLES,
)
LogFile = Annotated[Path, typer.Argument(metavar="LOG.parquet", help="Log of a sweep.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Top = Annotated[int, typer.Option(min=1, help="Rows of the table, besides those of the front.")]


@app.command("run", epilog=EXAMPLES)
@of_graphs
@running(max_cycles=EachMaxCycles, check=Check, data=Data, recall=Recall)
def run(
    files: DesignFiles,
    grid: Grid = False,
    random: Random = None,
    optimise: Optimise = None,
    by: By = "cycles",
    vary: Vary = None,
    settings: Settings = None,
    timing: TimingConstants = None,
    budget: Budget = None,
    trials: Trials = None,
    sampler: SamplerName = Sampler.TPE,
    seed: Seed = 0,
    prune: Prune = None,
    of_run: RunOptions = USUAL,
    energy: Energy = None,
    workers: Workers = None,
    seconds: Seconds = 120.0,
    scheduler: Scheduler = None,
    log: LogOption = None,
    no_log: NoLog = False,
    restart: Restart = False,
    top: Top = 10,
    as_json: AsJson = False,
    graph: GraphOptions = NO_GRAPH,
) -> None:
    """Try variants of a design, and compare them.

    It varies the arguments of design() whose annotations give their values: Range, Literal, an
    Enum, bool or Choices; memtile info DESIGN.py lists them. --vary gives them values, timing constants too.
    Of a program of IRON they are the options of its command line and CompileTime parameters, of MLIR the
    device and parameters of the scratchpad; of both only what --vary names is varied.
    Of a graph in C++ the macros are varied that --vary names; each variant is compiled, and its main runs.

    A variant is infeasible if it is refused, hangs, has wrong results or a finding that is an error; the
    table gives the reason. Every variant is logged as soon as it is done; the same command resumes an
    interrupted sweep. Ends with exit code 1 if no variant is good, or the scheduler was lost.
    """
    _one_of(grid, random, optimise, kept=not no_log or not (log or restart))
    from memtile.explore.sweep.sweep import SweepPlan

    plan = SweepPlan(
        strategy=_strategy(random, optimise),
        count=random if optimise is None else trials,
        objectives=optimise or by,
        vary=_varied(vary or ()),
        set=_settings(settings or ()),
        timing=parse_timing(timing or ()),
        sampler=sampler.value,
        seed=seed,
        budget=None if budget is None else _seconds(budget),
        prune=prune,
        energy=energy or "",
        workers=workers,
        seconds=seconds,
        scheduler=scheduler or "",
        **of_run.changed(),
    )
    place = None if no_log else log or Path(f"{Path(files[0]).stem}.sweep.parquet")
    _finish(_run(swept(files, graph), plan, place, restart=restart), top, as_json=as_json)


@app.command("show", epilog=EXAMPLES)
def show(
    log: LogFile,
    by: Annotated[
        str | None,
        typer.Option(metavar="FIGURES", help="Objective that ranks variants; default that of the sweep."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw parallel coordinates and the front: .svg or .html.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Also write table and picture as a page.")
    ] = None,
    top: Top = 10,
    as_json: AsJson = False,
) -> None:
    """Show what a log has of a sweep: the best, the Pareto front, why others are infeasible.

    Ends with exit code 1 if no variant is good.
    """
    from memtile.explore.sweep.sweep_result import read_result
    from memtile.explore.sweep.variant_figures import objectives_of

    result = read_result(log, objectives_of(by) if by else ())
    if picture is not None:
        check_writable(picture)
        result.picture(picture)
    if page is not None:
        check_writable(page)
        result.page(page)
    _finish(result, top, as_json=as_json)


@app.command("replay", epilog=EXAMPLES)
def replay(
    log: LogFile,
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY", help="Key of a variant, or its first characters; default the best."),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the Python code in the log without asking.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a variant of a log again, from the sources that the log has, and compare.

    This runs the Python code in the log with all your rights: replay only logs from writers you trust. On a
    terminal memtile asks first; elsewhere --trust is needed.

    Ends with exit code 1 if the results differ.
    """
    from memtile.explore.sweep.reruns import replay as again

    if not trust:
        _ask_to_run(log)
    result = again(log, key or "")
    show_result(result, as_json=as_json)
    leave(interrupted=False, good=result.same)


def _ask_to_run(log: Path) -> None:
    """Have the user say that the code in a log may run.

    Raises:
        InputFileError: it may not, or there is no terminal to ask at.
    """
    asked = sys.stdin.isatty() and sys.stderr.isatty()
    if not asked or not typer.confirm(f"{log} has Python code that replay runs. Run it?", err=True):
        raise InputFileError(
            f"{log}: replay runs the Python code in the log, with all your rights. Give --trust if you trust "
            "whoever wrote it."
        )


def _strategy(random: int | None, optimise: str | None) -> Literal["grid", "random", "optimise"]:
    return "random" if random is not None else "grid" if optimise is None else "optimise"


def _one_of(grid: bool, random: int | None, optimise: str | None, *, kept: bool) -> None:
    if not kept:
        raise typer.BadParameter("--no-log keeps nothing; leave --log and --restart out.")
    if grid + (random is not None) + (optimise is not None) > 1:
        raise typer.BadParameter("--grid, --random and --optimise exclude each other. Give one of them.")


def _varied(texts: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not name or (equals and not values):
            raise typer.BadParameter(f"--vary is {text!r}; it must be NAME or NAME=VALUES.")
        if name in found:
            raise typer.BadParameter(f"--vary names {name} twice. Put its values into one: {name}=A,B,C.")
        found[name] = values
    return found


def _settings(texts: Sequence[str]) -> dict[str, str]:
    from memtile.cli.design_file import settings_of

    return settings_of(texts)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", text.strip())
    if found is None or not float(found[1]):
        raise typer.BadParameter(f"--budget is {text!r}; it must be a time such as 90s, 5m or 2h.")
    return float(found[1]) * _UNITS[found[2]]


def _run(subject: Subject, plan: SweepPlan, path: Path | None, *, restart: bool) -> SweepResult:
    from memtile.explore.sweep.sweep import Sweep

    made = Sweep(subject, plan)
    if path is not None:
        check_writable(path)
    with _live(made) as watch:
        return made.run(path, watch, restart=restart)


def _finish(result: SweepResult, top: int, *, as_json: bool) -> None:
    from dataclasses import replace

    show_result(replace(result, shown=top), as_json=as_json)
    leave(interrupted=result.interrupted, good=result.good)


@contextmanager
def _live(made: Sweep) -> Iterator[Watch]:
    """A bar and a table of the best so far, on a terminal."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    from memtile.explore.sweep.row import costs_of
    from memtile.sheet import stderr_console

    console = stderr_console()
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    bar = Progress(*columns, console=console)
    task, best = bar.add_task("", total=made.total), list[tuple[tuple[float, ...], int, str]]()
    bad = 0

    def view() -> Group:
        return Group(bar, *(Text(line, no_wrap=True) for *_, line in best))

    if not console.is_terminal:
        yield lambda *_: None
        return
    with Live(view(), console=console, transient=True, refresh_per_second=4) as live:

        def watch(row: SweepRow, done: int, total: int | None) -> None:
            nonlocal bad
            bad += row.state.value == "infeasible"
            if row.state.value == "good":
                costs = costs_of(row.figures, made.objectives)
                values = {**row.figures, **row.point}
                line = "  ".join(f"{name} {value}" for name, value in values.items())
                best[:] = sorted([*best, (costs, row.number, line)])[:_LIVE]
            bar.update(task, completed=done, total=total, description=f"{bad} infeasible")
            live.update(view())

        yield watch
