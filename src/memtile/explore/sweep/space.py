"""The space of a sweep: what is varied, and which values each may have.

A point of the space has a *label* for each axis: a number, a truth value, None or a text, as JSON has them;
for other values the text that ``--set`` takes. So points go over pipes, into files and back.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from memtile.arch.timing import Timing, likely
from memtile.design.parameters import Choices, Parameter, Range, is_number, limits_of, parameters_of, value_of
from memtile.errors import DesignError, Problem, raise_if

TIMING = "timing."
"""How the name of a timing constant begins."""
Label = int | float | bool | str | None
Point = Mapping[str, Label]
_ANNOTATIONS = "with Range, Literal, an Enum or Choices"
_MOST_VALUES = 1 << 20  # of an axis: more are taken for a slip
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_problem = partial(Problem, reason="space", source="annotations of the design function")


@dataclass(frozen=True, slots=True)
class SweepAxis:
    """One thing that is varied.

    Attributes:
        name: of the parameter; of a timing constant behind ``timing.``.
        values: all its labels; empty = any number of ``span``.
        span: smallest and largest number, of an axis without steps.
        log: a search goes through it by ratios.
    """

    name: str
    values: tuple[Label, ...] = ()
    span: tuple[float, float] = (0.0, 0.0)
    log: bool = False

    @property
    def text(self) -> str:
        """One line."""
        if not self.values:
            return f"{self.name} = {self.span[0]:g}..{self.span[1]:g}"
        shown = ", ".join(map(str, self.values if len(self.values) <= 8 else self.values[:3]))
        return f"{self.name} = {shown}" + (f", ... {self.values[-1]}" if len(self.values) > 8 else "")


_GOLDEN = 0.6180339887


@dataclass(frozen=True, slots=True)
class Space:
    """All that is varied; points are numbered as an odometer counts, the last axis first."""

    axes: tuple[SweepAxis, ...]

    @property
    def size(self) -> int | None:
        """How many points there are; None = without end."""
        return math.prod(len(axis.values) for axis in self.axes) if all(a.values for a in self.axes) else None

    def grid(self) -> Iterator[Point]:
        """All points, in their order.

        Raises:
            DesignError: axes without steps, all at once.
        """
        raise_if([_no_steps(axis) for axis in self.axes if not axis.values], DesignError)
        names = [axis.name for axis in self.axes]
        for labels in itertools.product(*(axis.values for axis in self.axes)):
            yield dict(zip(names, labels, strict=True))

    def spread(self) -> Iterator[tuple[int, Point]]:
        """All points with their numbers, in an order that soon has been everywhere in the space.

        From each design to the next one is about 0.618 of the space, so that any few in a row are spread over
        the first axis and, as the step shares no factor with the size, come to every design once. The first
        design has the middle of each axis, since at the ends of a space more are refused. Timing constants of
        one design follow each other, since it is made once for them.

        Raises:
            DesignError: axes without steps, all at once.
        """
        raise_if([_no_steps(axis) for axis in self.axes if not axis.values], DesignError)
        designs = Space(tuple(axis for axis in self.axes if not axis.name.startswith(TIMING)))
        constants = Space(tuple(axis for axis in self.axes if axis.name.startswith(TIMING)))
        size = math.prod(len(axis.values) for axis in designs.axes)
        step = next(n for n in itertools.count(max(round(_GOLDEN * size), 1)) if math.gcd(n, size) == 1)
        middle = designs._number({axis.name: axis.values[len(axis.values) // 2] for axis in designs.axes})
        for design in (designs._at((middle + n * step) % size) for n in range(size)):
            for chosen in constants.grid():
                point = {**design, **chosen}
                yield self._number(point), {axis.name: point[axis.name] for axis in self.axes}

    def _number(self, point: Point) -> int:
        number = 0
        for axis in self.axes:
            number = number * len(axis.values) + axis.values.index(point[axis.name])
        return number

    def random(self, count: int, seed: int) -> Iterator[Point]:
        """``count`` points by chance, none twice; fewer where the space has fewer."""
        chance, size = random.Random(seed), self.size
        if size is None:
            yield from ({axis.name: _any(axis, chance) for axis in self.axes} for _ in range(count))
        else:
            yield from map(self._at, chance.sample(range(size), min(count, size)))

    def _at(self, number: int) -> Point:
        point: dict[str, Label] = {}
        for axis in reversed(self.axes):
            number, place = divmod(number, len(axis.values))
            point[axis.name] = axis.values[place]
        return {axis.name: point[axis.name] for axis in self.axes}


def _any(axis: SweepAxis, chance: random.Random) -> Label:
    if axis.values:
        return chance.choice(axis.values)
    low, high = axis.span
    if axis.log:
        return min(max(math.exp(chance.uniform(math.log(low), math.log(high))), low), high)
    return chance.uniform(low, high)


def space_of(
    function: Callable[..., object],
    vary: Mapping[str, str],
    fixed: Mapping[str, object],
    where: str,
) -> Space:
    """What is varied of a design: parameters whose annotations say which values they have, and what is named.

    Args:
        function: the design function; one with ``varied_by_name`` has no axis that ``vary`` does not name.
        vary: values by name, as texts: ``8,16,32``, ``1..8``, ``1..64:8``, ``0.5..2``; an empty text means
            those of the annotation, of a timing constant the range in which it is expected to be.
        fixed: what is set, and not varied.
        where: the design, for messages.

    Raises:
        DesignError: names that are nothing to vary, texts that are no values, nothing to vary; all at once.
    """
    found = {parameter.name: parameter for parameter in parameters_of(function)}
    by_itself = not getattr(function, "varied_by_name", False)
    axes: list[SweepAxis] = []
    problems: list[Problem] = [_both(where, name) for name in vary if name in fixed]
    for name, parameter in found.items():
        if name in fixed:
            continue
        try:
            axis = _named(name, parameter.kind, vary[name]) if vary.get(name) else axis_of(parameter)
            axis = axis if name in vary or by_itself else None
        except (ValueError, TypeError, SyntaxError) as error:
            problems.append(_no_values(where, name, vary[name], parameter.allowed, error))
            continue
        if axis is None and name in vary:
            problems.append(_open(where, parameter))
        axes += [] if axis is None else [axis]
    constants = {f"{TIMING}{f.name}" for f in fields(Timing)}
    for name in vary:
        if name in constants and name not in fixed:
            try:
                axes.append(constant_axis(name, vary[name]))
            except ValueError as error:
                problems.append(_no_values(where, name, vary[name], _allowed(name), error))
        elif name not in found:
            problems.append(_unknown(where, name, found))
    raise_if(problems, DesignError)
    if not axes:
        raise DesignError(_nothing(where, found, by_itself))
    return Space(tuple(axes))


def axis_of(parameter: Parameter) -> SweepAxis | None:
    """The axis that the annotation of a parameter says; None if it leaves the values open."""
    if isinstance(limit := _range_of(parameter.kind), Range) and not _steps(limit, parameter.kind):
        return SweepAxis(parameter.name, (), (float(limit.low), float(limit.high)), limit.log)
    values = _values(parameter.kind)
    log = isinstance(limit, Range) and limit.log
    return None if values is None else SweepAxis(parameter.name, values, log=log)


def _range_of(kind: Any) -> Range | Choices | None:
    return next(limits_of(kind), None)


def _values(kind: Any) -> tuple[Label, ...] | None:
    """Labels of all values of a type; None if it has no end of them, or nobody says which."""
    if get_origin(kind) in (Union, UnionType):
        parts = [_values(each) for each in get_args(kind)]
        return None if None in parts else tuple(dict.fromkeys(v for part in parts for v in part or ()))
    if get_origin(kind) is Literal:
        return tuple(label(value) for value in get_args(kind))
    if get_origin(kind) is Annotated:
        limit = _range_of(kind)
        if isinstance(limit, Choices):
            return tuple(label(value) for value in limit.values)
        return _numbers(limit, kind) if limit else _values(get_args(kind)[0])
    if kind in (bool, NoneType):
        return (False, True) if kind is bool else (None,)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind.__members__)
    return None


def label(value: Any) -> Label:
    """What stands for a value of a parameter; ``value_of`` makes the value of it again."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, int | float | str):
        return value
    return str(getattr(value, "__name__", value))


