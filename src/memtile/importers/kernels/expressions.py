"""One Python expression for each operation on numbers: by its name, and by the types of its operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from memtile.importers.kernels.source import SITE

_INTEGER = re.compile(r"[su]?i(\d+)")
_WIDTHS = (8, 16, 32, 64)
INDEX = "index"

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
    if kind == INDEX:
        return f"({text})"
    if bits == 1:
        return f"(({text}) & 1)"
    if bits in _WIDTHS:
        return f"w{bits}({text})"
    if bits is not None:
        half, mask = 1 << (bits - 1), (1 << bits) - 1
        return f"(((({text}) + {half}) & {mask}) - {half})"
    return rounded(text, kind)


def rounded(text: str, kind: str) -> str:
    """A floating-point expression, rounded to its type."""
    return {"bf16": f"bf16({text})", "f32": f"f32({text})"}.get(kind, f"({text})")


def unsigned(text: str, kind: str) -> str:
    """The unsigned value of an integer."""
    bits = bits_of(kind)
    if kind == INDEX or bits is None:
        return text
    return f"u{bits}({text})" if bits in _WIDTHS else f"({text} & {(1 << bits) - 1})"


def signed(text: str, kind: str) -> str:
    """The signed value of an integer: of one bit, 0 or -1."""
    return f"(-{text})" if bits_of(kind) == 1 else text


def range_of(kind: str, *, signs: bool) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    bits = bits_of(kind) or 64
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signs else (0, (1 << bits) - 1)


def _binary(operator: str) -> Rule:
    return lambda given, _, kind: wrapped(f"{given[0]} {operator} {given[1]}", kind)


def _floats(operator: str) -> Rule:
    """In double precision, which rounded once gives what the type's own arithmetic gives."""
    return lambda given, _, kind: rounded(f"float({given[0]}) {operator} float({given[1]})", kind)


def _call(function: str) -> Rule:
    return lambda given, _, kind: wrapped(f"{function}({', '.join(given)})", kind)


def _divided(function: str, take: Callable[[str, str], str]) -> Rule:
    """A division of signed or unsigned numbers; by zero it is an error of its operation."""
    return lambda given, first, kind: wrapped(
        f"{function}({', '.join(take(value, first) for value in given)}, {SITE})", kind
    )


def _chosen_unsigned(operator: str) -> Rule:
    def rule(given: Sequence[str], first: str, _kind: str) -> str:
        one, other = (unsigned(value, first) for value in given)
        return f"({given[0]} if {one} {operator} {other} else {given[1]})"

    return rule


def _shift(operator: str, *, zeros: bool = False) -> Rule:
    """Bits moved by fewer than there are; by more it is an error of the operation."""

    def rule(given: Sequence[str], first: str, kind: str) -> str:
        count = f"shift({given[1]}, {bits_of(first) or 64}, {SITE})"
        value = unsigned(given[0], first) if zeros else given[0]
        return wrapped(f"{value} {operator} {f'type_of({value}, {count})' if zeros else count}", kind)

    return rule


def _bitwise(function: str) -> Rule:
    return lambda given, first, kind: wrapped(f"{function}({given[0]}, {bits_of(first) or 64})", kind)


def _integer(*, signs: bool) -> Rule:
    """The whole part of a float, held to what the integer type holds (DEV-BODY-1)."""

    def rule(given: Sequence[str], _first: str, kind: str) -> str:
        low, high = range_of(kind, signs=signs)
        if not signs and bits_of(kind) == 64:  # of more than 63 bits no compiled number has a sign
            return f"truncated({given[0]}, 0, {(1 << 63) - 1}, {SITE})"
        return wrapped(f"truncated({given[0]}, {low}, {high}, {SITE})", kind)

    return rule


def _same(given: Sequence[str], _first: str, _kind: str) -> str:
    return given[0]


def _narrow(given: Sequence[str], _first: str, kind: str) -> str:
    return wrapped(given[0], kind)


def _extend_unsigned(given: Sequence[str], first: str, kind: str) -> str:
    return wrapped(unsigned(given[0], first), "i64" if kind == INDEX else kind)


def _extend_signed(given: Sequence[str], first: str, kind: str) -> str:
    return wrapped(signed(given[0], first), kind) if bits_of(first) == 1 else given[0]


def _bits(given: Sequence[str], first: str, kind: str) -> str:
    """The same bits as another type of as many bits."""
    bits = {"bf16": "to_bf16", "f32": "from_f32"}
    word = f"{bits[first]}({given[0]})" if first in bits else given[0]
    back = {"bf16": "from_bf16", "f32": "to_f32"}
    return f"{back[kind]}({word})" if kind in back else wrapped(word, kind)


def _smallest(given: Sequence[str], first: str, _kind: str) -> str:
    normal = {"f64": "2.2250738585072014e-308"}.get(first, "1.1754943508222875e-38")
    return f"is_normal({given[0]}, {normal})"


