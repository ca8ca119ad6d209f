"""Every problem that a test meets must read as sentences; else the test fails at its end.

A pytest plugin: it looks at each :class:`~memtile.errors.Problem` that is made in the process of the tests.
``tests/faults/test_message_tone.py`` shows that each rule bites.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from memtile.errors import Problem

_MIXED_RANGE = re.compile(r"-?0x[0-9a-f]+\.\.-?(?!0x)\d|(?<![\w.])-?(?!0x)\d+\.\.-?0x", re.IGNORECASE)
_HEX_OR_DECIMAL = re.compile(
    r" is (-?0x)?[0-9a-f]*\d[0-9a-f]*(?: \w+)?, allowed are (-?0x)?\d", re.IGNORECASE
)
_OLD_TEMPLATE = re.compile(r" given, .* allowed \(")
_OPENING = re.compile(r"[A-Z0-9]")


def faults(problem: Problem) -> Iterator[str]:
    """What is wrong with the message of a problem, as English and as data."""
    message = problem.message
    sentences = message.removesuffix(problem.says.partition("\n")[2].rstrip("\n")).rstrip("\n")
    if not problem.where or not message.startswith(f"{problem.where}: "):
        yield "it does not begin with its place"
    if not sentences.endswith((".", "?")) or sentences.endswith(".."):
        yield "it does not end as a sentence does"
    if problem.says.endswith((".", "?", " ")) or problem.says.startswith(" "):
        yield "its sentence ends before the source"
    if problem.next_step and not _OPENING.match(problem.next_step):
        yield "its next step does not begin as a sentence does"
    if not (problem.given and problem.allowed and problem.source and problem.field and problem.reason):
        yield "a part of it is empty"
    if _OLD_TEMPLATE.search(message):
        yield "it has the template of noun phrases"
    compared = _HEX_OR_DECIMAL.search(message)
    if _MIXED_RANGE.search(message) or (compared and bool(compared[1]) != bool(compared[2])):
        yield "it mixes hexadecimal and decimal limits"


_made: list[Problem] = []


def pytest_configure() -> None:
    """See every problem that is made from now on."""
    made = Problem.__init__

    def init(self: Problem, *content: str, **context: Any) -> None:
        made(self, *content, **context)
        _made.append(self)

    Problem.__init__ = init  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def message_tone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Look at the messages of a test when it is over; one marked ``any_tone`` makes bad ones on purpose."""
    _made.clear()
    yield
    problems = dict.fromkeys(_made)
    _made.clear()
    if request.node.get_closest_marker("any_tone") is None:
        wrong = [f"{fault}: {problem.message}" for problem in problems for fault in faults(problem)]
        assert not wrong, "\n".join(wrong)
