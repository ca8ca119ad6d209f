"""Of which commit a ledger speaks."""

from __future__ import annotations

import subprocess

from places import ROOT


def commit() -> str:
    """Of the checkout; ``-`` where there is none, or no Git."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "-"
    except FileNotFoundError:
        return "-"
