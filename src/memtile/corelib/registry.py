"""The table of functions: which names each of them answers, and what is checked before it is called.

A name may have placeholders, as in ``matmul_{IN}_{OUT}``: element types (``TYPE``, ``IN``, ``OUT``) and
numbers (any other). A function takes what it needs of them, the ``generation``, the ``core`` and its
``modes``, by keyword.
One that puts to the cascade or gets from it is a generator of actions of its core.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil, prod
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from memtile.arch.core import CORES
from memtile.arch.core_costs import THROUGHPUT
from memtile.arch.tiles import Generation
from memtile.corelib.call_costs import CallCost, cost
from memtile.corelib.call_kinds import Call, is_scalar, kind_of
from memtile.corelib.name_types import SPELLINGS, TYPES, Values
from memtile.corelib.rounding import Modes
from memtile.errors import DesignError

SOURCE = "functions of cores, docs/kernels.md"
_HOLE = re.compile(r"\{([A-Za-z]+)\}")
_TYPE_HOLES = ("TYPE", "IN", "OUT")
_PREFIX = r"(?:[0-9a-f]{8}_|op\d+_)?"  # IRON tells variants of a function apart by a digest before its name
_FRACTIONS = ("bf16", "f16", "f32", "f64")
_SOURCE_FILE = re.compile(r"``(\w+)\.cc``")
Groups = Mapping[str, str]
Declared = tuple[str, bool]
"""The type of an argument as the design declares it, its element's for an array; whether it is an array."""
ANY_OBJECT = ("*",)
"""Objects of a function that means the same in each of them."""
F = TypeVar("F", bound=Callable[..., "Generator[Any, Any, None] | None"])


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """A function of the library.

    Attributes:
        function: what it does; its parameters by position are the arguments of a call.
        names: names that it answers, with placeholders.
        writes: parameters that it changes.
        types: parameter -> placeholder or element type that the name stands for; the bytes are taken so.
        kinds: what ``{TYPE}`` may be.
        pairs: what ``{IN}_{OUT}`` may be.
        macs: multiplications of a call with these arguments, and the type of the operands.
        objects: stems of the object files that AMD's designs have it in, where these are not the source
            files that its docstring names.
        defines: parameters whose values are compiled in, with the macros that say them (``-DDIM_m=32``).
        partly: arrays of which a call may read or write only a part: they are in no lower bound of its time.
    """

    function: Callable[..., Generator[Any, Any, None] | None]
    names: tuple[str, ...]
    writes: tuple[str, ...]
    types: Mapping[str, str]
    kinds: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    macs: Callable[..., tuple[int, str]] | None
    objects: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    partly: tuple[str, ...] = ()
    patterns: tuple[tuple[re.Pattern[str], str], ...] = field(init=False)
    parameters: tuple[inspect.Parameter, ...] = field(init=False)

    def __post_init__(self) -> None:
        own = inspect.signature(self.function).parameters.values()
        object.__setattr__(self, "parameters", tuple(own))
        named = dict.fromkeys(_SOURCE_FILE.findall(self.function.__doc__ or ""))
        object.__setattr__(self, "objects", self.objects or tuple(named))
        object.__setattr__(self, "patterns", tuple((_pattern(name), name) for name in self.names))

    def match(self, name: str) -> tuple[str, Groups] | None:
        """The spelling that a name has and what stands in its placeholders; None if it is not answered."""
        for pattern, spelling in self.patterns:
            if found := pattern.fullmatch(name):
                groups = {
                    hole: SPELLINGS.get(text, text) if hole in _TYPE_HOLES else text
                    for hole, text in found.groupdict().items()
                }
                if groups.get("TYPE", self.kinds[0]) not in self.kinds:
                    continue
                if "IN" not in groups or (groups["IN"], groups["OUT"]) in self.pairs:
                    return spelling, groups
        return None

    def spelled(self) -> Iterator[str]:
        """All names without a number in them."""
        for name in self.names:
            holes = set(_HOLE.findall(name))
            if holes <= {"IN", "OUT"} and holes:
                yield from (name.format(IN=a, OUT=b) for a, b in self.pairs)
            elif holes <= {"TYPE"}:
                yield from dict.fromkeys(name.format(TYPE=kind) for kind in self.kinds)

    @property
    def signature(self) -> str:
        """The arguments of a call, as in ``a, b, c, count``."""
        shown = [p for p in self.parameters if p.kind is not p.KEYWORD_ONLY]
        return ", ".join(f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name for p in shown)


