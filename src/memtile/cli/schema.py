"""``memtile schema``: the JSON Schemas of what commands read and write."""

from __future__ import annotations

from typing import Annotated

import typer

from memtile.plain_text import json_text

EXAMPLES = """\b
Examples:
  memtile schema
  memtile schema run-output
  memtile schema lower-input > tiling.schema.json
"""


def schema(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The schema to print.")] = None,
) -> None:
    """Print the JSON Schema of a command's input or output, or list all schemas.

    Schemas are of draft 2020-12, and each stands alone. The schemas are stable; texts for people are not.
    """
    from memtile.schemas import schema as schema_of
    from memtile.schemas import schema_titles

    if name is not None:
        typer.echo(json_text(schema_of(name), indent=2))
        return
    titles = schema_titles()
    width = max(map(len, titles))
    for each, title in titles.items():
        typer.echo(f"{each:{width}}  {title}")
