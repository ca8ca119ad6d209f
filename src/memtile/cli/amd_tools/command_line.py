"""Command lines as AMD's tools read them, by a table of options.

A long option has one dash or two, its value after ``=`` or in the next word, whatever that begins with.
Source: UG1076 and UG1702, and how users' Makefiles write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum

from memtile.errors import DesignError, Problem


class Effect(Enum):
    """What an option does in memtile."""

    USED = "used"
    NONE = "accepted without effect"
    REFUSED = "refused"


class Takes(Enum):
    """The value of an option."""

    NOTHING = "nothing"
    VALUE = "a value"
    OPTIONAL = "a value after = only"
    ATTACHED = "a value, which may follow its letter at once"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a tool.

    Attributes:
        names: without dashes; the first is its key.
        takes: whether it has a value.
        effect: what it does in memtile.
        why: of an option without effect what takes its place, of a refused one the reason: a sentence
            without its full stop.
    """

    names: tuple[str, ...]
    takes: Takes
    effect: Effect
    why: str = ""

    @property
    def key(self) -> str:
        """Its first name."""
        return self.names[0]


def used(names: str, takes: Takes = Takes.VALUE) -> Option:
    """An option that memtile uses; ``names`` are separated by blanks."""
    return Option(tuple(names.split()), takes, Effect.USED)


def idle(names: str, takes: Takes, why: str) -> Option:
    """An option that is accepted without effect."""
    return Option(tuple(names.split()), takes, Effect.NONE, why)


def refused(names: str, takes: Takes, why: str) -> Option:
    """An option that is refused by name."""
    return Option(tuple(names.split()), takes, Effect.REFUSED, why)


class Table:
    """The options of a tool.

    Args:
        tool: its name.
        options: each name occurs once.
        prefix: that v++ puts before options of the AI Engine compiler, such as ``aie.``; it may be left out.
        source: where the options are documented.
    """

    def __init__(self, tool: str, options: Sequence[Option], source: str, prefix: str = "") -> None:
        self.tool, self.prefix, self.source = tool, prefix, source
        self.options: Mapping[str, Option] = {name: each for each in options for name in each.names}

    def find(self, name: str) -> Option | None:
        """The option of a name without dashes; None = the tool has none that memtile knows."""
        return self.options.get(name.removeprefix(self.prefix))

    def nearest(self, name: str) -> str:
        """A name that is written much alike; empty = none is."""
        near = get_close_matches(name.removeprefix(self.prefix), self.options, 1, 0.75)
        return near[0] if near else ""


@dataclass(slots=True)
class CommandLine:
    """What a tool was asked.

    Attributes:
        values: of each option by its key, in order; of one without a value an empty text.
        files: words that belong to no option.
        without_effect: options that change nothing, in order.
    """

    values: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    without_effect: list[Option] = field(default_factory=list)

    def has(self, key: str) -> bool:
        """Whether an option was given."""
        return key in self.values

    def last(self, key: str, otherwise: str = "") -> str:
        """The last value of an option."""
        return self.values[key][-1] if key in self.values else otherwise

    def all(self, key: str) -> list[str]:
        """All values of an option, in order."""
        return self.values.get(key, [])

    def add(self, option: Option, value: str) -> None:
        """Take an option."""
        self.values.setdefault(option.key, []).append(value)
        if option.effect is Effect.NONE and option not in self.without_effect:
            self.without_effect.append(option)


def read_command_line(words: Sequence[str], table: Table) -> CommandLine:
    """Read a command line.

    Args:
        words: behind the name of the tool.
        table: of its options.

    Raises:
        DesignError: options that the tool does not have here, or whose value is missing; all of them.
    """
    line, problems = CommandLine(), list[Problem]()
    rest = iter(words)
    for word in rest:
        if len(word) < 2 or not word.startswith("-"):
            line.files.append(word)
            continue
        found = _option(word, table)
        if found is None:
            problems.append(_unknown(word, table))
            continue
        option, value = found
        value = _value(option, value, rest)
        if value is None:
            problems.append(_missing(word, table))
        elif option.effect is Effect.REFUSED:
            problems.append(_refused(option, word, table))
        else:
            line.add(option, value)
    if problems:
        raise DesignError(problems)
    return line


def _option(word: str, table: Table) -> tuple[Option, str | None] | None:
    """The option of a word, and the value that it has in itself."""
    name, equals, value = word.lstrip("-").partition("=")
    option = table.find(name)
    if option is not None:
        return option, value if equals else None
    letter = table.options.get(word[1])
    if letter is not None and letter.takes is Takes.ATTACHED:
        return letter, word[2:]
    return None


def _value(option: Option, value: str | None, rest: Iterator[str]) -> str | None:
    """The value of an option; None = it is missing."""
    if option.takes in (Takes.NOTHING, Takes.OPTIONAL):
        return value or ""
    # Makefiles write "--include= folder" too.
    return value or next(rest, None)


def _unknown(word: str, table: Table) -> Problem:
    name = word.lstrip("-").partition("=")[0]
    near = table.nearest(name)
    return Problem(
        "option",
        word,
        "an option that memtile knows",
        f"{word.partition('=')[0]} is no option that memtile knows",
        f"Did you mean --{near}?"
        if near
        else "Leave it out, or report it with the documentation of the tool.",
        reason="tool_option",
        where=table.tool,
        source=table.source,
    )


def _missing(word: str, table: Table) -> Problem:
    return Problem(
        "option",
        word,
        "an option with its value",
        f"{word} has no value",
        reason="tool_value",
        where=table.tool,
        source=table.source,
    )


def _refused(option: Option, word: str, table: Table) -> Problem:
    return Problem(
        "option",
        word,
        "an option that memtile follows",
        f"{word.partition('=')[0]} is not supported: {option.why}",
        reason="tool_refused",
        where=table.tool,
        source=table.source,
    )
