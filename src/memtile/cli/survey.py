"""``memtile survey``: try every design below a folder, and sort them by what became of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memtile.cli.result_output import leave, show_result
from memtile.cli.run_options import EachMaxCycles, TimingConstants, parse_timing, running
from memtile.cli.signals import SIGNALLED, Terminated
from memtile.runs.options import RunOptions

if TYPE_CHECKING:
    from memtile.explore.survey.survey_outcome import SurveyResult

EXAMPLES = """\b
Examples:
  memtile survey designs/
  memtile survey --device npu1 --functions functions.py test/npu-xrt
  memtile survey --json designs/ > survey.json
  memtile survey mlir-aie/
  memtile survey --sandbox pull_request/
"""


_LIMITED = RunOptions(max_cycles=2_000_000)  # what runs longer has hung, or is no test


@running(max_cycles=EachMaxCycles)
def survey(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder to search, with all folders below it.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    functions: Annotated[
        Path | None,
        typer.Option(metavar="FILE.py", help="Functions that cores call and designs only declare, by name."),
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="Device of designs that leave it open, such as npu1.")
    ] = "",
    timing: TimingConstants = None,
    of_run: RunOptions = _LIMITED,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time for each design.")] = 120.0,
) -> None:
    """Try every design, graph and build below a folder, and sort them by their result.

    Designs are tested as memtile test does, without its check and its settings. Arrays beside a design,
    inN.npy and outN.npy, are its arguments and their expected values: exact, or wrong. Without them
    arguments are zeros, and a design finished or was stuck. A design that cannot start is refused, with the
    name of the missing part. A program of IRON is run as far as its first design, with the tensors that it
    makes.

    Ends with exit code 1 unless all are exact or finished. Ctrl-C and SIGTERM end the survey and show what
    was done until then, marked as interrupted.
    """
    ended = list[Terminated]()

    def ends(error: BaseException) -> bool:
        if isinstance(error, Terminated):
            ended.append(error)
        return bool(ended)

    result = _survey(folder, functions, device, of_run, seconds, parse_timing(timing or ()), ends)
    show_result(result, as_json=as_json)
    if ended:
        raise typer.Exit(SIGNALLED + ended[0].number)
    leave(interrupted=result.interrupted, good=result.good)


def _survey(
    folder: Path,
    functions: Path | None,
    device: str,
    of_run: RunOptions,
    seconds: float,
    timing: dict[str, int],
    ends: Callable[[BaseException], bool],
) -> SurveyResult:
    from functools import partial

    from memtile.arch.devices import device as find_device
    from memtile.cli.progress import watched
    from memtile.explore.survey.survey import survey as try_all

    if functions is not None:
        from memtile.cli.kernels_file import load_functions

        load_functions(str(functions))  # what is wrong with it is said once, not by each design
    name = find_device(device).name if device else ""
    watch = partial(watched, text="designs")
    return try_all(
        folder,
        functions=functions,
        device=name,
        options=of_run,
        seconds=seconds,
        timing=timing,
        watch=watch,
        ends=ends,
    )
