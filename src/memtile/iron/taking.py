"""A design taken out of its program: the first that the program runs, else the last that it builds.

A program goes on until it has what a run needs, the design and its tensors; values for its options and for
``CompileTime`` parameters are put in from outside.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memtile.iron.ops.operations import noting_modules


class DesignTakenError(BaseException):
    """A program's design is taken; the program ends here."""


@dataclass
class Taking:
    """What is put into a program, and what is taken out of it.

    Attributes:
        values: of options and ``CompileTime`` parameters, by name.
        options: of the program's command line, by name.
        given: values that the command line of the program has itself, by name.
        designs: functions that build a design, each with the values that it was called with.
        modules: all that were built, in order.
        compiled: the design that the program runs first, as it was compiled; None = it runs none.
        loaded: the same in an array.
        arguments: what it is run with.
        answer: what a run of the design left: it is what the program gets, and the program goes on.
        still: the design is only to be looked at: its kernels are not compiled, and may be unknown.
        loading: what a command says of kernels, arguments of ``memtile.load``: their functions and costs;
            ``compiles`` makes kernels of sources that the program names, as ``memtile.kernels.cpp``;
            ``is_looked_at``: functions that nobody has are no reason to refuse it.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    options: dict[str, argparse.Action] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    designs: list[tuple[Any, Mapping[str, Any]]] = field(default_factory=list)
    modules: list[Any] = field(default_factory=list)
    compiled: Any = None
    loaded: Any = None
    arguments: Sequence[Any] = ()
    answer: Any = None
    still: bool = False
    loading: Mapping[str, Any] = field(default_factory=dict)


_now: ContextVar[Taking | None] = ContextVar("iron_taking", default=None)


@contextmanager
def taking(values: Mapping[str, Any], made: Taking) -> Iterator[None]:
    """Take the design of what runs within ``with``.

    Args:
        values: of options and ``CompileTime`` parameters, by name.
        made: gets what is found.
    """
    made.values = values
    token = _now.set(made)
    parse = argparse.ArgumentParser.parse_known_args

    def with_more(parser: Any, args: Any = None, namespace: Any = None) -> Any:
        is_ours = args is None or [*args] == sys.argv[1:]  # the command line, not one that the program made
        if is_ours and not made.options:
            made.options.update(_options(parser))
            found = parse(parser, _command_line(sys.argv[1:], made), namespace)
            made.given.update(_given(found[0], made))
            return found
        return parse(parser, args, namespace)

    argparse.ArgumentParser.parse_known_args = with_more  # type: ignore[assignment]
    try:
        with noting_modules(made.modules):
            yield
    finally:
        argparse.ArgumentParser.parse_known_args = parse  # type: ignore[method-assign]
        _now.reset(token)


def active() -> bool:
    """Whether a design is to be taken."""
    return _now.get() is not None


def stands_still() -> bool:
    """Whether the design that is to be taken is only looked at."""
    now = _now.get()
    return now is not None and now.still


def loading() -> dict[str, Any]:
    """What is said of the kernels of the design that is to be taken."""
    now = _now.get()
    return dict(now.loading) if now is not None else {}


def is_wanted() -> bool:
    """Whether the next design that the program runs is to be taken."""
    now = _now.get()
    return now is not None and now.answer is None


def take(compiled: Any, loaded: Any, arguments: Sequence[Any]) -> None:
    """Take a design that a program is about to run, if one is wanted; else do nothing.

    Args:
        compiled: what the design was loaded from.
        loaded: the design.
        arguments: what its host sequence is run with, as arrays and numbers.

    Raises:
        DesignTakenError: the design is taken.
    """
    now = _now.get()
    if now is not None and now.answer is None:
        now.compiled, now.loaded, now.arguments = compiled, loaded, arguments
        raise DesignTakenError


def answer(compiled: Any, arguments: Sequence[Any]) -> Any:
    """The run of a design that was taken, for a program that runs it; nothing is loaded for that.

    Args:
        compiled: the design.
        arguments: what its host sequence is to be run with, as arrays and numbers.

    Returns:
        The run of the same design with the same arguments; None if there was none.
    """
    now = _now.get()
    if now is None or now.answer is None or not _is_same(now, compiled, arguments):
        return None
    return now.answer


def _is_same(now: Taking, compiled: Any, arguments: Sequence[Any]) -> bool:
    """Whether a design and what it reads are those that were taken, whatever is where it writes."""
    if now.compiled != compiled or len(arguments) != len(now.arguments):
        return False
    regions = [buffer.region for buffer in now.answer.buffers]
    read = {each.argument for each in regions if each.reads}
    written = {each.argument for each in regions if each.writes} - read
    pairs = enumerate(zip(now.arguments, arguments, strict=True))
    return all(n in written or np.array_equal(one, other) for n, (one, other) in pairs)


def with_values(design: Any, given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The values that a design is built with: those put in from outside come before the program's.

    Args:
        design: function that builds it.
        given: the program's values.
        names: of its ``CompileTime`` parameters.
    """
    now = _now.get()
    if now is None:
        return dict(given)
    own = {name: value for name, value in now.values.items() if name in names and name not in now.options}
    now.designs.append((design, {**given, **own}))
    return {**given, **own}


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """The options and arguments of a command line that take a value, or are switched on."""
    for action in parser._actions:
        if not isinstance(
            action, argparse._HelpAction | argparse._VersionAction | argparse._SubParsersAction
        ):
            yield action.dest, action


def _given(parsed: argparse.Namespace, made: Taking) -> Iterator[tuple[str, Any]]:
    """Values of options that the command line has, but for switches, which cannot be taken back."""
    for name, action in made.options.items():
        if (value := getattr(parsed, name, action.default)) != action.default and action.nargs != 0:
            yield name, value


def _command_line(given: Sequence[str], made: Taking) -> list[str]:
    """The command line of a program with values from outside: behind its own, the last one counts."""
    named = [(action, made.values[name]) for name, action in made.options.items() if name in made.values]
    places = [str(value) for action, value in named if not action.option_strings]
    return [*places, *given, *(word for action, value in named for word in _words(action, value))]


def _words(action: argparse.Action, value: Any) -> list[str]:
    """What stands for the value of an option on a command line."""
    names = sorted(action.option_strings, key=len)
    if not names:
        return []
    if isinstance(action, argparse.BooleanOptionalAction):
        return [next(name for name in names if name.startswith("--no-") is not bool(value))]
    if action.nargs == 0:
        return [names[-1]] if value == action.const else []
    listed = value if isinstance(value, list | tuple) else [value]
    return [names[-1], *map(str, listed)]
