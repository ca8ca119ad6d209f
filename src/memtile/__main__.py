"""``python -m memtile`` and the ``memtile`` script: both start here, and say so if a signal comes first."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command and run it; leaves with one of ``cli.exit_codes.ExitCode``."""
    from memtile.cli import exit_codes, signals, terminal_streams

    terminal_streams.open_streams()
    try:
        _confine(sys.argv[1:])
        signals.take_signals()
        exit_codes.refuse_small_memory()
        from memtile.cli.main import main as command

        command()
    except KeyboardInterrupt:
        exit_codes.leave_interrupted()
    except signals.Terminated as ended:
        raise SystemExit(signals.SIGNALLED + ended.number) from None
    except (MemoryError, OSError, ImportError) as error:
        exit_codes.leave_without_memory(error)
    finally:
        signals.ignore_signals()
        terminal_streams.leave_streams()


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
        from memtile.cli.failure import tell_end

        raise SystemExit(tell_end(error, arguments)) from None


if __name__ == "__main__":
    main()
