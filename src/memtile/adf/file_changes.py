"""Candidates that change the files of input PLIOs: another file of the same folder, or two files exchanged.

A typical mistake is two PLIOs that read one file, while another file of the folder is not used. Files with
expected outputs are never tried as inputs: they could make wrong kernels look right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy.typing as npt

from memtile.adf.description import Plio
from memtile.adf.graph_changes import GraphChange
from memtile.adf.objects import Objects
from memtile.explain.repairs import Candidate

_NAMED, _SHARED, _EXCHANGED, _OTHER = 0.05, 0.2, 0.5, 0.7
"""How unlikely another file is: where two PLIOs read one file, a file with the PLIO's name, and any other;
an exchange of two files; and a file with the name of a PLIO that reads a file of its own."""
_MOST = 8  # files of a folder, and PLIOs
_LARGEST = 1 << 24  # bytes of a file


def file_changes(
    objects: Objects, folder: Path, expected: Sequence[npt.NDArray[Any] | Path] = ()
) -> Iterator[GraphChange]:
    """Return other files for input PLIOs, in no order.

    A file without the name of the PLIO is tried only if two PLIOs read the same file, and if all expected
    outputs are files. An expected array could be in one of the folder's files.

    Args:
        objects: of a description.
        folder: base of relative paths of input files.
        expected: outputs, as arrays or as files, which are not tried as inputs.
    """
    every = [each for each in objects.description.plios if each.file]
    inputs = [each for each in every if each.direction == "in"][:_MOST]
    files = [each for each in expected if isinstance(each, Path)]
    taken = {(folder / each.file).resolve() for each in every} | {each.resolve() for each in files}
    readers = Counter(each.file for each in inputs)
    for plio in inputs:
        for name in _beside(folder, plio.file, taken):
            is_named = Path(name).stem in (plio.label, plio.name.rpartition(".")[2])
            is_alone = readers[plio.file] == 1
            if not is_named and (is_alone or len(files) < len(expected)):
                continue
            unlikely = _OTHER if is_alone else _NAMED if is_named else _SHARED
            yield _change([plio], [name], f"let {plio.name} read {name!r} instead of {plio.file!r}", unlikely)
    for one, other in combinations(inputs, 2):
        if one.file != other.file and (one.width, one.hex) == (other.width, other.hex):
            says = f"exchange the files of {one.name} and {other.name}, {one.file!r} and {other.file!r}"
            yield _change([one, other], [other.file, one.file], says, _EXCHANGED)


def _beside(folder: Path, file: str, taken: set[Path]) -> list[str]:
    """Files of the same folder and suffix that no PLIO uses; none if there are more than a few."""
    near = (folder / file).parent
    if not near.is_dir():
        return []
    same = sorted(near.glob(f"*{Path(file).suffix}"))
    found = [each for each in same if each.resolve() not in taken and _is_readable(each)]
    return [str(Path(file).with_name(each.name)) for each in found] if len(found) <= _MOST else []


def _is_readable(path: Path) -> bool:
    """Whether it is a regular file and not too large. A pipe would block."""
    return path.is_file() and path.stat().st_size <= _LARGEST


def _change(plios: Sequence[Plio], files: Sequence[str], says: str, unlikely: float) -> GraphChange:
    target = (plios[0].name, "file", files[0])
    candidate = Candidate("file", says, (), unlikely, target, place=plios[0].line)
    new = (replace(plio, file=file) for plio, file in zip(plios, files, strict=True))
    return GraphChange(candidate, tuple(new))
