"""Is what a design of MLIR text has wrong told with its place, and never a traceback?"""

from __future__ import annotations

import pytest

from memtile.errors import InputFileError, MemtileError
from memtile.importers.mlir.forms.operand_faults import SPELLING, reading
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from support.mlir.mlir_designs import FLOWS, WHOLE, copied, device, host, loaded
from support.mlir.mlir_texts import PASSTHROUGH

FIFO = "aie.objectfifo @f(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"
LINKED = f"{FIFO}\naie.objectfifo @g(%m, {{%s}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
MEMORY = """%b = aie.buffer({buffer}) : memref<8xi32>
%l = aie.lock({lock}, 0)
%mem = aie.mem(%c) {{
  %0 = aie.dma_start(S2MM, 0, ^a, ^end)
^a:
  aie.use_lock(%l, AcquireGreaterEqual, 1)
  {bd}
  aie.next_bd ^a
^end:
  aie.end
}}"""
COPY = "d.mlir:11:1: aiex.npu.dma_memcpy_nd"
BD = "aie.dma_bd(%b : memref<8xi32>)"


def refused(text: str) -> str:
    """First line of the error of a design, with its reason in front."""
    with pytest.raises(MemtileError) as caught:
        loaded(text)
    problem = caught.value.problems[0]
    return f"{problem.reason} {problem.message}".split("\n", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            copied("in", "a", 0).replace("metadata = @in", "issue_token = true"),
            f"mlir_attribute {COPY}: it has no metadata",
        ),
        (copied("in", "a", 0).replace("@in", "5"), "its metadata is 5"),
        (copied("in", "a", 0).replace("id = 0", "id = @x"), "its id is 'x'"),
        (
            copied("in", "a", 0).replace("id = 0", "id = 16"),
            f"{COPY}: the interface tile (0,0) has no BD 16",
        ),
        (copied("in", "a", 0, "[0][1, 1, 1, 64]"), "it needs offsets, sizes and strides"),
        (copied("in", "a", 0, WHOLE.replace("64", "%a")), "%a is no constant"),
        (copied("in", "a", 0, WHOLE.replace("[0, 0, 0, 0]", "[0, 0, 0, -1]")), "begins 4 bytes before it"),
        ("aiex.npu.writebd {bd_id = 1 : i32}", "mlir_attribute"),
        ("aiex.npu.address_patch {addr = 4 : ui32}", "it has no arg_idx"),
        ("aiex.npu.push_queue (0, 0, MM2S:7) bd_id 0 repeat 0", "has no channel 7"),
        ("aiex.npu.push_queue (0, 0, MM2S:0) bd_id 0", "it has no repeat"),
        ("aiex.npu.dma_wait {symbol = 3}", "its symbol is 3"),
        ("aiex.npu.write32(%a, 5) {column = 0 : i32}", "%a is no constant"),
        ("aiex.set_lock(%m, 1)", "%m is no lock of the device"),
        ("aiex.core_reset(%a)", "%a is no tile of the device"),
        ("%t = aiex.dma_configure_task(%m, MM2S, 9) { aie.end }", "has no channel 9"),
        ("%t = aiex.dma_configure_task(%m, MM2S, 1) { aie.end }", "the task has no BD"),
        ("%t = aiex.dma_configure_task(%m) { aie.end }", "it has 1 operand"),
        ("aiex.dma_start_task(%a)", "%a is no task"),
        (
            "aiex.run @sequence(%a, %b) : (memref<64xi32>, memref<64xi32>)",
            "the sequence sequence runs itself",
        ),
    ],
)
def test_what_a_host_says_wrong_is_told(line: str, says: str) -> None:
    text = device(FLOWS, host(line))
    assert says in refused(text)


def test_numbers_of_a_host_that_cannot_be_computed_are_told() -> None:
    constants = "".join(
        f"%c{n} = arith.constant {n} : i64\n%n{n} = arith.constant {n} : index\n" for n in (0, 1, 70, 2**40)
    )
    for line, says in (
        ("%x = arith.divsi %c1, %c0 : i64", "1 is divided by zero"),
        ("%x = arith.shli %c1, %c70 : i64", "it shifts by 70"),
        ("scf.for %i = %n0 to %n70 step %n0 { scf.yield }", "its step is 0"),
        (f"scf.for %i = %n0 to %n{2**40} step %n1 {{ scf.yield }}", "the sequence does not end"),
        ("%x = arith.addi %c1 : i64", "it has 1 operand"),
    ):
        assert says in refused(device(host(constants + line)))


