"""What a server answers to questions about its run: data, a record, a report, a timeline."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from memtile.errors import DesignError
from memtile.explain.record import record, text_of
from memtile.explain.results import Result
from memtile.hosts import server_requests
from memtile.report.run.data import Report
from memtile.report.run.files import report_pieces, timeline_pieces
from memtile.runs.live_run import LiveRun


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers questions about what a server has done so far.

    Attributes:
        run: the array that is served.
        title: of the reports.
        command: that started the server.
        inputs: SHA-256 of the files that went in, by name.
    """

    run: LiveRun
    title: str
    command: str
    inputs: Mapping[str, str]

    def __call__(self, what: str) -> bytes:
        """The answer to one of ``server_requests.QUESTIONS``.

        Raises:
            DesignError: a report or a timeline of a server that notes no history.
            SimulationError: a channel is set up for what has no model.
            MemtileError: the ``perfetto`` package is missing for a timeline in Perfetto's form.
        """
        kinds: dict[str, Callable[[Result], bytes]] = {
            server_requests.RESULT: self._result,
            server_requests.RECORD: self._record,
            server_requests.REPORT: partial(self._report, suffix=".html"),
            server_requests.REPORT_TEXT: partial(self._report, suffix=".txt"),
            server_requests.CHROME: partial(self._timeline, suffix=".json"),
            server_requests.PERFETTO: partial(self._timeline, suffix=""),
        }
        if what not in kinds:
            raise DesignError(f"memtile serve: {what!r} is no question; it answers {', '.join(kinds)}.")
        return kinds[what](self.run.result())

    def _result(self, result: Result) -> bytes:
        found: dict[str, Any] = result.as_json()
        found |= {"device": self.run.array.device.name, "checked": self.run.options.check}
        return json.dumps(found).encode()

    def _record(self, result: Result) -> bytes:
        return text_of(record(result, self.run.array.engine, inputs=self.inputs)).encode()

    def _report(self, result: Result, suffix: str) -> bytes:
        timeline, engine = self.run.timeline(result), self.run.array.engine
        report = Report(engine, result, timeline, self.title, self.inputs, command=self.command)
        return b"".join(report_pieces(report, suffix))

    def _timeline(self, result: Result, suffix: str) -> bytes:
        return b"".join(timeline_pieces(self.run.timeline(result), result.clock_mhz, suffix))
