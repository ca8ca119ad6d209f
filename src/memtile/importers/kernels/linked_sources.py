"""C++ sources beside a design, by the names of the object files that it links.

``link_with = "scale.o"`` is ``scale.cc`` in the folder of the text, or beside a build folder that has it. A
name with a path in it is never followed, so that a text names no file outside of its own folder.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from memtile.arch.tiles import Generation
from memtile.cpp.build import SUFFIXES
from memtile.cpp.comparison import Reference
from memtile.cpp.kernels import CompiledKernels, CppKernels
from memtile.importers.kernels.user_functions import CoreFunctions, called_by, files_of
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.forms.operands import OperationForm

_OBJECT = re.compile(r"([\w.+-]+?)(?:\.cc|\.cpp)?\.(?:o|a|bc|ll)")
_ABOVE = ("..", "../..")
"""Where the sources of a text in a build folder are, seen from there."""


Beside = Callable[..., CppKernels]
"""What makes kernels of a source that was found: ``memtile.kernels.cpp``, or a partial of it."""


def with_linked(
    described: DeviceDescription, known: CoreFunctions, folder: Path, generation: Generation, beside: Beside
) -> CoreFunctions:
    """The functions of cores, with those that nothing else has from C++ sources beside the text.

    Args:
        described: the device.
        known: functions that the user gave, and those of the library.
        folder: of the text.
        generation: of its cores.
        beside: what makes kernels of a source; it gets ``include=`` too, the folder of that.

    Raises:
        InputFileError: a source that does not compile.
    """
    found: dict[str, Callable[..., Any]] = {}
    used: dict[str, list[str]] = {}
    libraries: dict[Path, CompiledKernels] = {}
    references: dict[str, Reference] = dict(known.references)
    for name, stems in _missing(described, known):
        for source in filter(None, (_source(folder, stem) for stem in stems)):
            if source not in libraries:
                made = beside(source, include=[source.parent])
                libraries[source] = made.compiled(generation)
                references |= made.studies.against
            if name in libraries[source] and name not in found:
                found[name] = libraries[source][name]
                used.setdefault(str(source), []).append(name)
    notes = [f"C++ kernels beside the design: {', '.join(names)} of {file}" for file, names in used.items()]
    own = ChainMap(cast(Any, known.own), cast(Any, found))
    return known._replace(own=own, notes=[*known.notes, *notes], references=references)


def _missing(described: DeviceDescription, known: CoreFunctions) -> Iterator[tuple[str, list[str]]]:
    """Functions that cores call and nothing has, with the stems of the object files that have them."""
    for core in described.cores:
        own = known.of(core.tile)
        linked = files_of(OperationForm(core.operation))
        for name, declared in called_by(described, core.operation).items():
            if name not in own:
                matches = map(_OBJECT.fullmatch, files_of(OperationForm(declared)) or linked)
                yield name, [match[1] for match in matches if match]


def _source(folder: Path, stem: str) -> Path | None:
    """The source of an object file; None if there is none."""
    build = folder.resolve()
    places = [folder, *(folder / up for up in _ABOVE if _is_build(build))]
    names = (place / f"{stem}{suffix}" for place in places for suffix in SUFFIXES)
    return next((name for name in names if name.is_file()), None)


def _is_build(folder: Path) -> bool:
    """Whether a folder is one that tools make: a build folder, or aiecc's folder of a project."""
    return folder.name.startswith("build") or folder.suffix == ".prj"