def _steps(limit: Range, kind: Any) -> bool:
    whole = get_args(kind)[0] is int
    return whole or limit.step is not None


def _numbers(limit: Range, kind: Any) -> tuple[Label, ...]:
    whole = get_args(kind)[0] is int
    if not _steps(limit, kind):
        raise ValueError(f"{limit} has no steps")
    return counted(math.ceil(limit.low) if whole else limit.low, limit.high, limit.step or 1)


def counted(low: float, high: float, step: float) -> tuple[Label, ...]:
    """Numbers from ``low`` to at most ``high``, each ``step`` above the one before.

    Raises:
        ValueError: more than a million of them.
    """
    count = math.floor((high - low) / step + 1e-9) + 1
    if count > _MOST_VALUES:
        raise ValueError(f"{low:g}..{high:g} in steps of {step:g} are {count} values")
    return tuple(low + n * step for n in range(count))


def _named(name: str, kind: Any, text: str) -> SweepAxis:
    """An axis of values that a text says, each of which must be one of the parameter."""
    ends, _, step = text.partition(":")
    low, dots, high = ends.partition("..")
    if not dots:
        labels = dict.fromkeys(label(value_of(kind, part.strip())) for part in _parts(text))
        return SweepAxis(name, tuple(labels))
    return _range(name, kind, (low, high), step)


