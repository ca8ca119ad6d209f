"""The options of ``memtile sweep``, with what ``--help`` says about each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Sampler(StrEnum):
    """How the next variants are chosen."""

    TPE = "tpe"
    NSGA2 = "nsga2"


DesignFile = Annotated[str, typer.Argument(metavar="DESIGN.py", help="A design, to be varied.")]
Grid = Annotated[bool, typer.Option("--grid", help="All variants; the default.")]
Random = Annotated[int | None, typer.Option(min=1, metavar="N", help="So many variants, taken by chance.")]
Optimise = Annotated[
    str | None, typer.Option(metavar="FIGURES", help="Search, by what is to be good: cycles,l2,bds.")
]
By = Annotated[str, typer.Option(metavar="FIGURES", help="What a grid is ranked by.")]
Vary = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[=VALUES]", help="8,16,32 or 1..8 or 16..128:16; also timing.NAME."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Parameter that is not varied; repeat."),
]
Budget = Annotated[str | None, typer.Option(metavar="TIME", help="Begin no run after 90s, 5m or 2h.")]
Trials = Annotated[
    int | None, typer.Option(min=1, help="Variants that --optimise tries; 100 without a --budget.")
]
SamplerName = Annotated[Sampler, typer.Option(help="How --optimise chooses: Bayesian or evolutionary.")]
Seed = Annotated[int, typer.Option(min=0, help="Of what is by chance.")]
Prune = Annotated[
    bool | None, typer.Option("--prune/--no-prune", help="Stop early what cannot be better than others.")
]
Energy = Annotated[
    str | None,
    typer.Option(metavar="TABLE", help="Count energy: published, or l1=PJ,l2=PJ,l3=PJ for each byte."),
]
Check = Annotated[bool, typer.Option("--check", help="Races make a variant infeasible too.")]
Data = Annotated[
    bool, typer.Option("--data/--no-data", help="Compare words as the design says, or find cycles alone.")
]
Workers = Annotated[
    int | None, typer.Option(min=0, help="Processes here; 0 = this one. One for each processor.")
]
Seconds = Annotated[float, typer.Option(min=0.1, help="Time for a variant, in a process here.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler, on whose workers to run instead.")
]
LogOption = Annotated[
    Path | None, typer.Option(metavar="LOG.parquet", help="Log; DESIGN.sweep.parquet if not given.")
]
NoLog = Annotated[bool, typer.Option("--no-log", help="Keep nothing.")]
Restart = Annotated[bool, typer.Option("--restart", help="Forget what the log knows.")]
