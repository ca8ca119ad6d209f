"""C++ functions among those that cores call: compiled for a run, left alone by what does not run."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from memtile.arch.tiles import Generation
from memtile.cpp.comparison import Reference
from memtile.cpp.kernels import CppFunction, CppKernels
from memtile.errors import InputFileError

Functions = Mapping[str, Callable[..., Any]]
Given = Functions | CppKernels
"""What a user gives: functions by name, some of them ``cpp(...)``; or one ``cpp(...)``, for all of them."""


def compiled(given: Given, generation: Generation) -> Functions:
    """The functions, those in C++ compiled.

    Args:
        given: by the user.
        generation: of the cores.

    Raises:
        InputFileError: sources that do not compile, or that lack a function that was said to be theirs.
    """
    if isinstance(given, CppKernels):
        return given.compiled(generation)
    if isinstance(given, ChainMap):
        return ChainMap(*(cast(Any, compiled(each, generation)) for each in given.maps))
    if not any(isinstance(each, CppKernels) for each in given.values()):
        return given
    found = dict(given)
    for name, each in given.items():
        if isinstance(each, CppKernels):
            found[name] = _of(each, name, generation)
    return found


def _of(kernels: CppKernels, name: str, generation: Generation) -> CppFunction:
    library = kernels.compiled(generation)
    if name not in library:
        known = ", ".join(library) or "none"
        raise InputFileError(f"{library.files}: there is no function {name}; its functions are {known}.")
    return library[name]


def references_in(given: Given) -> dict[str, Reference]:
    """What calls of the C++ functions among these are compared with, by name."""
    if isinstance(given, CppKernels):
        return dict(given.studies.against)
    parts = cast(Any, given.maps) if isinstance(given, ChainMap) else given.values()
    own = (each for each in parts if isinstance(each, CppKernels | Mapping))
    return {name: each for part in own for name, each in references_in(part).items()}


def check_references(references: Mapping[str, Reference], own: Functions) -> None:
    """See that a reference can be compared with something.

    Args:
        references: what calls are compared with, by name.
        own: the functions of a design, those in C++ compiled.

    Raises:
        InputFileError: no name of a reference is that of a function in C++.
    """
    if not references or any(isinstance(own.get(name), CppFunction) for name in references):
        return
    found = [each for each in map(own.__getitem__, own) if isinstance(each, CppFunction)]
    files = dict.fromkeys(each.library.files for each in found)
    known = ", ".join(each.__name__ for each in found)
    raise InputFileError(
        f"{', '.join(files) or 'C++ kernels'}: no reference has the name of a function; "
        f"they are {', '.join(references)}, functions are {known or 'none'}."
    )


class Uncompiled(Mapping[str, Callable[..., Any]]):
    """Sources that are not compiled: they may have any function."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return lambda *given: given

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def uncompiled(given: Given) -> Functions:
    """The functions for what only looks at a design: nothing is compiled."""
    if isinstance(given, CppKernels):
        return Uncompiled()
    if isinstance(given, ChainMap):
        return ChainMap(*(cast(Any, uncompiled(each)) for each in given.maps))
    return {
        name: Uncompiled()[name] if isinstance(each, CppKernels) else each for name, each in given.items()
    }
