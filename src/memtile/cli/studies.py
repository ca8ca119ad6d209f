"""What ``memtile run`` asks of a run beside its result: the same run again, otherwise, and its record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtile.cli.output_file import check_writable
from memtile.cli.progress import watched

if TYPE_CHECKING:
    from memtile.explain.results import Result
    from memtile.sim.engine import Engine


@dataclass(frozen=True, slots=True)
class Studies:
    """Questions about a run.

    Attributes:
        sensitivity: how far its cycles hang on assumed constants.
        bottleneck: what lifting each of its limits would save.
        record: file of its record; None = none.
    """

    sensitivity: bool = False
    bottleneck: bool = False
    record: Path | None = None

    def check(self) -> None:
        """Refuse a file that cannot be written, before the run."""
        if self.record is not None:
            check_writable(self.record)

    def of(
        self,
        result: Result,
        engine: Engine,
        again: Callable[[], Result],
        files: Iterable[str],
        ignored: Sequence[str] = (),
    ) -> Result:
        """The result with the answers.

        Args:
            result: of the run.
            engine: that it ran on.
            again: makes everything anew and runs it.
            files: that went in.
            ignored: operations that were read and change nothing.
        """
        from memtile.explain.slow import slow_findings
        from memtile.explore.rerun import band, lifted

        if self.sensitivity:
            result = replace(result, band=band(result, again, partial(watched, text="constants")))
        if self.bottleneck:
            slow = slow_findings(result)
            without = lifted(result, again, partial(watched, text="limits"))
            result = replace(result, lifted=without, findings=(*result.findings, *slow))
        if self.record is not None:
            from memtile.explain.record import record, text_of

            inputs = {file: _digest(Path(file)) for file in files if Path(file).is_file()}
            found = record(result, engine, inputs=inputs, ignored=ignored)
            self.record.write_text(text_of(found), encoding="utf-8")
        return result


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
