"""Functions that a design only declares: the user's first, then the library's."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, cast

from memtile.corelib.library import Library, library
from memtile.importers.mlir.description import DeviceDescription

Externals = Mapping[str, Callable[..., Any]]


def with_library(described: DeviceDescription, own: Externals, device: str) -> tuple[Externals, list[str]]:
    """The functions for the cores of a device, and a note of those that the library has for it."""
    shipped = library(device)
    declared = [name for name, operation in described.functions.items() if not operation.regions]
    used = [
        f"{name}({shipped[name].entry.signature})" for name in declared if name in shipped and name not in own
    ]
    notes = [f"functions of the library (memtile.kernels.aie): {', '.join(used)}"] if used else []
    return ChainMap(_readable(own), _readable(shipped)), notes


def _readable(functions: Externals | Library) -> MutableMapping[str, Callable[..., Any]]:
    return cast(MutableMapping[str, Callable[..., Any]], functions)  # a ChainMap writes to none but the first
