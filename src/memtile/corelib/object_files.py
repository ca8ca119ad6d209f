"""Which function of the library a design links under a name, by the object file that it names and by types.

AMD's designs have several functions of one name: ``conv2dk1_i8`` of ``conv2dk1.o`` gives ui8, that of
``conv2dk1_i8.o`` i8. And users call kernels of their own ``mean`` or ``passthrough``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from memtile.corelib.library import Library
from memtile.corelib.registry import ANY_OBJECT, Declared, External
from memtile.errors import DesignError

_ENDING = re.compile(r"(?:\.cc|\.cpp)?\.o$")
_VARIANT = re.compile(
    r"^(?:[0-9a-f]{8}_|op\d+_)|_(?:[0-9a-f]{8}|\d+(?:x\d+)+)$"
)  # IRON's digest, sizes of a product
_OPEN = re.compile(r"kernels?|external\d*|combined.*")  # names that say nothing of what is in them
_STEP = "Give one of your own with --kernels FILE.py or functions= if it does something else."


class LinkedFunction(NamedTuple):
    """A function of the library as a design links it.

    Attributes:
        function: the one that was taken.
        warning: why that may be another one than the design's; empty if nothing speaks for it.
    """

    function: External
    warning: str


def linked(library: Library, name: str, files: Sequence[str], declared: Sequence[Declared]) -> LinkedFunction:
    """The function of a library that a design links under a name (DEV-KERNEL-7).

    Args:
        library: that has the name.
        name: as the design declares it.
        files: object files and archives that the design names for it; empty if it names none.
        declared: types of the arguments.
    """
    found = library.all_of(name)
    stems = {stem for stem in map(_stem, files) if stem}
    # IRON calls an object file as the function that it was made for; others of the same source are in it too.
    stems |= {each for stem in stems if stem in library for each in _objects(library, stem)}
    own = [each for each in found if _is_in(each, stems)]
    fitting = [each for each in own or found if _fits(each, declared)]
    chosen = (fitting or own or found)[0]
    return LinkedFunction(chosen, "" if own else _doubt(chosen, len(found), stems - {_stem(name)}, files))


def _stem(file: str) -> str:
    """What the name of an object file says of the source that it was made of; empty if it says nothing."""
    name = PurePosixPath(file).name
    if name.endswith(".a"):
        return ""
    stem = _VARIANT.sub("", _VARIANT.sub("", _ENDING.sub("", name))).lower()
    return "" if _OPEN.fullmatch(stem) else stem


def _objects(library: Library, name: str) -> set[str]:
    return {each.lower() for function in library.all_of(name) for each in function.entry.objects}


def _is_in(function: External, stems: Iterable[str]) -> bool:
    objects = {each.lower() for each in function.entry.objects}
    return function.entry.objects == ANY_OBJECT or not objects.isdisjoint(stems)


def _fits(function: External, declared: Sequence[Declared]) -> bool:
    try:
        function.check(declared, signs=True)
    except DesignError:
        return False
    return True


def _doubt(chosen: External, many: int, stems: Iterable[str], files: Sequence[str]) -> str:
    """Why a function may be another one: its object file differs, or the name alone does not say it."""
    objects = chosen.entry.objects
    ours = " or ".join(f"{each}.o" for each in objects)
    told = f"{chosen.name}({chosen.entry.signature})"
    if not objects:
        return f"warning: {told} is that of the library by its name alone. {_STEP}"
    if stems:
        return f"warning: {told} is that of {ours}, and the design links {', '.join(files)}. {_STEP}"
    if many > 1:
        return (
            f"warning: {many} functions are called {chosen.name}; that of {ours}, which fits the types, was "
            f"taken. Name its object file with link_with. {_STEP}"
        )
    return ""