ENTRIES: list[LibraryFunction] = []
"""Every function, in the order of the modules that define them."""

ALL_KINDS = tuple(TYPES)


def answers(
    *names: str,
    writes: Sequence[str] = ("c",),
    types: Mapping[str, str] | None = None,
    kinds: Sequence[str] = ALL_KINDS,
    pairs: Sequence[tuple[str, str]] = (),
    macs: Callable[..., tuple[int, str]] | None = None,
    objects: Sequence[str] = (),
    defines: Mapping[str, str] | None = None,
    partly: Sequence[str] = (),
) -> Callable[[F], F]:
    """Put a function into the table; see :class:`LibraryFunction` for the arguments."""

    def enter(function: F) -> F:
        given = types or {}
        ENTRIES.append(
            LibraryFunction(
                function,
                names,
                tuple(writes),
                given,
                tuple(kinds),
                tuple(pairs),
                macs,
                tuple(objects),
                defines or {},
                tuple(partly),
            )
        )
        return function

    return enter


class External:
    """A function of the library under one name, as a core calls it.

    Attributes:
        name: as the design writes it.
        entry: the function behind it.
        groups: values of the placeholders in the name.
        generation: of the device.
        options: what the library was made with.
        charged: each cost that a call was charged so far, in this order.
    """

    def __init__(
        self,
        name: str,
        entry: LibraryFunction,
        groups: Groups,
        generation: Generation,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.options = options
        self.entry = entry
        self.groups = groups
        self.generation: Generation = generation
        self.charged: dict[CallCost, None] = {}
        self.__name__ = name
        self.__doc__ = entry.function.__doc__

    def __repr__(self) -> str:
        return f"<{self.name}({self.entry.signature}) of memtile.kernels.aie>"

    def __call__(self, *arguments: Any, core: Any = None) -> Generator[Any, Any, None] | None:
        """Run it on arrays, which are changed in place, and numbers; ``core`` is the one that calls it.

        One that uses the cascade of its core gives the actions: ``yield from``.

        Raises:
            DesignError: wrong number, kind or type of arguments, or an array that is too short.
        """
        bound = self._bound(arguments)
        written = []
        for name in self.entry.writes:
            if isinstance(bound.get(name), np.ndarray) and not bound[name].flags.c_contiguous:
                packed = np.ascontiguousarray(bound[name])
                written.append((bound[name], packed))
                bound[name] = packed
        actions = self._run(bound, core)
        if actions is not None:
            return self._followed(actions, written)
        _unpack(written)
        return None

    def cycles(self, *arguments: Any) -> int:
        """Cycles that a call is charged: those of :meth:`cost`.

        Raises:
            DesignError: as for the call.
        """
        found = self.cost(*arguments)
        self.charged[found] = None
        return found.cycles

    def cost(self, *arguments: Any) -> CallCost:
        """Cycles of a call and where they come from: a published count of AMD's kernel, the rule between
        counts, a range, or the MACs, loads and stores at full rate.

        Raises:
            DesignError: as for the call.
        """
        bound = self._bound(arguments)
        fixed = {p.name: self._by_name(p, None) for p in self.entry.parameters if p.kind is p.KEYWORD_ONLY}
        call = Call({**fixed, **bound}, self.name, self._count(bound))
        return cost(kind_of(self.entry.function.__name__, call, self.generation), self._least(bound))

    def _least(self, bound: Mapping[str, Any]) -> int:
        """Cycles at full rate of the MACs, or of the loads and stores, whichever take longer."""
        core, rate = CORES[self.generation], THROUGHPUT[self.generation]
        scalar = is_scalar(self.name)
        loaded = stored = 0.0
        count = self._count(bound)
        for name, value in bound.items():
            if isinstance(value, np.ndarray) and name not in self.entry.partly:
                size = value.size if count is None else min(value.size, count)
                accesses = size if scalar else size * value.itemsize * 8 / core.vector_bits
                stored += accesses if name in self.entry.writes else 0
                loaded += 0 if name in self.entry.writes else accesses
        times = [loaded / core.loads, stored / core.stores]
        if self.entry.macs is not None:
            macs, kind = self.entry.macs(*bound.values())
            times.append(macs / (rate.scalar_macs if scalar else rate.macs[kind]))
        return ceil(max(times))

    def _count(self, bound: Mapping[str, Any]) -> int | None:
        """How many elements of each array a call is about; None for all of them."""
        if "count" in bound:
            return None if bound["count"] is None else int(bound["count"])
        if bound.get("sizes"):
            return int(prod(bound["sizes"]))
        if "numbers" in bound:  # width, or height and width, before three others
            return int(prod(bound["numbers"][:-3]))
        own = {p.name for p in self.entry.parameters if p.kind is p.KEYWORD_ONLY}
        return int(self.groups["n"]) if own == {"n"} else None

    def _run(self, bound: dict[str, Any], core: Any) -> Generator[Any, Any, None] | None:
        by_place: list[Any] = []
        by_name: dict[str, Any] = {}
        for parameter in self.entry.parameters:
            if parameter.name == "core" and core is None:
                raise self._refusal("core", "none", "the core that calls it")
            if parameter.kind is parameter.KEYWORD_ONLY:
                by_name[parameter.name] = self._by_name(parameter, core)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                by_place += bound[parameter.name]
            elif parameter.name in bound:
                by_place.append(bound[parameter.name])
        try:
            with np.errstate(all="ignore"):  # NaN and infinity are results of a core like others
                return self.entry.function(*by_place, **by_name)
        except CallError as error:
            raise self._refusal(error.field, error.given, error.allowed) from None

    def _followed(
        self, actions: Generator[Any, Any, None], written: Sequence[tuple[Values, Values]]
    ) -> Generator[Any, Any, None]:
        """The actions of a function, and what it wrote in its place at the end."""
        try:
            yield from actions
        except CallError as error:
            raise self._refusal(error.field, error.given, error.allowed) from None
        _unpack(written)

    def _by_name(self, parameter: inspect.Parameter, core: Any) -> Any:
        name = parameter.name
        if name == "core":
            return core
        if name == "modes":  # what the function was compiled to set stays, as what it sets itself
            modes: Modes = Modes() if core is None else core.modes
            modes.set(self.options.get("rounding"), self.options.get("saturation"))
            return modes
        if name == "generation":
            return self.generation
        if name in self.entry.defines:
            return self.options.get("defines", {}).get(self.entry.defines[name], parameter.default)
        if name in self.options:
            return self.options[name]
        if name not in self.groups:
            return parameter.default
        return int(self.groups[name]) if self.groups[name].isdigit() else self.groups[name]

    def _check_count(self, given: int, needed: int, most: int | None) -> None:
        """Refuse too few arguments, or too many where there is a limit."""
        if given < needed or (most is not None and given > most):
            wanted = f"{needed}" if needed == most else f"{needed} or more"
            raise self._refusal("the number of arguments", str(given), wanted)

    def parameter_for(self, count: int) -> list[inspect.Parameter]:
        """The parameter of each argument of a call of so many.

        Raises:
            DesignError: it takes fewer, or more.
        """
        places = [p for p in self.entry.parameters if p.kind is not p.KEYWORD_ONLY]
        rest = [p for p in places if p.kind is p.VAR_POSITIONAL]
        single = [p for p in places if p.kind is p.POSITIONAL_OR_KEYWORD]
        needed = sum(p.default is p.empty for p in single)
        self._check_count(count, needed, None if rest else len(single))
        return [*single[:count], *rest * (count - len(single))]

    def kind_of(self, parameter: inspect.Parameter) -> np.dtype[Any] | None:
        """The element type that the name says a parameter has; None if it says none."""
        kind = self.entry.types.get(parameter.name)
        return TYPES.get(self.groups.get(kind, kind)) if kind else None

    def check(self, declared: Sequence[Declared], *, signs: bool = False) -> None:
        """Check that arguments of these types can be passed in a call.

        Args:
            declared: of each argument.
            signs: whether elements must have the sign that the name says, too.

        Raises:
            DesignError: another number of arguments, an array for a number, elements of another size.
        """
        for parameter, (kind, is_array) in zip(self.parameter_for(len(declared)), declared, strict=True):
            name, wanted, dtype = parameter.name, self.kind_of(parameter), TYPES.get(kind)
            if str(parameter.annotation) != "Any" and _takes_array(parameter) != is_array:
                given, allowed = ("an array", "a number") if is_array else ("a number", "an array")
                raise self._refusal(f"argument {name}", given, allowed)
            if is_array and dtype is not None and _differ(dtype, wanted, signs=signs):
                raise self._refusal(f"the element type of {name}", str(dtype), str(wanted))
            if _takes_whole(parameter) and kind in _FRACTIONS:
                raise self._refusal(f"argument {name}", f"a number of type {kind}", "a whole number")

    def _bound(self, arguments: Sequence[Any]) -> dict[str, Any]:
        bound: dict[str, Any] = {}
        for parameter, value in zip(self.parameter_for(len(arguments)), arguments, strict=True):
            given = self._as_declared(parameter, value)
            if parameter.kind is parameter.VAR_POSITIONAL:
                bound[parameter.name] = (*bound.get(parameter.name, ()), given)
            else:
                bound[parameter.name] = given
        for parameter in self.entry.parameters:
            if parameter.kind is parameter.VAR_POSITIONAL:
                bound.setdefault(parameter.name, ())
        return bound

    def _as_declared(self, parameter: inspect.Parameter, value: Any) -> Any:
        name, kind = parameter.name, self.kind_of(parameter)
        if not isinstance(value, np.ndarray):
            if name in self.entry.types or name in self.entry.writes:
                raise self._refusal(f"argument {name}", f"{value!r}", "an array")
            if _takes_whole(parameter) and not isinstance(value, int | np.integer):
                raise self._refusal(f"argument {name}", f"{value!r}", "a whole number")
            return value
        if _takes_whole(parameter):
            raise self._refusal(f"argument {name}", "an array", "a whole number")
        if kind is None or value.dtype == kind:
            return value
        if value.itemsize != kind.itemsize:
            raise self._refusal(f"the element type of {name}", str(value.dtype), str(kind))
        return value.view(kind)

    def _refusal(self, subject: str, given: str, allowed: str) -> DesignError:
        """The error of a call that cannot be."""
        return DesignError.of(
            subject,
            given,
            allowed,
            next_step="Give a function of your own under this name if it means something else there.",
            reason="kernel_call",
            where=f"{self.name}({self.entry.signature})",
            source=SOURCE,
        )


def _takes_array(parameter: inspect.Parameter) -> bool:
    """Whether an argument is an array; all others are numbers."""
    return str(parameter.annotation) == "Values"


def _differ(given: np.dtype[Any], wanted: np.dtype[Any] | None, *, signs: bool) -> bool:
    return wanted is not None and (given != wanted if signs else given.itemsize != wanted.itemsize)


def _takes_whole(parameter: inspect.Parameter) -> bool:
    return str(parameter.annotation).split(" ")[0] == int.__name__


def _unpack(written: Sequence[tuple[Values, Values]]) -> None:
    """Bring what was written into copies to where it belongs."""
    for target, packed in written:
        target[...] = packed


def unsaid(macro: str, what: str) -> CallError:
    """The error of a call that needs to know a value which is compiled in and nobody said."""
    known = f"{what}: aie.library(..., defines={{{macro!r}: NUMBER}}), as the object file was compiled with"
    return CallError(macro, "not known", known)


class CallError(Exception):
    """A call that a function cannot answer; :class:`External` says which function it was."""

    def __init__(self, field: str, given: str, allowed: str) -> None:
        super().__init__(field)
        self.field, self.given, self.allowed = field, given, allowed


def first(values: Values, count: int | None, name: str) -> Values:
    """The first ``count`` elements in memory order, all for None; a view.

    Raises:
        CallError: there are fewer, or the count is negative.
    """
    flat = values.reshape(-1)
    if count is None:
        return flat
    if count < 0:
        raise CallError("the number of elements", str(count), "0 or more")
    if count > flat.size:
        raise CallError(f"the length of {name}", f"{flat.size} elements", f"at least {count}")
    return flat[:count]


def same_size(given: Mapping[str, Values], count: int | None = None) -> list[Values]:
    """The first ``count`` elements of each array; without a count all, and as many in each.

    Raises:
        CallError: the arrays have different sizes, or fewer elements.
    """
    sizes = {name: values.size for name, values in given.items()}
    if count is None and len(set(sizes.values())) > 1:
        shown = ", ".join(f"{size} in {name}" for name, size in sizes.items())
        raise CallError("the number of elements", shown, "the same in all arrays")
    return [first(values, count, name) for name, values in given.items()]


def _pattern(name: str) -> re.Pattern[str]:
    kinds = "|".join(sorted((*TYPES, *SPELLINGS), key=len, reverse=True))
    parts = _HOLE.split(name)
    text = "".join(
        (rf"(?P<{part}>{kinds if part in _TYPE_HOLES else '[0-9]+'})" if at % 2 else re.escape(part))
        for at, part in enumerate(parts)
    )
    return re.compile(_PREFIX + text)


def all_pairs(inputs: Sequence[str], outputs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Every input type with every output type."""
    return tuple(product(inputs, outputs))
