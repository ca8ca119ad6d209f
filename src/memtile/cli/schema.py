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
    """Print the JSON Schema of what a command reads or writes, or list them.

    Schemas are of draft 2020-12, and each stands alone. What they say is stable, texts for people are not.
    """
    from memtile.io.formats.schemas import schema as schema_of
    from memtile.io.formats.schemas import schema_names

    if name is not None:
        typer.echo(json_text(schema_of(name), indent=2))
        return
    width = max(map(len, schema_names()))
    for each in schema_names():
        typer.echo(f"{each:{width}}  {schema_of(each)['title']}")
