"""Operations on numbers in core bodies: ``arith``, ``math``, ``index``; each with what MLIR says of it.

What is expected is computed by Python and NumPy from the definitions of the dialects, by nothing of the
package. Where MLIR leaves the result open, DEV-BODY-1 says it, or nothing is expected.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from support.bodies.body_texts import FLOATS, KINDS, Memory, Piece, bits_of, vector, wrap

Maker = Callable[[Piece], None]
WIDTHS = ("i1", "i7", "i8", "i16", "i24", "i32", "i33", "i64", "index")
SHAPES = ((4,), (2, 3), (1,))
DIVISION, SHIFT, NUMBER = "mlir_division", "mlir_shift", "mlir_number"


def bare(value: int, bits: int) -> int:
    """The unsigned value."""
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    """The signed value: of one bit 0 or -1."""
    value = bare(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def _towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _divided(rule: Callable[[int, int], int]) -> Callable[[int, int, int], int | str | None]:
    def divided(a: int, b: int, bits: int) -> int | str | None:
        if bare(b, bits) == 0:
            return DIVISION
        quotient = rule(signed(a, bits), signed(b, bits))
        overflows = signed(a, bits) == -(1 << (bits - 1)) and signed(b, bits) == -1  # undefined
        return None if overflows else quotient

    return divided


def _divided_unsigned(rule: Callable[[int, int], int]) -> Callable[[int, int, int], int | str | None]:
    def divided(a: int, b: int, bits: int) -> int | str:
        return DIVISION if bare(b, bits) == 0 else rule(bare(a, bits), bare(b, bits))

    return divided


def _shifted(rule: Callable[[int, int, int], int]) -> Callable[[int, int, int], int | str | None]:
    def shifted(a: int, b: int, bits: int) -> int | str:
        return SHIFT if bare(b, bits) >= bits else rule(a, bare(b, bits), bits)

    return shifted


INTEGERS: Mapping[str, Callable[[int, int, int], int | str | None]] = {
    "addi": lambda a, b, _: a + b,
    "subi": lambda a, b, _: a - b,
    "muli": lambda a, b, _: a * b,
    "divsi": _divided(_towards_zero),
    "remsi": _divided(lambda a, b: a - b * _towards_zero(a, b)),
    "floordivsi": _divided(operator.floordiv),
    "ceildivsi": _divided(lambda a, b: -(-a // b)),
    "divui": _divided_unsigned(operator.floordiv),
    "remui": _divided_unsigned(operator.mod),
    "ceildivui": _divided_unsigned(lambda a, b: -(-a // b)),
    "andi": lambda a, b, _: a & b,
    "ori": lambda a, b, _: a | b,
    "xori": lambda a, b, _: a ^ b,
    "shli": _shifted(lambda a, b, _: a << b),
    "shrsi": _shifted(lambda a, b, w: signed(a, w) >> b),
    "shrui": _shifted(lambda a, b, w: bare(a, w) >> b),
    "maxsi": lambda a, b, w: max(signed(a, w), signed(b, w)),
    "minsi": lambda a, b, w: min(signed(a, w), signed(b, w)),
    "maxui": lambda a, b, w: max(bare(a, w), bare(b, w)),
    "minui": lambda a, b, w: min(bare(a, w), bare(b, w)),
}
ON_INDEX = {
    **dict(
        zip(
            ("add", "sub", "mul", "shl", "and", "or", "xor"),
            ("addi", "subi", "muli", "shli", "andi", "ori", "xori"),
            strict=True,
        )
    ),
    **{f"{name}s": f"{name}si" for name in ("div", "rem", "floordiv", "ceildiv", "max", "min", "shr")},
    **{f"{name}u": f"{name}ui" for name in ("div", "rem", "ceildiv", "max", "min", "shr")},
}
BINARY_FLOATS: Mapping[str, Callable[[Any, Any], Any] | None] = {
    "addf": operator.add,
    "subf": operator.sub,
    "mulf": operator.mul,
    "divf": operator.truediv,
    "remf": None,
    "maximumf": None,
    "minimumf": None,
    "maxnumf": None,
    "minnumf": None,
    "maxf": None,
    "minf": None,
}
UNARY = [
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
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "floor",
    "ceil",
    "trunc",
    "round",
    "roundeven",
    "erf",
    "erfc",
    "absf",
]
TESTS = ("isnan", "isinf", "isfinite", "isnormal")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)


def _expected(piece: Piece, at: tuple[str, int], kind: str, rule: Callable[[Memory], Any]) -> None:
    """Expect a number, which wraps as its type does, or the reason of an error."""

    def expects(memory: Memory) -> tuple[str, int, Any] | str | None:
        found = rule(memory)
        if found is None or isinstance(found, str):
            return found
        return (*at, wrap(found, bits_of(kind)) if kind not in FLOATS else found)

    piece.expects = expects


def binary(name: str, rule: str) -> Maker:
    """An operation on two integers, or on vectors of them."""

    def make(piece: Piece) -> None:
        kind = "index" if name.startswith("index.") else piece.rng.choice(WIDTHS)
        if piece.rng.random() < 0.25 and not name.startswith("index."):
            _on_vectors(piece, name, kind, 2)
            return
        (a, one), (b, other) = (
            piece.value(kind),
            piece.value(kind, ("small", 40) if rule.startswith("sh") and piece.rng.random() < 0.5 else None),
        )
        pretty = f"{name} {a}, {b}" if name.startswith("index.") else None
        at = piece.put(piece.op(name, [a, b], ([kind, kind], [kind]), pretty), kind)
        bits = bits_of(kind)
        _expected(piece, at, kind, lambda memory: INTEGERS[rule](one(memory), other(memory), bits))

    return make


def _on_vectors(piece: Piece, name: str, kind: str, operands: int) -> None:
    shape = piece.rng.choice(SHAPES)
    of = vector(shape, kind)
    values = [piece.vector(kind, shape) for _ in range(operands)]
    piece.put_vector(piece.op(name, values, ([of] * operands, [of])), kind, shape)


def floats(name: str, operands: int, rule: Callable[..., Any] | None = None) -> Maker:
    """An operation on floating-point numbers; expected as NumPy rounds it."""

    def make(piece: Piece) -> None:
        kind = piece.rng.choice(FLOATS)
        if piece.rng.random() < 0.25:
            _on_vectors(piece, name, kind, operands)
            return
        values = [piece.value(kind) for _ in range(operands)]
        at = piece.put(piece.op(name, [each for each, _ in values], ([kind] * operands, [kind])), kind)
        if rule is not None:
            dtype = KINDS[kind].type

            def expects(memory: Memory) -> Any:
                with np.errstate(all="ignore"):
                    return dtype(rule(*(dtype(number(memory)) for _, number in values)))

            _expected(piece, at, kind, expects)

    return make


def bitwise(name: str) -> Maker:
    """``math.ctlz``, ``cttz``, ``ctpop``, ``absi``."""
    rules: Mapping[str, Callable[[int, int], int | None]] = {
        "math.ctlz": lambda a, w: w - bare(a, w).bit_length(),
        "math.cttz": lambda a, w: w if a == 0 else (bare(a, w) & -bare(a, w)).bit_length() - 1,
        "math.ctpop": lambda a, w: bare(a, w).bit_count(),
        "math.absi": lambda a, w: abs(signed(a, w)),
    }

    def make(piece: Piece) -> None:
        kind = piece.rng.choice(WIDTHS[1:-1])
        if piece.rng.random() < 0.25:
            _on_vectors(piece, name, kind, 1)
            return
        value, number = piece.value(kind)
        at = piece.put(piece.op(name, [value], ([kind], [kind])), kind)
        _expected(piece, at, kind, lambda memory: rules[name](number(memory), bits_of(kind)))

    return make


def integer_power(piece: Piece) -> None:
    """``math.ipowi``."""
    kind = piece.rng.choice(("i8", "i16", "i32", "i64"))
    (a, one), (b, other) = piece.value(kind), piece.value(kind, ("small", 70))
    at = piece.put(piece.op("math.ipowi", [a, b], ([kind, kind], [kind])), kind)
    _expected(
        piece,
        at,
        kind,
        lambda memory: pow(one(memory), other(memory), 1 << 64) if other(memory) >= 0 else None,
    )


def float_power(piece: Piece) -> None:
    """``math.fpowi``."""
    kind = piece.rng.choice(("f32", "f64"))
    (a, _), (b, _) = piece.value(kind), piece.value("i32")
    piece.put(
        piece.op("math.fpowi", [a, b], ([kind, "i32"], [kind]), f"math.fpowi {a}, {b} : {kind}, i32"), kind
    )


def float_test(name: str) -> Maker:
    """``math.isnan`` and its like."""

    def make(piece: Piece) -> None:
        kind = piece.rng.choice(FLOATS)
        value, number = piece.value(kind)
        at = piece.put(piece.op(name, [value], ([kind], ["i1"])), "i1")
        rule = {"math.isnan": np.isnan, "math.isinf": np.isinf, "math.isfinite": np.isfinite}.get(name)
        if rule is not None:
            _expected(piece, at, "i1", lambda memory: int(rule(float(number(memory)))))

    return make


def integer_cast(name: str) -> Maker:
    """A cast between integers."""

    def make(piece: Piece) -> None:
        wide = ["i8", "i16", "i24", "i32", "i33", "i64"]
        if name in ("arith.index_cast", "arith.index_castui", "index.casts", "index.castu"):
            other = piece.rng.choice(("i1", *wide))
            first, kind = (other, "index") if piece.rng.random() < 0.5 else ("index", other)
        else:
            low, high = sorted(piece.rng.sample(range(len(wide)), 2))
            first, kind = (wide[high], wide[low]) if name == "arith.trunci" else (wide[low], wide[high])
            first = "i1" if piece.rng.random() < 0.2 and name != "arith.trunci" else first
        value, number = piece.value(first)
        result = piece.op(name, [value], ([first], [kind]), f"{name} {value} : {first} to {kind}")
        bits = bits_of(first)
        take = bare if name in ("arith.extui", "arith.index_castui", "index.castu") else signed
        _expected(piece, piece.put(result, kind), kind, lambda memory: take(number(memory), bits))

    return make


def to_float(name: str) -> Maker:
    """``arith.sitofp`` and ``uitofp``."""

    def make(piece: Piece) -> None:
        first, kind = piece.rng.choice(("i1", "i8", "i16", "i32", "i64")), piece.rng.choice(FLOATS)
        value, number = piece.value(first)
        result = piece.op(name, [value], ([first], [kind]), f"{name} {value} : {first} to {kind}")
        at, take = piece.put(result, kind), (signed if name == "arith.sitofp" else bare)
        if kind == "f64":
            _expected(piece, at, kind, lambda memory: np.float64(take(number(memory), bits_of(first))))

    return make


def from_float(name: str) -> Maker:
    """``arith.fptosi`` and ``fptoui``: the nearest number that the type holds (DEV-BODY-1)."""

    def make(piece: Piece) -> None:
        first, kind = piece.rng.choice(FLOATS), piece.rng.choice(("i8", "i16", "i32", "i64"))
        value, number = piece.value(first)
        result = piece.op(name, [value], ([first], [kind]), f"{name} {value} : {first} to {kind}")
        at, bits, signs = piece.put(result, kind), bits_of(kind), name == "arith.fptosi"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signs else (0, (1 << bits) - 1)

        def expects(memory: Memory) -> Any:
            given = float(number(memory))
            return min(max(int(given), low), high) if np.isfinite(given) else NUMBER

        if signs or bits < 64:  # see DEV-BODY-1
            _expected(piece, at, kind, expects)

    return make


def float_cast(name: str) -> Maker:
    """``arith.extf`` and ``truncf``."""

    def make(piece: Piece) -> None:
        low, high = sorted(piece.rng.sample(range(3), 2))
        first, kind = (FLOATS[high], FLOATS[low]) if name == "arith.truncf" else (FLOATS[low], FLOATS[high])
        value, number = piece.value(first)
        result = piece.op(name, [value], ([first], [kind]), f"{name} {value} : {first} to {kind}")
        at = piece.put(result, kind)
        if kind != "bf16" or first == "f32":
            quietly = np.errstate(all="ignore")
            cast = _down if kind == "bf16" else KINDS[kind].type  # DEV-KERNEL-8
            _expected(piece, at, kind, quietly(lambda memory: cast(number(memory))))

    return make


def _down(x: Any) -> Any:
    """The bfloat16 number at or below a float32 one: the mode of a core after reset."""
    near = KINDS["bf16"].type(x)
    return np.nextafter(near, KINDS["bf16"].type(-np.inf)) if near > x else near


def same_bits(piece: Piece) -> None:
    """``arith.bitcast``."""
    first, kind = piece.rng.choice((("i32", "f32"), ("f32", "i32"), ("i16", "bf16"), ("bf16", "i16")))
    value, number = piece.value(first)
    result = piece.op(
        "arith.bitcast", [value], ([first], [kind]), f"arith.bitcast {value} : {first} to {kind}"
    )
    at = piece.put(result, kind)
    _expected(
        piece,
        at,
        kind,
        lambda memory: (
            KINDS[first].type(number(memory)).view(KINDS[kind]).item()
            if kind not in FLOATS
            else KINDS[first].type(number(memory)).view(KINDS[kind])
        ),
    )


def conversion(piece: Piece) -> None:
    """``builtin.unrealized_conversion_cast``."""
    value, number = piece.value("i64")
    name = "builtin.unrealized_conversion_cast"
    result = piece.op(name, [value], (["i64"], ["i64"]), f"{name} {value} : i64 to i64")
    _expected(piece, piece.put(result, "i64"), "i64", number)


def compared(name: str) -> Maker:
    """``arith.cmpi`` and ``index.cmp``, every predicate."""
    rules = {
        "e": operator.eq,
        "n": operator.ne,
        "lt": operator.lt,
        "le": operator.le,
        "gt": operator.gt,
        "ge": operator.ge,
    }

    def make(piece: Piece) -> None:
        order = (
            PREDICATES
            if name == "arith.cmpi"
            else ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
        )
        number = piece.rng.randrange(len(order))
        predicate, kind = order[number], "index" if name == "index.cmp" else piece.rng.choice(WIDTHS)
        (a, one), (b, other) = piece.value(kind), piece.value(kind)
        attributes = (
            f"predicate = {number} : i64"
            if name == "arith.cmpi"
            else f"pred = #index<cmp_predicate {predicate}>"
        )
        pretty = f"arith.cmpi {predicate}, {a}, {b} : {kind}"
        if name == "index.cmp":
            pretty = f"index.cmp {predicate}({a}, {b})"
        at = piece.put(piece.op(name, [a, b], ([kind, kind], ["i1"]), pretty, attributes), "i1")
        take, bits = (bare if predicate[0] == "u" else signed), bits_of(kind)
        rule = rules[predicate[0] if predicate in ("eq", "ne") else predicate[1:]]
        _expected(
            piece,
            at,
            "i1",
            lambda memory: int(rule(take(one(memory), bits), take(other(memory), bits))),
        )

    return make


def compared_floats(piece: Piece) -> None:
    """``arith.cmpf``, every predicate."""
    number, kind = piece.rng.randrange(len(FLOAT_PREDICATES)), piece.rng.choice(FLOATS)
    predicate = FLOAT_PREDICATES[number]
    (a, one), (b, other) = piece.value(kind), piece.value(kind)
    pretty, attributes = f"arith.cmpf {predicate}, {a}, {b} : {kind}", f"predicate = {number} : i64"
    at = piece.put(piece.op("arith.cmpf", [a, b], ([kind, kind], ["i1"]), pretty, attributes), "i1")
    rules: Mapping[str, Callable[[Any, Any], bool]] = {
        "eq": operator.eq,
        "gt": operator.gt,
        "ge": operator.ge,
        "lt": operator.lt,
        "le": operator.le,
        "ne": operator.ne,
        "rd": lambda _a, _b: True,
        "no": lambda _a, _b: False,
    }

    def expects(memory: Memory) -> int:
        x, y = float(one(memory)), float(other(memory))
        if predicate in ("true", "false"):
            return int(predicate == "true")
        if x != x or y != y:
            return int(predicate[0] == "u")
        return int(rules[predicate[1:]](x, y))

    _expected(piece, at, "i1", expects)


def chosen(piece: Piece) -> None:
    """``arith.select`` of numbers, of vectors by one bit, and of vectors by as many."""
    kind = piece.rng.choice((*WIDTHS, *FLOATS))
    bit = piece.value("i1")
    if piece.rng.random() < 0.4:
        shape = piece.rng.choice(SHAPES)
        of, mask = vector(shape, kind), piece.vector("i1", shape)
        values = [piece.vector(kind, shape) for _ in range(2)]
        bits = vector(shape, "i1")
        pretty = f"arith.select {mask}, {values[0]}, {values[1]} : {bits}, {of}"
        piece.put_vector(
            piece.op("arith.select", [mask, *values], ([bits, of, of], [of]), pretty), kind, shape
        )
        return
    (a, one), (b, other) = piece.value(kind), piece.value(kind)
    pretty = f"arith.select {bit[0]}, {a}, {b} : {kind}"
    at = piece.put(piece.op("arith.select", [bit[0], a, b], (["i1", kind, kind], [kind]), pretty), kind)
    _expected(piece, at, kind, lambda memory: one(memory) if bit[1](memory) else other(memory))


def constant(piece: Piece) -> None:
    """``arith.constant`` of every type, extreme ones among them, and of vectors."""
    kind = piece.rng.choice((*WIDTHS, *FLOATS))
    if kind in FLOATS:
        text = piece.rng.choice(
            ("0.0", "-0.0", "1.5", "-2.5e-3", "1.0e+38", "0x7F800000" if kind == "f32" else "0.5")
        )
    else:
        bits = 31 if kind == "index" else bits_of(kind)
        text = str(piece.rng.choice((0, 1, (1 << (bits - 1)) - 1, -(1 << (bits - 1)))) if bits > 1 else 1)
        text = text if bits > 1 else piece.rng.choice(("true", "false"))
    if piece.rng.random() < 0.3 and kind != "i1":
        shape = piece.rng.choice(SHAPES)
        many = int(np.prod(shape))
        flat = ", ".join([text] * many)
        listed = text if piece.rng.random() < 0.5 or len(shape) > 1 else f"[{flat}]"
        of = vector(shape, kind)
        value = piece.op(
            "arith.constant",
            [],
            ([], [of]),
            f"arith.constant dense<{listed}> : {of}",
            f"value = dense<{listed}> : {of}",
        )
        piece.put_vector(value, kind, shape)
        return
    pretty = f"arith.constant {text}" if kind == "i1" else f"arith.constant {text} : {kind}"
    attribute = f"value = {text}" if kind == "i1" else f"value = {text} : {kind}"
    at = piece.put(piece.op("arith.constant", [], ([], [kind]), pretty, attribute), kind)
    if kind not in FLOATS and kind != "i1":
        _expected(piece, at, kind, lambda _: int(text))


def extended(name: str) -> Maker:
    """``arith.mulsi_extended`` and its like: two results."""

    def make(piece: Piece) -> None:
        kind = piece.rng.choice(("i8", "i16", "i32", "i24", "i64"))
        (a, one), (b, other) = piece.value(kind), piece.value(kind)
        second = "i1" if name == "arith.addui_extended" else kind
        pretty = f"{name} {a}, {b} : {kind}" + (", i1" if second == "i1" else "")
        results = piece.op(name, [a, b], ([kind, kind], [kind, second]), pretty)
        piece.put(f"{results}#0", kind)
        at, bits = piece.put(f"{results}#1", second), bits_of(kind)
        take = signed if name == "arith.mulsi_extended" else bare
        rule = operator.add if second == "i1" else operator.mul
        _expected(
            piece, at, second, lambda memory: rule(take(one(memory), bits), take(other(memory), bits)) >> bits
        )

    return make


def index_constant(piece: Piece) -> None:
    """``index.constant``."""
    number = piece.rng.choice((0, 5, -1, (1 << 31) - 1, -(1 << 31)))
    value = piece.op(
        "index.constant", [], ([], ["index"]), f"index.constant {number}", f"value = {number} : index"
    )
    _expected(piece, piece.put(value, "index"), "index", lambda _: number)


def index_bool(piece: Piece) -> None:
    """``index.bool.constant``."""
    word = piece.rng.choice(("true", "false"))
    name = "index.bool.constant"
    value = piece.op(name, [], ([], ["i1"]), f"{name} {word}", f"value = {word}")
    _expected(piece, piece.put(value, "i1"), "i1", lambda _: int(word == "true"))


def size_of_index(piece: Piece) -> None:
    """``index.sizeof``."""
    value = piece.op("index.sizeof", [], ([], ["index"]), "index.sizeof")
    _expected(piece, piece.put(value, "index"), "index", lambda _: 32)


def poison(piece: Piece) -> None:
    """``ub.poison``: zero (DEV-BODY-1)."""
    kind = piece.rng.choice(("i8", "i32", "index", "f32"))
    value = piece.op("ub.poison", [], ([], [kind]), f"ub.poison : {kind}")
    _expected(piece, piece.put(value, kind), kind, lambda _: 0)


def fused(piece: Piece) -> None:
    """``math.fma``."""
    floats("math.fma", 3)(piece)


def clamped(piece: Piece) -> None:
    """``math.clampf``."""
    kind = piece.rng.choice(FLOATS)
    a, b, c = (piece.value(kind)[0] for _ in range(3))
    pretty = f"math.clampf {a} to [{b}, {c}] : {kind}"
    piece.put(piece.op("math.clampf", [a, b, c], ([kind] * 3, [kind]), pretty), kind)


_INTEGER_CASTS = (
    "arith.trunci",
    "arith.extsi",
    "arith.extui",
    "arith.index_cast",
    "arith.index_castui",
    "index.casts",
    "index.castu",
)

MAKERS: Mapping[str, Maker] = {
    **{f"arith.{name}": binary(f"arith.{name}", name) for name in INTEGERS},
    **{f"index.{name}": binary(f"index.{name}", rule) for name, rule in ON_INDEX.items()},
    **{f"arith.{name}": floats(f"arith.{name}", 2, rule) for name, rule in BINARY_FLOATS.items()},
    "arith.negf": floats("arith.negf", 1, operator.neg),
    **{f"math.{name}": floats(f"math.{name}", 1) for name in UNARY},
    **{f"math.{name}": floats(f"math.{name}", 2) for name in ("atan2", "powf", "copysign")},
    **{f"math.{name}": float_test(f"math.{name}") for name in TESTS},
    **{name: bitwise(name) for name in ("math.ctlz", "math.cttz", "math.ctpop", "math.absi")},
    "math.fma": fused,
    "math.clampf": clamped,
    "math.ipowi": integer_power,
    "math.fpowi": float_power,
    **{name: integer_cast(name) for name in _INTEGER_CASTS},
    **{name: to_float(name) for name in ("arith.sitofp", "arith.uitofp")},
    **{name: from_float(name) for name in ("arith.fptosi", "arith.fptoui")},
    **{name: float_cast(name) for name in ("arith.extf", "arith.truncf")},
    "arith.bitcast": same_bits,
    "builtin.unrealized_conversion_cast": conversion,
    "arith.cmpi": compared("arith.cmpi"),
    "index.cmp": compared("index.cmp"),
    "arith.cmpf": compared_floats,
    "arith.select": chosen,
    "arith.constant": constant,
    **{
        name: extended(name)
        for name in ("arith.mulsi_extended", "arith.mului_extended", "arith.addui_extended")
    },
    "index.constant": index_constant,
    "index.bool.constant": index_bool,
    "index.sizeof": size_of_index,
    "ub.poison": poison,
}
