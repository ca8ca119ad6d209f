"""``python -m memtile`` and the ``memtile`` script: both start here, and say so if Ctrl-C comes first."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command and run it; leaves with one of ``cli.exit_codes.ExitCode``."""
    try:
        _confine(sys.argv[1:])
        from memtile.cli.main import main as command
    except KeyboardInterrupt:
        from memtile.cli.exit_codes import leave_interrupted

        leave_interrupted()
    command()


def _confine(arguments: list[str]) -> None:
    """Go on in a sandbox if the command line asks for one; else return."""
    if "--sandbox" not in arguments:
        return
    from memtile.cli.sandboxed import enter, is_wanted
    from memtile.errors import MemtileError

    try:
        if is_wanted(arguments):
            enter(arguments)
    except MemtileError as error:
        from memtile.cli.exit_codes import exit_code_of
        from memtile.cli.failure import tell, wants_json

        tell(error, as_json=wants_json(arguments))
        raise SystemExit(exit_code_of(error)) from None


if __name__ == "__main__":
    main()
