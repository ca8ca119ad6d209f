"""A number of a host on its way through the text of a core or a host sequence, to what depends on it.

A value that is the number times a constant plus another one, and that is only compared by order, bounds a
loop, or is the length of a transfer, asks one question: whether a count has reached the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from memtile.importers.mlir.forms.operands import OperationForm, constant
from memtile.importers.mlir.sequence.runtime_values import carried
from memtile.importers.mlir.tree import Operation

_BD = "aie.dma_bd"
_TRANSFERS = (_BD, "aiex.npu.dma_memcpy_nd")
WRITE = "aiex.npu.rtp_write"
_WIDENING = ("arith.index_cast", "arith.extsi")
_ORDERS = ("slt", "sle", "sgt", "sge")
_ACTS = ("aie.use_lock", "aie.objectfifo.acquire", "aie.objectfifo.release", "aie.put", "aie.get", "aiex.")
"""What is seen from outside: how often it is done shows in a run."""
MOST = (1 << 31) - 1

Linear = tuple[int, int]
"""Factor and addend of a value that is a number of the host, times, plus."""


@dataclass(slots=True)
class Uses:
    """What a text does with a number.

    Attributes:
        decides: how often something is done depends on it.
        ordered: all that is asked is whether a count has reached it, and each answer shows in a run.
        high: the greatest value of which all that is computed fits into 32 bits.
        open_from: least value from which on each loop that it bounds turns at least once; None = it is
            compared otherwise, too.
        stride: so much more of it is at least one turn or one word more.
        written: operations of a host sequence that bring it on to buffers of cores.
    """

    decides: bool = False
    ordered: bool = True
    high: int = MOST
    open_from: int | None = -MOST - 1
    stride: int = 1
    written: list[Operation] = field(default_factory=list)

    def take(self, other: Uses) -> None:
        """Take in what another part of the text does with it."""
        self.decides |= other.decides
        self.ordered &= other.ordered
        self.high = min(self.high, other.high)
        known = self.open_from is not None and other.open_from is not None
        self.open_from = max(self.open_from or 0, other.open_from or 0) if known else None
        self.stride = max(self.stride, other.stride)

    def loop(self, linear: Linear, low: object, step: object) -> None:
        """Take in a loop that it bounds."""
        scale, shift = linear
        if not isinstance(low, int) or not isinstance(step, int) or self.open_from is None:
            self.open_from = None
            return
        self.open_from = max(self.open_from, (low - shift) // scale + 1)
        self.stride = max(self.stride, -(-step // scale))


_COMPARED = (0, 0)  # of a value that says whether a count has reached the number


class Flow:
    """Follows values through the text of a core or of a host sequence."""

    def __init__(self, root: Operation, seeds: Mapping[str, Linear]) -> None:
        self.uses, self._root = Uses(), root
        self.known: dict[str, Linear | None] = dict(seeds)  # None = computed from it in another way

    def follow(self) -> Uses:
        """All uses of the values."""
        before = -1
        while len(self.known) > before:
            before = len(self.known)
            for operation in self._root.walk():
                used = [word for word in operation.words if word in self.known]
                if used and operation is not self._root:
                    self._use(operation, used)
        return self.uses

    def _use(self, operation: Operation, used: Sequence[str]) -> None:
        name = operation.name
        handler = self._HANDLERS.get(name)
        if handler is not None:
            handler(self, operation, used)
        elif name.startswith("arith."):
            self._compute(operation, used)
        elif name.startswith(("aie.", "aiex.", "cf.", "scf.")):
            self.uses.decides = True
            self.uses.ordered &= name in _TRANSFERS and self._is_length(operation, used)
            for result in operation.results:
                self._unclear(result)
        else:  # calls, stores: what they write may depend on it
            self.uses.ordered = False
            for word in (*operation.results, *(each for each in operation.words if each[:1] == "%")):
                self._unclear(word)

    def _unclear(self, name: str) -> None:
        self.known.setdefault(name, None)

    def _hand_on(self, operation: Operation, _used: Sequence[str]) -> None:
        """``scf.yield %x``."""
        around = operation.parent.region.operation if operation.parent else None
        if around is None:
            return
        names = [name for name, _ in carried(around.words)] if around.name == "scf.for" else []
        for name in (*around.results, *names):
            self._unclear(name)

    def _write(self, operation: Operation, _used: Sequence[str]) -> None:
        if operation not in self.uses.written:
            self.uses.written.append(operation)

    def _is_length(self, operation: Operation, used: Sequence[str]) -> bool:
        """Whether values only say how long a transfer is: as its length, and as its outermost size.

        A channel asks of it then whether the words that it has moved are as many.
        """
        form, words = OperationForm(operation), operation.words
        if form.generic or any(self.known[word] in (None, _COMPARED) for word in used):
            return False
        lists = _lists(words)
        sizes = lists[operation.name != _BD] if len(lists) > 1 else []
        ones = ("1", *(text for text in sizes if constant(operation, text) == 1))
        outermost = next((text for text in sizes if text not in ones), "")
        length = words[words.index("len") + 2] if "len" in words[:-2] else ""
        return len(used) == (outermost in used) + (length in used)

    def _loop(self, operation: Operation, used: Sequence[str]) -> None:
        form = OperationForm(operation)
        low, high, step = (form.after(word) for word in ("=", "to", "step"))
        bounds = [value for value in (low, high, step) if value in self.known]
        if bounds:
            self.uses.decides = True
            linear = self.known[high] if bounds == [high] else None
            shown = linear is not None and linear != _COMPARED and _acts(operation)
            self.uses.ordered &= shown
            if shown and linear is not None:
                self.uses.loop(linear, constant(operation, low), constant(operation, step))
            if low in self.known or step in self.known:
                self._unclear(operation.words[0])
        for name, initial in carried(operation.words):
            if initial in used:
                self._unclear(name)
                for result in operation.results:
                    self._unclear(result)

    def _branch(self, operation: Operation, used: Sequence[str]) -> None:
        """``scf.if %c`` and ``scf.condition(%c) %x``."""
        first = next(word for word in operation.words if word[:1] == "%")
        around = operation
        if first in used:
            self.uses.open_from = None
        if operation.name == "scf.condition" and operation.parent is not None:
            around = operation.parent.region.operation or operation
        if first in used:
            self.uses.decides = True
            self.uses.ordered &= self.known[first] == _COMPARED and _acts(around)
        if any(word != first for word in used):
            for result in around.results:
                self._unclear(result)
            for region in around.regions:
                for block in region.blocks:
                    for argument, _ in block.arguments:
                        self._unclear(argument)

    def _compare(self, operation: Operation, used: Sequence[str]) -> None:
        form = OperationForm(operation)
        predicate = str(form.attributes.get("predicate", operation.words[0])).strip('"')
        linear = self.known[used[0]]
        plain = len(set(used)) == 1 and linear is not None and linear != _COMPARED
        self.known.setdefault(operation.results[0], _COMPARED if plain and predicate in _ORDERS else None)

    def _compute(self, operation: Operation, used: Sequence[str]) -> None:
        result = operation.results[0]
        linear = self.known[used[0]]
        values = [word for word in operation.words if word[:1] == "%"]
        others = [constant(operation, word) for word in values if word not in self.known]
        known = linear is not None and linear != _COMPARED and len(used) == 1
        found: Linear | None = None
        if known and linear is not None and _keeps(operation):
            found = linear
        elif known and linear is not None and len(others) == 1 and isinstance(others[0], int):
            found = _with_constant(operation.name, linear, others[0], first=values[0] in self.known)
        if found is not None:
            scale, shift = found
            self.uses.high = min(self.uses.high, (MOST - abs(shift)) // scale)
        self.known.setdefault(result, found)

    _HANDLERS: ClassVar[Mapping[str, Callable[[Flow, Operation, Sequence[str]], None]]] = {
        "scf.for": _loop,
        "scf.if": _branch,
        "scf.condition": _branch,
        "scf.yield": _hand_on,
        "arith.cmpi": _compare,
        WRITE: _write,
    }


def _keeps(operation: Operation) -> bool:
    """Whether an operation hands a number of 32 bits on as it is."""
    wide = operation.name == "arith.trunci" and operation.words[-1] in ("i32", "si32", "i64")
    return operation.name in _WIDENING or wide


def _lists(words: Sequence[str]) -> list[list[str]]:
    """The items of each list in square brackets."""
    found: list[list[str]] = []
    inside = False
    for word in words:
        if word in "[]":
            inside = word == "["
            found += [[]] if inside else []
        elif inside and word != ",":
            found[-1].append(word)
    return found


def _with_constant(name: str, linear: Linear, other: int, *, first: bool) -> Linear | None:
    """A value plus, minus or times a constant, if it grows with the number."""
    scale, shift = linear
    if name == "arith.addi":
        return scale, shift + other
    if name == "arith.subi" and first:
        return scale, shift - other
    if name == "arith.muli" and other > 0:
        return scale * other, shift * other
    return None


def _acts(operation: Operation) -> bool:
    """Whether how often the regions of an operation are done shows in a run."""
    inside = (
        each.name
        for region in operation.regions
        for block in region.blocks
        for each in _all(block.operations)
    )
    return any(name.startswith(_ACTS) for name in inside)


def _all(operations: Sequence[Operation]) -> Iterator[Operation]:
    for each in operations:
        yield from each.walk()
