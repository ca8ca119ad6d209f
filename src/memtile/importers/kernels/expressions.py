"""One Python expression for each operation on numbers: by its name, and by the types of its operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from memtile.importers.kernels.arithmetic import CONV_EVEN
from memtile.importers.kernels.quote import Node, expr, own

_INTEGER = re.compile(r"[su]?i([1-9][0-9]{0,2})")
_WIDTHS = (8, 16, 32, 64)
INDEX = "index"
INDEX_BITS = 32
"""Of an index on the core (DEV-BODY-3)."""
WIDEST = 64
"""Bits of an integer that generated code computes with."""
OF_LINKS = (128, 512)
"""Bits of a value in a stream and on the cascade, which the generator may convert."""

Rule = Callable[[Sequence[Node], str, str], Node]
"""From operands, the type of the first one and the type of the result to an expression."""


def bits_of(kind: str) -> int | None:
    """Bits of an integer type, or of an index."""
    if kind == INDEX:
        return INDEX_BITS
    found = _INTEGER.fullmatch(kind)
    return int(found[1]) if found else None


def is_computed(kind: str, *, with_links: bool) -> bool:
    """Whether generated code has a type: another one than an integer, or one of a width that it has.

    Args:
        kind: of a value.
        with_links: integers as wide as streams and the cascade count too.
    """
    bits = bits_of(kind)
    if bits is None:
        return not re.fullmatch(r"[su]?i[0-9]+", kind)
    return 1 <= bits <= WIDEST or (with_links and bits in OF_LINKS)


def wrapped(node: Node, kind: str) -> Node:
    """An integer expression, wrapped to its type; other types are rounded."""
    bits = bits_of(kind)
    if bits == 1:
        return expr("_node & 1", _node=node)
    if bits in _WIDTHS:
        return expr("_wrap(_node)", _wrap=own(f"w{bits}"), _node=node)
    if bits is not None:
        half, mask = 1 << (bits - 1), (1 << bits) - 1
        return expr("((_node + _half) & _mask) - _half", _node=node, _half=half, _mask=mask)
    return rounded(node, kind)


def rounded(node: Node, kind: str) -> Node:
    """A floating-point expression, rounded to its type."""
    return expr("_round(_node)", _round=own(kind), _node=node) if kind in ("bf16", "f32") else node


def unsigned(node: Node, kind: str) -> Node:
    """The unsigned value of an integer."""
    bits = bits_of(kind)
    if bits is None:
        return node
    if bits in _WIDTHS:
        return expr("_unsigned(_node)", _unsigned=own(f"u{bits}"), _node=node)
    return expr("_node & _mask", _node=node, _mask=(1 << bits) - 1)


def signed(node: Node, kind: str) -> Node:
    """The signed value of an integer: of one bit, 0 or -1."""
    return expr("-_node", _node=node) if bits_of(kind) == 1 else node


def range_of(kind: str, *, signs: bool) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    bits = bits_of(kind) or WIDEST
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signs else (0, (1 << bits) - 1)


def held(value: int, kind: str) -> int:
    """A whole number as a type holds it: signed, of one bit 0 or 1."""
    bits = bits_of(kind) or WIDEST
    low = -((1 << bits) >> 1) if bits > 1 else 0
    return ((value - low) & ((1 << bits) - 1)) + low


def called(function: str, *given: Node | int | float) -> Node:
    """The call of a function of generated code."""
    nodes = [expr("_given", _given=each) for each in given]
    return expr("_function(*_given)", _function=own(function), _given=nodes)


def rounded_by(node: Node, rounding: int) -> Node:
    """A float32 expression as a number of bf16, by a value of ``crRnd``."""
    return called("bf16", node) if rounding == CONV_EVEN else called("narrowed", node, rounding)


Pair = Callable[[Node, Node], Node]
_PAIRS: Mapping[str, Pair] = {
    "+": lambda a, b: expr("_a + _b", _a=a, _b=b),
    "-": lambda a, b: expr("_a - _b", _a=a, _b=b),
    "*": lambda a, b: expr("_a * _b", _a=a, _b=b),
    "&": lambda a, b: expr("_a & _b", _a=a, _b=b),
    "|": lambda a, b: expr("_a | _b", _a=a, _b=b),
    "^": lambda a, b: expr("_a ^ _b", _a=a, _b=b),
    "<<": lambda a, b: expr("_a << _b", _a=a, _b=b),
    ">>": lambda a, b: expr("_a >> _b", _a=a, _b=b),
    "==": lambda a, b: expr("_a == _b", _a=a, _b=b),
    "!=": lambda a, b: expr("_a != _b", _a=a, _b=b),
    "<": lambda a, b: expr("_a < _b", _a=a, _b=b),
    "<=": lambda a, b: expr("_a <= _b", _a=a, _b=b),
    ">": lambda a, b: expr("_a > _b", _a=a, _b=b),
    ">=": lambda a, b: expr("_a >= _b", _a=a, _b=b),
}


def paired(operator: str, one: Node | int, other: Node | int) -> Node:
    """Two numbers with an operator between them."""
    return _PAIRS[operator](expr("_one", _one=one), expr("_one", _one=other))


def _binary(operator: str) -> Rule:
    return lambda given, _, kind: wrapped(paired(operator, *given), kind)


def _floats(operator: str) -> Rule:
    """In double precision, which rounded once gives what the type's own arithmetic gives."""

    def rule(given: Sequence[Node], _first: str, kind: str) -> Node:
        one, other = (expr("float(_value)", _value=value) for value in given)
        return rounded(paired(operator, one, other), kind)

    return rule


