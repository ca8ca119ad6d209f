"""``memtile plan``: from what a layer needs to designs for memory tiles, tried and ranked."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from memtile.cli.result_output import leave, show_result
from memtile.cli.run_options import EachMaxCycles, Recall, TimingConstants, parse_timing, running
from memtile.cli.sweep import Energy
from memtile.errors import InputFileError
from memtile.output_files import check_writable
from memtile.runs.options import USUAL, RunOptions

if TYPE_CHECKING:
    from memtile.explore.sweep.row import SweepRow

EXAMPLES = """\b
Examples:
  memtile plan gemm --m 512 --n 512 --k 512 --dtype int8 --device npu1 --columns 4
  memtile plan gemm --by l2,cycles --out gemm_small.py --pick 2
  memtile plan gemm --m 128 --n 128 --k 128 --columns 2 --out gemm.iron.py
  memtile plan conv --height 32 --width 32 --channels 8 --layers 2
  memtile plan conv --size 1 --channels 32 --features 64 --columns 1
  memtile plan conv --height 64 --width 64 --stride 2 --pool 2
  memtile plan conv --depthwise --channels 32
  memtile plan conv --height 14 --width 14 --channels 256
  memtile plan attention --heads 8 --length 256
  memtile plan rows --rows 1024 --width 512 --what max
"""


class _Plans(TyperGroup):
    """The layers; a design in the place of one is refused with the command that is for it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0].endswith((".py", ".mlir")):
            raise InputFileError(_not_a_layer(args[0]))
        return super().parse_args(ctx, args)


def _not_a_layer(file: str) -> str:
    from memtile.design.parameters import parameters_of
    from memtile.iron.program_design import function_of

    known = ", ".join(f"{each.name} = {each.default}" for each in parameters_of(function_of(file))) or "none"
    return (
        f"{file}: plan makes designs for a layer (gemm, conv, attention, rows), and this is a design. "
        f"memtile sweep {file} --vary NAME=VALUES finds the best values of its parameters: {known}."
    )


app = typer.Typer(
    cls=_Plans,
    help="Designs for a layer: candidates simulated, ranked, and the best proved.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=EXAMPLES,
)


class MatrixType(StrEnum):
    """Element types of matrices."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    BFLOAT16 = "bfloat16"


class RowType(StrEnum):
    """Element types of rows."""

    INT32 = "int32"
    FLOAT32 = "float32"


class Pooling(StrEnum):
    """Which one features become."""

    MAX = "max"
    MEAN = "mean"


class Weights(StrEnum):
    """Where the weights of a convolution are."""

    ANY = "any"
    KEPT = "kept"
    ROUNDS = "rounds"


class What(StrEnum):
    """What is made of a row."""

    SUM = "sum"
    MAX = "max"
    NORMALISE = "normalise"


Device = Annotated[str, typer.Option(help="Device; memtile info lists them.")]
Columns = Annotated[int | None, typer.Option(min=1, help="Number of columns to use; default all.")]
By = Annotated[
    str, typer.Option(metavar="FIGURES", help="Objective that ranks designs, as in memtile sweep.")
]
Tried = Annotated[int, typer.Option(min=1, help="Number of most promising candidates to simulate.")]
Proved = Annotated[int, typer.Option(min=0, help="Number of the best to run with data and check.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes; 0 = this one.")]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a design: FILE.py in Python, FILE.iron.py for IRON, FILE.mlir for mlir-aie.",
    ),
]
Pick = Annotated[int, typer.Option(min=0, help="Number in the table of the design that --out writes.")]
Top = Annotated[int, typer.Option(min=1, help="Rows of the table.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Macs = Annotated[
    int | None, typer.Option(min=1, help="Multiplications of a core per cycle; default the peak.")
]


@running(max_cycles=EachMaxCycles, recall=Recall)
def _plan(
    layer: Any,
    *,
    device: Device = "npu1",
    columns: Columns = None,
    by: By = "cycles,l2,bds",
    tried: Tried = 24,
    proved: Proved = 1,
    workers: Workers = 0,
    timing: TimingConstants = None,
    of_run: RunOptions = USUAL,
    energy: Energy = None,
    out: Out = None,
    pick: Pick = 0,
    top: Top = 10,
    as_json: AsJson = False,
) -> None:
    """Plan a layer; the options are those of every command."""
    from dataclasses import replace

    from memtile.explore.plan.plan_result import FORMS
    from memtile.explore.plan.planner import plan

    if out is not None:
        check_writable(out)
        if not out.name.endswith(FORMS):
            raise typer.BadParameter(f"--out is {str(out)!r}; its name must end in .py, .iron.py or .mlir.")
    result = plan(
        layer,
        device=device,
        columns=columns,
        objectives=by,
        tried=tried,
        proved=proved,
        workers=workers,
        timing=parse_timing(timing or ()),
        options=of_run,
        energy=energy or "",
        watch=_watch,
    )
    show_result(replace(result, shown=top), as_json=as_json)
    if out is not None and result.good:
        result.save(out, pick)
    leave(interrupted=False, good=result.good)


def _command(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a command of a function that makes a layer of its options: it has those of :func:`_plan` too."""

    def add(made: Callable[..., Any]) -> Callable[..., Any]:
        own = signature(made, eval_str=True).parameters
        _, *shared = signature(_plan, eval_str=True).parameters.values()

        def command(**given: Any) -> None:
            layer = made(**{name: given.pop(name) for name in own})
            _plan(layer=layer, **given)

        every = [*(each.replace(kind=Parameter.KEYWORD_ONLY) for each in own.values()), *shared]
        command.__signature__ = Signature(every)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in every}
        command.__doc__ = made.__doc__
        app.command(name, epilog=EXAMPLES)(command)
        return made

    return add


