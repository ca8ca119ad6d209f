"""A Python process that answers lines with lines: one that crashes or never ends ends alone.

Ctrl-C at a terminal does not reach it: it has a process group of its own, and ends with the process that
began it, however that ends.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from memtile.sandbox.start import Start

_TO_LEAVE = 3.0  # seconds
_FIRST = "from memtile.explore.line_process import follow; follow({parent})\n{code}"
_LOOK_SECONDS = 0.3


class NoAnswerError(Exception):
    """What was asked has no answer; the process is gone.

    Attributes:
        late: the time was over; otherwise the process had ended by itself.
    """

    def __init__(self, why: str, *, late: bool) -> None:
        super().__init__(why)
        self.late = late


class LineProcess:
    """A process, begun when there is something to ask, and again after it was lost.

    Args:
        code: Python that reads lines from stdin and writes one line to stdout for each.
        confine: turns the command into one that is confined, with its variables; None = it is not.
        folder: that it works in; None = that of this process.
        follows: it sees to it that it ends with this process; False = what confines it does.
    """

    def __init__(
        self,
        code: str,
        confine: Callable[[Sequence[str]], Start] | None = None,
        folder: str | None = None,
        *,
        follows: bool = True,
    ) -> None:
        self._code, self._confine, self._folder, self._follows = code, confine, folder, follows
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def ask(self, line: str, seconds: float) -> str:
        """The answer to a line.

        Raises:
            NoAnswerError: the process ended, or took longer than ``seconds`` and was ended.
        """
        process = self._process or self._begin()
        assert process.stdin is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.end()
            raise NoAnswerError(f"the limit of {seconds:g} s is over", late=True) from None
        except (OSError, ValueError):  # its end of the pipe is closed, or ours
            answer = ""
        if not answer:
            raise NoAnswerError(f"the process ended with {self.end()}", late=False)
        return answer

    def end(self) -> str:
        """End the process, whatever it does; how it ended, in words."""
        process, self._process = self._process, None
        if process is None:
            return "nothing"
        try:
            code = process.wait(timeout=1.0 if process.stdout and process.stdout.closed else 0.2)
        except subprocess.TimeoutExpired:
            if self._confine is not None:  # what confines it removes its folder, and takes a second at most
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=_TO_LEAVE)
            process.kill()
            code = process.wait()
        if process.stdin:
            process.stdin.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        """Have the process end now, without waiting for it; :meth:`end` does."""
        if (process := self._process) is not None:
            process.kill()

    def _begin(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        code = _FIRST.format(parent=os.getpid(), code=self._code) if self._follows else self._code
        start = Start((sys.executable, "-c", code), None)
        if self._confine is not None:
            start = self._confine(start.command)
        self._process = subprocess.Popen(
            start.command,
            env=start.environment,
            cwd=self._folder,
            stdin=pipe,
            stdout=pipe,
            text=True,
            process_group=0,
        )
        self._answers = queue.Queue()
        threading.Thread(target=_pass_on, args=(self._process.stdout, self._answers), daemon=True).start()
        return self._process


def follow(parent: int) -> None:
    """In the process: end when the one that began it is gone, whatever is being done."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(0)

    threading.Thread(target=look, daemon=True).start()


def _pass_on(lines: IO[str], answers: queue.Queue[str]) -> None:
    """Hand over what the process says, and an empty text when it is gone."""
    with lines:
        for line in lines:
            answers.put(line)
    answers.put("")
