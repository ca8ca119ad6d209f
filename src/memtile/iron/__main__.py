"""``python -m memtile.iron PROGRAM.py ...``: an IRON program as it is, with the twin as its NPU."""

from __future__ import annotations

import sys
from pathlib import Path

from memtile.errors import MemtileError

_FAILED, _BAD_INPUT, _INTERRUPTED = 1, 2, 130  # exit codes, as those of commands
_USAGE = "usage: python -m memtile.iron PROGRAM.py [ARGUMENT ...], or --names for what there is"


def main() -> None:
    """Run the program that the command line names, with the arguments behind it, or list the names.

    What is refused is reported with the line of the program; other errors of the program are its own, with
    their traceback.
    """
    if sys.argv[1:] == ["--names"]:
        from memtile.iron.names import names

        for module, found in names().items():
            print(f"{module}: {', '.join(found)}")
        return
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(_USAGE)
        return
    if len(sys.argv) < 2:
        print(_USAGE, file=sys.stderr)
        raise SystemExit(_BAD_INPUT)
    if not Path(sys.argv[1]).is_file():
        print(f"memtile.iron: there is no file '{sys.argv[1]}'.", file=sys.stderr)
        raise SystemExit(_BAD_INPUT)
    from memtile.iron.program_file import run

    try:
        run(sys.argv[1], sys.argv[2:])
    except MemtileError as error:
        print(error, file=sys.stderr)
        raise SystemExit(_FAILED) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(_INTERRUPTED) from None


if __name__ == "__main__":
    main()
