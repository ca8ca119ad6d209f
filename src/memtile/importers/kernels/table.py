"""All operations that need nobody else: what Python each of them is."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.importers.kernels import operations, parameters
from memtile.importers.kernels.operations import Handler

HANDLERS: Mapping[str, Handler] = {**operations.HANDLERS, **parameters.HANDLERS}
