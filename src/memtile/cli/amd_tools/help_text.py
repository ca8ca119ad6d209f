"""``--help`` of the commands: each option and what it does here."""

from __future__ import annotations

from memtile.cli.amd_tools.command_line import Effect, Table, Takes


def help_of(table: Table) -> str:
    """The options of a tool, those that are used first."""
    lines = [f"{table.tool}: memtile follows the command line of AMD's ({table.source}).", ""]
    for effect in Effect:
        lines.append(f"{effect.value}:")
        for option in dict.fromkeys(table.options.values()):
            if option.effect is effect:
                lines.append(f"  {_named(option.names, option.takes):34} {option.why}".rstrip())
    return "\n".join(lines)


def _named(names: tuple[str, ...], takes: Takes) -> str:
    shown = ", ".join(f"--{name}" if len(name) > 1 else f"-{name}" for name in names)
    return shown if takes is Takes.NOTHING else f"{shown} VALUE"
