"""What the command line says of a design in MLIR beside its arrays: parameters, and costs of operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.json_text import parse_json

if TYPE_CHECKING:
    from memtile.arch.core_costs import CoreCosts

SUFFIX = ".mlir"


def parameters_of(texts: Sequence[str]) -> dict[str, float]:
    """Parameters of the scratchpad, ``NAME=NUMBER``.

    Raises:
        InputFileError: a text of another form, a name given twice.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name in found:
            raise InputFileError(f"command line: --set gives the parameter {name} twice.")
        try:
            found[name] = int(value, 0)
        except ValueError:
            try:
                found[name] = float(value)
            except ValueError:
                says = f"--set is {text!r}; for MLIR it must be NAME=NUMBER, a parameter"
                raise InputFileError(f"command line: {says}.") from None
    return found


def design_costs(texts: Sequence[str] | None) -> CoreCosts | None:
    """Costs of a design's cores: of a file of JSON, then ``NAME=CYCLES`` of one call; None = the usual ones.

    Raises:
        InputFileError: several files, a file that cannot be read, or a text of another form.
    """
    calls = [each for each in texts or () if "=" in each and not Path(each).is_file()]
    files = [each for each in texts or () if each not in calls]
    if len(files) > 1:
        raise InputFileError(
            f"command line: --cost is {' '.join(files)}; a design takes one file of JSON, and NAME=CYCLES."
        )
    costs = costs_of(Path(files[0])) if files else None
    if not calls:
        return costs
    from memtile.arch.core_costs import CoreCosts
    from memtile.cli.graph_file import graph_costs

    made = costs or CoreCosts()
    return replace(made, functions={**made.functions, **graph_costs(calls)})


def costs_of(file: Path | None) -> CoreCosts | None:
    """Cycles of operations from a JSON file, by class."""
    if file is None:
        return None
    from memtile.arch.core_costs import CoreCosts

    given: Any = parse_json(read_text(file), str(file))
    known = [each.name for each in fields(CoreCosts)]
    wrong = [name for name in given if name not in known] if isinstance(given, dict) else ["no object"]
    if wrong:
        raise InputFileError(f"{file}: {', '.join(wrong)}; classes of operations are {', '.join(known)}.")
    if not isinstance(given.get("functions", {}), dict):
        says = f"functions is {given['functions']!r}; it must be cycles of one call by name of a function"
        raise InputFileError(f'{file}: {says}, such as {{"matmul_i16_i32": 3219}}.')
    return CoreCosts(**given)
