"""Which types an operation writes down for the values that it uses and gives.

The generic form has them all at its end. Of the pretty forms ``known_operations`` says which shape they
have, behind ``types``:

- ``same``: ``T`` of all operands and of the result, or ``T to U``, ``T -> U``, ``T into U``;
- ``result``: ``T`` of the result; ``index``: operands and results without types are of type index;
- ``load``, ``store``: memory, whose elements are the result or the first operand;
- ``listed``: ``T, U`` of the operands in order; ``inline``: behind the operands, in brackets;
- ``call``: ``(T) -> U``; ``compare``, ``choice``, ``loop``, ``test``: of operations of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtile.importers.mlir.known_operations import operations
from memtile.importers.mlir.token_packets import Tokens
from memtile.importers.mlir.tree import Operation, OperationBlock
from memtile.importers.mlir.types import shaped

_SEPARATORS = ("to", "into", "->")
_FIFO = "!aie.objectfifosubview<"


class Use(NamedTuple):
    """A value that an operation uses.

    Attributes:
        value: its name.
        kind: type that the operation says it has.
        at: place of the name among the tokens.
    """

    value: str
    kind: str
    at: int


class Types(NamedTuple):
    """What an operation says of types.

    Attributes:
        operands: of its first operands, in order; empty where it says nothing.
        results: of its results, in order; empty if that is not known.
    """

    operands: Sequence[str]
    results: Sequence[str]


_NOTHING = Types((), ())


def operands_of(operation: Operation) -> list[tuple[str, int]]:
    """The values that an operation uses, in order, and where; not those that it defines for its regions."""
    words, own = operation.tokens.words, {name for region in operation.regions for name in region.values}
    return [
        (words[at], at)
        for first, end in operation.spans
        for at in range(first, end)
        if words[at][0] == "%" and words[at] not in own
    ]


def uses(operation: Operation, operands: Sequence[tuple[str, int]]) -> Iterator[Use]:
    """Those of the operands of an operation whose types it says."""
    if _shape(operation) == "inline":
        yield from _inline(operation)
        return
    for (value, at), kind in zip(operands, types_of(operation).operands, strict=False):
        if kind:
            yield Use(value, kind, at)


def definition_type(by: Operation | OperationBlock, name: str) -> str:
    """Type of a value that an operation or a block defines; empty if that is not known."""
    if isinstance(by, OperationBlock):
        kind = next((kind for argument, kind in by.arguments if argument == name), "")
        owner = by.region.operation
        return kind or ("" if owner is None else _induction(owner, name))
    kinds = types_of(by).results
    names = by.results[1:] if len(by.results) > 1 and "#" in by.results[-1] else by.results
    places = dict(zip(names, kinds, strict=False))
    return places.get(name, "") if name in places else (kinds[0] if len(kinds) == 1 else "")


def result_count(operation: Operation) -> int | None:
    """How many results an operation in generic form has; None if the text does not say it."""
    return len(types_of(operation).results) if _is_generic(operation) and _trailing(operation)[1] else None


def same_type(tokens: Tokens, one: str, other: str) -> bool:
    """Whether two types are one: shape and element of memory, the text of all others."""
    one, other = (_plain(tokens, kind) for kind in (one, other))
    if one == other:
        return True
    first, second = shaped(one), shaped(other)
    if first is None or second is None or not one.startswith("memref") or not other.startswith("memref"):
        return False
    return first.shape == second.shape and first.element == second.element


def _plain(tokens: Tokens, kind: str) -> str:
    """A type without alias, the memory of an object FIFO's subview as itself."""
    if kind[:1] == "!" and "." not in kind and kind in tokens.words:
        at = tokens.words.index(kind)
        if tokens.words[at + 1] == "=":
            kind = _type(tokens, at + 2)[0]
    return kind.removeprefix(_FIFO).removesuffix(">") if kind.startswith(_FIFO) else kind


def signature(function: Operation) -> list[str]:
    """Types of the arguments of a function in pretty form."""
    tokens = function.tokens
    opening = next(
        (at for first, end in function.spans for at in range(first, end) if tokens.words[at] == "("), -1
    )
    found, at = list[str](), opening + 1
    while at < tokens.close.get(opening, 0):
        at += 2 if tokens.words[at][0] == "%" else 0
        found.append(_type(tokens, at)[0])
        while at < tokens.close[opening] and tokens.words[at] != ",":
            at = tokens.close.get(at, at) + 1
        at += 1
    return found


def _is_generic(operation: Operation) -> bool:
    return operation.tokens.words[operation.at][:1] == '"'


def _shape(operation: Operation) -> str:
    if _is_generic(operation):
        return "call"
    known = operations().get(operation.name)
    return known.types if known is not None else ""


def types_of(operation: Operation) -> Types:
    """What an operation says of the types of its values."""
    rule = _RULES.get(_shape(operation))
    return _NOTHING if rule is None else rule(operation)


def _type(tokens: Tokens, at: int) -> tuple[str, int]:
    """The type that begins at a token, and where it ends."""
    end = at + 1
    if tokens.words[end] == "<" and end in tokens.close:
        end = tokens.close[end] + 1
    return tokens.join(at, end), end


