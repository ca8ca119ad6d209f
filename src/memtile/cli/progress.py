"""Progress of long runs: nothing for two seconds, then a line on stderr, if that is a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS = 2.0


@contextmanager
def cycles_progress() -> Iterator[Callable[[int], None]]:
    """A callback for ``run(progress=...)`` that takes the cycles done."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    display = Progress(*columns, console=Console(stderr=True), transient=True)
    task = display.add_task("")
    start = time.monotonic()

    def show(cycles: int) -> None:
        if not display.live.is_started:
            if time.monotonic() - start < QUIET_SECONDS or not display.console.is_terminal:
                return
            display.start()
        display.update(task, description=f"{cycles:,} cycles")

    try:
        yield show
    finally:
        if display.live.is_started:
            display.stop()
