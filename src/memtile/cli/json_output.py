"""Answers of commands as JSON: one for one item, a list for a list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer


def print_answers(answers: Sequence[dict[str, Any]], *, single: bool) -> None:
    """One line per answer, so that long lists stay readable and greppable."""
    if single:
        typer.echo(json.dumps(answers[0]))
    else:
        lines = ",\n".join(json.dumps(answer) for answer in answers)
        typer.echo(f"[\n{lines}\n]" if answers else "[]")
