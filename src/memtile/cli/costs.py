"""What the command line says of costs: cycles of cores' operations and of calls of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtile.errors import InputFileError
from memtile.input_files import read_text
from memtile.io.json_text import parse_json

if TYPE_CHECKING:
    from memtile.arch.core_costs import CoreCosts


def call_costs(texts: Sequence[str]) -> dict[str, int]:
    """Cycles of a call by kernel or function.

    Args:
        texts: ``NAME=CYCLES``, or a file of JSON with ``functions``.

    Raises:
        InputFileError: a text of another form, a name given twice, or a file that cannot be read.
    """
    found: dict[str, int] = {}
    for text in texts:
        for name, cycles in _costs(text).items():
            if name in found:
                raise InputFileError(f"command line: --cost gives {name} twice.")
            found[name] = cycles
    return found


def _costs(text: str) -> Mapping[str, int]:
    name, equals, value = text.partition("=")
    if not equals:
        costs = costs_of(Path(text))
        return costs.functions if costs else {}
    if not name or not value.isdecimal():
        says = f"--cost is {text!r}; it must be NAME=CYCLES of a kernel, such as gr.k=2088, or a file of JSON"
        raise InputFileError(f"command line: {says}.")
    return {name: int(value)}


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

    made = costs or CoreCosts()
    return replace(made, functions={**made.functions, **call_costs(calls)})


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
    called = {name: _whole(cycles) for name, cycles in given.get("functions", {}).items()}
    return CoreCosts(**{**{name: _whole(cycles) for name, cycles in given.items()}, "functions": called})


def _whole(cycles: Any) -> Any:
    """Return 2 for the 2.0 that other programs write; what is no whole number as it is."""
    return int(cycles) if isinstance(cycles, float) and cycles.is_integer() else cycles
