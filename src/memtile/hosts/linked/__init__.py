"""C source for host programs that are linked against a simulator: it speaks to the server instead."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from memtile.output_files import make_folder, write_output

SOURCES = ("memtile_ess.c", "main_rts.h")
"""The files: the functions, and the header that AMD's open driver includes."""


def write_sources(folder: Path) -> list[Path]:
    """Write the C source and its header to ``folder``, which is made if need be; the paths written.

    Raises:
        InputFileError: they cannot be written.
    """
    make_folder(folder)
    written = [folder / name for name in SOURCES]
    for path in written:
        write_output(path, files(__name__).joinpath(path.name).read_bytes())
    return written
