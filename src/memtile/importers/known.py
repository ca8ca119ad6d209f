"""Which operations of MLIR text are known, and where: made from the tables of their handlers."""

from __future__ import annotations

from collections.abc import Iterable

from memtile.importers.kernels import control_flow, host_calls, table
from memtile.importers.mlir.forms.device_forms import HANDLERS as DEVICE
from memtile.importers.mlir.forms.device_forms import IGNORED
from memtile.importers.mlir.sequence.program import HANDLERS as SEQUENCE


def known() -> dict[str, tuple[str, ...]]:
    """The operations by where they are, and those that change nothing."""
    return {
        "device": _sorted(DEVICE),
        "host sequence": _sorted(SEQUENCE),
        "core": _sorted((*table.HANDLERS, *host_calls.HANDLERS, *control_flow.NAMES)),
        "read and ignored": _sorted(IGNORED),
    }


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
