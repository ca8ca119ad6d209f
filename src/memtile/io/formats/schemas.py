"""JSON Schemas (draft 2020-12) of everything that commands read or write as JSON: files of the package.

The files are in the folder ``schemas``; what several of them need is in ``common.json``. ``schema`` gives one
that stands alone.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, cast

from memtile.errors import InputFileError, Problem

_COMMON = "common"
_PREFIX = f"{_COMMON}.json#/$defs/"

Schema = dict[str, Any]


def schema_names() -> tuple[str, ...]:
    """The names of all schemas, in order of the alphabet."""
    files = resources.files("memtile").joinpath("schemas").iterdir()
    names = (file.name.removesuffix(".json") for file in files if file.name.endswith(".json"))
    return tuple(sorted(name for name in names if name != _COMMON))


def schema(name: str) -> Schema:
    """A JSON Schema that needs no other file.

    Args:
        name: one of ``schema_names()``, such as ``"run-output"``.

    Returns:
        The schema as plain data, draft 2020-12; a new copy each time.

    Raises:
        InputFileError: no such schema.
    """
    if name not in schema_names():
        raise InputFileError(
            Problem(
                reason="schema",
                where="schema",
                field="name",
                given=repr(name),
                allowed=f"one of {', '.join(schema_names())}",
                source="JSON of memtile's commands",
            )
        )
    definitions: Schema = {}
    alone = cast(Schema, _alone(json.loads(_text(name)), definitions))
    if definitions:
        alone["$defs"] = {**alone.get("$defs", {}), **dict(sorted(definitions.items()))}
    return alone


def _alone(part: Any, definitions: Schema) -> Any:
    """``part`` with shared definitions under names of its own; those that it needs go to ``definitions``."""
    if isinstance(part, list):
        return [_alone(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith(_PREFIX):
        shared = reference.removeprefix(_PREFIX)
        _take(shared, definitions)
        part = {**part, "$ref": f"#/$defs/{_COMMON}-{shared}"}
    return {key: _alone(value, definitions) for key, value in part.items()}


def _take(shared: str, definitions: Schema) -> None:
    """Put a shared definition, and those that it needs, into ``definitions``."""
    key = f"{_COMMON}-{shared}"
    if key not in definitions:
        definitions[key] = {}
        found = json.loads(_text(_COMMON).replace('"#/$defs/', f'"{_PREFIX}'))["$defs"][shared]
        definitions[key] = _alone(found, definitions)


@cache
def _text(name: str) -> str:
    return resources.files("memtile").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
