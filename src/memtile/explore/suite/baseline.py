"""Cycles of designs in a file of the repository: what later runs are compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtile import __version__
from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.json_text import parse_json
from memtile.io.toml_text import parse_toml
from memtile.output_files import write_output

_HEAD = "# Cycles of designs: written by memtile test --update-baseline, compared by memtile test."
_FORMS = (".toml", ".json")


def read_baseline(file: Path, *, missing_ok: bool = False) -> dict[str, int]:
    """Cycles by name of the test.

    Args:
        file: TOML or JSON, by its suffix.
        missing_ok: a file that is not there has no cycles.

    Raises:
        InputFileError: it cannot be read, or has another form.
    """
    if file.suffix not in _FORMS:
        raise InputFileError(f"{file}: a baseline is a .toml or a .json file. Give it one of these names.")
    if not file.exists():
        if missing_ok:
            return {}
        raise InputFileError(f"{file}: there is no such baseline. Write it with --update-baseline.")
    data = _data(file)
    cycles = data.get("cycles")
    if not isinstance(cycles, dict) or not all(type(each) is int and each > 0 for each in cycles.values()):
        raise InputFileError(
            f"{file}: it must have a table cycles with whole numbers by name of the design. Write it with "
            f"--update-baseline."
        )
    return dict(cycles)


def other_version(file: Path) -> str:
    """Say which other version of memtile has written a baseline; empty if none has."""
    version = _data(file).get("memtile", __version__)
    if version == __version__:
        return ""
    return (
        f"{file} was written by memtile {version}, this is {__version__}; cycles may change with the "
        "version. If nothing else changed, write it again: --update-baseline."
    )


def _data(file: Path) -> Mapping[str, Any]:
    if file.suffix == ".json":
        found = parse_json(read_text(file), str(file))
        return found if isinstance(found, dict) else {}
    return parse_toml(read_text(file), str(file))


def write_baseline(file: Path, cycles: Mapping[str, int]) -> None:
    """Write cycles by name, sorted, with the version of memtile that they are of.

    Raises:
        InputFileError: the file cannot be written.
    """
    names = sorted(cycles)
    if file.suffix == ".json":
        text = json.dumps(
            {"memtile": __version__, "cycles": {name: cycles[name] for name in names}}, indent=2
        )
    else:
        rows = (f"{json.dumps(name, ensure_ascii=False)} = {cycles[name]:_}" for name in names)
        text = "\n".join([_HEAD, f'memtile = "{__version__}"', "", "[cycles]", *rows])
    write_output(file, f"{text}\n")
