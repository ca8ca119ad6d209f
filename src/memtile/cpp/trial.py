"""Loading compiled kernels in a child process first: a global that fails there does not end this one.

What a library does when it is loaded are the constructors of the user's globals. ``runtime/core.cc`` says in
the child why one failed, and where.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from memtile.cpp.symbols import own_frame
from memtile.errors import InputFileError
from memtile.system import system

_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
_ASKED = "MEMTILE_TRIAL"  # what the library looks for
_SECONDS = 60
_REASON = re.compile(r"^memtile: (.*)$", re.MULTILINE)
_PLACE = re.compile(r"^at ([0-9a-f]+)$", re.MULTILINE)
_SIGNAL = re.compile(r"signal ([0-9]+)")


def try_once(library: Path, files: str) -> None:
    """Load a library in a child process, unless it has been loaded before.

    Args:
        library: compiled kernels, in a folder of their own.
        files: their sources, for messages.

    Raises:
        InputFileError: a global fails, or does not end.
    """
    mark = library.with_name("loads")
    if mark.exists():
        return
    words = [sys.executable, "-I", "-S", "-c", _LOAD, str(library)]
    try:
        done = subprocess.run(
            words,
            env={**os.environ, _ASKED: "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise InputFileError(
            f"{files}: a global of the kernels is not ready after {_SECONDS} s. Make it a constant."
        ) from None
    if done.returncode:
        raise InputFileError(f"{files}: {_why(library, done)}. Make it a constant, or set it in the kernel.")
    system().touch(mark)


def _why(library: Path, done: subprocess.CompletedProcess[str]) -> str:
    """What failed in the child, with the user's line."""
    said = _REASON.search(done.stderr)
    stopped = _SIGNAL.fullmatch(said[1]) if said else None
    number = int(stopped[1]) if stopped else -done.returncode
    if stopped or not said:
        known = number in {int(each) for each in signal.Signals}
        reason = (
            f"it stops with {signal.Signals(number).name}" if known else f"it ends with {done.returncode}"
        )
    else:
        reason = said[1]
    frame = own_frame(library, [int(each, 16) for each in _PLACE.findall(done.stderr)])
    place = f"{Path(frame.file).name}:{frame.line}: " if frame else ""
    return f"{place}a global of the kernels fails before any call: {reason}"
