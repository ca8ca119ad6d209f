"""Devices that a host sequence loads.

A device is configured in an array of its own, whose register writes become operations of the sequence, behind
one that resets the array for it (``runs.firmware``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memtile.design.array import Array
from memtile.importers.mlir.configure import Configured, configure
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.device_forms import described
from memtile.importers.mlir.known_check import check_known
from memtile.io.program.recorder import record
from memtile.runs.firmware import LOAD, PROGRAM, loaded
from memtile.runs.operations import Operation, Other


@dataclass(slots=True)
class Devices:
    """The devices of a module, for a sequence that loads them.

    Attributes:
        described: by symbol.
        array: in which the sequence runs.
        loaded: those that were loaded, in order; programs of cores have their numbers.
    """

    described: Mapping[str, DeviceDescription]
    array: Array
    loaded: list[Configured] = field(default_factory=list)

    def load(self, name: str) -> tuple[Configured, list[Operation]]:
        """A device in an array of its own, and the operations that load it.

        Args:
            name: its symbol.
        """
        check_known(self.described[name].operation)
        array = Array(self.array.device.name, self.array.columns, self.array.engine.timing)
        recording = record(array)
        made = configure(described(self.described[name].operation), array)
        self.loaded.append(made)
        number = (PROGRAM, len(self.loaded) - 1)
        begin = replace(loaded(Other(LOAD, b"", (number,)), len(recording.operations)), acts=True)
        return made, [begin, *recording.operations]
