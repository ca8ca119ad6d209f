"""The ``memtile`` command: its subcommands, and errors as messages instead of tracebacks.

Commands import what is slow to load (NumPy, Rich, the engine) inside their functions: ``--help`` stays quick.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memtile import __version__
from memtile.cli import (
    bd,
    check,
    diff,
    disasm,
    exit_codes,
    explain,
    export,
    faults,
    host_source,
    info,
    lower,
    mcp,
    measure,
    plan,
    run,
    schema,
    serve,
    survey,
    sweep,
    test,
    tools,
    trace,
    warmup,
)
from memtile.cli.failure import tell_end, tell_forced_end
from memtile.cli.iron_program import with_its_arguments
from memtile.cli.sandbox_option import confinable
from memtile.cli.signals import on_forced_end
from memtile.cli.terminal_streams import PipeClosedError, printable_streams
from memtile.errors import MemtileError


class _Commands(TyperGroup):
    """The root command: turns every end into a message and an exit code, by the rule of ``cli.failure``."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **options: Any) -> Any:
        given = sys.argv[1:] if args is None else list(args)
        on_forced_end(lambda number: tell_forced_end(number, given))
        try:
            with printable_streams():
                # Escape characters are for the streams, which show them; Click would leave some of them out.
                return super().main(given, *more, **{"prog_name": "memtile", "color": True, **options})
        except (MemtileError, PipeClosedError) as error:  # what is printed before or after a command
            raise SystemExit(tell_end(error, given)) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["run"]:
            args = ["run", *with_its_arguments(args[1:])]
        ctx.obj = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, SystemExit, PipeClosedError):
            raise
        except BaseException as error:
            raise typer.Exit(tell_end(error, ctx.obj)) from None


app = typer.Typer(
    name="memtile",
    cls=_Commands,
    help="An open twin of AMD's AIE-ML memory tile.",
    epilog=exit_codes.HELP,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bd.app, name="bd")
app.add_typer(trace.app, name="trace")
app.add_typer(sweep.app, name="sweep")
app.add_typer(measure.app, name="measure")
app.add_typer(plan.app, name="plan")
app.command("run", epilog=run.EXAMPLES)(confinable(run.run))
app.command("check", epilog=check.EXAMPLES)(confinable(check.check))
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("export", epilog=export.EXAMPLES)(export.export)
app.command("faults", epilog=faults.EXAMPLES)(faults.faults)
app.command("info", epilog=info.EXAMPLES)(info.info)
app.command("lower", epilog=lower.EXAMPLES)(lower.lower)
app.command("mcp", epilog=mcp.EXAMPLES)(mcp.mcp)
app.command("diff", epilog=diff.EXAMPLES)(diff.diff)
app.command("disasm", epilog=disasm.EXAMPLES)(disasm.disasm)
app.command("schema", epilog=schema.EXAMPLES)(schema.schema)
app.command("serve", epilog=serve.EXAMPLES)(serve.serve)
app.command("tools", epilog=tools.EXAMPLES)(tools.tools)
app.command("test", epilog=test.EXAMPLES)(confinable(test.run_tests))
app.command("survey", epilog=survey.EXAMPLES)(confinable(survey.survey))
app.command("warmup", epilog=warmup.EXAMPLES)(warmup.warmup)
app.command("host-source", epilog=host_source.EXAMPLES)(host_source.host_source)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memtile {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass


# What a command imports and builds stays until it ends: by default the search for garbage among it would take
# a tenth of the time of a short run.
_GARBAGE = 200_000, 20, 20


def main() -> None:
    """Entry point of the ``memtile`` script; leaves with one of ``exit_codes.ExitCode``."""
    gc.set_threshold(*_GARBAGE)
    try:
        app()
    finally:
        gc.freeze()  # nor is there any use in looking for it at the very end
