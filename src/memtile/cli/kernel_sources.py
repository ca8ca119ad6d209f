"""What ``--kernels`` names: one file of Python or MLIR, and C++ sources with options of their compiler."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memtile.errors import InputFileError

if TYPE_CHECKING:
    from memtile.cpp.kernels import CppKernels
    from memtile.importers.kernels.cpp_functions import Given

_CPP = (".cc", ".cpp", ".cxx")
_HEADERS = (".h", ".hpp", ".hh")


@dataclass(frozen=True, slots=True)
class KernelSources:
    """The kernels that a command is given.

    Attributes:
        file: Python or MLIR; None = none.
        sources: in C++.
        include: folders of headers.
        defines: ``NAME`` or ``NAME=VALUE``.
        sanitize: C++ kernels check their accesses.
    """

    file: str | None = None
    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    sanitize: bool = False

    @classmethod
    def of(
        cls,
        kernels: Sequence[str] | None,
        include: Sequence[str] | None = None,
        defines: Sequence[str] | None = None,
        *,
        sanitize: bool = False,
    ) -> KernelSources:
        """The files of ``--kernels`` by kind.

        Raises:
            InputFileError: several files of Python, a header, a folder, or options of a compiler without C++.
        """
        given = list(kernels or ())
        sources = tuple(each for each in given if Path(each).suffix in _CPP)
        others = [each for each in given if each not in sources]
        for each in others:
            if Path(each).is_dir() or Path(each).suffix in _HEADERS:
                raise InputFileError(
                    f"{each}: this is no source. Give sources (.cc), and folders of headers by -I."
                )
        if len(others) > 1:
            raise InputFileError(
                f"{others[1]}: --kernels has two files, {others[0]} too. Give one, and C++ sources."
            )
        found = cls(next(iter(others), None), sources, tuple(include or ()), tuple(defines or ()), sanitize)
        if not sources and (include or defines):
            raise InputFileError("-I and -D are for C++ kernels. Give a source too: --kernels kernel.cc.")
        return found

    @property
    def files(self) -> list[str]:
        """All that are read."""
        return [*([self.file] if self.file else []), *self.sources]

    @property
    def cpp(self) -> CppKernels | None:
        """The C++ sources; None without any."""
        if not self.sources:
            return None
        from memtile.cpp.kernels import cpp

        named = (each.partition("=") for each in self.defines)
        defines = {name: value if equals else None for name, equals, value in named}
        return cpp(*self.sources, include=self.include, defines=defines, sanitize=self.sanitize)

    def with_functions(self, functions: Mapping[str, Callable[..., Any]]) -> Given:
        """Functions of Python, then those of the C++ sources."""
        own = self.cpp
        return (
            functions if own is None else ChainMap(cast(Any, functions), cast(Any, own)) if functions else own
        )


NO_KERNELS = KernelSources()