def _call(function: str) -> Rule:
    return lambda given, _, kind: wrapped(called(function, *given), kind)


def _divided(function: str, *, signs: bool) -> Rule:
    """A division; by zero, and of the smallest signed number by -1, it is an error of its operation."""

    def rule(given: Sequence[Node], first: str, kind: str) -> Node:
        take = signed if signs else unsigned
        one, other = (take(value, first) for value in given)
        if signs:
            low = range_of(first, signs=True)[0]
            found = expr("_f(_a, _b, SITE, _low)", _f=own(function), _a=one, _b=other, _low=low)
        else:
            found = expr("_f(_a, _b, SITE)", _f=own(function), _a=one, _b=other)
        return wrapped(found, kind)

    return rule


def _chosen_signed(function: str) -> Rule:
    def rule(given: Sequence[Node], first: str, kind: str) -> Node:
        return wrapped(called(function, *(signed(value, first) for value in given)), kind)

    return rule


def _chosen_unsigned(operator: str) -> Rule:
    def rule(given: Sequence[Node], first: str, _kind: str) -> Node:
        one, other = (unsigned(value, first) for value in given)
        return expr("_a if _test else _b", _test=paired(operator, one, other), _a=given[0], _b=given[1])

    return rule


def _shift(operator: str, *, zeros: bool = False) -> Rule:
    """Bits moved by fewer than there are; by more it is an error of the operation."""

    def rule(given: Sequence[Node], first: str, kind: str) -> Node:
        count = expr("shift(_count, _bits, SITE)", _count=given[1], _bits=bits_of(first) or WIDEST)
        if not zeros:
            return wrapped(paired(operator, given[0], count), kind)
        value = unsigned(given[0], first)
        return wrapped(
            paired(operator, value, expr("type_of(_value, _count)", _value=value, _count=count)), kind
        )

    return rule


def _bitwise(function: str) -> Rule:
    return lambda given, first, kind: wrapped(called(function, given[0], bits_of(first) or WIDEST), kind)


def _integer(*, signs: bool) -> Rule:
    """The whole part of a float, held to what the integer type holds (DEV-BODY-1)."""

    def rule(given: Sequence[Node], _first: str, kind: str) -> Node:
        low, high = range_of(kind, signs=signs)
        wide = not signs and bits_of(kind) == WIDEST  # of more than 63 bits no compiled number has a sign
        high = (1 << (WIDEST - 1)) - 1 if wide else high
        whole = expr("truncated(_value, _low, _high, SITE)", _value=given[0], _low=low, _high=high)
        return whole if wide else wrapped(whole, kind)

    return rule