def test_a_quotient_of_a_host_goes_towards_zero() -> None:
    lines = "%a1 = arith.constant -7 : i32\n%b1 = arith.constant 2 : i32\n%q = arith.divsi %a1, %b1 : i32\n"
    lines += "%r = arith.remsi %a1, %b1 : i32\naiex.npu.rtp_write(@x, 0, %q)\naiex.npu.rtp_write(@x, 1, %r)"
    design = loaded(device('%x = aie.buffer(%c) {sym_name = "x"} : memref<4xi32>', host(lines)))
    assert design.sequence is not None
    assert [getattr(step, "value", None) for step in design.sequence.steps] == [2**32 - 3, 2**32 - 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            device(MEMORY.format(buffer="%l", lock="%c", bd=BD)),
            "mlir_value d.mlir:6:17: aie.buffer: %l is used where its definition is not done yet",
        ),
        (
            device(MEMORY.format(buffer="%c", lock="%b", bd=BD)),
            "mlir_tile d.mlir:7:6: aie.lock: %b is no tile",
        ),
        (
            device(MEMORY.format(buffer="%c", lock="%c", bd=BD.replace("%b", "%l"))),
            "mlir_buffer d.mlir:12:3: aie.dma_bd: %l is no buffer of the device",
        ),
        (device(MEMORY.format(buffer="%d", lock="%c", bd=BD)), "does not reach buffer 'b'"),
        (device(MEMORY.format(buffer="%c", lock="%d", bd=BD)), "the DMA does not reach lock %l"),
        (device(MEMORY.format(buffer="%c", lock="%c", bd="")), "its chain has no BD"),
        (
            device(
                MEMORY.format(buffer="%c", lock="%c", bd=BD.replace(")", " sizes = [2, 4] strides = [1])"))
            ),
            "it has 2 sizes and 1 strides",
        ),
        (
            device(MEMORY.format(buffer="%c", lock="%c", bd=BD.replace(")", " sizes = [2, 4])"))),
            "it has 2 sizes and 0 strides",  # mlir-aie, DMABDOp::verify
        ),
        (
            device(MEMORY.format(buffer="%c", lock="%c", bd=BD.replace(")", " strides = [4, 1])"))),
            "it has 0 sizes and 2 strides",
        ),
        (device("%b = aie.buffer(%c) : memref<4xi32> = dense<[1, 2]>"), "2 values are given for 4 elements"),
        (device("%b = aie.buffer(%c) : memref<2xi8> = dense<[1, 256]>"), "the value 256 is no i8"),
        (device("%b = aie.buffer(%c) : memref<2xi8> = dense<[1, x]>"), "x is no number"),
        (device("%b = aie.buffer(%c) {address = @x} : memref<2xi8>"), "its address is 'x'"),
        (
            device("%b = aie.buffer(%c) : memref<1000000000xi32>"),
            "the buffers of compute tile (0,2) need 4,000,000,000 bytes",
        ),
        (device("%x = aie.tile(9, 0)"), "d.mlir:6:6: array npu1_1col: column is 9"),
        (device("%x = aie.core(%m) { aie.end }"), "its tile is of kind memory"),
        (device("aie.flow(%s, DMA : 0, %m)"), "it has 3 operands"),
        (device("aie.flow(%s, DMA : 7, %m, DMA : 0)"), "d.mlir:6:1: "),
        (device(FIFO.replace("{%m}", "{}")), "it has no consumer"),
        (device(FIFO.replace("%s, {%m}", "%m, {%s, %s}")), "call it once, and drain that handle"),
        (device(FIFO.replace("2 : i32", "0 : i32")), "it has 0 buffers"),
        (device(FIFO.replace("2 : i32", "[2, 2, 2]")), "it has 3 depths and 2 ends"),
        (
            device(FIFO.replace("2 : i32", "1000000000 : i32")),
            "mlir_depth d.mlir:6:1: aie.objectfifo: 1000000000",
        ),
        (
            device(FIFO.replace("%m", "%l"), "%l = aie.lock(%m, 0)"),
            "%l is used where its definition is not done",
        ),
        (device(LINKED, "aie.objectfifo.link [@f] -> [@h] ([] [])"), "mlir_object_fifo"),
        (device(LINKED, "aie.objectfifo.link [@f] -> [] ([] [])"), "it links nothing on one side"),
        (device(LINKED, "aie.objectfifo.link [@f] -> [@g] ([0] [0])"), "it has offsets on both sides"),
        (device(LINKED, "aie.objectfifo.link [@g] -> [@g] ([] [])"), "its FIFOs meet in 2 tiles"),
    ],
)
def test_what_a_device_has_wrong_is_told(text: str, says: str) -> None:
    assert says in refused(text)


