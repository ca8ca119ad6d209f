"""Parameters of a design: the arguments of its function, set by name with values or with texts of them.

The type of a parameter is that of its annotation, or else that of its default. A text becomes a value of the
type: ``32`` or ``0x20`` an int, ``yes`` a bool, ``(8, 8)`` a tuple, ``int8`` a NumPy type. An annotation may
say more than a type: ``Annotated[int, Range(1, 8)]`` and ``Annotated[tuple, Choices((8, 8), (4, 16))]``.

It also says what an argument of a design function may be, beside its type: ``Annotated[int, Range(1, 8)]``.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from memtile.errors import DesignError, Problem, raise_if
from memtile.explain.summary import plain_value


def is_number(value: object) -> bool:
    """Whether a value is an int or a float; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, both included, as the annotation of a design argument.

    For an ``int``, or if all three numbers are whole, the default step is 1; for a ``float`` without a step,
    every number in between is allowed.

    Attributes:
        low: the smallest.
        high: the largest allowed; with a step, the last number that a step reaches.
        step: from one to the next; None = see above.
        log: search on a logarithmic scale: as many values between 1 and 2 as between 100 and 200; not with a
            step.

    Raises:
        DesignError: ends that are in the wrong order or not numbers, a step that is not above 0, ``log`` with
            a step or from 0 or less.
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False

    def __post_init__(self) -> None:
        says = self._wrong()
        if says:
            raise DesignError.of(
                "Range",
                str(self),
                "low up to high, and a step above 0",
                f"{self} {says}",
                reason="range",
                where="range of a parameter",
                source="what a search goes through",
            )

    def _wrong(self) -> str:
        given = [self.low, self.high, *([] if self.step is None else [self.step])]
        if not all(
            isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in given
        ):
            return "has ends or a step that are no numbers"
        if self.low > self.high:
            return "ends before it begins"
        if self.step is not None and self.step <= 0:
            return "has a step that is not above 0"
        if self.log and (self.step is not None or self.low <= 0):
            return "is logarithmic: it must begin above 0 and have no step"
        return ""

    def __str__(self) -> str:
        by = "" if self.step is None else f", step {self.step:g}"
        return f"{self.low:g}..{self.high:g}{by}"

    def holds(self, value: Any) -> bool:
        """Return whether a value is in the range."""
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
        ):
            return False
        steps = 0.0 if self.step is None else (value - self.low) / self.step
        return math.isclose(steps, round(steps), abs_tol=1e-9)


@dataclass(frozen=True, slots=True, init=False)
class Choices:
    """Allowed values of a design argument, for types that ``typing.Literal`` does not support.

    ``Annotated[tuple[int, int], Choices((8, 8), (4, 16))]``; NumPy types, floats and any others likewise.

    Attributes:
        values: the allowed values, at least one.

    Raises:
        DesignError: no values.
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        if not values:
            raise DesignError.of(
                "Choices",
                "no values",
                "at least one value",
                "Choices() has no values; it must have at least one",
                reason="range",
                where="choices of a parameter",
                source="what a search goes through",
            )
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return f"one of {', '.join(str(getattr(each, '__name__', each)) for each in self.values)}"

    def holds(self, value: Any) -> bool:
        """Return whether a value is one of them."""
        return any(value is each or value == each for each in self.values)


_SOURCE = "arguments of the design function"
_problem = partial(Problem, reason="parameter", source=_SOURCE)
_BOOLS = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
_NAMED = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", Path: "a path"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a design function.

    Attributes:
        name: as in the function.
        kind: its annotation, or else the type of its default; ``Any`` where neither says.
        default: its value if nobody sets it; ``inspect.Parameter.empty`` = it must be set.
    """

    name: str
    kind: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def allowed(self) -> str:
        """What values it takes, in words."""
        return _allowed(self.kind)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        default = None if self.required else plain_value(self.default)
        return {
            "name": self.name,
            "type": self.type_name,
            "allowed": self.allowed,
            "required": self.required,
            "default": default,
        }

    @property
    def type_name(self) -> str:
        """Its type as Python writes it."""
        kind = get_args(self.kind)[0] if get_origin(self.kind) is Annotated else self.kind
        return kind.__name__ if isinstance(kind, type) else str(kind).removeprefix("typing.")


