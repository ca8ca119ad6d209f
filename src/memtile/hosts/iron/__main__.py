"""``python -m memtile.hosts.iron PROGRAM.py ...``: an IRON program as it is, with the twin as its NPU."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from memtile.hosts.iron.switch import arm


def main() -> None:
    """Run the program that the command line names, with the arguments behind it."""
    if len(sys.argv) < 2:
        print("usage: python -m memtile.hosts.iron PROGRAM.py [ARGUMENT ...]", file=sys.stderr)
        raise SystemExit(2)
    del sys.argv[0]
    sys.path[0] = os.fspath(Path(sys.argv[0]).resolve().parent)
    arm()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
