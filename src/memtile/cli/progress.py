"""Progress of long runs: nothing for two seconds, then a line on stderr, if that is a terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

QUIET_SECONDS = 2.0


@contextmanager
def run_progress(*, untimed: bool = False, before: str = "") -> Iterator[Callable[..., None]]:
    """A callback for ``run(progress=...)`` that takes the cycles done, or the words of an untimed run.

    Args:
        untimed: it takes words.
        before: what is done before the run; shown when two seconds are over without a call.
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from memtile.sheet import stderr_console

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # standard output stays: a design that prints while it is loaded may have put another one there just now
    display = Progress(*columns, console=stderr_console(), transient=True, redirect_stdout=False)
    task, unit = display.add_task(before), "words" if untimed else "cycles"
    start = time.monotonic()
    early = threading.Timer(QUIET_SECONDS, display.start)
    early.daemon = True
    if before and display.console.is_terminal:
        early.start()

    def show(done: int, what: str = unit) -> None:
        if not display.live.is_started:
            if time.monotonic() - start < QUIET_SECONDS or not display.console.is_terminal:
                return
            display.start()
        display.update(task, description=f"{done:,} {what}")

    try:
        yield show
    finally:
        early.cancel()
        if display.live.is_started:
            display.stop()


@contextmanager
def repair_progress() -> Iterator[Callable[[int], None]]:
    """A callback for a search of repairs that takes the number of changes tried."""
    with run_progress(before="trying repairs") as show:
        yield lambda done: show(done, "changes tried")


def watched(items: Sequence[T], text: str) -> Iterator[T]:
    """``items``, with a bar named ``text`` for those that are left when two seconds are over."""
    start = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - start > QUIET_SECONDS:
            yield from _with_bar(items, done, text)
            return
        yield item


def _with_bar(items: Sequence[T], done: int, text: str) -> Iterator[T]:
    from rich.progress import Progress

    from memtile.sheet import stderr_console

    console = stderr_console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(text, total=len(items), completed=done)
        for item in items[done:]:
            yield item
            bar.advance(task)
