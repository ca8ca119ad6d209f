"""Cases that ``memtile measure read`` writes: the same design, run by the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtile.explore.measure.experiment_files import text_of
from memtile.explore.measure.fitted_constants import EXPERIMENTS, measured
from memtile.importers.design import load
from memtile.importers.mlir.token_packets import Text

Measured = dict[str, float]


def measure(design: str, device: str) -> Measured:
    """The constants that a design finds in the model, by name."""
    (chosen,) = (each for each in EXPERIMENTS if each.name == design)
    traces: dict[str, Any] = {}
    for each in EXPERIMENTS:
        if each is chosen or any(constant.name in chosen.needed for constant in each.constants):
            done = load(Text(each.name, text_of(each, device))).run()
            words = np.asarray(done.arrays["0"]).reshape(-1).view(np.uint32)
            traces[each.name] = [(each.name, words)]
    return {each.constant.name: float(each.value) for each in measured(device, traces).found}


SETUPS = {"measure": measure}
