"""The other end of a :class:`LineProcess`: what a process does that answers lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO


def answer_lines(
    answer: Callable[[Any], Any], taken: Callable[[TextIO], Iterable[str]] | None = None
) -> None:
    """Answer what is asked, until there is no more.

    What designs print meanwhile goes to stderr, and what they read is empty. What they write into the pipe
    all the same is on lines without the mark of a question: nobody takes it for an answer.

    Args:
        answer: gives the answer to a question; both are JSON values.
        taken: how lines are taken from the pipe; None = one after the other.
    """
    asked = os.fdopen(os.dup(0), encoding="utf-8")
    with asked, os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for line in asked if taken is None else taken(asked):
            sys.stdin = os.fdopen(os.dup(0), encoding="utf-8")  # exit() of a design before has closed it
            mark, _, question = line.partition(" ")
            print(f"\n{mark} {json.dumps(answer(json.loads(question)))}", file=out, flush=True)
