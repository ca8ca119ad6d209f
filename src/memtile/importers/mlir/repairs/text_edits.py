"""Changes of an MLIR text that leave everything else in it as it is: a token, a line, two lines exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.errors import InputFileError
from memtile.explain.findings import Change
from memtile.importers.mlir.token_packets import Text, Tokens
from memtile.importers.mlir.tree import Operation

_CLOSED_BY_TWO = "<"  # properties of the generic form: <{ .. }>


def extent(operation: Operation) -> tuple[int, int]:
    """Tokens of an operation with its results, attributes and regions: the first, and the one behind it."""
    tokens = operation.tokens
    first = operation.at
    if operation.results:
        first -= 1  # the equals sign
        while tokens.words[first - 1] != operation.results[0].partition("#")[0]:
            first -= 1
        first -= 1
    ends = [operation.at + 1, *(span.end for span in operation.spans)]
    for begin, end in operation.dicts:
        ends.append(end + 1 + (tokens.words[begin - 2] == _CLOSED_BY_TWO and tokens.words[end + 1] == ">"))
    last = max(ends)
    while last in tokens.close and tokens.words[last] in "([<{":
        last = tokens.close[last] + 1
    return first, last


def span_of(operation: Operation) -> tuple[int, int]:
    """Characters of an operation: the first, and the one behind it."""
    first, last = extent(operation)
    tokens = operation.tokens
    return tokens.offset(first), tokens.offset(last - 1) + len(tokens.words[last - 1])


def text_of(operation: Operation) -> str:
    """The operation as it is written."""
    begin, end = span_of(operation)
    return operation.tokens.text.content[begin:end]


class TextEdits:
    """Makes changes of a text.

    Args:
        tokens: of the text.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens, self._text = tokens, tokens.text

    def change(self, begin: int, end: int, new: str) -> Change:
        """New characters for those from one place to another."""
        where = self._text.where(begin)
        line, column = self._text.place(begin)
        file = self._text.name
        if self._text.places and not where.startswith(f"{file}:{line}:"):  # of the program that wrote it
            file, _, said = where.rpartition(":")
            line, column = int(said), 0
        return Change(file, line, column, self._text.content[begin:end], new, begin)

    def token(self, at: int, new: str) -> Change:
        """Another word for a token."""
        begin = self._tokens.offset(at)
        return self.change(begin, begin + len(self._tokens.words[at]), new)

    def behind_token(self, at: int, new: str) -> Change:
        """Characters behind a token."""
        end = self._tokens.offset(at) + len(self._tokens.words[at])
        return self.change(end, end, new)

    def line_behind(self, operation: Operation, line: str) -> Change:
        """A line of its own behind an operation, indented as that is."""
        _, end = span_of(operation)
        return self.change(end, end, f"\n{self._indent(operation)}{line}")

    def line_before(self, operation: Operation, line: str) -> Change:
        """A line of its own before an operation, indented as that is."""
        begin, _ = span_of(operation)
        return self.change(begin, begin, f"{line}\n{self._indent(operation)}")

    def exchanged(self, one: Operation, other: Operation) -> list[Change]:
        """Two operations, each in the place of the other."""
        first, second = span_of(one), span_of(other)
        return [self.change(*first, text_of(other)), self.change(*second, text_of(one))]

    def moved_behind(self, operation: Operation, other: Operation) -> list[Change]:
        """An operation taken out of its line, and put behind another one."""
        return [self.without(operation), self.line_behind(other, text_of(operation))]

    def moved_before(self, operation: Operation, other: Operation) -> list[Change]:
        """An operation taken out of its line, and put before another one."""
        return [self.line_before(other, text_of(operation)), self.without(operation)]

    def without(self, operation: Operation) -> Change:
        """An operation taken out of its line."""
        begin, end = span_of(operation)
        content = self._text.content
        start = content.rfind("\n", 0, begin) + 1
        if not content[start:begin].strip() and content[end : end + 1] == "\n":
            begin, end = start, end + 1
        return self.change(begin, end, "")

    def _indent(self, operation: Operation) -> str:
        begin, _ = span_of(operation)
        content = self._text.content
        start = content.rfind("\n", 0, begin) + 1
        line = content[start:begin]
        return line[: len(line) - len(line.lstrip())]


def applied(text: Text, changes: Sequence[Change]) -> str:
    """The content of a text with changes.

    Raises:
        InputFileError: what is to go is not there.
    """
    return _applied(text.content, changes, text.name)


def applied_to_file(content: str, text: Text, changes: Sequence[Change]) -> str:
    """The content of a file with changes of the text that was read from it.

    Args:
        content: of the file: the text, behind lines of a log, its lines ended as the file has it.
        text: that was read from it.
        changes: of the text.

    Raises:
        InputFileError: the file has another text now.
    """
    windows = "\r\n" in content
    plain = content.replace("\r\n", "\n")
    log = len(plain) - len(text.content)
    begin = log + text.skipped
    same = begin >= 0 and plain[begin:] == text.content[text.skipped :] and (text.skipped or not log)
    if not same or (windows and plain.count("\n") != content.count("\r\n")):
        raise InputFileError(f"{text.name}: the file has changed since it was read. Check it again.")
    shift = [
        Change(each.file, each.line, each.column, each.old, each.new, each.offset + log) for each in changes
    ]
    made = _applied(plain, shift, text.name)
    return made.replace("\n", "\r\n") if windows else made


def _applied(content: str, changes: Sequence[Change], name: str) -> str:
    """Changes from the last to the first, so that places stay right."""
    for each in _from_the_last(changes):
        if content[each.offset : each.offset + len(each.old)] != each.old:
            raise InputFileError(f"{name}: line {each.line} has changed since it was read. Check it again.")
        content = content[: each.offset] + each.new + content[each.offset + len(each.old) :]
    return content


def _from_the_last(changes: Sequence[Change]) -> Iterator[Change]:
    order = sorted(range(len(changes)), key=lambda n: (changes[n].offset, n))
    return (changes[n] for n in reversed(order))
