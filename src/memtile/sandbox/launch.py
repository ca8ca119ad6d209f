"""The first program of a sandbox: ``main`` with a policy and a command as arguments of its own process.

Four processes, each a fork of the one before. The *keeper* stays outside: it passes signals on, makes and
removes the temporary folder, and ends as the command did. The others are in ``inside``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from memtile.sandbox.inside import END, KeeperPipes, enter
from memtile.sandbox.policy import Policy

GRACE = 0.9
"""Seconds that a command has after a signal; then it is ended."""
UNAVAILABLE = 2
"""Exit code where the process cannot be confined, or was ended for what it did."""
INTERRUPTED = 130
_PASSED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_HELD = {*_PASSED, signal.SIGCHLD, signal.SIGTSTP}
_LONG = 3600.0  # seconds
_LOOK = 0.3  # seconds between two looks at the parent
_AT_ONCE = 0.3  # seconds that processes have to end those below them


def main() -> NoReturn:
    """Run a command as its policy allows, and end as it ended; without one, print the layers in force."""
    policy, command = Policy.of_text(sys.argv[1]), sys.argv[2:]
    mask = {int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)}
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    folder = str(Path(tempfile.mkdtemp(prefix="memtile-sandbox-")).resolve())
    try:
        for source, target in policy.copies:
            _copy(Path(source), Path(folder, target))
        door = os.fork()
        if not door:
            os.close(reading)
            enter(
                policy,
                command,
                KeeperPipes(folder, frozenset(mask), os.getpriority(os.PRIO_PROCESS, 0), writing),
            )
        os.close(writing)
        keeper = _Keeper(door, reading, policy.parent)
        keeper.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    keeper.leave()


def _copy(source: Path, target: Path) -> None:
    with suppress(OSError):  # another process may be removing it; what is missing is made again inside
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if source.is_dir():
            shutil.copytree(source, target)
            os.utime(source)  # it counts as used
        else:
            shutil.copyfile(source, target)


class _Keeper:
    """What waits outside for the processes inside."""

    def __init__(self, door: int, notes: int, parent: int) -> None:
        self._door, self._notes, self._text, self._parent = door, notes, b"", parent
        self._said: dict[str, Any] = {}
        self._asked = 0  # the signal that came first

    def wait(self) -> None:
        """Pass signals on until all has ended; end it when it does not end soon after one."""
        deadline = float("inf")
        while True:
            most = _LOOK if self._parent else _LONG
            left = min(max(deadline - time.monotonic(), 0.0), most)
            found = signal.sigtimedwait(_HELD, left)
            if os.waitpid(self._door, os.WNOHANG)[0]:
                return
            number = found.si_signo if found is not None else 0
            if number in _PASSED:
                self._asked = self._asked or number
                deadline = min(deadline, time.monotonic() + GRACE)
                self._send(number)
            elif number == signal.SIGTSTP:
                self._send(signal.SIGSTOP)
                os.kill(os.getpid(), signal.SIGSTOP)
                self._send(signal.SIGCONT)
            if time.monotonic() >= deadline or self._parent not in (0, os.getppid()):
                self._end()
                return

    def _send(self, number: int) -> None:
        """Send a signal to all processes of the command's session, as a terminal does."""
        with suppress(ProcessLookupError):
            os.killpg(self._door, number)

    def _end(self) -> None:
        """End all processes inside."""
        with suppress(ProcessLookupError):
            os.kill(self._heard().get("first", self._door), END)
        if signal.sigtimedwait({signal.SIGCHLD}, _AT_ONCE) is None:
            self._send(signal.SIGKILL)
        os.waitpid(self._door, 0)

    def _heard(self) -> dict[str, Any]:
        """What the processes inside have said, by kind."""
        with suppress(BlockingIOError):
            while data := os.read(self._notes, 1 << 16):
                self._text += data
        *lines, self._text = self._text.split(b"\n")
        self._said.update(json.loads(line) for line in lines)
        return self._said

    def leave(self) -> NoReturn:
        """End as the command did, or say why it was ended."""
        said = self._heard()
        if "layers" in said:
            print(json.dumps(said["layers"]))
            sys.exit(0)
        if "refused" in said:
            sys.exit(_sentence(said["refused"], UNAVAILABLE))
        if "status" in said:
            code = os.waitstatus_to_exitcode(said["status"])
            if code >= 0:
                sys.exit(code)
            _die_of(-code)
        if self._asked == signal.SIGINT:
            sys.exit(_sentence("interrupted: the command did not end by itself and was ended", INTERRUPTED))
        _die_of(self._asked or signal.SIGKILL)


def _sentence(text: str, code: int) -> int:
    print(f"memtile: {text}", file=sys.stderr, flush=True)
    return code


def _die_of(number: int) -> NoReturn:
    """End by a signal, as the command did."""
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    sys.exit(128 + number)  # one that the system does not deliver
