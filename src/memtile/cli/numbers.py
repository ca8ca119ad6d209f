"""Numbers on the command line, decimal or with a prefix."""

from __future__ import annotations

import typer


def number(text: str, option: str) -> int:
    """The value of ``text``; raises :class:`typer.BadParameter` that names ``option``."""
    try:
        return int(text, 0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.", param_hint=option) from None
