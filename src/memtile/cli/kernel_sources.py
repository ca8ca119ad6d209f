"""What ``--kernels`` names: one file of Python or MLIR, and C++ sources with options of their compiler."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memtile.errors import InputFileError

if TYPE_CHECKING:
    from memtile.cpp.kernels import CppKernels
    from memtile.importers.kernels.cpp_functions import Given

CPP_SUFFIXES = (".cc", ".cpp", ".cxx")
_HEADERS = (".h", ".hpp", ".hh")


_FOR_CPP = ("include", "define", "sanitize", "against_kernels", "debug")
_PLACE = re.compile(r"core=([0-9]{1,3}),([0-9]{1,3})")


class CppMaker:
    """Kernels of C++ sources, with the options of a command.

    Args:
        make: makes them.

    Attributes:
        found: sources beside a design, or named by its program, that it was asked for.
    """

    def __init__(self, make: Callable[..., CppKernels]) -> None:
        self._make, self.found = make, list[Path]()

    def __call__(self, *sources: str) -> CppKernels:
        """Kernels of sources that were given."""
        return self._make(*sources)

    def beside(self, source: Path, *, include: Sequence[Path]) -> CppKernels:
        """Kernels of a source that was found beside a design."""
        self.found.append(source)
        return self._make(source, include=include)

    def named(self, source: Path, *, include: Sequence[Path], flags: Sequence[str]) -> CppKernels:
        """Kernels of a source that a program names, with options of its own."""
        self.found.append(source)
        return self._make(source, include=include, flags=flags)


@dataclass(frozen=True, slots=True)
class KernelSources:
    """The kernels that a command is given; :meth:`of` takes its options.

    Attributes:
        file: Python or MLIR; None = none.
        sources: in C++.
        include: folders of headers.
        define: ``NAME`` or ``NAME=VALUE``.
        sanitize: C++ kernels check their accesses.
        against_kernels: file of functions that C++ kernels are compared with.
        debug: ``core=COLUMN,ROW``: where a debugger is waited for.
        kernels: what was given for ``--kernels``.
    """

    file: str | None = None
    sources: tuple[str, ...] = ()
    include: Sequence[str] | None = None
    define: Sequence[str] | None = None
    sanitize: bool = False
    against_kernels: str | None = None
    debug: str | None = None
    kernels: Sequence[str] | None = None

    @classmethod
    def of(cls, kernels: Sequence[str] | None, **options: Any) -> KernelSources:
        """The files of ``--kernels`` by kind.

        Raises:
            InputFileError: several files of Python, a header, a folder, or options for C++ without it.
        """
        given = list(kernels or ())
        sources = tuple(each for each in given if Path(each).suffix in CPP_SUFFIXES)
        others = [each for each in given if each not in sources]
        for each in others:
            if Path(each).is_dir() or Path(each).suffix in _HEADERS:
                raise InputFileError(
                    f"{each}: this is no source. Give C++ sources (.cc), and folders of headers by -I."
                )
        if len(others) > 1:
            raise InputFileError(
                f"{others[1]}: --kernels has {others[0]} already. Give one file of Python, and C++ sources."
            )
        return cls(next(iter(others), None), sources, kernels=tuple(given) or None, **options)

    def check_used(self, *, beside: bool) -> None:
        """See that options for C++ have sources that they are for.

        Args:
            beside: sources beside the design were found.

        Raises:
            InputFileError: there are none.
        """
        asked = (name for name in _FOR_CPP if getattr(self, name))
        if self.sources or beside or (name := next(asked, None)) is None:
            return
        option = f"--{name.replace('_', '-')}"
        raise InputFileError(f"{option} is for C++ kernels. Give a source too: --kernels kernel.cc.")

    @property
    def files(self) -> list[str]:
        """All that are read."""
        return [*([self.file] if self.file else []), *self.sources]

    def maker(self) -> CppMaker:
        """What makes kernels of C++ sources, as the options say."""
        from memtile.cli.kernels_file import load_functions
        from memtile.cpp.comparison import references
        from memtile.cpp.kernels import cpp

        named = [each.partition("=") for each in self.define or ()]
        functions = load_functions(self.against_kernels) if self.against_kernels else {}
        against = references({name: each for name, each in functions.items() if not isinstance(each, type)})

        def make(
            *sources: Path | str, include: Sequence[Path | str] = (), flags: Sequence[str] = ()
        ) -> CppKernels:
            return cpp(
                *sources,
                flags=flags,
                include=[*(self.include or ()), *include],
                defines={name: value if equals else None for name, equals, value in named},
                sanitize=self.sanitize,
                against=against,
                debug=self._debugged(),
            )

        return CppMaker(make)

    def _debugged(self) -> tuple[int, int] | None:
        """Column and row of the core that a debugger is for."""
        if self.debug is None:
            return None
        found = _PLACE.fullmatch(self.debug)
        if found is None:
            raise InputFileError(
                f"--debug {self.debug}: this names no core. Write core=COLUMN,ROW: core=0,2."
            )
        return int(found[1]), int(found[2])

    def with_functions(
        self, functions: Mapping[str, Callable[..., Any]], make: CppMaker | None = None
    ) -> Given:
        """Functions of Python, then those of the C++ sources.

        Args:
            functions: of Python, by name.
            make: what :meth:`maker` gave; None = ask it.
        """
        if not self.sources:
            return functions
        own = (make or self.maker())(*self.sources)
        return ChainMap(cast(Any, functions), cast(Any, own)) if functions else own


NO_KERNELS = KernelSources()
