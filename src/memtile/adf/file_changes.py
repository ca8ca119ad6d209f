"""Changes of the files of input PLIOs that may be what was meant: another file of the folder, two exchanged.

Two PLIOs that read one file, while another file of the same folder is left, are written like the right ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from memtile.adf.description import Plio
from memtile.adf.graph_changes import GraphChange
from memtile.adf.objects import Objects
from memtile.explain.repairs import Candidate

_NAMED, _SHARED, _EXCHANGED, _OTHER = 0.05, 0.2, 0.5, 0.7
"""How unlikely a file is: named as its PLIO, instead of one that two read, of two exchanged, another."""
_MOST = 8  # files of a folder, and PLIOs


def file_changes(objects: Objects, folder: Path) -> Iterator[GraphChange]:
    """Other files for input PLIOs, in no order.

    Args:
        objects: of a description.
        folder: that paths of input files are relative to.
    """
    every = [each for each in objects.description.plios if each.file]
    inputs = [each for each in every if each.direction == "in"][:_MOST]
    taken = {(folder / each.file).resolve() for each in every}
    readers = Counter(each.file for each in inputs)
    for plio in inputs:
        for name in _beside(folder, plio.file, taken):
            is_named = Path(name).stem in (plio.label, plio.name.rpartition(".")[2])
            unlikely = _OTHER if readers[plio.file] == 1 else _NAMED if is_named else _SHARED
            yield _change([plio], [name], f"let {plio.name} read {name!r} instead of {plio.file!r}", unlikely)
    for one, other in combinations(inputs, 2):
        if one.file != other.file and (one.width, one.hex) == (other.width, other.hex):
            says = f"exchange the files of {one.name} and {other.name}, {one.file!r} and {other.file!r}"
            yield _change([one, other], [other.file, one.file], says, _EXCHANGED)


def _beside(folder: Path, file: str, taken: set[Path]) -> list[str]:
    """Files beside one that have its suffix and that no PLIO reads or writes; of more than a few none."""
    near = (folder / file).parent
    if not near.is_dir():
        return []
    found = [each for each in sorted(near.glob(f"*{Path(file).suffix}")) if each.resolve() not in taken]
    return [str(Path(file).with_name(each.name)) for each in found] if len(found) <= _MOST else []


def _change(plios: Sequence[Plio], files: Sequence[str], says: str, unlikely: float) -> GraphChange:
    target = (plios[0].name, "file", files[0])
    candidate = Candidate("file", says, (), unlikely, target, place=plios[0].line)
    new = (replace(plio, file=file) for plio, file in zip(plios, files, strict=True))
    return GraphChange(candidate, tuple(new))
