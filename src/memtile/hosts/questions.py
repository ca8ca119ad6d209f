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

_QUESTION = re.compile(rb"Q ([a-z.]{1,40})\n")
_HEAD = re.compile(rb"([QE]) ([0-9]{1,12})\n")


def question(line: bytes) -> str | None:
    """What a line asks; None if it is no question."""
    found = _QUESTION.fullmatch(line)
    return None if found is None or found[1].decode() not in QUESTIONS else found[1].decode()


def answered(what: str, ask: Ask) -> bytes:
    """The answer to a question, as it goes over the socket."""
    try:
        given, kind = ask(what), "Q"
    except MemtileError as error:
        given, kind = "\n".join(error.messages).encode(), "E"
    return f"{kind} {len(given)}\n".encode() + given


def asked(what: str) -> bytes:
    """The line of a question."""
    return f"Q {what}\n".encode()


def read_answer(head: bytes, rest: BinaryIO) -> tuple[bool, bytes] | None:
    """Whether a question was answered, and the answer or why there is none; None if ``head`` begins none.

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
    return found[1] == b"Q", given
