"""What the command line says of a design in MLIR beside its arrays: parameters."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.errors import InputFileError

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
