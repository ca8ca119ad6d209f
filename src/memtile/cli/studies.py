"""What ``memtile run`` asks of a run beside its result: the same run again, otherwise, and its record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.progress import watched
from memtile.cli.report_files import ReportFiles
from memtile.output_files import check_writable, write_output

if TYPE_CHECKING:
    from memtile.arch.devices import Device
    from memtile.explain.results import Result
    from memtile.sim.loop.engine import Engine


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
        """The result with the answers.

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
        from memtile.explain.slow import slow_findings
        from memtile.explore.rerun import band, lifted

        if self.coredump is not None:
            from memtile.explain.dump.capture import write_coredump

            write_coredump(engine, device, self.coredump)
        if self.sensitivity:
            result = replace(result, band=band(result, again, partial(watched, text="constants")))
        if self.bottleneck:
            slow = slow_findings(result)
            without = lifted(result, again, partial(watched, text="limits"))
            result = replace(result, lifted=without, findings=(*result.findings, *slow))
        if self.record is None and not self.report.wanted:
            return result
        inputs = digests(files)
        self.report.write(result, engine, Path(files[0]).name, inputs, ignored)
        if self.record is not None:
            from memtile.explain.record import record, text_of

            found = record(result, engine, inputs=inputs, ignored=ignored)
            write_output(self.record, text_of(found))
        return result


def digests(files: Sequence[str]) -> dict[str, str]:
    """SHA-256 of what files hold, by name; of those that are files."""
    there = (file for file in files if Path(file).is_file())
    return {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in there}