def _same(given: Sequence[Node], _first: str, _kind: str) -> Node:
    return given[0]


def _narrow(given: Sequence[Node], _first: str, kind: str) -> Node:
    return wrapped(given[0], kind)


def _is_wider(kind: str, first: str) -> bool:
    return (bits_of(kind) or 0) > (bits_of(first) or 0)


def _extend_unsigned(given: Sequence[Node], first: str, kind: str) -> Node:
    """The unsigned value in a wider type; an index may also get fewer bits."""
    return wrapped(unsigned(given[0], first) if _is_wider(kind, first) else given[0], kind)


def _extend_signed(given: Sequence[Node], first: str, kind: str) -> Node:
    if bits_of(first) == 1:
        return wrapped(signed(given[0], first), kind)
    return given[0] if _is_wider(kind, first) or kind == first else wrapped(given[0], kind)


def _bits(given: Sequence[Node], first: str, kind: str) -> Node:
    """The value's bits as another type of as many bits."""
    bits = {"bf16": "to_bf16", "f32": "from_f32"}
    word = called(bits[first], given[0]) if first in bits else given[0]
    back = {"bf16": "from_bf16", "f32": "to_f32"}
    return called(back[kind], word) if kind in back else wrapped(word, kind)


def _smallest(given: Sequence[Node], first: str, _kind: str) -> Node:
    normal = {"f64": 2.2250738585072014e-308}.get(first, 1.1754943508222875e-38)
    return called("is_normal", given[0], normal)


def _clamped(given: Sequence[Node], _first: str, kind: str) -> Node:
    return rounded(called("fminimum", called("fmaximum", given[0], given[1]), given[2]), kind)


def _is_none(given: Sequence[Node], _first: str, _kind: str) -> Node:
    return expr("1 if _value != _value else 0", _value=given[0])


def _from_integer(given: Sequence[Node], first: str, kind: str, *, signs: bool) -> Node:
    value = (signed if signs else unsigned)(given[0], first)
    return rounded(expr("float(_value)", _value=value), kind)


