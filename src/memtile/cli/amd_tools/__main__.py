"""Entry of the launchers: ``python -m memtile.cli.amd_tools TOOL WORD ...``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from memtile import __version__
from memtile.cli.amd_tools.compiler import compile_command
from memtile.cli.amd_tools.compiler_options import AIECOMPILER, VPP
from memtile.cli.amd_tools.help_text import help_of
from memtile.cli.amd_tools.launchers import RELEASE
from memtile.cli.amd_tools.simulator import simulate_command
from memtile.cli.amd_tools.simulator_options import AIESIMULATOR, X86SIMULATOR
from memtile.cli.failure import tell_end
from memtile.errors import DesignError

_TABLES = {each.tool: each for each in (VPP, AIECOMPILER, X86SIMULATOR, AIESIMULATOR)}


def run(tool: str, words: Sequence[str]) -> int:
    """Run a tool by its name; its exit code.

    Raises:
        MemtileError: its command line cannot be followed.
    """
    if any(each.lstrip("-") == "version" and each.startswith("-") for each in words):
        typer.echo(f"{tool} of memtile {__version__}, with the command lines of Vitis {RELEASE}")
        return 0
    if tool not in _TABLES:
        raise DesignError.of(
            "tool", tool, ", ".join(_TABLES),
            f"memtile has no {tool}; it is here so that Makefiles find their folder",
            reason="tool", where="tools", source="memtile tools",
        )  # fmt: skip
    if any(each in ("-h", "--h", "-help", "--help") for each in words):
        typer.echo(help_of(_TABLES[tool]))
        return 0
    if tool in (VPP.tool, AIECOMPILER.tool):
        return compile_command(tool, words)
    return simulate_command(tool, words)


def main(words: Sequence[str]) -> int:
    """Run a tool; errors become messages and an exit code."""
    try:
        return run(words[0], words[1:])
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        return tell_end(error, words[1:])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
