"""``aie.utils.config``: where files of mlir-aie are, if there is a checkout of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from memtile.iron.taking import stands_still

_VARIABLE = "MEMTILE_MLIR_AIE"
_NO_CHECKOUT = "mlir-aie"


def checkout() -> Path | None:
    """The folder of a checkout of mlir-aie: of ``MEMTILE_MLIR_AIE``, or the one in which the program lies."""
    given = os.environ.get(_VARIABLE)
    if given:
        return Path(given)
    program = Path(sys.argv[0] or ".").resolve()
    return next((folder for folder in program.parents if (folder / "aie_kernels").is_dir()), None)


def root_path() -> str:
    """The folder of a checkout; of a design that is only looked at it may be one that is not there.

    Raises:
        FileNotFoundError: there is none.
    """
    found = checkout()
    if found is None and stands_still():
        return _NO_CHECKOUT  # its kernels are named and not compiled
    if found is None:
        raise FileNotFoundError(
            f"no checkout of mlir-aie: set {_VARIABLE} to its folder, which has aie_kernels"
        )
    return str(found)


def cxx_header_path() -> str:
    """The folder that has ``aie_kernels``.

    Raises:
        FileNotFoundError: there is none.
    """
    return root_path()
