"""``--vcd`` and ``--signals`` of ``memtile run``: what happens in each cycle, in a value change dump."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.output_files import check_writable

if TYPE_CHECKING:
    from memtile.sim.engine import Engine


@dataclass(frozen=True, slots=True)
class WaveformFile:
    """A dump to write.

    Attributes:
        path: the file; None = none.
        patterns: globs over the names of the signals.
    """

    path: Path | None = None
    patterns: Sequence[str] = ("*",)

    @contextmanager
    def recorded(self, engine: Engine) -> Iterator[None]:
        """Context in which the engine runs; the dump is written at its end, also after Ctrl-C.

        Raises:
            DesignError: patterns that match nothing; before the run.
            MemtileError: the ``pyvcd`` package is not installed; before the run.
            InputFileError: the file cannot be written, found out before the run but for a full disk.
        """
        if self.path is None:
            yield
            return
        from memtile.io.wave.vcd import load_pyvcd
        from memtile.io.wave.waveform import Waveform

        check_writable(self.path)
        load_pyvcd()
        waveform = Waveform(engine, self.patterns)
        with engine.watched(waveform.sample):
            yield
        waveform.save(self.path)
