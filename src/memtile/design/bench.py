"""The bench of a design: an engine, the channels of the tiles at it, and a run of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memtile.arch.devices import Device
from memtile.sim.engine import Engine
from memtile.sim.outcome import outcome
from memtile.sim.results import Array, Check, Result
from memtile.sim.untimed import run_untimed

if TYPE_CHECKING:
    from memtile.design.buffers import Buffer
    from memtile.design.channels import Channel
    from memtile.design.tile import Tile

MAX_CYCLES = 10_000_000


class Bench:
    """Runs the tiles of a design.

    Args:
        engine: the model.
        device: what it is a model of.
    """

    def __init__(self, engine: Engine, device: Device) -> None:
        self.engine, self.device = engine, device
        self._senders: list[Channel] = []
        self.compared: list[tuple[str, Array, Array]] = []
        self.expected: list[tuple[Tile, Buffer, Array]] = []

    def add(self, senders: Sequence[Channel]) -> None:
        """Gather the outputs of one more tile's MM2S channels, too."""
        self._senders += senders

    def expect_array(self, name: str, array: Array, data: Array) -> None:
        """Compare an array in external memory with ``data`` after a run, element by element in C order."""
        self.compared.append((name, array, np.ascontiguousarray(data, dtype=array.dtype).ravel()))

    def run(
        self,
        max_cycles: int = MAX_CYCLES,
        *,
        untimed: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Result:
        """Run until nothing moves any more, at most ``max_cycles`` further cycles; Ctrl-C keeps what is done.

        Args:
            max_cycles: limit of the cycle run.
            untimed: move the data without a clock.
            progress: called now and then with the cycles done.
        """
        try:
            if untimed:
                stop = run_untimed(self.engine)
            else:
                stop = self.engine.run(self.engine.now + max_cycles, progress)
        except KeyboardInterrupt:
            stop = None
        taken = [channel for channel in self._senders if channel.taken]
        outputs = {channel.name: channel.output() for channel in taken}
        checks = [check for channel in taken if (check := channel.check())]
        return outcome(self.engine, stop, outputs, [*checks, *self._buffer_checks()], timed=not untimed)

    def _buffer_checks(self) -> Iterator[Check]:
        """Comparisons of buffers with what they should hold at the end."""
        for name, array, wanted in self.compared:
            yield Check.compare(name, array.ravel(), wanted)
        for tile, buffer, data in self.expected:
            yield Check.compare(f"{tile.label}buffer {buffer.name}", tile.load(buffer).ravel(), data)
