"""Answers of commands as JSON: one for one item, a list for a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from memtile.plain_text import json_text


def print_answers(answers: Sequence[dict[str, Any]], *, single: bool) -> None:
    """One line per answer, so that long lists stay readable and greppable."""
    if single:
        typer.echo(json_text(answers[0]))
    else:
        lines = ",\n".join(json_text(answer) for answer in answers)
        typer.echo(f"[\n{lines}\n]" if answers else "[]")