def test_a_constant_may_be_bytes() -> None:
    design = loaded(device('%b = aie.buffer(%c) {sym_name = "b"} : memref<2xi16> = dense<"0x0100FFFF">'))
    buffer = design.configured.buffers["%b"]
    assert design.array.compute_tile(0, 2).load(buffer).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the text has no device"),
        ("module {" * 10_000 + "}" * 10_000, "more than 100 regions within"),
        (device("%x = aie.tile(" + "[" * 10_000 + "]" * 10_000 + ", 2)"), "no constant"),
        (
            PASSTHROUGH.replace("2 : i32", "[" * 10_000 + "2" + "]" * 10_000),
            "more than 50 lists within",
        ),
        (PASSTHROUGH.replace("aie.tile", "aie\0tile"), "aie is no operation"),
        (PASSTHROUGH.replace("2 : i32", "9" * 5000), "its depth is '9999"),
        (PASSTHROUGH.replace("16xi32", "9" * 5000 + "xi32"), "have no known size"),
        (PASSTHROUGH.replace("16xi32", "16xi" + "9" * 5000), "have no known size"),
        (PASSTHROUGH.replace("1, 64]", f"1, {2**200}]"), "it moves 6427"),
        (PASSTHROUGH.replace("@in(", '@"in('), "the string is not closed in its line"),
        (PASSTHROUGH[:-4], "is never closed"),
        (PASSTHROUGH.replace("2 : i32", "\u0662 : i32"), "its depth is"),
    ],
)
def test_texts_that_nobody_wrote_are_refused(text: str, says: str) -> None:
    assert says in refused(text)


@pytest.mark.parametrize(
    "text",
    [
        PASSTHROUGH.replace("\n", "\r\n"),
        PASSTHROUGH.replace(" ", "\t"),
        PASSTHROUGH.replace(",", ', // } ) " ]\n'),
        PASSTHROUGH.replace("@in", '@"i\'n \\" x"'),
        PASSTHROUGH.replace("@in", "@class").replace("%shim", "%while"),
        "\ufeff" + PASSTHROUGH,
        f"#x = a {': a ' * 20_000}\n{PASSTHROUGH}",
    ],
)
def test_texts_that_look_odd_are_read(text: str) -> None:
    assert loaded(text).sequence is not None


def test_the_line_that_is_shown_has_no_signs_that_terminals_obey() -> None:
    with pytest.raises(InputFileError) as caught:
        read(Text("d.mlir", "module {\x1b[2J\taie.tile)\r\n}"))
    assert str(caught.value).split("\n")[1] == "module {\ufffd[2J aie.tile) "


def test_what_nobody_foresaw_names_its_operation() -> None:
    (block,) = read(Text("d.mlir", "module { aie.tile(0, 1) }")).blocks
    says = r"d.mlir:1:1: module: its operands .*KeyError: 'x'"
    with pytest.raises(InputFileError, match=says) as caught, reading(block.operations[0]):
        {}["x"]
    assert caught.value.problems[0].reason == SPELLING
    with pytest.raises(AttributeError), reading(block.operations[0]):
        block.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_an_array_is_not_filled_up_with_more_zeros_than_there_is_memory() -> None:
    design = loaded(PASSTHROUGH.replace("[0, 0, 0, 0]", f"[0, 0, 0, {1 << 40}]"))
    with pytest.raises(InputFileError, match="size is 4398046511360 bytes"):
        design.run(pad_arguments=True)
