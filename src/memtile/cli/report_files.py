"""What ``memtile run`` makes of a run beside its result: pages, timelines, waveforms, records, other runs."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.progress import watched
from memtile.output_files import check_writable, write_output

if TYPE_CHECKING:
    from memtile.arch.devices import Device
    from memtile.explain.results import Result
    from memtile.sim.loop.engine import Engine


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What is to be written of the history of a run.

    Attributes:
        page: file of the report, ``.html`` or ``.txt``; None = none.
        perfetto: file for ui.perfetto.dev; None = none.
    """

    page: Path | None = None
    perfetto: Path | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is any."""
        return self.page is not None or self.perfetto is not None

    def check(self) -> None:
        """Refuse what cannot be written, before the run.

        Raises:
            InputFileError: a suffix that is none of a report, or a file that cannot be written.
            MemtileError: the ``perfetto`` package is missing for a file that is not ``.json``.
        """
        if not self.wanted:
            return
        from memtile.report.run.files import check_names

        check_names(self.page, self.perfetto)
        for path in self._paths():
            check_writable(path)

    def write(
        self,
        result: Result,
        engine: Engine,
        title: str,
        inputs: Mapping[str, str],
        ignored: Sequence[str],
        ahead: Sequence[str] = (),
    ) -> None:
        """Write the files.

        Args:
            result: of the run.
            engine: that it ran on.
            title: of the design.
            inputs: SHA-256 of the files that went in, by name.
            ignored: operations that were read and change nothing.
            ahead: what the front end says of the run.

        Raises:
            InputFileError: a file cannot be written.
        """
        if not self.wanted or result.kept is None or result.kept.history is None:
            return
        from memtile.explain.timeline import Timeline
        from memtile.report.run.data import Report
        from memtile.report.run.files import report_pieces, timeline_pieces

        timeline = Timeline(engine, result.kept.history, result)
        if self.page is not None:
            report = Report(engine, result, timeline, title, inputs, ignored, command(), ahead)
            write_output(self.page, report_pieces(report, self.page.suffix))
        if self.perfetto is not None:
            write_output(self.perfetto, timeline_pieces(timeline, result.clock_mhz, self.perfetto.suffix))

    def _paths(self) -> Iterator[Path]:
        return (path for path in (self.page, self.perfetto) if path is not None)


def command() -> str:
    """How it was called, for who wants to do it again."""
    return shlex.join(["memtile", *sys.argv[1:]])


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
        from memtile.io.trace.waveform import Waveform, load_pyvcd

        check_writable(self.path)
        load_pyvcd()
        waveform = Waveform(engine, self.patterns)
        with engine.watched(waveform.sample):
            yield
        waveform.save(self.path)


@dataclass(frozen=True, slots=True)
class Studies:
    """Questions about a run.

    Attributes:
        sensitivity: how far its cycles hang on assumed constants.
        bottleneck: what lifting each of its limits would save.
        record: file of its record; None = none.
        coredump: file of what stands in the array at the end; None = none.
        report: files of its history.
    """

    sensitivity: bool = False
    bottleneck: bool = False
    record: Path | None = None
    coredump: Path | None = None
    report: ReportFiles = field(default_factory=ReportFiles)

    def check(self) -> None:
        """Refuse a file that cannot be written, before the run."""
        for path in (self.record, self.coredump):
            if path is not None:
                check_writable(path)

    def of(
        self,
        result: Result,
        engine: Engine,
        again: Callable[[], Result],
        files: Sequence[str],
        ignored: Sequence[str] = (),
        *,
        device: Device,
    ) -> Result:
        """The result with the answers, once its files are written.

        Args:
            result: of the run.
            engine: that it ran on.
            again: makes everything anew and runs it.
            files: that went in.
            ignored: operations that were read and change nothing.
            device: that the engine is.

        Raises:
            DesignError: a coredump of a memory tile alone.
        """
        result = self.answered(result, engine, again, device=device)
        self.write(result, engine, files, ignored)
        return result

    def answered(
        self, result: Result, engine: Engine, again: Callable[[], Result], *, device: Device
    ) -> Result:
        """The result with the answers; arguments as of :meth:`of`."""
        from memtile.explain.depths import doubtful_depths, with_depths
        from memtile.explore.relaxed import with_limit
        from memtile.explore.rerun import band

        if self.coredump is not None:
            from memtile.explain.dump.capture import write_coredump

            write_coredump(engine, device, self.coredump)
        if names := doubtful_depths(engine):
            result = with_depths(result, again, names)
        if self.sensitivity:
            result = replace(result, band=band(result, again, partial(watched, text="constants")))
        if self.bottleneck:
            result = with_limit(result, again, partial(watched, text="limits"))
        return result

    def write(
        self,
        result: Result,
        engine: Engine,
        files: Sequence[str],
        ignored: Sequence[str] = (),
        ahead: Sequence[str] = (),
    ) -> None:
        """Write the files; arguments as of :meth:`of`; ``ahead``: what the front end says of the run."""
        if self.record is None and not self.report.wanted:
            return
        inputs = digests(files)
        self.report.write(result, engine, Path(files[0]).name, inputs, ignored, ahead)
        if self.record is not None:
            from memtile.explain.record import record, text_of

            found = record(result, engine, inputs=inputs, ignored=ignored)
            write_output(self.record, text_of(found))


def digests(files: Sequence[str]) -> dict[str, str]:
    """SHA-256 of what files hold, by name; of those that are files."""
    there = (file for file in files if Path(file).is_file())
    return {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in there}
