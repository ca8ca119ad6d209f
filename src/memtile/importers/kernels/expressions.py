"""One Python expression for each operation on numbers: by its name, and by the types of its operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_INTEGER = re.compile(r"[su]?i(\d+)")
_WIDTHS = (8, 16, 32, 64)
INDEX = "index"

SITE = "@site"
"""In an expression, the number of its operation."""
Rule = Callable[[Sequence[str], str, str], str]
"""From operands, the type of the first one and the type of the result to an expression."""


def bits_of(kind: str) -> int | None:
    """Bits of an integer type; an index is as wide as the core's widest, and never wraps here."""
    if kind == INDEX:
        return 64
    found = _INTEGER.fullmatch(kind)
    return int(found[1]) if found else None


def wrapped(text: str, kind: str) -> str:
    """An integer expression, wrapped to its type; other types are rounded."""
    bits = bits_of(kind)
    if kind in (INDEX, "i64"):
        return f"({text})"
    if bits == 1:
        return f"(({text}) & 1)"
    if bits is not None and bits > _WIDTHS[-1]:
        half, mask = 1 << (bits - 1), (1 << bits) - 1
        return f"((({text}) + {half} & {mask}) - {half})"
    if bits is not None:
        width = next(width for width in _WIDTHS if width >= bits)
        return f"w{width}({text})"
    return rounded(text, kind)


def rounded(text: str, kind: str) -> str:
    """A floating-point expression, rounded to its type."""
    return {"bf16": f"bf16({text})", "f32": f"f32({text})"}.get(kind, f"({text})")


def unsigned(text: str, kind: str) -> str:
    """The unsigned value of an integer."""
    bits = bits_of(kind)
    if kind == INDEX or bits is None:
        return text
    if bits > _WIDTHS[-1]:
        return f"({text} & {(1 << bits) - 1})"
    return f"({text} & 1)" if bits == 1 else f"u{bits}({text})"


def _binary(operator: str) -> Rule:
    return lambda given, _, kind: wrapped(f"{given[0]} {operator} {given[1]}", kind)


def _call(function: str) -> Rule:
    return lambda given, _, kind: wrapped(f"{function}({', '.join(given)})", kind)


def _division(function: str, *, unsigned_: bool = False) -> Rule:
    def rule(given: Sequence[str], first: str, kind: str) -> str:
        one, other = (unsigned(value, first) for value in given) if unsigned_ else given
        return wrapped(f"{function}({one}, {other}, {SITE})", kind)

    return rule


def _shift(count: str, kind: str) -> str:
    return f"shift({count}, {bits_of(kind) or _WIDTHS[-1]}, {SITE})"


def _unsigned_call(function: str) -> Rule:
    def rule(given: Sequence[str], first: str, _kind: str) -> str:
        one, other = (unsigned(value, first) for value in given)
        return f"({given[0]} if {function}({one}, {other}) == {one} else {given[1]})"

    return rule


def _math(function: str) -> Rule:
    return lambda given, _, kind: rounded(f"{function}({given[0]})", kind)


def _to_integer(given: Sequence[str], _first: str, kind: str) -> str:
    return wrapped(f"truncated({given[0]}, {SITE})", kind)


def _same(given: Sequence[str], _first: str, _kind: str) -> str:
    return given[0]


def _narrow(given: Sequence[str], _first: str, kind: str) -> str:
    return wrapped(given[0], kind)


def _extend_unsigned(given: Sequence[str], first: str, _kind: str) -> str:
    return unsigned(given[0], first)


def _extend_signed(given: Sequence[str], first: str, _kind: str) -> str:
    return f"(-{given[0]})" if bits_of(first) == 1 else given[0]


def _bits(given: Sequence[str], first: str, kind: str) -> str:
    """The same bits as another type of as many bits."""
    bits = {"bf16": "to_bf16", "f32": "from_f32"}
    word = f"{bits[first]}({given[0]})" if first in bits else given[0]
    back = {"bf16": "from_bf16", "f32": "to_f32"}
    return f"{back[kind]}({word})" if kind in back else wrapped(word, kind)


