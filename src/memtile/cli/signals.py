"""Signals that end a command: Ctrl-C, SIGTERM and SIGHUP become exceptions, so that every context is left.

Python raises them between two of its instructions. What does not return to Python for longer than that, such
as a compiler or a library that reads, is not waited for: a thread that the signal wakes ends the process.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

from memtile.output_files import discard_parts

SIGNALLED: Final = 128  # exit codes of the shell begin here: 130 is SIGINT, 143 SIGTERM
_ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
_MANY = 4096  # bytes of the pipe that takes one for each signal
_GRACE_SECONDS = 0.7  # of waiting, and of work of this process, before it is ended
_MOST_SECONDS = 5.0  # of waiting, on a machine that gives us no time
_LOOK_SECONDS = 0.05


class Terminated(BaseException):
    """SIGTERM or SIGHUP came.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class _Signals:
    """What came so far.

    Attributes:
        taken: signals that Python's part of the process has seen.
        interrupted: whether SIGINT was one of them.
        last_words: called with the signal before the process is ended from outside.
    """

    def __init__(self) -> None:
        self.taken = 0
        self.interrupted = False
        self.last_words: Callable[[int], None] = lambda _number: None

    def take(self, number: int, _frame: FrameType | None) -> None:
        self.taken += 1
        if number == signal.SIGINT:
            self.interrupted = True
            raise KeyboardInterrupt
        raise Terminated(number)


_signals = _Signals()


def take_signals() -> None:
    """Have signals raise exceptions in the main thread of this process; ignored ones stay ignored."""
    for number in _ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _signals.take)
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    sys.unraisablehook = _raise_again


def was_interrupted() -> bool:
    """Whether Ctrl-C came: a library may turn its exception into another one."""
    return _signals.interrupted


def on_forced_end(last_words: Callable[[int], None]) -> None:
    """Choose what is called with the number of the signal when the process has to be ended from outside."""
    _signals.last_words = last_words


def ignore_signals() -> None:
    """Let no signal disturb the end of a process that has done its work."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    # CPython would end by the signal if Ctrl-C ever left the code of a text; another text takes that back.
    eval("0")


def _raise_again(problem: Any) -> None:
    """Raise again, a moment later, what came where Python drops it: in a destructor or a callback."""
    if isinstance(problem.exc_value, KeyboardInterrupt | Terminated):
        number = getattr(problem.exc_value, "number", signal.SIGINT)
        threading.Timer(_LOOK_SECONDS, os.kill, (os.getpid(), number)).start()
    else:
        sys.__unraisablehook__(problem)


def _watch(reading: int) -> None:
    """End the process when a signal came and Python has not taken it in time."""
    while True:
        settled = _signals.taken
        select.select([reading], [], [])
        came = _ENDING.intersection(_read(reading))
        if came and not _is_taken_after(settled):
            number = min(came)
            _signals.last_words(number)
            discard_parts()
            os._exit(SIGNALLED + number)
        _read(reading)  # signals that came together are taken together


def _read(reading: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(reading, _MANY)
    return b""


def _is_taken_after(settled: int) -> bool:
    """Whether Python has taken a signal, soon enough, beside those that it had taken before."""
    began, worked = time.monotonic(), time.process_time()
    while _signals.taken == settled:
        waited, spent = time.monotonic() - began, time.process_time() - worked
        if waited > _MOST_SECONDS or min(waited, spent) > _GRACE_SECONDS:
            return False
        time.sleep(_LOOK_SECONDS)
    return True
