"""C++ kernels of a user as functions of cores: what ``memtile.kernels.cpp`` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from memtile.arch.tiles import Generation
from memtile.corelib.call_costs import CallCost
from memtile.cpp.build import SUFFIXES, Sources, built
from memtile.cpp.comparison import Reference, references
from memtile.cpp.debugging import wait_for_debugger
from memtile.cpp.image import Image
from memtile.cpp.kernel_calls import KernelCalls, Signature
from memtile.cpp.parameter_types import CppSignature, signatures_of
from memtile.cpp.symbols import functions_of, plain_name, symbols_for
from memtile.cpp.trial import try_once
from memtile.errors import InputFileError

if TYPE_CHECKING:
    from memtile.sim.kernels.kernel_core import Core

_OWN_FUNCTIONS = "-fno-semantic-interposition"
"""Functions of a library are its own, as it is linked, and GCC may inline them. Clang always does."""


@dataclass(frozen=True, slots=True)
class Studies:
    """What is asked about kernels beside their results.

    Attributes:
        cycles: of a call, by function, as the user says.
        against: what calls are compared with, by name.
        debug: column and row of the core that a debugger is for.
    """

    cycles: Mapping[str, int]
    against: Mapping[str, Reference]
    debug: tuple[int, int] | None


class CppKernels:
    """C++ sources whose functions cores call: nothing is compiled before a run asks for one.

    Attributes:
        sources: the sources and options, for a core of AIE-ML.
        studies: the checks to make on them.
    """

    def __init__(self, sources: Sources, studies: Studies) -> None:
        self.sources, self.studies = sources, studies

    def __repr__(self) -> str:
        return f"cpp({', '.join(repr(str(file)) for file in self.sources.files)})"

    def compiled(self, generation: Generation) -> CompiledKernels:
        """The functions, compiled for cores of a generation.

        Raises:
            InputFileError: there is no compiler, or they do not compile.
        """
        return CompiledKernels(replace(self.sources, generation=generation), self.studies)


class CompiledKernels(Mapping[str, "CppFunction"]):
    """The functions of compiled sources, by name: C names, and C++ functions of a name that is there once.

    Args:
        sources: what they are made of.
        studies: the checks to make on them.

    Attributes:
        studies: the same.
    """

    def __init__(self, sources: Sources, studies: Studies) -> None:
        self._sources, self._library, self.studies = sources, built(sources), studies
        try_once(self._library, self.files)
        self._images: WeakKeyDictionary[Core, Image] = WeakKeyDictionary()

    @cached_property
    def _names(self) -> list[str]:
        return sorted({plain_name(symbol) for symbol in functions_of(self._library)})

    def __getitem__(self, name: str) -> CppFunction:
        symbols = symbols_for(self._library, name)
        if not symbols:
            raise KeyError(name)
        return CppFunction(self, name, symbols)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(symbols_for(self._library, name))

    @property
    def files(self) -> str:
        """The sources, for messages."""
        return ", ".join(map(str, self._sources.files))

    def image(self, core: Core) -> Image:
        """The copy of a core, loaded when it is used first."""
        found = self._images.get(core)
        if found is None:
            found = self._images[core] = Image(self._library, kept=self.studies.debug is not None)
        return found

    @property
    def unreadable(self) -> str:
        """Why nobody knows the types of parameters; empty where they are known."""
        return signatures_of(self._library)[1]

    def source_of(self, symbol: str) -> CppSignature | None:
        """A function as its source has it; None if nobody knows."""
        return signatures_of(self._library)[0].get(symbol)

    @property
    def sanitize(self) -> bool:
        """Whether accesses are checked."""
        return self._sources.sanitize


class CppFunction:
    """A C++ function, before a core and a text say how it is called.

    Args:
        kernels: that it belongs to.
        name: as cores call it.
        symbols: that it may be; one, unless it is overloaded.

    Attributes:
        library: the same kernels.
        stated: cycles of a call, as the user says; None = the user does not.
        reference: what its calls are compared with; None = nothing.
        charged: what its calls took.
    """

    def __init__(self, kernels: CompiledKernels, name: str, symbols: Sequence[str]) -> None:
        self.stated, self.reference = kernels.studies.cycles.get(name), kernels.studies.against.get(name)
        self.library, self.__name__, self._symbols = kernels, name, symbols
        self.charged: dict[CallCost, None] = {}

    def __repr__(self) -> str:
        return f"<{self.__name__} of {self.library.files}>"

    def __call__(self, *given: Any, core: Any) -> Any:
        """It is called by a core, under the types of a text.

        Raises:
            InputFileError: always; :meth:`calls` makes what a core calls.
        """
        del given, core
        raise InputFileError(
            f"{self.library.files}: {self.__name__} is called by the core of a design in MLIR."
        )

    def problem(self, signature: Signature) -> str:
        """Why a text cannot call it as it declares it; empty if it can."""
        if len(self._symbols) > 1:
            return f"{self.library.files} has {len(self._symbols)} functions of this name"
        return signature.problem()

    def calls(self, core: Core, signature: Signature) -> KernelCalls:
        """What the core calls: a generator of actions that gives its answer."""
        image = self.library.image(core)
        if self.library.studies.debug == core.at:
            wait_for_debugger(self._symbols[0], core.at)
        return KernelCalls(
            image,
            self._symbols[0],
            signature,
            core,
            sanitize=self.library.sanitize,
            source=self.source,
        )

    @property
    def source(self) -> CppSignature | None:
        """What its source takes and gives back; None if nobody knows."""
        return self.library.source_of(self._symbols[0])

    @property
    def unreadable(self) -> str:
        """Why nobody knows its types; empty where they are known."""
        return self.library.unreadable


def cpp(
    *files: Path | str,
    include: Sequence[Path | str] = (),
    defines: Mapping[str, str | int | None] | None = None,
    flags: Sequence[str] | str = (),
    cycles: Mapping[str, int] | None = None,
    sanitize: bool = False,
    against: Mapping[str, Callable[..., Any] | Reference] | None = None,
    debug: tuple[int, int] | None = None,
) -> CppKernels:
    """Functions of cores from C++ sources, compiled for this machine when a run needs them.

    The sources are those that AMD's compilers take: memtile has ``aie_api`` and the intrinsics for the host.
    ``load("design.mlir", functions=cpp("kernel.cc"))`` takes all functions from them, and
    ``functions={"f": cpp("kernel.cc")}`` one. Sources of one call are linked with each other.

    Args:
        files: C++ sources.
        include: folders of headers, beside those of the sources.
        defines: macros, ``{"DIM_M": 64}``; None as value = defined without one.
        flags: more options of the compiler.
        cycles: of a call, by function: ``{"f": 128}``. Others take what is published of a kernel of that
            name, else at least what their vector operations take.
        sanitize: check every access of memory.
        against: functions in Python by name; each call of a C++ function of that name is compared with one,
            and ``Result.compared`` counts them.
        debug: column and row of a core that waits for a debugger before it begins.

    Raises:
        InputFileError: no source, or a file that is none.
    """
    if not files:
        raise InputFileError("cpp(): no source is given. Give C++ sources, such as cpp('kernel.cc').")
    for file in files:
        if Path(file).suffix not in SUFFIXES:
            raise InputFileError(
                f"{file}: this is no C++ source; its name must end in {', '.join(SUFFIXES)}."
            )
    folders, words = tuple(map(Path, include)), (flags,) if isinstance(flags, str) else tuple(flags)
    words = (*words, _OWN_FUNCTIONS, *(("-O0",) if debug else ()))
    made = Sources(tuple(map(Path, files)), folders, dict(defines or {}), words, sanitize=sanitize)
    return CppKernels(made, Studies(dict(cycles or {}), references(against or {}), debug))
