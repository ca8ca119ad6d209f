"""Arrays of commands: ``NAME=FILE.npy`` on the command line, NumPy files read and written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtile.errors import InputFileError
from memtile.output_files import check_writable, output_file

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from memtile.runs.array_names import Given, Wanted

_SHAPE = re.compile(r"[0-9]{1,18}(x[0-9]{1,18})*")
_NUMBERS = "iufcb"
_SOURCE = "form of the option"
_SUFFIX = ".npy"


def read_given(text: str, option: str = "--in") -> Given:
    """The array of ``NAME=FILE.npy``, in the byte order of the tiles whatever that of the file.

    Raises:
        InputFileError: no such form, or not a NumPy file.
    """
    from memtile.io.npy import read_array
    from memtile.runs.array_names import Given

    name, file = _split(text, option, "NAME=FILE.npy")
    array = read_array(file)
    return Given(name, array.astype(array.dtype.newbyteorder("<"), copy=False))


def expected_output(text: str) -> tuple[str, Path | npt.NDArray[Any]]:
    """The output of a graph that ``NAME=FILE`` names, and the array or the file of a PLIO with its elements.

    Raises:
        InputFileError: no such form, or not a NumPy file.
    """
    name, file = _split(text, "--expect", "NAME=FILE")
    if Path(file).suffix != _SUFFIX:
        return name, Path(file)
    given = read_given(text, "--expect")
    return given.name, given.array


def parse_wanted(text: str) -> tuple[Wanted, Path]:
    """What ``NAME[:DTYPE][:SHAPE]=FILE.npy`` asks for, and the file.

    Raises:
        InputFileError: no such form, no such type, or a folder that is not there.
    """
    from memtile.runs.array_names import Wanted

    head, file = _split(text, "--out", "NAME[:DTYPE][:SHAPE]=FILE.npy")
    name, *rest = head.split(":")
    shape = tuple(map(int, rest.pop().split("x"))) if rest and _SHAPE.fullmatch(rest[-1]) else None
    dtype = _dtype(name, rest.pop()) if rest else None
    path = Path(file)
    if rest:
        raise _error(f"array {name}", "--out", repr(text), "NAME[:DTYPE][:SHAPE]=FILE.npy")
    check_writable(path)
    return Wanted(name, dtype, shape), path


def save(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array as a NumPy file of exactly that name."""
    import numpy as np

    with output_file(path) as file:
        np.save(file, array)


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise _error("memtile run", option, repr(text), form)
    if name.endswith(_SUFFIX) and not file.endswith(_SUFFIX):
        raise _error("memtile run", option, repr(text), f"{form}, the name before the file")
    return name, file


def _dtype(name: str, text: str) -> np.dtype[Any]:
    import numpy as np

    try:
        found = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):  # NumPy reads some texts as Python
        found = np.dtype(object)
    if found.kind not in _NUMBERS or not found.itemsize:
        raise _error(f"array {name}", "type", repr(text), "one such as int8, uint32 or float32") from None
    return found.newbyteorder("<")


def _error(where: str, what: str, given: str, allowed: str) -> InputFileError:
    return InputFileError.of(what, given, allowed, reason="array_option", where=where, source=_SOURCE)
