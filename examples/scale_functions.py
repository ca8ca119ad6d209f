"""What the core of ``scale.mlir`` calls; ``docs/mlir.md`` runs it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def scale(source: npt.NDArray[np.int32], target: npt.NDArray[np.int32], factor: int, size: int) -> None:
    """Multiply the first ``size`` elements by ``factor``."""
    target[:size] = factor * source[:size]


scale.cycles = 64  # type: ignore[attr-defined]  # four elements a cycle
