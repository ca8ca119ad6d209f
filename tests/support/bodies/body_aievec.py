"""Operations of ``aievec`` in core bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from support.bodies.body_texts import Piece, vector

Maker = Callable[[Piece], None]
_LANES = {"i8": 64, "i16": 32, "i32": 16, "bf16": 16, "f32": 16}


def _made(
    name: str,
    given: Sequence[str],
    results: Sequence[str],
    attributes: str = "",
    *,
    shown: str | None = None,
    moved: str = "",
) -> Maker:
    """An operation on vectors.

    Args:
        name: without its dialect.
        given: element types of its operands; ``=`` before one that is a number.
        results: element type, and the number of elements if it is not that of the first operand.
        attributes: of the generic form.
        shown: types behind the colon; None for those of operands and result.
        moved: attributes of the pretty form; empty for those of the generic one.
    """

    def make(piece: Piece) -> None:
        lanes = _LANES[given[0].lstrip("=")] if not given[0].startswith("=") else int(results[1])
        kinds = [each[1:] if each[:1] == "=" else vector((lanes,), each) for each in given]
        values = [
            piece.value(each[1:])[0] if each[:1] == "=" else piece.vector(each, (lanes,)) for each in given
        ]
        count = int(results[1]) if len(results) > 1 else lanes
        kind = vector((count,), results[0]) if count else results[0]
        types = ", ".join([*kinds, kind]) if shown is None else shown.format(kind)
        more = moved or (f"{{{attributes}}}" if attributes else "")
        text = " ".join(filter(None, [f"aievec.{name} {', '.join(values)}", more, f": {types}"]))
        result = piece.op(f"aievec.{name}", values, (kinds, [kind]), text, attributes)
        if count:
            piece.put_vector(result, results[0], (count,))
        else:
            piece.put(result, results[0])

    return make


def _matrices(name: str) -> Maker:
    """A product of small matrices."""

    def make(piece: Piece) -> None:
        sizes = ((4, 8), (8, 8), (4, 8))
        kinds = piece.rng.choice((("i8", "i8", "i32"), ("bf16", "bf16", "f32")))
        types = [vector(size, kind) for size, kind in zip(sizes, kinds, strict=True)]
        values = [piece.vector(kind, size) for size, kind in zip(sizes, kinds, strict=True)]
        text = f"aievec.{name} {', '.join(values)} : {types[0]}, {types[1]} into {types[2]}"
        result = piece.op(f"aievec.{name}", values, (types, [types[2]]), text)
        piece.put_vector(result, kinds[2], sizes[2])

    return make


def _shift(piece: Piece) -> None:
    """Two vectors from a byte on."""
    kind = vector((32,), "i16")
    values = [
        piece.vector("i16", (32,)),
        piece.vector("i16", (32,)),
        piece.constant(2 * piece.rng.randrange(33), "i32"),
    ]
    text = f"aievec.shift {', '.join(values)} {{isAcc = false}} : {kind}, {kind}, i32, {kind}"
    result = piece.op("aievec.shift", values, ([kind, kind, "i32"], [kind]), text, "isAcc = false")
    piece.put_vector(result, "i16", (32,))


MAKERS: Mapping[str, Maker] = {
    "aievec.add_elem": _made("add_elem", ["f32", "f32"], ["f32"], shown="{}"),
    "aievec.sub_elem": _made("sub_elem", ["f32", "f32"], ["f32"], shown="{}"),
    "aievec.min": _made("min", ["i16", "i16"], ["i16"], shown="{}"),
    "aievec.max": _made("max", ["i32", "i32"], ["i32"], shown="{}"),
    "aievec.band": _made("band", ["i8", "i8"], ["i8"]),
    "aievec.bor": _made("bor", ["i16", "i16"], ["i16"]),
    "aievec.bxor": _made("bxor", ["i32", "i32"], ["i32"]),
    "aievec.bneg": _made("bneg", ["i32"], ["i32"], shown="{}"),
    "aievec.neg": _made("neg", ["f32"], ["f32"], shown="{}"),
    "aievec.mul_elem": _made("mul_elem", ["i16", "i16"], ["i32"]),
    "aievec.mac_elem": _made("mac_elem", ["bf16", "bf16", "f32"], ["f32"]),
    "aievec.ups": _made("ups", ["i16"], ["i32"], "shift = 3 : i8"),
    "aievec.srs": _made("srs", ["i32", "=i32"], ["i16"]),
    "aievec.cast": _made("cast", ["i32"], ["i32"], "isResAcc = true"),
    "aievec.concat": _made("concat", ["i16", "i16"], ["i16", "64"], shown="vector<32xi16>, vector<32xi16>"),
    "aievec.ext": _made("ext", ["i16"], ["i16", "16"], "index = 1 : i8"),
    "aievec.ext_elem": _made("ext_elem", ["i16", "=i32"], ["i16", "0"]),
    "aievec.broadcast": _made("broadcast", ["i16"], ["i16"], "idx = 2 : i8"),
    "aievec.broadcast_scalar": _made("broadcast_scalar", ["=i16"], ["i16", "32"]),
    "aievec.cmp": _made("cmp", ["i16", "i16"], ["i32", "0"], 'pred = "ult"'),
    "aievec.sel": _made("sel", ["i16", "i16", "=i32"], ["i16"]),
    "aievec.shuffle": _made(
        "shuffle", ["i32"], ["i32"], "mode = #aievec<mode t32_4x4>", shown="{}", moved="[t32_4x4]"
    ),
    "aievec.shift": _shift,
    "aievec.matmul": _matrices("matmul"),
    "aievec.matmul_aie2p": _matrices("matmul_aie2p"),
}