@_command("gemm")
def gemm(
    m: Annotated[int, typer.Option(help="Rows of A and C.")] = 512,
    n: Annotated[int, typer.Option(help="Columns of B and C.")] = 512,
    k: Annotated[int, typer.Option(help="Columns of A, rows of B.")] = 512,
    dtype: Annotated[MatrixType, typer.Option(help="Type of A and B.")] = MatrixType.INT8,
    macs: Macs = None,
) -> Any:
    """Plan a matrix product C = A B, with sums in int32, or in float32 of bfloat16.

    Ends with exit code 1 if no candidate is good.
    """
    from memtile.explore.plan.gemm import Gemm

    return Gemm(m, n, k, dtype.value, macs)


@_command("conv")
def conv(
    images: Annotated[int, typer.Option(help="Number of images, sent one after another.")] = 1,
    height: Annotated[int, typer.Option(help="Rows of an image.")] = 32,
    width: Annotated[int, typer.Option(help="Columns of an image.")] = 32,
    channels: Annotated[int, typer.Option(help="Channels of the images.")] = 8,
    features: Annotated[
        int | None, typer.Option(help="Output channels; default as many as --channels.")
    ] = None,
    size: Annotated[int, typer.Option(help="Size of the window: 1, 3 and so on.")] = 3,
    depthwise: Annotated[bool, typer.Option("--depthwise", help="One window per channel.")] = False,
    layers: Annotated[int, typer.Option(help="Number of consecutive layers, one column each.")] = 1,
    stride: Annotated[int, typer.Option(help="Rows and columns from one window to the next.")] = 1,
    pool: Annotated[int, typer.Option(help="Rows and columns of features pooled into one.")] = 1,
    pooling: Annotated[Pooling, typer.Option(help="Kind of pooling.")] = Pooling.MAX,
    weights: Annotated[
        Weights,
        typer.Option(help="Keep weights in cores, or stream them to all columns; default: keep if they fit."),
    ] = Weights.ANY,
    macs: Macs = None,
) -> Any:
    """Plan layers of a convolution, int8, with strides and pooling.

    Ends with exit code 1 if no candidate is good.
    """
    from memtile.explore.plan.convolution import Convolution

    return Convolution(
        images,
        height,
        width,
        channels,
        features,
        size,
        depthwise,
        layers,
        stride,
        pool,
        pooling.value,
        macs,
        weights.value,
    )


@_command("attention")
def attention(
    heads: Annotated[int, typer.Option(help="Number of heads, a multiple of the columns.")] = 4,
    length: Annotated[int, typer.Option(help="Number of queries, keys and values of a head.")] = 256,
    size: Annotated[int, typer.Option(help="Elements of each.")] = 64,
    exponents: Annotated[int, typer.Option(min=1, help="Exponentials of a core in a cycle.")] = 16,
    macs: Macs = None,
) -> Any:
    """Plan attention, bfloat16, with online softmax.

    Ends with exit code 1 if no candidate is good.
    """
    from memtile.explore.plan.attention import Attention

    return Attention(heads, length, size, macs, exponents)


@_command("rows")
def rows(
    rows: Annotated[int, typer.Option(help="Size of the matrix.")] = 1024,
    width: Annotated[int, typer.Option(help="Size of the matrix.")] = 512,
    dtype: Annotated[RowType, typer.Option(help="Type of its elements.")] = RowType.INT32,
    what: Annotated[What, typer.Option(help="Result for each row.")] = What.SUM,
    per_cycle: Annotated[int, typer.Option(min=1, help="Elements that a core processes per cycle.")] = 16,
) -> Any:
    """Plan a row-wise reduction: sums, largest numbers, or rows normalised.

    Ends with exit code 1 if no candidate is good.
    """
    from memtile.explore.plan.row_reductions import RowReduction

    return RowReduction(rows, width, dtype.value, what.value, per_cycle)


def _watch(row: SweepRow, done: int, total: int) -> None:
    """A line that moves, on a terminal."""
    from memtile.sheet import stderr_console

    console = stderr_console()
    if console.is_terminal:
        ended = "\n" if done == total else "\r"
        console.print(f"{done} of {total} candidates, the last one {row.state.value}   ", end=ended)
