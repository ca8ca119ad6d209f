"""Is an attribute, a word or a value that nothing is known of refused, wherever it stands?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtile.errors import InputFileError
from memtile.importers.known import known
from memtile.importers.mlir.known_check import check_known
from memtile.importers.mlir.known_operations import ENUMS, KnownAttribute, operations
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import copied, device, host, loaded
from support.mlir.mlir_texts import CALL, PASSTHROUGH
from support.pages import attribute_table, pages

SOURCE = pages.ROOT / "src" / "memtile" / "importers"
READERS = {"integer", "integers", "choice", "symbol_of", "number"}
GIVEN = {"attributes", "given"}
NOT_OURS = {"delegate"}  # of a description, not of a text
SAMPLES = {
    "any": "5",
    "array": "array<i64: 1, 2>",
    "bool": "true",
    "elements": "dense<1> : tensor<2xi32>",
    "list": "[@a]",
    "map": "affine_map<(d0) -> (d0)>",
    "str": '"text"',
    "sym": "@name",
    "type": "i32",
    "unit": "unit",
}


def problems(line: str) -> list[str]:
    """What is refused of an operation in a device."""
    (outer,) = read(Text("d.mlir", f"aie.device(npu1) {{\n{line}\n}}")).blocks[0].operations
    try:
        check_known(outer)
    except InputFileError as error:
        return [each.message for each in error.problems if "it stands in aie.device" not in each.message]
    return []


def sample(attribute: KnownAttribute) -> str:
    """A value that an attribute may have."""
    kind = attribute.kind.split("|")[0]
    if attribute.neutral and kind[0] != "$":
        return f"{attribute.neutral} : {kind}" if attribute.neutral.isdigit() else attribute.neutral
    if kind[0] == "$":
        return f'"{attribute.neutral or ENUMS[kind[1:]][0]}"'
    if kind[0] == "<":
        return f"#aie.x<{kind[1:-1].split(', ')[0]} = 1>"
    return SAMPLES.get(kind) or f"1 : {kind.split('>')[0].split(' ')[0]}"


def generic(name: str, attributes: str) -> str:
    return f'"{name}"() <{{{attributes}}}> : () -> ()'


@pytest.mark.parametrize("name", operations())
def test_an_unknown_attribute_of_each_operation_is_refused(name: str) -> None:
    (found,) = problems(generic(name, "frobnicate = 3 : i32"))
    assert f"{name}: nothing is known of its attribute frobnicate" in found
    assert "d.mlir:2:" in found
    (found,) = problems(
        generic(name, "aie.enable_frob = true")
    )  # aie.enable_compression of a fork sets a bit
    assert f"{name}: nothing is known of its attribute aie.enable_frob" in found
    assert problems(generic(name, 'llvm.frobnicate = 3 : i32, "air.x" = 5')) == []


@pytest.mark.parametrize("name", [name for name, each in operations().items() if each.attributes])
def test_each_attribute_has_a_type_and_no_other(name: str) -> None:
    for attribute, each in operations()[name].attributes.items():
        refused = each.verdict == "refused" and not each.neutral
        found = problems(generic(name, f"{attribute} = {sample(each)}"))
        assert bool(found) is refused, (attribute, found)
        if "any" not in each.kind:
            assert problems(generic(name, f"{attribute} = loc(unknown)")), attribute
        if each.kind[0] == "$":
            assert problems(generic(name, f'{attribute} = "frob"')), attribute
        if each.neutral:
            other = {"0": "7 : i64", "1": "0 : i32", "false": "true"}.get(each.neutral, '"upward"')
            other = other.replace("i64", each.kind) if each.kind[0] != "$" else other
            (said,) = problems(generic(name, f"{attribute} = {other}"))
            assert f"not supported: {each.reason}" in said


def test_what_is_ignored_or_refused_has_a_reason() -> None:
    for known_operation in operations().values():
        for each in known_operation.attributes.values():
            assert bool(each.reason) is (each.verdict != "lowered")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("%t = aie.tile(0, 2) {frobnicate = 3}", "its attribute frobnicate; allowed are alloc"),
        ('%l = aie.lock(%t, 0) {int = 1 : i32}', "Write init."),
        ("%l = aie.lock(%t, 0) {init = 1}", "its init is 1; allowed are a whole number of type i32 or a"),
        ("%l = aie.lock(%t, 0) {init = 1 : i64}", "its init is 1 of type i64"),
        ("%l = aie.lock(%t, 0) {init = 1 : i32, init = 1 : i32}", "its init is given twice"),
        ("%l = aie.lock(%t, 0) {init = 1 : i32 junk}", "junk stands behind its init"),
        ("aie.packet_flow(1) { aie.end } {keep_pkt_header}", "its keep_pkt_header is nothing"),
        ("aie.flow(%t, DNA : 0, %t, DMA : 0)", "nothing is known of its word DNA"),
        ("aie.dma_bd(%b : memref<8xi32> ofset = 4 len = 4)", "Write offset."),
        ("aie.use_lock(%l, Aquire, 1)", "nothing is known of its word Aquire"),
        ('aie.use_lock(%l, "Aquire", 1)', "Write Acquire."),
        ("aie.objectfifo.acquire @f (Consumes, 1) : !aie.objectfifosubview<memref<8xi32>>", "Write Consume."),
        ("%0 = arith.cmpi sltt, %a, %b : i32", "Write slt."),
        ("%0 = arith.addf %a, %b fastmath<fat> : f32", "Write fast."),
        ("aie.dma_bd(%b : memref<8xi32>) {packet = #aie.packet_info<pkt_typ = 0>}", "its packet is"),
        ("aie.shim_dma_allocation @f(%t, MM2S, 0) {plio = true}", "programmable"),
        ("aie.amsel<0>(0) {arbiterID = 6 : i8}", "a whole number of type i8, 0..5"),
    ],
)  # fmt: skip
def test_what_nothing_is_known_of_is_named_with_the_nearest(line: str, says: str) -> None:
    assert any(says in found for found in problems(line)), problems(line)


@pytest.mark.parametrize(
    "line",
    [
        "%t = aie.tile(0, 2) loc(#loc3)",
        "aie.flow(%t, SOUTH : 0, %t, CTRL : 0)",
        'aie.flow(%t, "DMA" : 0, %t, DMA : 0) {air.x = 1}',
        "aie.dma_bd(%b : memref<8xi32, 2> offset = 0 len = 4 sizes = [2] strides = [1] pad_value = 0)",
        'aie.dma_bd(%b : memref<8x!aiex.bfp<"v8bfp16ebs8">>, 0, 4, [<size = 2, stride = 1>])',
        "%0 = memref.load %b[%i] : memref<8xi32, strided<[1], offset: ?>>",
        '"aie.flow"(%t, %t) <{dest_bundle = 1 : i32, dest_channel = 0 : i32}> : (index, index) -> ()',
    ],
)  # fmt: skip
def test_what_tools_print_is_known(line: str) -> None:
    assert problems(line) == []


_CALL = "func.call @work(%x, %y)"


@pytest.mark.parametrize(
    "text",
    [
        PASSTHROUGH.replace("%mem = aie.tile(0, 1)", "%mem = aie.tile(0, 1) {frobnicate = 3}"),
        PASSTHROUGH.replace("id = 0 : i64", "id = 0 : i64, frobnicate = 3"),
        CALL.replace(_CALL, f"{_CALL} {{frobnicate}}"),
        CALL.replace("arith.constant 4 : index", "arith.constant {frobnicate = 3} 4 : index"),
        device("aie.wire(%s : DMA, %m : DMA) {frobnicate}", host(copied("in", "a", 0))),
    ],
)
def test_a_design_with_an_unknown_attribute_is_refused(text: str) -> None:
    with pytest.raises(InputFileError, match="frobnicate"):
        loaded(text, functions={"work": lambda *_: None})


def test_the_page_has_the_present_table() -> None:
    page = (pages.ROOT / "docs" / "mlir.md").read_text(encoding="utf-8")
    assert page.count(attribute_table.TABLE.mark) == 1
    assert attribute_table.TABLE.in_page(page) == page, "make docs writes it anew"


def test_every_operation_with_a_handler_is_in_the_table() -> None:
    assert {name for names in known().values() for name in names} <= operations().keys()


def test_every_attribute_that_the_importer_reads_is_in_the_table() -> None:
    names = {name for each in operations().values() for name in each.attributes}
    found = {name for path in SOURCE.rglob("*.py") for name in _read(path)} - NOT_OURS
    assert found
    assert found <= names, sorted(found - names)


def _read(path: Path) -> Iterator[str]:
    """Names of attributes that a module asks an operation for."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        key: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of = node.func.value
            name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
            asks = node.func.attr in READERS and name in ("form", "rule", "select", "self")
            key = node.args[0] if asks or (node.func.attr == "get" and name in GIVEN) else None
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            key = node.slice if node.value.attr == "attributes" else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value
