"""Questions to a server that are none of the driver's: what is wrong, its result, its record, its report.

A question is a line ``Q WHAT``. The answer is a line ``Q BYTES`` and so many bytes, or ``E BYTES`` and so
many of a text that says why there is none. A server that is no ``memtile serve`` does not answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import BinaryIO

from memtile.errors import MemtileError

Ask = Callable[[str], bytes]
"""Gives the answer to a question; raises :class:`MemtileError` if there is none."""

RESULT, RECORD = "result", "record"
REPORT, REPORT_TEXT = "report.html", "report.txt"
CHROME, PERFETTO = "timeline.json", "timeline.perfetto"
QUESTIONS = (RESULT, RECORD, REPORT, REPORT_TEXT, CHROME, PERFETTO)

NO_QUESTION = f"memtile serve: a question is a line 'Q WHAT', WHAT one of {', '.join(QUESTIONS)}."

_QUESTION = re.compile(rb"Q ([a-z.]{1,40})\n")
_HEAD = re.compile(rb"([QET]) ([0-9]{1,12})\n")


def question(line: bytes) -> str | None:
    """What a line asks, whether there is an answer or not; None if it is no question."""
    found = _QUESTION.fullmatch(line)
    return None if found is None else found[1].decode()


def answered(what: str, ask: Ask | None) -> bytes:
    """The answer to a question, as it goes over the socket; ``ask`` None = nobody answers."""
    if ask is None:
        return refused("memtile serve: this server answers no questions.")
    try:
        given = ask(what)
    except MemtileError as error:
        return refused("\n".join(error.messages))
    return b"Q %d\n" % len(given) + given


def refused(reason: str) -> bytes:
    """What goes over the socket instead of an answer."""
    text = reason.encode()
    return b"E %d\n" % len(text) + text


def asked(what: str) -> bytes:
    """The line of a question."""
    return f"Q {what}\n".encode()


def read_answer(head: bytes, rest: BinaryIO) -> tuple[bool, bytes] | None:
    """Whether a question or a token was accepted, and the answer or why not; None if ``head`` begins none.

    Args:
        head: the first line that came.
        rest: what comes after it.

    Raises:
        EOFError: fewer bytes than it says.
    """
    found = _HEAD.fullmatch(head)
    if found is None:
        return None
    given = rest.read(int(found[2]))
    if len(given) != int(found[2]):
        raise EOFError(f"{len(given)} of {int(found[2])} bytes of an answer came")
    return found[1] != b"E", given
