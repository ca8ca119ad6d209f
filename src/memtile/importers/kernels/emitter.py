"""What handlers of operations see of the translation that they are part of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from memtile.importers.kernels.expressions import bits_of
from memtile.importers.kernels.quote import Lines, Node, expr
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.tree import Operation, OperationBlock


class VectorModes(NamedTuple):
    """How the vector unit of a core rounds and saturates, by its control registers.

    Attributes:
        rounding: ``crRnd``.
        saturates: ``crSat``; without it a result keeps its lowest bits.
        casts: ``crRnd`` where numbers of f32 become bf16: that of ``rounding``, or of the functions of the
            library that the core calls to set another one; None where it calls for several.
    """

    rounding: int
    saturates: bool
    casts: int | None


class Emitter(Protocol):
    """What handlers need of the translation of a function."""

    lines: Lines
    types: dict[str, str]

    @property
    def is_host(self) -> bool:
        """Whether it writes the generator, which nobody compiles."""

    @property
    def modes(self) -> VectorModes:
        """How the vector unit of the core rounds and saturates."""

    def use(self, value: str) -> Node:
        """The node of a value: its name, or the number that it is."""

    def define(self, value: str, kind: str) -> Node:
        """The Python name of a new value."""

    def known(self, value: str, kind: str, number: int) -> None:
        """Let a value be a number wherever it is used."""

    def block(self, block: OperationBlock) -> None:
        """Emit the operations of a block."""

    def loop_cost(self) -> None:
        """Book what a turn of a loop costs beside its operations."""

    def check_end(self, operation: Operation) -> None:
        """At the end of a turn of a loop, see that it does not turn for ever."""

    def constant_array(self, name: str, form: OperationForm) -> tuple[Node, str]:
        """The Python name of the array that a constant of the module is, and its type."""

    def parameter(self, form: OperationForm) -> tuple[Node, str]:
        """The buffer that an operation reads a parameter of the scratchpad from, and the parameter's type."""


Handler = Callable[[Emitter, OperationForm], None]


def last_kind(form: OperationForm) -> str:
    """The last type that the operation names, without blanks."""
    tokens, found = form.operation.tokens, ""
    for first, end in form.operation.spans:
        at = first
        while at < end:
            if tokens.words[at] in (":", "->", "to", "into"):
                single = tokens.close.get(at + 2, at + 1) if tokens.words[at + 2] == "<" else at + 1
                found = tokens.join(at + 1, min(tokens.close.get(at + 1, single) + 1, end))
            at = tokens.close.get(at, at) + 1
    return found.strip("()")


def type_names(form: OperationForm) -> list[str]:
    """The types behind the last colon at the top of an operation, in order, without blanks."""
    tokens, begin, stop = form.operation.tokens, -1, -1
    for first, end in form.operation.spans:
        at = first
        while at < end:
            if tokens.words[at] == ":":
                begin, stop = at + 1, end
            at = tokens.close.get(at, at) + 1
    return [] if begin < 0 else types_between(form, begin, stop)


def types_between(form: OperationForm, at: int, end: int) -> list[str]:
    """The types between two places of an operation, in order, without blanks."""
    tokens, found = form.operation.tokens, list[str]()
    while at < end:
        word = tokens.words[at]
        if word == "(" and at in tokens.close:
            found += types_between(form, at + 1, tokens.close[at])
            at = tokens.close[at] + 1
        elif word in (",", "->", "to", "into", "from"):
            at += 1
        else:
            last = tokens.close.get(at + 1, at) if tokens.words[at + 1] == "<" else at
            found.append(tokens.join(at, last + 1))
            at = last + 1
    return found


def items_of(given: Any) -> list[Any]:
    """The values of an attribute that is a list, or an array; none if it is not there."""
    return list(getattr(given, "listed", given) or ())


def loaded(node: Node, element: str) -> Node:
    """The number that an element of memory is."""
    if element == "bf16":
        return expr("from_bf16(_node)", _node=node)
    return expr("whole(_node)", _node=node) if bits_of(element) is not None else node


def stored(node: Node, element: str) -> Node:
    """A number as an element of memory has it."""
    return expr("to_bf16(_node)", _node=node) if element == "bf16" else node
