"""All operations that need nobody else: what Python each of them is."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.importers.kernels import (
    aievec,
    body_operations,
    control,
    linalg,
    memref_handlers,
    runtime_parameters,
    scalar_handlers,
    ssa_values,
    vectors,
)
from memtile.importers.kernels.emitter import Handler

HANDLERS: Mapping[str, Handler] = {
    **scalar_handlers.HANDLERS,
    **memref_handlers.HANDLERS,
    **ssa_values.HANDLERS,
    **vectors.HANDLERS,
    **aievec.HANDLERS,
    **linalg.HANDLERS,
    **body_operations.HANDLERS,
    **control.HANDLERS,
    **runtime_parameters.HANDLERS,
}