def _range(name: str, kind: Any, ends: tuple[str, str], step: str) -> SweepAxis:
    """An axis of the values between two ends that a text says, in steps where it says how long they are."""
    low, high = ends
    first, last = value_of(kind, low.strip()), value_of(kind, high.strip())
    if not (is_number(first) and is_number(last) and first <= last):
        raise ValueError(f"{low} and {high} are no ends of a range")
    if not step and isinstance(first, float):
        return SweepAxis(name, (), (first, last))
    by = value_of(type(first), step.strip()) if step else 1
    if by <= 0:
        raise ValueError(f"a step of {step} leads nowhere")
    return SweepAxis(name, tuple(value_of(kind, value) for value in counted(first, last, by)))


def _parts(text: str) -> Iterator[str]:
    """What commas part; not those within brackets."""
    depth, part = 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            yield part
            part = ""
        else:
            part += letter
    yield part


def text_axis(name: str, text: str) -> SweepAxis:
    """An axis of texts, which numbers may be: ``8,16,32``, ``1..8``, ``16..128:16``, ``int8,bfloat16``.

    Raises:
        ValueError: there are no values, one of them is empty, or the ends of a range are none.
    """
    ends, _, step = text.partition(":")
    numbers = [each.strip() for each in ends.split("..")]
    if len(numbers) == 2 and all(map(_NUMBER.fullmatch, numbers)):
        whole = all(map(_WHOLE.fullmatch, filter(None, [*numbers, step.strip()])))
        return _range(name, int if whole else float, (numbers[0], numbers[1]), step)
    parts = [each.strip() for each in _parts(text)]
    if not all(parts):
        raise ValueError("a value is empty" if text else "nothing says which values it has")
    return SweepAxis(name, tuple(dict.fromkeys(map(text_label, parts))))


def text_label(text: str) -> Label:
    """The label of a text: a whole number where it is written as one, else the text."""
    return int(text) if _WHOLE.fullmatch(text) and str(int(text)) == text else text


def constant_axis(name: str, text: str) -> SweepAxis:
    """The axis of a timing constant; without a text, the range in which it is expected to be.

    Raises:
        ValueError: no such values, or none are expected but the measured one.
    """
    constant = name.removeprefix(TIMING)
    low, high = likely(constant)
    if not text and low == high:
        raise ValueError("it is measured, so that no other value is expected")
    return _named(name, Annotated[int, _span(constant)], text or f"{low}..{high}")


def _span(constant: str) -> Range:
    (found,) = (f for f in fields(Timing) if f.name == constant)
    return Range(found.metadata["low"], found.metadata["high"])


def _allowed(name: str) -> str:
    return f"whole numbers of {_span(name.removeprefix(TIMING))}"


def _both(where: str, name: str) -> Problem:
    says = f"{name} is both set and varied"
    return _problem(name, "--set and --vary", "one of both", says, "Leave one of both out.", where=where)


def _no_values(where: str, name: str, text: str, allowed: str, error: Exception) -> Problem:
    says = f"{name} cannot be varied over {text!r} ({error}); its values must be {allowed}"
    return _problem(name, repr(text), allowed, says, "Write 8,16,32 or 1..8 or 16..128:16.", where=where)


def _open(where: str, parameter: Parameter) -> Problem:
    says = f"the annotation of {parameter.name} does not say which values it has"
    step = f"Say them: --vary {parameter.name}=VALUES, or annotate it, {_ANNOTATIONS}."
    return _problem(parameter.name, parameter.type_name, "values to go through", says, step, where=where)


def _unknown(where: str, name: str, found: Mapping[str, Parameter]) -> Problem:
    listed = ", ".join(found) or "none"
    says = f"there is no {name!r} to vary; the parameters are {listed}, and timing.NAME for timing constants"
    return _problem(
        name, repr(name), listed, says, "Run memtile info on the design to see them.", where=where
    )


def _nothing(where: str, found: Mapping[str, Parameter], by_itself: bool) -> Problem:
    listed = ", ".join(found) or "there are none"
    if not by_itself:
        says = f"there is nothing to vary: no --vary names a parameter ({listed})"
        step = "Name what is varied and its values: --vary NAME=VALUES."
        return _problem("parameters", "none named", "at least one", says, step, where=where)
    says = f"there is nothing to vary: no annotation says which values a parameter has ({listed})"
    step = f"Annotate arguments of design(), {_ANNOTATIONS}, or give --vary NAME=VALUES."
    return _problem("parameters", "none with values", "at least one", says, step, where=where)


def _no_steps(axis: SweepAxis) -> Problem:
    says = f"{axis.name} may be any number of {axis.span[0]:g}..{axis.span[1]:g}; a grid needs steps"
    step = f"Give a step, --vary {axis.name}=LOW..HIGH:STEP, or take --random N or --optimise."
    return _problem(axis.name, "no step", "a range with a step", says, step, where="sweep")


def space_from(data: Sequence[Mapping[str, Any]]) -> Space:
    """The space that ``axes`` that a log has."""
    return Space(
        tuple(
            SweepAxis(each["name"], tuple(each["values"]), (each["span"][0], each["span"][1]), each["log"])
            for each in data
        )
    )