RULES: Mapping[str, Rule] = {
    "arith.addi": _binary("+"),
    "arith.subi": _binary("-"),
    "arith.muli": _binary("*"),
    "arith.divsi": _division("divide"),
    "arith.remsi": _division("remainder"),
    "arith.floordivsi": _division("floored"),
    "arith.ceildivsi": lambda given, _, kind: wrapped(f"-floored(-{given[0]}, {given[1]}, {SITE})", kind),
    "arith.divui": _division("floored", unsigned_=True),
    "arith.remui": _division("left_over", unsigned_=True),
    "arith.andi": _binary("&"),
    "arith.ori": _binary("|"),
    "arith.xori": _binary("^"),
    "arith.shli": lambda given, first, kind: wrapped(f"{given[0]} << {_shift(given[1], first)}", kind),
    "arith.shrsi": lambda given, first, kind: wrapped(f"{given[0]} >> {_shift(given[1], first)}", kind),
    "arith.shrui": lambda given, first, kind: wrapped(
        f"{unsigned(given[0], first)} >> {_shift(given[1], first)}", kind
    ),
    "arith.maxsi": _call("largest"),
    "arith.minsi": _call("least"),
    "arith.maxui": _unsigned_call("largest"),
    "arith.minui": _unsigned_call("least"),
    "arith.addf": _binary("+"),
    "arith.subf": _binary("-"),
    "arith.mulf": _binary("*"),
    "arith.divf": _binary("/"),
    "arith.negf": lambda given, _, kind: rounded(f"-{given[0]}", kind),
    "arith.maximumf": _call("largest"),
    "arith.minimumf": _call("least"),
    "arith.maxnumf": _call("largest"),
    "arith.minnumf": _call("least"),
    "arith.select": lambda given, _, __: f"({given[1]} if {given[0]} else {given[2]})",
    "arith.bitcast": _bits,
    "arith.trunci": _narrow,
    "arith.extsi": _extend_signed,
    "arith.extui": _extend_unsigned,
    "arith.index_cast": _narrow,
    "arith.index_castui": _extend_unsigned,
    "arith.extf": _narrow,
    "arith.truncf": _narrow,
    "arith.sitofp": lambda given, _, kind: rounded(f"float({given[0]})", kind),
    "arith.uitofp": lambda given, first, kind: rounded(f"float({unsigned(given[0], first)})", kind),
    "arith.fptosi": _to_integer,
    "arith.fptoui": _to_integer,
    "math.absi": _call("abs"),
    "math.absf": _math("abs"),
    "math.exp": _math("math.exp"),
    "math.tanh": _math("math.tanh"),
    "math.sqrt": _math("math.sqrt"),
    "math.rsqrt": lambda given, _, kind: rounded(f"1.0 / math.sqrt({given[0]})", kind),
    "math.log": _math("math.log"),
    "math.fma": lambda given, _, kind: rounded(f"{given[0]} * {given[1]} + {given[2]}", kind),
    "index.add": _binary("+"),
    "index.sub": _binary("-"),
    "index.mul": _binary("*"),
    "builtin.unrealized_conversion_cast": _same,
}

_SIGNED = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
_UNSIGNED = {"ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
_ORDER = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")  # numbers in generic form
_FLOATS = {
    "oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "one": "!=",
    "ueq": "==", "ugt": ">", "uge": ">=", "ult": "<", "ule": "<=", "une": "!=",
}  # fmt: skip
_FLOAT_ORDER = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def compared(predicate: str | int, given: Sequence[str], kind: str, *, floats: bool) -> str | None:
    """The expression of a comparison, 0 or 1; None if the predicate is not known."""
    if isinstance(predicate, int):
        order = _FLOAT_ORDER if floats else _ORDER
        predicate = order[predicate] if 0 <= predicate < len(order) else ""
    one, other = given
    if floats:
        return f"(1 if {one} {_FLOATS[predicate]} {other} else 0)" if predicate in _FLOATS else None
    if predicate in _UNSIGNED:
        one, other = unsigned(one, kind), unsigned(other, kind)
        return f"(1 if {one} {_UNSIGNED[predicate]} {other} else 0)"
    return f"(1 if {one} {_SIGNED[predicate]} {other} else 0)" if predicate in _SIGNED else None
