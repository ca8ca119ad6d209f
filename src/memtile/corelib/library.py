"""The library as designs use it: a function for a name, and what to say where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from memtile.arch.devices import device as device_called
from memtile.arch.tiles import Generation
from memtile.corelib.registry import ENTRIES, SOURCE, External, Groups, LibraryFunction
from memtile.corelib.rounding import Modes, Rounding, Saturation
from memtile.errors import DesignError, Problem, raise_if

_MODULES = (
    "matrices",
    "elementwise",
    "reductions",
    "activations",
    "vision",
    "convolutions",
    "register_functions",
    "block_floats",
    "transformers",
    "tile_layouts",
    "attention",
    "prefill",
    "sampling",
)
_NEAREST = 3


class Library(Mapping[str, External]):
    """Functions by the name that a design calls them by; ``library()`` makes one.

    Every name that the table of ``docs/kernels.md`` answers is in it, with any type and number in its
    placeholders, and with IRON's prefixes for variants (``1a2b3c4d_matmul_i16_i16``, ``op0_gelu_bf16``).
    Iterating gives the names without numbers. A function gets arrays, which it changes in place, and numbers;
    its ``cost`` of the same arguments says how many cycles a call takes, and from where.
    """

    def __init__(self, generation: Generation, options: Mapping[str, Any]) -> None:
        self._generation: Generation = generation
        self._options = dict(options)

    def __getitem__(self, name: str) -> External:
        found = self.all_of(name)
        if not found:
            raise KeyError(unknown(name))
        return found[0]

    def all_of(self, name: str) -> list[External]:
        """Every function that answers a name; several where AMD's object files differ."""
        return [External(name, *found, self._generation, self._options) for found in _found(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(True for _ in _found(name))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for entry in entries() for name in entry.spelled()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<library of {len(entries())} functions for {self._generation}>"


class Described(NamedTuple):
    """A function of the library for people.

    Attributes:
        names: names that it answers, with placeholders such as ``{TYPE}``.
        arguments: of a call, in order.
        changes: the arguments that it changes.
        text: what it does, in one sentence or more.
    """

    names: tuple[str, ...]
    arguments: str
    changes: tuple[str, ...]
    text: str


def library(
    device: str = "npu1",
    *,
    b_columns: bool = False,
    c_columns: bool = False,
    rounding: Rounding | None = None,
    saturation: Saturation | None = None,
    defines: Mapping[str, int] | None = None,
) -> Library:
    """The functions that IRON and mlir-aie designs ship, by name, for the cores of a device.

    Args:
        device: name of a device; blocks of matrix products, hue and cycles depend on its generation.
        b_columns: matrix products have b column-major, as compiled with ``B_COL_MAJ``.
        c_columns: matrix products have c column-major, as compiled with ``C_COL_MAJ``.
        rounding: functions begin by ``set_rounding`` of this mode; None = they round as their core does,
            ``floor`` after reset.
        saturation: the same of ``set_saturation``; ``none`` after reset.
        defines: what object files were compiled with and no argument shows: macro -> number, such as
            ``{"DIM_m": 64}``; docs/kernels.md lists them.

    Raises:
        DesignError: no device has this name, the AIE API has no such mode, or no function has such a macro.
    """
    Modes().set(rounding, saturation)
    _check_defines(defines or {})
    options = {
        "b_columns": b_columns,
        "c_columns": c_columns,
        "rounding": rounding,
        "saturation": saturation,
        "defines": dict(defines or {}),
    }
    return Library(device_called(device).generation, options)


def _check_defines(given: Mapping[str, int]) -> None:
    if not given:  # the table of functions takes a third of a second to load
        return
    known = sorted({macro for entry in entries() for macro in entry.defines.values()})
    raise_if(
        [
            Problem(
                name,
                repr(value),
                f"a whole number from 0 on, for one of {', '.join(known)}",
                reason="kernel_defines",
                where="library(defines=...)",
                source=SOURCE,
            )
            for name, value in given.items()
            if name not in known or not isinstance(value, int) or isinstance(value, bool) or value < 0
        ],
        DesignError,
    )


def unknown(name: str) -> str:
    """Return the message for a function that the library does not have: the nearest names, and what to do."""
    own = library()
    if name in own:
        return f"{name}({own[name].entry.signature}) is in the library (memtile.kernels.aie)."
    spelled = list(own)
    near = (
        get_close_matches(name, spelled, _NEAREST, 0.6)
        or [each for each in spelled if each.split("_")[0] == name.split("_")[0]][:_NEAREST]
    )
    hint = f" The nearest names are {', '.join(near)}." if near else ""
    return (
        f"{name}: the library has no function of this name (memtile.kernels.aie).{hint} Write it in Python: "
        "it gets NumPy views of its arrays, which it changes in place, and numbers."
    )


def nearest(name: str) -> list[str]:
    """Up to three names of the library that look like ``name``."""
    spelled = list(library())
    same_start = [each for each in spelled if each.split("_")[0] == name.split("_")[0]]
    return get_close_matches(name, spelled, _NEAREST) or same_start[:_NEAREST]


def described() -> list[Described]:
    """Every function of the library, in the order of ``docs/kernels.md``."""
    return [
        Described(
            entry.names,
            entry.signature,
            entry.writes,
            " ".join((entry.function.__doc__ or "").split()),
        )
        for entry in entries()
    ]


def _found(name: str) -> Iterator[tuple[LibraryFunction, Groups]]:
    """The functions that answer a name; that they do by one more spelling counts once."""
    for entry in entries():
        if found := entry.match(name):
            spelling, groups = found
            yield entry, {**groups, "spelling": spelling}


@cache
def entries() -> list[LibraryFunction]:
    """The table, in the order of the modules that fill it: of two functions the first is taken."""
    modules = [f"memtile.corelib.{module}" for module in _MODULES]
    for module in modules:
        import_module(module)
    return sorted(ENTRIES, key=lambda each: modules.index(each.function.__module__))
