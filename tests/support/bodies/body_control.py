"""Control flow of core bodies (``scf``, ``affine``, ``cf``), and what others see of a core."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from support.bodies.body_texts import Piece

Maker = Callable[[Piece], None]
_MAPS = (
    "(d0) -> (d0 * 2 + 1)",
    "(d0) -> (d0 floordiv 3)",
    "(d0) -> (d0 mod 5 - d0 ceildiv 2)",
    "(d0) -> (-d0)",
    "(d0) -> (d0 + 2147483647)",
    "(d0) -> ((d0 + 1) * 3 - d0)",
)


def summed(piece: Piece, start: str, *names: str) -> str:
    """Add indices to an ``i64`` of which a loop carries the sum; the name of what it becomes."""
    total = start
    for name in names:
        number, total_ = piece.name(), piece.name()
        piece.add(
            f"{number} = arith.index_cast {name} : index to i64",
            f"{total_} = arith.addi {total}, {number} : i64",
        )
        total = total_
    return total


def _bounds(piece: Piece) -> tuple[str, str]:
    """A first value, which may be near the largest index, and a bound a few turns behind it."""
    low = piece.value("index", ("near", 3) if piece.rng.random() < 0.4 else ("small", 5))[0]
    more, high = piece.value("index", ("small", 5))[0], piece.name()
    piece.add(f"{high} = arith.addi {low}, {more} : index")
    return low, high


def for_loop(piece: Piece) -> None:
    """``scf.for``: any step, bounds near the largest index, a value that is carried."""
    piece.covers |= {"scf.for", "scf.yield"}
    low, high = _bounds(piece)
    step = piece.value("index", ("small", 3))[0]
    first, result, counter, carried = piece.value("i64")[0], piece.name(), piece.name(), piece.name()
    if piece.generic:
        piece.add(
            f'{result} = "scf.for"({low}, {high}, {step}, {first}) ({{',
            f"^bb0({counter}: index, {carried}: i64):",
        )
        total = summed(piece, carried, counter)
        piece.add(f'"scf.yield"({total}) : (i64) -> ()', "}) : (index, index, index, i64) -> i64")
    else:
        head = f"scf.for {counter} = {low} to {high} step {step}"
        piece.add(f"{result} = {head} iter_args({carried} = {first}) -> (i64) {{")
        piece.add(f"scf.yield {summed(piece, carried, counter)} : i64", "}")
    piece.put(result, "i64")


def affine_loop(piece: Piece) -> None:
    """``affine.for`` with bounds that are numbers, values or maps."""
    piece.covers |= {"affine.for", "affine.yield"}
    first, result, counter, carried = piece.value("i64")[0], piece.name(), piece.name(), piece.name()
    at, (low, high) = (
        piece.value("index", ("small", 6))[0],
        piece.rng.choice(((0, 5), (-2, 3), (4, 4), (7, 1))),
    )
    step = piece.rng.choice((1, 1, 2, 3))
    if piece.generic:
        maps = (
            f"lowerBoundMap = affine_map<() -> ({low})>, upperBoundMap = affine_map<(d0) -> (d0 + 1, {high})>"
        )
        piece.add(
            f'{result} = "affine.for"({at}, {first}) <{{{maps}, operandSegmentSizes = array<i32: 0, 1, 1>, '
            f"step = {step} : index}}> ({{",
            f"^bb0({counter}: index, {carried}: i64):",
        )
        total = summed(piece, carried, counter)
        piece.add(f'"affine.yield"({total}) : (i64) -> ()', "}) : (index, i64) -> i64")
    else:
        bound = piece.rng.choice((str(high), at, f"min affine_map<(d0) -> (d0 + 1, {high})>({at})"))
        lower = piece.rng.choice((str(low), f"max affine_map<(d0) -> (d0 - 3, {low})>({at})"))
        steps = f" step {step}" if step > 1 else ""
        head = f"affine.for {counter} = {lower} to {bound}{steps}"
        piece.add(f"{result} = {head} iter_args({carried} = {first}) -> (i64) {{")
        piece.add(f"affine.yield {summed(piece, carried, counter)} : i64", "}")
    piece.put(result, "i64")


def branch(piece: Piece) -> None:
    """``scf.if`` with a result."""
    piece.covers |= {"scf.if", "scf.yield"}
    kind = piece.rng.choice(("i32", "f32", "index", "i8"))
    bit, one, other, result = piece.value("i1")[0], piece.value(kind)[0], piece.value(kind)[0], piece.name()
    if piece.generic:
        yields = [f'"scf.yield"({value}) : ({kind}) -> ()' for value in (one, other)]
        piece.add(f'{result} = "scf.if"({bit}) ({{', yields[0], "}, {", yields[1], f"}}) : (i1) -> {kind}")
    else:
        piece.add(f"{result} = scf.if {bit} -> ({kind}) {{", f"scf.yield {one} : {kind}", "} else {")
        piece.add(f"scf.yield {other} : {kind}", "}")
    piece.put(result, kind)


def while_loop(piece: Piece) -> None:
    """``scf.while``: counts up to a number of memory."""
    piece.covers |= {"scf.while", "scf.condition", "scf.yield"}
    first, last = piece.value("i32", ("small", 5))[0], piece.value("i32", ("small", 9))[0]
    one, result, before, bit, after, more = piece.constant(1, "i32"), *(piece.name() for _ in range(5))
    if piece.generic:
        piece.add(
            f'{result} = "scf.while"({first}) ({{',
            f"^bb0({before}: i32):",
            f'{bit} = "arith.cmpi"({before}, {last}) <{{predicate = 2 : i64}}> : (i32, i32) -> i1',
            f'"scf.condition"({bit}, {before}) : (i1, i32) -> ()',
            "}, {",
            f"^bb0({after}: i32):",
            f'{more} = "arith.addi"({after}, {one}) : (i32, i32) -> i32',
            f'"scf.yield"({more}) : (i32) -> ()',
            "}) : (i32) -> i32",
        )
    else:
        piece.add(
            f"{result} = scf.while ({before} = {first}) : (i32) -> i32 {{",
            f"{bit} = arith.cmpi slt, {before}, {last} : i32",
            f"scf.condition({bit}) {before} : i32",
            "} do {",
            f"^bb0({after}: i32):",
            f"{more} = arith.addi {after}, {one} : i32",
            f"scf.yield {more} : i32",
            "}",
        )
    piece.put(result, "i32")


def switch(piece: Piece) -> None:
    """``scf.index_switch``."""
    piece.covers |= {"scf.index_switch", "scf.yield"}
    at, result = piece.value("index", ("place", 4))[0], piece.name()
    values = [piece.value("i32")[0] for _ in range(3)]
    cases = piece.rng.choice(([0, 3], [2, -1], [2147483647, 1]))
    if piece.generic:
        regions = ", ".join(
            f'{{\n"scf.yield"({value}) : (i32) -> ()\n}}' for value in (values[2], *values[:2])
        )
        listed = ", ".join(map(str, cases))
        piece.add(
            f'{result} = "scf.index_switch"({at}) <{{cases = array<i64: {listed}>}}> ({regions}) '
            ": (index) -> i32"
        )
    else:
        piece.add(f"{result} = scf.index_switch {at} -> i32")
        for case, value in zip(cases, values, strict=False):
            piece.add(f"case {case} {{", f"scf.yield {value} : i32", "}")
        piece.add("default {", f"scf.yield {values[2]} : i32", "}")
    piece.put(result, "i32")


def execute_region(piece: Piece) -> None:
    """``scf.execute_region``."""
    piece.covers |= {"scf.execute_region", "scf.yield"}
    value, result = piece.value("i32")[0], piece.name()
    if piece.generic:
        piece.add(
            f'{result} = "scf.execute_region"() ({{', f'"scf.yield"({value}) : (i32) -> ()', "}) : () -> i32"
        )
    else:
        piece.add(f"{result} = scf.execute_region -> i32 {{", f"scf.yield {value} : i32", "}")
    piece.put(result, "i32")


def _nested(name: str) -> Maker:
    """``scf.forall``, ``scf.parallel`` and ``affine.parallel``: stores at places that their counters say."""
    ends = {
        "scf.forall": "scf.forall.in_parallel",
        "scf.parallel": "scf.reduce",
        "affine.parallel": "affine.yield",
    }

    def make(piece: Piece) -> None:
        piece.covers |= {name, ends[name]}
        one, other, value = piece.name(), piece.name(), piece.value("i32")[0]
        memory = piece.shaped("i32", (4, 4), "out")
        body = f"memref.store {value}, {memory}[{one}, {other}] : memref<4x4xi32>"
        sizes = [piece.rng.choice((3, 4, 5)), 4]
        low, high = piece.value("index", ("small", 1))[0], piece.value("index", ("small", 5))[0]
        step = piece.value("index", ("small", 2))[0]
        if piece.generic:
            piece.add(*_generic_nest(name, (one, other), sizes, (low, high, step), body))
            return
        if name == "scf.forall":
            at = f"({one}, {other}) in ({sizes[0]}, {high})"
            end = "scf.forall.in_parallel {\n}"
        elif name == "scf.parallel":
            at = f"({one}, {other}) = ({low}, %c0) to ({high}, %c4) step ({step}, %c2)"
            end = "scf.reduce"
        else:
            at = f"({one}, {other}) = (0, 1) to ({sizes[0]}, 4) step (1, 2)"
            end = "affine.yield"
        piece.add(f"{name} {at} {{", body, end, "}")

    return make


def _generic_nest(
    name: str, names: tuple[str, str], sizes: list[int], bounds: tuple[str, str, str], body: str
) -> list[str]:
    one, other = names
    low, high, step = bounds
    block = f"^bb0({one}: index, {other}: index):"
    if name == "scf.forall":
        lists = (
            f"staticLowerBound = array<i64: 0, 0>, staticUpperBound = array<i64: {sizes[0]}, {-(1 << 63)}>, "
            "staticStep = array<i64: 1, 1>, operandSegmentSizes = array<i32: 0, 1, 0, 0>"
        )
        end = '"scf.forall.in_parallel"() ({\n}) : () -> ()'
        return [f'"scf.forall"({high}) <{{{lists}}}> ({{', block, body, end, "}) : (index) -> ()"]
    if name == "scf.parallel":
        given = f"{low}, %c0, {high}, %c4, {step}, %c2"
        segments = "operandSegmentSizes = array<i32: 2, 2, 2, 0>"
        kinds = ", ".join(["index"] * 6)
        return [
            f'"scf.parallel"({given}) <{{{segments}}}> ({{',
            block,
            body,
            '"scf.reduce"() : () -> ()',
            f"}}) : ({kinds}) -> ()",
        ]
    # affine.parallel has a generic form of maps that no tool prints here: its pretty form
    at = f"({one}, {other}) = (0, 1) to ({sizes[0]}, 4) step (1, 2)"
    return [f"affine.parallel {at} {{", body, "affine.yield", "}"]


def apply(piece: Piece) -> None:
    """``affine.apply`` of any index."""
    text, at = piece.rng.choice(_MAPS), piece.value("index")[0]
    pretty = f"affine.apply affine_map<{text}>({at})"
    result = piece.op("affine.apply", [at], (["index"], ["index"]), pretty, f"map = affine_map<{text}>")
    piece.put(result, "index")


def extreme(name: str) -> Maker:
    """``affine.min`` and ``affine.max``."""

    def make(piece: Piece) -> None:
        at, symbol = (piece.value("index")[0] for _ in range(2))
        text = "(d0)[s0] -> (d0 + 1, s0, 7)"
        pretty, attributes = f"{name} affine_map<{text}>({at})[{symbol}]", f"map = affine_map<{text}>"
        piece.put(piece.op(name, [at, symbol], (["index", "index"], ["index"]), pretty, attributes), "index")

    return make


def affine_if(piece: Piece) -> None:
    """``affine.if`` with results."""
    piece.covers |= {"affine.if", "affine.yield"}
    at, one, other, result = (
        piece.value("index")[0],
        piece.value("i32")[0],
        piece.value("i32")[0],
        piece.name(),
    )
    text = piece.rng.choice(("(d0) : (d0 - 2 >= 0)", "(d0) : (d0 mod 2 == 0, -d0 + 9 >= 0)"))
    if piece.generic:
        yields = [f'"affine.yield"({value}) : (i32) -> ()' for value in (one, other)]
        piece.add(
            f'{result} = "affine.if"({at}) <{{condition = affine_set<{text}>}}> ({{',
            yields[0],
            "}, {",
            yields[1],
            "}) : (index) -> i32",
        )
    else:
        piece.add(
            f"{result} = affine.if affine_set<{text}>({at}) -> i32 {{",
            f"affine.yield {one} : i32",
            "} else {",
        )
        piece.add(f"affine.yield {other} : i32", "}")
    piece.put(result, "i32")


def marks(name: str) -> Maker:
    """``aie.event`` and ``aie.debug``."""

    def make(piece: Piece) -> None:
        piece.covers.add(name)
        value = piece.value("i32")[0]
        if name == "aie.event":
            piece.add('"aie.event"() <{val = 0 : i32}> : () -> ()' if piece.generic else "aie.event(0)")
        else:
            piece.add(f'"aie.debug"({value}) : (i32) -> ()' if piece.generic else f"aie.debug({value} : i32)")

    return make


def blocks(old: bool) -> Maker:
    """A lowered loop with a choice in it; its names since 2022, or without their dialect."""
    br, cond = ("br", "cond_br") if old else ("cf.br", "cf.cond_br")

    def make(piece: Piece) -> None:
        piece.alone = True
        piece.covers |= {br, cond, "cf.switch", "cf.assert"}
        last, first = piece.value("index", ("small", 6))[0], piece.value("index", ("small", 3))[0]
        one, other, truth = piece.value("i32")[0], piece.value("i32")[0], piece.value("i1")[0]
        i, bit, number, value, more = (piece.name() for _ in range(5))
        label = {name: f"^{name}{piece.number}" for name in ("head", "body", "store", "end")}
        g = piece.generic

        def jump(to: str, given: str) -> str:
            return f'"{br}"({given})[{to}] : (index) -> ()' if g else f"{br} {to}({given} : index)"

        piece.add(jump(label["head"], first))
        piece.add(f"{label['head']}({i}: index):", f"{bit} = arith.cmpi slt, {i}, {last} : index")
        piece.add(f'"cf.assert"({truth}) <{{msg = "no"}}> : (i1) -> ()' if g else f'cf.assert {truth}, "no"')
        piece.add(
            f'"{cond}"({bit})[{label["body"]}, {label["end"]}] '
            "<{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()"
            if g
            else f"{cond} {bit}, {label['body']}, {label['end']}"
        )
        store = label["store"]
        piece.add(f"{label['body']}:", f"{number} = arith.index_cast {i} : index to i32")
        segments = (
            "case_operand_segments = array<i32: 1, 1>, case_values = dense<[2, 4]> : tensor<2xi32>, "
            "operandSegmentSizes = array<i32: 1, 1, 2>"
        )
        piece.add(
            f'"cf.switch"({number}, {number}, {one}, {other})[{store}, {store}, {store}] <{{{segments}}}> '
            ": (i32, i32, i32, i32) -> ()"
            if g
            else f"cf.switch {number} : i32, [default: {store}({number} : i32), 2: {store}({one} : i32), "
            f"4: {store}({other} : i32)]"
        )
        piece.add(f"{store}({value}: i32):", f"memref.store {value}, %out_i32[{i}] : memref<16xi32>")
        piece.add(f"{more} = arith.addi {i}, %c1 : index", jump(label["head"], more), f"{label['end']}:")

    return make


def call(old: bool) -> Maker:
    """A function of the module, with a result and with blocks."""
    name, back = ("call", "return") if old else ("func.call", "func.return")

    def make(piece: Piece) -> None:
        piece.alone = True
        piece.covers |= {name, back}
        symbol, value, result = piece.symbol(), piece.value("i32")[0], piece.name()
        a, b = piece.name(), piece.name()
        if piece.generic:
            ret = f'"{back}"({b}) : (i32) -> ()'
            text = f'{result} = "{name}"({value}) <{{callee = {symbol}}}> : (i32) -> i32'
        else:
            ret, text = f"{back} {b} : i32", f"{result} = {name} {symbol}({value}) : (i32) -> i32"
        piece.beside += (
            f"func.func {symbol}({a}: i32) -> i32 {{\n{b} = arith.muli {a}, {a} : i32\n{ret}\n}}\n"
        )
        piece.add(text)
        piece.put(result, "i32")

    return make


def end(piece: Piece) -> None:
    """``aie.end``."""
    piece.alone = True
    piece.covers.add("aie.end")
    piece.put(piece.value("i32")[0], "i32")


def lock(piece: Piece) -> None:
    """``aie.use_lock`` with a count that memory says."""
    piece.alone = True
    piece.covers.add("aie.use_lock")
    symbol = f"l{piece.number}"
    piece.beside += f'%{symbol} = aie.lock(%tile, 3) {{init = 1 : i32, sym_name = "{symbol}"}}\n'
    count = piece.value("i32", ("small", 4))[0]
    action = piece.rng.randrange(3)
    word = ("Acquire", "Release", "AcquireGreaterEqual")[action]
    if piece.generic:
        piece.add(f'"aie.use_lock"(%{symbol}, {count}) <{{action = {action} : i32}}> : (index, i32) -> ()')
    else:
        piece.add(f"aie.use_lock(%{symbol}, {word}, {count})")


def fifo(piece: Piece) -> None:
    """``aie.objectfifo``: acquire, access at any index that the text says, release."""
    piece.alone = True
    piece.covers |= {"aie.objectfifo.acquire", "aie.objectfifo.release", "aie.objectfifo.subview.access"}
    symbol, held, found, value = f"f{piece.number}", piece.name(), piece.name(), piece.name()
    kind = "memref<4xi32>"
    view = f"!aie.objectfifosubview<{kind}>"
    piece.beside += f"aie.objectfifo @{symbol}(%tile, {{%other}}, 3 : i32) : !aie.objectfifo<{kind}>\n"
    count, which, at = piece.rng.choice((1, 2, 3)), piece.rng.choice((0, 1, 2)), piece.index(4)
    number = piece.value("i32")[0]
    if piece.generic:
        port = f"objFifo_name = @{symbol}, port = 0 : i32"
        piece.add(
            f'{held} = "aie.objectfifo.acquire"() <{{{port}, size = {count} : i32}}> : () -> {view}',
            f'{found} = "aie.objectfifo.subview.access"({held}) <{{index = {which} : i32}}> '
            f": ({view}) -> {kind}",
        )
    else:
        piece.add(
            f"{held} = aie.objectfifo.acquire @{symbol}(Produce, {count}) : {view}",
            f"{found} = aie.objectfifo.subview.access {held}[{which}] : {view} -> {kind}",
        )
    piece.add(
        f"memref.store {number}, {found}[{at}] : {kind}", f"{value} = memref.load {found}[%c0] : {kind}"
    )
    piece.put(value, "i32")
    if piece.generic:
        piece.add(f'"aie.objectfifo.release"() <{{{port}, size = {count} : i32}}> : () -> ()')
    else:
        piece.add(f"aie.objectfifo.release @{symbol}(Produce, {count})")


def cascade(put: str, get: str) -> Maker:
    """Values on the cascade, by their names since 2023 and before."""

    def make(piece: Piece) -> None:
        piece.alone = True
        piece.covers |= {put, get}
        kind = piece.rng.choice(("vector<16xi32>", "i512", "vector<32xbf16>"))
        value = piece.name()
        if piece.generic:
            piece.add(f'{value} = "{get}"() : () -> {kind}', f'"{put}"({value}) : ({kind}) -> ()')
        else:
            piece.add(f"{value} = {get}() : {kind}", f"{put}({value} : {kind})")

    return make


def stream(piece: Piece) -> None:
    """``aie.get_stream`` and ``aie.put_stream``."""
    piece.alone = True
    piece.covers |= {"aie.put_stream", "aie.get_stream"}
    kind, port, value = piece.rng.choice(("i32", "f32", "i128")), piece.constant(0, "i32"), piece.name()
    if piece.generic:
        piece.add(f'{value} = "aie.get_stream"({port}) : (i32) -> {kind}')
        piece.add(f'"aie.put_stream"({port}, {value}) : (i32, {kind}) -> ()')
    else:
        piece.add(
            f"{value} = aie.get_stream({port} : i32) : {kind}",
            f"aie.put_stream({port} : i32, {value} : {kind})",
        )


def parameter(piece: Piece) -> None:
    """``aiex.read_scratchpad_parameter``."""
    piece.alone = True
    piece.covers.add("aiex.read_scratchpad_parameter")
    kind, symbol = piece.rng.choice(("bf16", "i16", "i32")), piece.symbol()
    piece.beside += f"aiex.scratchpad_parameter {symbol} : {kind}\n"
    pretty = f"aiex.read_scratchpad_parameter {symbol} : {kind}"
    value = piece.op("aiex.read_scratchpad_parameter", [], ([], [kind]), pretty, f"parameter = {symbol}")
    piece.put(value, kind)


MAKERS: Mapping[str, Maker] = {
    "scf.for": for_loop,
    "scf.if": branch,
    "scf.while": while_loop,
    "scf.yield": branch,
    "scf.condition": while_loop,
    "scf.index_switch": switch,
    "scf.execute_region": execute_region,
    **{name: _nested(name) for name in ("scf.forall", "scf.parallel", "affine.parallel")},
    "scf.forall.in_parallel": _nested("scf.forall"),
    "scf.reduce": _nested("scf.parallel"),
    "affine.for": affine_loop,
    "affine.yield": affine_loop,
    "affine.apply": apply,
    **{name: extreme(name) for name in ("affine.min", "affine.max")},
    "affine.if": affine_if,
    **{name: marks(name) for name in ("aie.event", "aie.debug")},
    **dict.fromkeys(("cf.br", "cf.cond_br", "cf.switch", "cf.assert"), blocks(old=False)),
    **dict.fromkeys(("br", "cond_br"), blocks(old=True)),
    **dict.fromkeys(("func.call", "func.return"), call(old=False)),
    **dict.fromkeys(("call", "return"), call(old=True)),
    "aie.end": end,
    "aie.use_lock": lock,
    **dict.fromkeys(
        ("aie.objectfifo.acquire", "aie.objectfifo.release", "aie.objectfifo.subview.access"), fifo
    ),
    **dict.fromkeys(("aie.put_cascade", "aie.get_cascade"), cascade("aie.put_cascade", "aie.get_cascade")),
    **dict.fromkeys(("aie.putCascade", "aie.getCascade"), cascade("aie.putCascade", "aie.getCascade")),
    **dict.fromkeys(("aie.put_stream", "aie.get_stream"), stream),
    "aiex.read_scratchpad_parameter": parameter,
}
