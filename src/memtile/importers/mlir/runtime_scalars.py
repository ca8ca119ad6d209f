"""Numbers that a host brings to a design of MLIR and that decide how often something is done.

They are arguments of the host sequence, words that it writes into buffers of cores, and parameters of the
scratchpad. A number that only functions get decides nothing here, as functions take no locks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from memtile.errors import MemtileError
from memtile.explain.conditions import Scalar
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.repairs.text_edits import TextEdits, applied
from memtile.importers.mlir.scalar_flow import MOST, WRITE, Flow, Uses
from memtile.importers.mlir.scratchpad import READ
from memtile.importers.mlir.sequence.program import SequenceProgram, is_scalar
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.tree import Operation

_NEW = "%memtile_scalar"
_WHOLE = re.compile(r"[su]?i[0-9]+|index")
_WIDE = 64  # bits of an index


@dataclass(frozen=True, slots=True)
class RuntimeScalar:
    """A number that a host brings, and how a design gets another value of it.

    Attributes:
        scalar: name, place and range.
        argument: position of the argument that it is; None = it is none.
        parameter: name of the parameter that it is; empty = it is none.
        write: the operation that writes it.
    """

    scalar: Scalar
    argument: int | None = None
    parameter: str = ""
    write: Operation | None = None

    def written(self, text: Text, value: int) -> Text:
        """The text in which the host writes another value."""
        assert self.write is not None
        found, (at, _) = self.write, _value_span(self.write)
        edits, word = TextEdits(found.tokens), found.tokens.words[at]
        if word[:1] != "%":
            changes = [edits.token(at, str(value))]
        else:
            line = f"{_NEW} = arith.constant {value} : i32"
            changes = [edits.line_before(found, line), edits.token(at, _NEW)]
        content = applied(text, changes)
        return Text(text.name, content, text.skipped)


def runtime_scalars(
    made: Configured, sequence: SequenceProgram | None, given: Mapping[str, float], scalars: Mapping[int, int]
) -> list[RuntimeScalar]:
    """The numbers that decide how often something is done, in the order of the text.

    Args:
        made: the device.
        sequence: its host sequence.
        given: values of parameters, and of arguments by name.
        scalars: values of arguments, by position.
    """
    if sequence is None:
        return []
    cores = _Cores(made)
    return [
        *_arguments(cores, sequence, given, scalars),
        *_writes(cores, sequence.operation),
        *_parameters(cores, made, given),
    ]


class _Cores:
    """The cores of a device, and what they do with words that they load."""

    def __init__(self, made: Configured) -> None:
        self._made = made
        self._cores = [each for each in made.device.operation.walk() if each.name == "aie.core"]

    def loads(self, buffer: str) -> Uses:
        """What cores do with the words of a buffer, by its name."""
        values = {value for value, each in self._made.device.buffers.items() if each.name == buffer}
        return self._of(lambda each: each.name == "memref.load" and not values.isdisjoint(each.words))

    def reads(self, parameter: str) -> Uses:
        """What cores do with a parameter."""
        return self._of(lambda each: each.name == READ and f"@{parameter}" in each.words)

    def _of(self, is_source: Callable[[Operation], bool]) -> Uses:
        found = Uses()
        for core in self._cores:
            seeds = {each.results[0]: (1, 0) for each in core.walk() if is_source(each)}
            if seeds:
                found.take(Flow(core, seeds).follow())
        return found


def _arguments(
    cores: _Cores, sequence: SequenceProgram, given: Mapping[str, float], scalars: Mapping[int, int]
) -> Iterator[RuntimeScalar]:
    names = [name for name, _ in OperationForm(sequence.operation).regions[0].blocks[0].arguments]
    for position, kind in enumerate(sequence.arguments):
        if not is_scalar(kind) or not _WHOLE.fullmatch(kind.element):
            continue
        name = names[position]
        uses = Flow(sequence.operation, {name: (1, 0)}).follow()
        for write in uses.written:
            uses.take(cores.loads(_buffer(write)))
        if uses.decides:
            value = scalars.get(position, dict(given).get(name[1:]))
            low, high = _range(kind.element, uses.high)
            number = None if value is None else int(value)
            place = _place(sequence.operation)
            scalar = Scalar(name, place, low, high, number, uses.ordered, uses.open_from, uses.stride)
            yield RuntimeScalar(scalar, argument=position)


def _range(element: str, most: int) -> tuple[int, int]:
    """The least and the greatest value of a type that are asked for."""
    width = int(element.lstrip("sui")) if element != "index" else _WIDE
    if width == 1:
        return 0, 1
    high = min(most, (1 << width - 1) - 1)
    return (0 if element.startswith("u") else -high), high


def _writes(cores: _Cores, sequence: Operation) -> Iterator[RuntimeScalar]:
    """Words that the sequence writes into buffers, of which cores load their bounds."""
    for write in sequence.walk():
        if write.name != WRITE:
            continue
        try:
            at, index = _value_span(write)
        except MemtileError:
            continue
        word = write.tokens.words[at]
        value = constant(write, word) if word[:1] == "%" else int(word)
        uses = cores.loads(_buffer(write))
        if isinstance(value, int) and uses.decides:
            name = f"{_buffer(write)}[{index}]"
            scalar = Scalar(
                name, _place(write), -uses.high, uses.high, value,
                uses.ordered, uses.open_from, uses.stride, far=True,
            )  # fmt: skip
            yield RuntimeScalar(scalar, write=write)


def _parameters(cores: _Cores, made: Configured, given: Mapping[str, float]) -> Iterator[RuntimeScalar]:
    for name, each in made.device.parameters.items():
        uses = cores.reads(name)
        value = dict(given).get(name)
        if each.kind == "i32" and uses.decides:
            number = None if value is None else int(value)
            place = _place(made.device.operation)
            high = min(uses.high, MOST >> 2)
            scalar = Scalar(
                f"@{name}", place, 0, high, number, uses.ordered, uses.open_from, uses.stride, far=True
            )
            yield RuntimeScalar(scalar, parameter=name)


def _buffer(write: Operation) -> str:
    form = OperationForm(write)
    return str(form.attributes.get("buffer") or form.texts()[0][1:]).strip('"')


def _value_span(write: Operation) -> tuple[int, str]:
    """The token that is the value of a write, and the index, as text."""
    form = OperationForm(write)
    if form.generic:
        values = [
            at for first, end in write.spans for at in range(first, end) if write.tokens.words[at][:1] == "%"
        ]
        return values[-1], str(form.attributes.get("index", ""))
    items = form.items()
    index = form.text(items[1])
    span = items[2]
    return span.first, index


def _place(operation: Operation) -> str:
    tokens = operation.tokens
    return tokens.text.where(tokens.offset(operation.at))
