"""Output files of commands: whether they can be written is found out before the work, not after it."""

from __future__ import annotations

from pathlib import Path

from memtile.errors import InputFileError


def check_writable(path: Path) -> None:
    """Refuse a file for which there is no place.

    Raises:
        InputFileError: its folder is not there, or it is a folder itself.
    """
    if path.is_dir():
        raise InputFileError(f"{path}: the file cannot be written: it is a folder.")
    if not path.parent.is_dir():
        raise InputFileError(f"{path}: the file cannot be written: there is no such folder.")
