"""Pieces of a text that was read, to be written again: bodies of cores, functions, host sequences."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from memtile.importers.mlir.tree import Operation
from memtile.iron.ops.operations import InsertionPoint, LocalName, TextOperation, Value
from memtile.mlir_writer.refusals import refused

Values = Mapping[str, Value]
"""Values of the module that is written, by their names in the text that was read."""
_MARK = "\0"


def whole(operation: Operation, values: Values, point: InsertionPoint) -> TextOperation:
    """An operation of a text as it stands there.

    Args:
        operation: that was read.
        values: those from outside of it.
        point: where it goes.

    Raises:
        DesignError: words that an older mlir-aie wrote.
    """
    first = operation.at - 2 * bool(operation.results)
    return _written(operation, first, _end(operation), values, point)


def body(operation: Operation, values: Values, point: InsertionPoint) -> TextOperation:
    """What is in the one region of an operation; see :func:`whole`."""
    brace = _brace(operation)
    return _written(operation, brace + 1, operation.tokens.close[brace], values, point)


def _end(operation: Operation) -> int:
    """The place behind the last token of an operation: of what it has in braces and of the rest."""
    ends = [end for _, end in (*operation.spans, *operation.dicts)]
    ends += [end + 1 for _, end in operation.dicts]  # its brace
    if operation.regions:
        ends.append(operation.tokens.close[_brace(operation)] + 1)
    return max(ends, default=operation.at + 1)


def _brace(operation: Operation) -> int:
    """The brace in which the first region of an operation begins."""
    inner = [each for block in operation.regions[0].blocks for each in block.operations]
    words, close = operation.tokens.words, operation.tokens.close
    if not inner:
        return next(n for n in range(operation.at, len(words)) if words[n] == "{" and words[n + 1] == "}")
    at = inner[0].at
    return max(n for n in range(operation.at, at) if words[n] == "{" and close[n] > at)


def _written(
    operation: Operation, first: int, end: int, values: Values, point: InsertionPoint
) -> TextOperation:
    tokens = operation.tokens
    content, words = tokens.text.content, tokens.words
    text, names = "", []
    at = tokens.offset(first)
    for number in range(first, end):
        begin, word = tokens.offset(number), words[number]
        if content[begin : begin + len(word)] != word:
            raise refused(
                tokens.text.where(begin),
                f"{tokens.text.where(begin)}: the text has words of an older mlir-aie here, read as {word!r}",
                "texts of mlir-aie since 2024",
                "Print it with a newer mlir-aie first.",
            )
        text += content[at:begin]
        at = begin + len(word)
        text += _MARK if word[0] == "%" else word
        names += [word] if word[0] == "%" else []
    lines = _plain(text)
    pieces: list[str | Value | LocalName] = []
    for part, name in zip(lines.split(_MARK), [*names, ""], strict=True):
        pieces += [part, *([_named(name, values)] if name else [])]
    return TextOperation(pieces, point)


def _named(name: str, values: Values) -> Value | LocalName:
    found = values.get(name)
    return LocalName(name[1:]) if found is None else found


def _plain(text: str) -> str:
    """Lines without comments, the indentation that all have, and empty ones."""
    lines = [re.sub(r"\s*//.*", "", line).rstrip() for line in text.split("\n")]
    first, *rest = lines or [""]
    kept = [line for line in rest if line.strip()]
    if first.strip():
        return "\n".join(
            [first.strip(), *textwrap.dedent("\n".join(kept)).split("\n")] if kept else [first.strip()]
        )
    return textwrap.dedent("\n".join(kept))
