"""``python -m memtile`` and the ``memtile`` script: both start here, and say so if Ctrl-C comes first."""

from __future__ import annotations


def main() -> None:
    """Load the command and run it; leaves with one of ``cli.exit_codes.ExitCode``."""
    try:
        from memtile.cli.main import main as command
    except KeyboardInterrupt:
        from memtile.cli.exit_codes import leave_interrupted

        leave_interrupted()
    command()


if __name__ == "__main__":
    main()
