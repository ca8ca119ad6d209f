"""``python -m memtile.hosts.iron PROGRAM.py ...``: an IRON program as it is, with the twin as its NPU."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from pathlib import Path

from memtile.errors import MemtileError
from memtile.hosts.iron.backend_switch import arm

_FAILED, _BAD_INPUT = 1, 2  # exit codes, as of a program that fails and of a command line that is wrong
_OF_HOSTS = "HostRuntimeError"  # mlir-aie's, which is not there before the program imports it


def main() -> None:
    """Run the program that the command line names, with the arguments behind it.

    What a kernel or its arguments have wrong is told with the line of the program; other errors of the
    program are its own, with their traceback.
    """
    if len(sys.argv) < 2:
        print("usage: python -m memtile.hosts.iron PROGRAM.py [ARGUMENT ...]", file=sys.stderr)
        raise SystemExit(_BAD_INPUT)
    del sys.argv[0]
    if not Path(sys.argv[0]).is_file():
        print(f"memtile.hosts.iron: there is no file '{sys.argv[0]}'.", file=sys.stderr)
        raise SystemExit(_BAD_INPUT)
    sys.path[0] = os.fspath(Path(sys.argv[0]).resolve().parent)
    arm()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except Exception as error:
        if not isinstance(error, MemtileError) and type(error).__name__ != _OF_HOSTS:
            raise
        print(f"{_place(error, sys.argv[0])}: {error}", file=sys.stderr)
        raise SystemExit(_FAILED) from None


def _place(error: BaseException, program: str) -> str:
    """Where in the program the error came up: its last line that is the program's."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == program]
    return f"{program}:{lines[-1]}" if lines else program


if __name__ == "__main__":
    main()
