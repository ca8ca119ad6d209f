"""A design in MLIR as a design function: its arguments are the device and the scratchpad's parameters."""

from __future__ import annotations

import inspect
from pathlib import Path

from memtile.importers.design import load, parameter_names
from memtile.importers.hosted_array import HostedArray

SUFFIX = ".mlir"


class TextDesign:
    """A design in MLIR with parameters, as ``memtile sweep`` takes it.

    Args:
        file: of its text.

    Attributes:
        varied_by_name: a sweep varies what it is told to.

    Raises:
        InputFileError: the file cannot be read or is no MLIR.
    """

    varied_by_name = True

    def __init__(self, file: str) -> None:
        self.file, self.__name__ = file, Path(file).stem
        kinds = {"device": str | None, **dict.fromkeys(parameter_names(file), float | None)}
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
                for name, kind in kinds.items()
            ]
        )

    def __call__(self, device: str | None = None, **parameters: float | None) -> HostedArray:
        """The array of the design.

        Args:
            device: to be, whatever the text says; None = as it says.
            parameters: of the scratchpad; None = 0, as the host has it.

        Raises:
            InputFileError: the file is no MLIR.
            DesignError: the device cannot hold the design.
        """
        given = {name: value for name, value in parameters.items() if value is not None}
        return HostedArray.of(load(self.file, device=device, parameters=given, sources_beside=True))