_ARITHMETIC: Mapping[str, Rule] = {
    "addi": _binary("+"),
    "subi": _binary("-"),
    "muli": _binary("*"),
    "divsi": _divided("divide", signed),
    "remsi": _divided("remainder", signed),
    "floordivsi": _divided("floordiv", signed),
    "ceildivsi": _divided("ceildiv", signed),
    "divui": _divided("over", unsigned),
    "remui": _divided("left", unsigned),
    "ceildivui": _divided("over_up", unsigned),
    "andi": _binary("&"),
    "ori": _binary("|"),
    "xori": _binary("^"),
    "shli": _shift("<<"),
    "shrsi": _shift(">>"),
    "shrui": _shift(">>", zeros=True),
    "maxsi": _call("largest"),
    "minsi": _call("least"),
    "maxui": _chosen_unsigned(">="),
    "minui": _chosen_unsigned("<="),
    "addf": _floats("+"),
    "subf": _floats("-"),
    "mulf": _floats("*"),
    "divf": _call("fdivide"),
    "remf": _call("fremainder"),
    "negf": lambda given, _, kind: rounded(f"-{given[0]}", kind),
    "maximumf": _call("fmaximum"),
    "minimumf": _call("fminimum"),
    "maxnumf": _call("fmaxnum"),
    "minnumf": _call("fminnum"),
    "maxf": _call("fmaximum"),  # until 2023
    "minf": _call("fminimum"),
    "select": lambda given, _, __: f"({given[1]} if {given[0]} else {given[2]})",
    "bitcast": _bits,
    "trunci": _narrow,
    "extsi": _extend_signed,
    "extui": _extend_unsigned,
    "index_cast": _extend_signed,
    "index_castui": _extend_unsigned,
    "extf": _narrow,
    "truncf": _narrow,
    "sitofp": lambda given, first, kind: rounded(f"float({signed(given[0], first)})", kind),
    "uitofp": lambda given, first, kind: rounded(f"float({unsigned(given[0], first)})", kind),
    "fptosi": _integer(signs=True),
    "fptoui": _integer(signs=False),
}
_MATH_CALLS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "powf",
    "copysign",
    "floor",
    "ceil",
    "trunc",
    "roundeven",
    "erf",
    "fma",
]
_MATH: Mapping[str, Rule] = {
    **{name: _call(name) for name in _MATH_CALLS},
    "round": _call("round_away"),
    "absi": _call("abs"),
    "absf": _call("abs"),
    "erfc": lambda given, _, kind: rounded(f"1.0 - erf({given[0]})", kind),
    "clampf": lambda given, _, kind: rounded(f"fminimum(fmaximum({given[0]}, {given[1]}), {given[2]})", kind),
    "ipowi": _call("power"),
    "fpowi": _call("fpower"),
    "ctlz": _bitwise("leading_zeros"),
    "cttz": _bitwise("trailing_zeros"),
    "ctpop": _bitwise("ones"),
    "isnan": lambda given, _, __: f"(1 if {given[0]} != {given[0]} else 0)",
    "isinf": lambda given, _, __: f"is_inf({given[0]})",
    "isfinite": lambda given, _, __: f"is_finite({given[0]})",
    "isnormal": _smallest,
}
_INDEX: Mapping[str, str] = {
    **dict(
        zip(
            ["add", "sub", "mul", "shl", "and", "or", "xor"],
            ["addi", "subi", "muli", "shli", "andi", "ori", "xori"],
            strict=True,
        )
    ),
    **{f"{name}s": f"{name}si" for name in ("div", "rem", "floordiv", "ceildiv", "max", "min", "shr")},
    **{f"{name}u": f"{name}ui" for name in ("div", "rem", "ceildiv", "max", "min", "shr")},
    "casts": "index_cast",
    "castu": "index_castui",
}

RULES: Mapping[str, Rule] = {
    **{f"arith.{name}": rule for name, rule in _ARITHMETIC.items()},
    **{f"math.{name}": rule for name, rule in _MATH.items()},
    **{f"index.{name}": _ARITHMETIC[other] for name, other in _INDEX.items()},
    "builtin.unrealized_conversion_cast": _same,
}
"""The operations on numbers of which each gives one."""
BITS = frozenset(f"math.{name}" for name in ("isnan", "isinf", "isfinite", "isnormal"))
"""Those whose result is 0 or 1, whatever they are given."""

_SIGNED = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
_UNSIGNED = {"ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
_ORDER = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")  # numbers in generic form
_FLOATS = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "ne": "!="}
_FLOAT_ORDER = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def compared(predicate: str | int, given: Sequence[str], kind: str, *, floats: bool) -> str | None:
    """The expression of a comparison, 0 or 1; None if the predicate is not known."""
    if isinstance(predicate, int):
        order = _FLOAT_ORDER if floats else _ORDER
        predicate = order[predicate] if predicate in range(len(order)) else ""
    if floats:
        return _compared_floats(predicate, *given)
    if predicate in _UNSIGNED:
        one, other = (unsigned(value, kind) for value in given)
        return f"(1 if {one} {_UNSIGNED[predicate]} {other} else 0)"
    one, other = (signed(value, kind) for value in given)
    return f"(1 if {one} {_SIGNED[predicate]} {other} else 0)" if predicate in _SIGNED else None


def _compared_floats(predicate: str, one: str, other: str) -> str | None:
    """Ordered comparisons are false where one is no number, unordered ones are true."""
    if predicate in ("true", "false"):
        return str(int(predicate == "true"))
    numbers = f"{one} == {one} and {other} == {other}"
    if predicate in ("ord", "uno"):
        return f"(1 if {numbers} else 0)" if predicate == "ord" else f"(0 if {numbers} else 1)"
    if predicate[1:] not in _FLOATS or predicate[:1] not in ("o", "u"):
        return None
    text = f"{one} {_FLOATS[predicate[1:]]} {other}"
    return (
        f"(1 if {numbers} and {text} else 0)"
        if predicate[0] == "o"
        else f"(1 if not ({numbers}) or {text} else 0)"
    )