_ARITHMETIC: Mapping[str, Rule] = {
    "addi": _binary("+"),
    "subi": _binary("-"),
    "muli": _binary("*"),
    "divsi": _divided("divide", signs=True),
    "remsi": _divided("remainder", signs=True),
    "floordivsi": _divided("floordiv", signs=True),
    "ceildivsi": _divided("ceildiv", signs=True),
    "divui": _divided("over", signs=False),
    "remui": _divided("left", signs=False),
    "ceildivui": _divided("over_up", signs=False),
    "andi": _binary("&"),
    "ori": _binary("|"),
    "xori": _binary("^"),
    "shli": _shift("<<"),
    "shrsi": _shift(">>"),
    "shrui": _shift(">>", zeros=True),
    "maxsi": _chosen_signed("largest"),
    "minsi": _chosen_signed("least"),
    "maxui": _chosen_unsigned(">="),
    "minui": _chosen_unsigned("<="),
    "addf": _floats("+"),
    "subf": _floats("-"),
    "mulf": _floats("*"),
    "divf": _call("fdivide"),
    "remf": _call("fremainder"),
    "negf": lambda given, _, kind: rounded(expr("-_value", _value=given[0]), kind),
    "maximumf": _call("fmaximum"),
    "minimumf": _call("fminimum"),
    "maxnumf": _call("fmaxnum"),
    "minnumf": _call("fminnum"),
    "maxf": _call("fmaximum"),  # until 2023
    "minf": _call("fminimum"),
    "select": lambda given, _, __: expr("_a if _test else _b", _test=given[0], _a=given[1], _b=given[2]),
    "bitcast": _bits,
    "trunci": _narrow,
    "extsi": _extend_signed,
    "extui": _extend_unsigned,
    "index_cast": _extend_signed,
    "index_castui": _extend_unsigned,
    "extf": _narrow,
    "truncf": _narrow,
    "sitofp": partial(_from_integer, signs=True),
    "uitofp": partial(_from_integer, signs=False),
    "fptosi": _integer(signs=True),
    "fptoui": _integer(signs=False),
}
_MATH_CALLS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "powf", "copysign",
    "floor", "ceil", "trunc", "roundeven", "erf", "fma",
)  # fmt: skip
_MATH: Mapping[str, Rule] = {
    **{name: _call(name) for name in _MATH_CALLS},
    "round": _call("round_away"),
    "absi": _call("abs"),
    "absf": _call("abs"),
    "erfc": lambda given, _, kind: rounded(expr("1.0 - erf(_value)", _value=given[0]), kind),
    "clampf": _clamped,
    "ipowi": _call("power"),
    "fpowi": _call("fpower"),
    "ctlz": _bitwise("leading_zeros"),
    "cttz": _bitwise("trailing_zeros"),
    "ctpop": _bitwise("ones"),
    "isnan": _is_none,
    "isinf": lambda given, _, __: called("is_inf", given[0]),
    "isfinite": lambda given, _, __: called("is_finite", given[0]),
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
_SHIFT = 3
_FLAGGED = {"addi": 0, "subi": 1, "muli": 2, "shli": _SHIFT}
_FLAGGED_NAMES = {
    **{f"arith.{name}": number for name, number in _FLAGGED.items()},
    **{f"index.{name.removesuffix('i')}": number for name, number in _FLAGGED.items()},
}


def kept_flags(name: str, flags: frozenset[str], given: Sequence[Node], kind: str) -> list[Node]:
    """The checks that a result does not overflow where the text says that it does not (``nsw``, ``nuw``)."""
    number = _FLAGGED_NAMES.get(name)
    if number is None:
        return []
    bits = bits_of(kind) or WIDEST
    one, other = given
    pairs = {"fits_signed": (signed(one, kind), other if number == _SHIFT else signed(other, kind))}
    return [
        expr("_f(_n, _a, _b, _bits, SITE)", _f=own(function), _n=number, _a=a, _b=b, _bits=bits)
        for flag, function in (("nsw", "fits_signed"), ("nuw", "fits_unsigned"))
        for a, b in [pairs.get(function, (one, other))]
        if flag in flags
    ]


_SIGNED = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
_UNSIGNED = {"ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
_ORDER = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")  # numbers in generic form
_FLOATS = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "ne": "!="}
_FLOAT_ORDER = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def compared(predicate: str | int, given: Sequence[Node], kind: str, *, floats: bool) -> Node | None:
    """The expression of a comparison, 0 or 1; None if the predicate is not known."""
    if isinstance(predicate, int):
        order = _FLOAT_ORDER if floats else _ORDER
        predicate = order[predicate] if predicate in range(len(order)) else ""
    if floats:
        return _compared_floats(predicate, *given)
    sign = _UNSIGNED.get(predicate) or _SIGNED.get(predicate)
    if sign is None:
        return None
    take = unsigned if predicate in _UNSIGNED else signed
    one, other = (take(value, kind) for value in given)
    return expr("1 if _test else 0", _test=paired(sign, one, other))


def _compared_floats(predicate: str, one: Node, other: Node) -> Node | None:
    """Ordered comparisons are false where one is no number, unordered ones are true."""
    if predicate in ("true", "false"):
        return expr("_value", _value=int(predicate == "true"))
    numbers = expr("_a == _a and _b == _b", _a=one, _b=other)
    if predicate in ("ord", "uno"):
        yes = int(predicate == "ord")
        return expr("_yes if _numbers else _no", _numbers=numbers, _yes=yes, _no=1 - yes)
    if predicate[1:] not in _FLOATS or predicate[:1] not in ("o", "u"):
        return None
    test = paired(_FLOATS[predicate[1:]], one, other)
    if predicate[0] == "o":
        return expr("1 if _numbers and _test else 0", _numbers=numbers, _test=test)
    return expr("1 if not _numbers or _test else 0", _numbers=numbers, _test=test)