def _types(tokens: Tokens, at: int, end: int) -> tuple[list[str], int]:
    """Types in parentheses, or separated by commas."""
    found = list[str]()
    if tokens.words[at] == "(":
        inner = at + 1
        while inner < tokens.close[at]:
            kind, inner = _type(tokens, inner)
            while inner < tokens.close[at] and tokens.words[inner] != ",":  # a function's, which no value has
                inner = tokens.close.get(inner, inner) + 1
            found.append(kind)
            inner += 1
        return found, tokens.close[at] + 1
    while at < end:
        kind, at = _type(tokens, at)
        found.append(kind)
        if tokens.words[at] != ",":
            break
        at += 1
    return found, at


def _trailing(operation: Operation) -> tuple[list[str], str, list[str]]:
    """Types behind the last colon that is in no bracket, a separator, and those behind it."""
    tokens, place = operation.tokens, (0, 0)
    for first, end in operation.spans:
        at = first
        while at < end:
            if tokens.words[at] == ":":
                place = (at + 1, end)
            at = tokens.close.get(at, at) + 1
    if not place[1] or place[0] >= place[1]:
        return [], "", []
    left, at = _types(tokens, *place)
    separator = tokens.words[at] if at < place[1] else ""
    right = _types(tokens, at + 1, place[1])[0] if separator in _SEPARATORS else []
    return left, separator if separator in _SEPARATORS else "", right


def _arrow(operation: Operation) -> list[str]:
    """Types behind an arrow that is in no bracket."""
    tokens = operation.tokens
    for first, end in operation.spans:
        at = first
        while at < end:
            if tokens.words[at] == "->":
                return _types(tokens, at + 1, end)[0]
            at = tokens.close.get(at, at) + 1
    return []


def _induction(owner: Operation, name: str) -> str:
    """Type of a value that a loop defines for its region."""
    if owner.name not in ("scf.for", "affine.for"):
        return ""
    names = [each for each, kind in owner.regions[0].blocks[0].arguments if not kind]
    kinds = [(_trailing(owner)[0] or ["index"])[0], *_arrow(owner)]
    return dict(zip(names, kinds, strict=False)).get(name, "")


def _same(operation: Operation) -> Types:
    left, separator, right = _trailing(operation)
    if separator or len(left) != 1:
        return Types(left, right or left[:1])
    return Types(left * len(operands_of(operation)), left)


def _result(operation: Operation) -> Types:
    return Types((), _trailing(operation)[0][:1])


def _index(operation: Operation) -> Types:
    return Types(["index"] * len(operands_of(operation)), ["index"])


def _load(operation: Operation) -> Types:
    memory, *more = _trailing(operation)[0] or [""]
    return Types([memory, *_indices(operation)], more or [_element(operation, memory)])


def _store(operation: Operation) -> Types:
    memory, *more = _trailing(operation)[0] or [""]
    return Types([*(more or [_element(operation, memory)]), memory, *_indices(operation)], [])


def _element(operation: Operation, memory: str) -> str:
    found = shaped(_plain(operation.tokens, memory))
    return "" if found is None else found.element


def _indices(operation: Operation) -> list[str]:
    """A type for each value in the first square brackets."""
    tokens = operation.tokens
    for first, end in operation.spans:
        for at in range(first, end):
            if tokens.words[at] == "[" and at in tokens.close:
                inside = tokens.words[at + 1 : tokens.close[at]]
                return ["index"] * sum(word[0] == "%" for word in inside)
    return []


def _listed(operation: Operation) -> Types:
    kinds = _trailing(operation)[0]
    return _NOTHING if "[" in kinds else Types(kinds, [])  # 2023: (i32, i32, memref<..>, [i32, ..])


def _call(operation: Operation) -> Types:
    left, separator, right = _trailing(operation)
    return Types(left, right if separator else [])


def _compare(operation: Operation) -> Types:
    kinds = _trailing(operation)[0][:1]
    found = shaped(kinds[0]) if kinds else None
    truth = "i1" if found is None else f"vector<{''.join(f'{size}x' for size in found.shape)}i1>"
    return Types(kinds * len(operands_of(operation)), [truth])


def _choice(operation: Operation) -> Types:
    kinds = _trailing(operation)[0]
    if not kinds:
        return _NOTHING
    return Types([kinds[0] if len(kinds) > 1 else "i1", kinds[-1], kinds[-1]], kinds[-1:])


def _loop(operation: Operation) -> Types:
    kind, carried = (_trailing(operation)[0] or ["index"])[:1], _arrow(operation)
    return Types([*kind * 3, *carried], carried)


def _test(operation: Operation) -> Types:
    return Types(["i1"], _arrow(operation))


def _inline(operation: Operation) -> Iterator[Use]:
    """Values with types behind them: ``%a : T``, ``(%a, %b : T, U)``."""
    tokens, waiting = operation.tokens, list[tuple[str, int]]()
    words = tokens.words
    for first, end in operation.spans:
        at = first
        while at < end:
            word = words[at]
            if word[0] == "%":
                waiting.append((word, at))
            elif word == ":" and waiting:
                kinds = list[str]()
                at += 1
                while True:
                    kind, at = _type(tokens, at)
                    kinds.append(kind)
                    if len(kinds) == len(waiting) or words[at] != ",":
                        break
                    at += 1
                yield from (
                    Use(value, kind, place) for (value, place), kind in zip(waiting, kinds, strict=False)
                )
                waiting = []
                continue
            elif word not in (",", "("):
                waiting = []
            at += 1


_RULES: Mapping[str, Callable[[Operation], Types]] = {
    "same": _same,
    "result": _result,
    "index": _index,
    "load": _load,
    "store": _store,
    "listed": _listed,
    "call": _call,
    "compare": _compare,
    "choice": _choice,
    "loop": _loop,
    "test": _test,
    "inline": _result,
}
