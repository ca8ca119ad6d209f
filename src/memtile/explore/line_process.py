"""A Python process that answers lines with lines: one that crashes or never ends ends alone.

Ctrl-C at a terminal does not reach it: it has a process group of its own, which ends with it and with the
process that began it, however those end and whatever is being done.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

from memtile.sandbox.start import ProcessStart

_TO_LEAVE = 3.0  # seconds
_LONGEST = 1 << 28  # characters of an answer
_FIRST = "from memtile.explore.line_process import follow; follow()\n"


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
        code: Python that answers questions, with :func:`line_answers.answer_lines`.
        confine: turns the command into one that is confined, with its variables; None = it is not.
        folder: that it works in; None = that of this process.
        follows: it sees to it that it ends with this process; False = what confines it does.
    """

    def __init__(
        self,
        code: str,
        confine: Callable[[Sequence[str]], ProcessStart] | None = None,
        folder: str | None = None,
        *,
        follows: bool = True,
    ) -> None:
        self._code, self._confine, self._folder, self._follows = code, confine, folder, follows
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._mark, self._asked = secrets.token_hex(8), 0

    def ask(self, question: object, seconds: float) -> Any:
        """The answer to a question; both are JSON values.

        Raises:
            NoAnswerError: the process ended, or took longer than ``seconds`` and was ended.
        """
        process = self._process or self._begin()
        assert process.stdin is not None
        self._asked += 1
        mark = f"{self._mark}-{self._asked} "
        try:
            process.stdin.write(f"{mark}{json.dumps(question)}\n")
            process.stdin.flush()
            answer = self._answer(mark, seconds)
        except queue.Empty:
            self.end()
            raise NoAnswerError(f"the limit of {seconds:g} s is over", late=True) from None
        except (OSError, ValueError):  # its end of the pipe is closed, or ours
            answer = ""
        if not answer:
            raise NoAnswerError(f"the process ended with {self.end()}", late=False)
        return json.loads(answer.removeprefix(mark))

    def _answer(self, mark: str, seconds: float) -> str:
        """The line that begins with a mark, empty if the process is gone.

        Raises:
            queue.Empty: the time is over.
        """
        end = time.monotonic() + seconds
        while True:
            answer = self._answers.get(timeout=max(end - time.monotonic(), 0.0))
            if not answer or answer.startswith(mark):
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
        start = ProcessStart((sys.executable, "-c", _FIRST * self._follows + self._code), None)
        if self._confine is not None:
            start = self._confine(start.command)
        self._process = subprocess.Popen(
            start.command,
            env=start.environment,
            cwd=self._folder,
            stdin=pipe,
            stdout=pipe,
            encoding="utf-8",
            errors="replace",
            process_group=0,
        )
        self._answers = queue.Queue()
        lines = self._process.stdout, self._mark, self._answers
        threading.Thread(target=_pass_on, args=lines, daemon=True).start()
        return self._process


def follow() -> None:
    """Have all of this process group end when this process does, or when nobody can ask it any more.

    Another process sees to it: a thread would wait for code that does not return to Python. It is no child of
    this one, whose code may wait for all of its children.
    """
    reading, writing = os.pipe()  # the other end is open until this process ends
    if between := os.fork():
        os.close(reading)
        os.waitpid(between, 0)
        return
    if os.fork():
        os._exit(0)
    os.close(writing)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # who reads them waits for their end
        os.dup2(nowhere, stream)
    ends = select.poll()
    for end in (0, reading):
        ends.register(end, 0)  # reports that its other end is closed
    ends.poll()
    os.killpg(0, signal.SIGKILL)


def _pass_on(lines: IO[str], mark: str, answers: queue.Queue[str]) -> None:
    """Hand over the lines that begin with a mark, and an empty text when the process is gone."""
    with lines:
        while line := lines.readline(_LONGEST):
            if line.startswith(mark):
                answers.put(line)
    answers.put("")
