"""All operations that need nobody else: what Python each of them is."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.importers.kernels import (
    control,
    linalg,
    memory,
    numbers,
    operations,
    parameters,
    vector_memory,
    vectors,
)
from memtile.importers.kernels.emitter import Handler

HANDLERS: Mapping[str, Handler] = {
    **numbers.HANDLERS,
    **memory.HANDLERS,
    **vector_memory.HANDLERS,
    **vectors.HANDLERS,
    **linalg.HANDLERS,
    **operations.HANDLERS,
    **control.HANDLERS,
    **parameters.HANDLERS,
}