def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """The parameters that a design function has, in their order; ``*args`` and ``**kwargs`` are none."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, AttributeError, TypeError, SyntaxError):  # an annotation that names nothing
        signature = inspect.signature(function)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = (p for p in signature.parameters.values() if p.kind in kinds)
    return tuple(Parameter(p.name, _kind(p), p.default) for p in found)


def chosen(function: Callable[..., object], given: Mapping[str, object], where: str) -> dict[str, Any]:
    """A value for every parameter of a design function: those given, and defaults for the rest.

    Args:
        function: the design function.
        given: values by name; a text also stands for the value that it names.
        where: the design, for messages.

    Raises:
        DesignError: names that are no parameters, values of other types, parameters that nobody sets; all at
            once.
    """
    found = {parameter.name: parameter for parameter in parameters_of(function)}
    problems: list[Problem] = [_unknown(where, name, found) for name in given if name not in found]
    values: dict[str, Any] = {}
    for name, parameter in found.items():
        if name in given:
            try:
                values[name] = value_of(parameter.kind, given[name])
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                problems.append(_wrong(where, parameter, given[name]))
        elif parameter.required:
            problems.append(_missing(where, parameter))
        else:
            values[name] = parameter.default
    raise_if(problems, DesignError)
    return values


def value_of(kind: Any, given: object) -> Any:
    """``given`` as a value of a type; a text becomes what it names.

    Raises:
        ValueError: it is none.
    """
    if get_origin(kind) is Annotated:
        return _limited(kind, given)
    if get_origin(kind) in (Union, UnionType):
        return _first(get_args(kind), given)
    if get_origin(kind) is Literal:
        return _among({str(value): value for value in get_args(kind)}, given)
    plain = get_origin(kind) or kind
    if isinstance(plain, type) and issubclass(plain, Enum):
        named = {**{str(each.value): each for each in plain}, **plain.__members__}
        return given if isinstance(given, plain) else _among(named, given)
    if isinstance(given, str) and plain is not str:
        return _parsed(plain, given)
    return _checked(plain, given)


def limits_of(kind: Any) -> Iterator[Range | Choices]:
    """What an ``Annotated`` type says of its values."""
    yield from (each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Range | Choices))


def _limited(kind: Any, given: object) -> Any:
    value = value_of(get_args(kind)[0], given)
    if not all(limit.holds(value) for limit in limits_of(kind)):
        raise ValueError(given)
    return value


def _kind(parameter: inspect.Parameter) -> Any:
    empty = inspect.Parameter.empty
    if parameter.annotation is not empty and not isinstance(parameter.annotation, str):
        return parameter.annotation
    return Any if parameter.default in (empty, None) else type(parameter.default)


def _first(kinds: tuple[Any, ...], given: object) -> Any:
    """The value as one of several types, a text last."""
    for kind in sorted(kinds, key=lambda kind: kind is str):
        try:
            return value_of(kind, given)
        except (ValueError, TypeError, SyntaxError):
            continue
    raise ValueError(given)


def _among(values: Mapping[str, Any], given: object) -> Any:
    if str(given) not in values:
        raise ValueError(given)
    return values[str(given)]


def _parsed(kind: Any, text: str) -> Any:
    """What a text names, of a type that is no text."""
    if kind is bool:
        return _among(_BOOLS, text.lower())
    if kind is int:
        return int(text, 0)
    if kind in (float, Path):
        return kind(text)
    if kind is NoneType:
        return _among({"none": None}, text.lower())
    if _is_element_type(kind):
        return np.dtype(text).type
    if kind in (tuple, list):
        return _checked(kind, ast.literal_eval(text))
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value


def _checked(kind: Any, value: Any) -> Any:
    """A value, if it is one of the type as far as that can be told; sequences stand for each other."""
    if kind in (tuple, list):
        return kind(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is int and isinstance(value, np.integer):
        return int(value)
    known = (int, float, bool, str, NoneType)
    if kind in known and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise ValueError(value)
    return value


def _is_element_type(kind: Any) -> bool:
    """Whether values are NumPy types: the default is such as ``np.int32``, whose type is ``type``."""
    return kind is type or (isinstance(kind, type) and issubclass(kind, np.dtype))


def _allowed(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        limits = [str(limit) for limit in limits_of(kind)]
        plain = _allowed(get_args(kind)[0])
        return (
            f"{plain} of {limits[0]}"
            if isinstance(next(limits_of(kind), None), Range)
            else (*limits, plain)[0]
        )
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(kind.__members__)}"
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(dict.fromkeys(_allowed(each) for each in get_args(kind)))
    if kind is NoneType:
        return "none"
    if _is_element_type(kind):
        return "a NumPy type such as int8"
    plain = get_origin(kind) or kind
    return _NAMED.get(plain, "a value" if plain is Any else f"a {getattr(plain, '__name__', plain)}")


def _unknown(where: str, name: str, found: Mapping[str, Parameter]) -> Problem:
    near = get_close_matches(name, found, n=1)
    step = f"Did you mean {near[0]}?" if near else ""
    says = f"the design has no parameter {name!r}; its parameters are {', '.join(found)}"
    if not found:
        says, step = f"the design has no parameter {name!r}; it has none", "Give design() an argument."
    return _problem(name, repr(name), ", ".join(found) or "none", says, step, where=where)


def _wrong(where: str, parameter: Parameter, given: object) -> Problem:
    says = f"{parameter.name} is {given!r}; it must be {parameter.allowed}"
    return _problem(parameter.name, repr(given), parameter.allowed, says, where=where)


def _missing(where: str, parameter: Parameter) -> Problem:
    says = f"{parameter.name} has no value and no default; it must be {parameter.allowed}"
    step = f"Set it, on the command line with --set {parameter.name}=VALUE."
    return _problem(parameter.name, "nothing", parameter.allowed, says, step, where=where)


def parameter_lines(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """A line for each parameter: its name, its default and what it takes."""
    for each in parameters:
        default = "" if each.required else f" = {plain_value(each.default)}"
        yield f"{each.name}{default}: {each.allowed}"
