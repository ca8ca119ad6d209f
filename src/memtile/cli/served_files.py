"""``--report``, ``--perfetto``, ``--record`` and ``--design`` of ``memtile serve``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.output_files import check_writable, write_output

if TYPE_CHECKING:
    from memtile.design.array import Array
    from memtile.hosts.notices import Log
    from memtile.report.served import Answers
    from memtile.runs.live_run import LiveRun
    from memtile.runs.options import RunOptions


@dataclass(frozen=True, slots=True)
class ServedFiles:
    """What a server is to know of its run.

    Attributes:
        report: file of the report, written at the end; None = none.
        perfetto: file of the timeline; None = none.
        record: file of the record; None = none.
        design: file of a design whose names are told and whose cores run; empty = there is none.
        kernels: file of kernels, or of functions that cores of the design call; None = there is none.
    """

    report: Path | None
    perfetto: Path | None
    record: Path | None
    design: str
    kernels: str | None = None

    def refuse(self) -> None:
        """Refuse files that cannot be written, before anybody is served.

        Raises:
            InputFileError: a suffix that is none of a report, or a file that cannot be written.
            MemtileError: the ``perfetto`` package is missing for a file that is not ``.json``.
        """
        from memtile.report.run.files import check_names

        check_names(self.report, self.perfetto)
        for path, _ in self._wanted():
            check_writable(path)

    def run(self, array: Array, act: Callable[[LiveRun], None], cycles: int, options: RunOptions) -> None:
        """Run an array until its clients have left.

        Args:
            array: that is served.
            act: serves the clients.
            cycles: before each of their reads.
            options: of the run; a file that shows each cycle has them noted.

        Raises:
            MemtileError: the design cannot be loaded.
        """
        from memtile.cli.kernels_file import load_kernels
        from memtile.cli.runnable import load_beside
        from memtile.design.set_aside import set_aside
        from memtile.runs.core_kernels import NO_KERNELS
        from memtile.runs.live_run import LiveHost
        from memtile.runs.program import Program
        from memtile.runs.session import Session

        names, kernels = None, NO_KERNELS
        if self.design:
            design = load_beside(self.design, device=array.device.name, kernels=self.kernels)
            names, kernels = design.array, design.kernels
            set_aside(names)
        elif self.kernels:
            kernels = load_kernels(self.kernels).kernels
        noted = options.history or self.report is not None or self.perfetto is not None
        program = Program(kernels=kernels, live=LiveHost(act, cycles, names))
        Session(array).run(program, replace(options, history=noted))

    def answers(self, run: LiveRun) -> Answers:
        """What answers questions about the run."""
        from memtile.cli.report_files import command, digests
        from memtile.report.served import Answers

        files = [self.design] if self.design else []
        title = Path(self.design).name if self.design else f"memtile serve {run.array.device.name}"
        return Answers(run, title, command(), digests(files))

    def write(self, answers: Answers, log: Log) -> None:
        """Write the files.

        Raises:
            InputFileError: a file cannot be written.
            SimulationError: a channel is set up for what has no model.
        """
        for path, what in self._wanted():
            write_output(path, answers(what))
            log(f"written: {path}")

    def _wanted(self) -> Iterator[tuple[Path, str]]:
        """Files, and the questions that they are answers to."""
        yield from wanted_answers(self.report, self.perfetto, self.record)


def wanted_answers(
    report: Path | None, perfetto: Path | None, record: Path | None
) -> Iterator[tuple[Path, str]]:
    """The files that are wanted, and the questions to a server that they are answers to."""
    from memtile.hosts import server_requests

    if report is not None:
        yield report, server_requests.REPORT if report.suffix == ".html" else server_requests.REPORT_TEXT
    if perfetto is not None:
        yield perfetto, server_requests.CHROME if perfetto.suffix == ".json" else server_requests.PERFETTO
    if record is not None:
        yield record, server_requests.RECORD
