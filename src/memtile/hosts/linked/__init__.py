"""C source for host programs that are linked against a simulator: it speaks to the server instead."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from memtile.errors import InputFileError, Problem

SOURCES = ("memtile_ess.c", "main_rts.h")
"""The files: the functions, and the header that AMD's open driver includes."""


def write_sources(folder: Path) -> list[Path]:
    """Write the C source and its header to ``folder``, which is made if need be; the paths written.

    Raises:
        InputFileError: they cannot be written.
    """
    written = []
    for name in SOURCES:
        path = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files(__name__).joinpath(name).read_bytes())
        except OSError as error:
            raise InputFileError(
                Problem(
                    reason="host_source",
                    where="memtile host-source",
                    field="folder",
                    given=str(folder),
                    allowed="a folder that can be written",
                    source="file system",
                    says=f"{path} cannot be written: {error.strerror}",
                )
            ) from None
        written.append(path)
    return written
