"""Do parameters of the scratchpad reach cores and BDs, and cores the registers of their tiles?"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import Array
from memtile.errors import InputFileError
from memtile.importers.loaded import Loaded
from memtile.runs.firmware import FUNCTIONS, UPDATE
from memtile.runs.operations import Other, Write
from memtile.runs.session import run_program
from support.mlir.mlir_designs import WAIT, copied, device, host, loaded, ran

_OUT = copied("out", "b", 1, "[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]")
_FLOW = """
  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<8xi32>>
"""


def core(*lines: str, more: str = "") -> str:
    """A core that fills an object of eight numbers with ``%v``."""
    body = "\n".join(lines)
    return f"""
  aie.core(%c) {{
    %z = arith.constant 0 : index
    %w = arith.constant 8 : index
    %o = arith.constant 1 : index
    {body}
    %s0 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
    %y = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
    scf.for %i = %z to %w step %o {{
      memref.store %v, %y[%i] : memref<8xi32>
    }}
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  }} {more}
"""


def first(design: Loaded, **more: Any) -> int:
    done = design.run(max_cycles=100_000, **more)
    assert not done.stopped, done.stopped
    return int(np.asarray(done.arrays["1"])[0])


READ = "%v = aiex.read_scratchpad_parameter @p : i32"
PARAMETER = "aiex.scratchpad_parameter @p : i32\n"


def test_a_core_reads_a_parameter_that_the_host_brings_before_all_else() -> None:
    """Without a word of it in the sequence: the core waits, and 30 bits arrive."""
    text = PARAMETER + device(_FLOW, core(READ), host(_OUT, WAIT))
    assert first(loaded(text, parameters={"p": 42})) == 42
    assert first(loaded(text, parameters={"p": (1 << 30) - 1})) == (1 << 30) - 1
    assert first(loaded(text, parameters={"p": -1})) == (1 << 30) - 1  # two bits are lost on the way


def test_the_lock_that_says_that_parameters_are_there_need_not_be_the_first_of_its_tile() -> None:
    own = "%own = aie.lock(%c, 0) {init = 0 : i32}"
    text = PARAMETER + device(own, _FLOW, core(READ), host(_OUT, WAIT))
    assert first(loaded(text, parameters={"p": 42})) == 42


def test_generic_form_and_a_place_that_the_text_says() -> None:
    declared = '"aiex.scratchpad_parameter"() <{sym_name = "p", type = i32}> : () -> ()\n'
    read = '%v = "aiex.read_scratchpad_parameter"() <{parameter = @p}> : () -> i32'
    sync = '"aiex.sync_scratchpad_parameters_from_host"() : () -> ()'
    text = declared + device(_FLOW, core(read), host(sync, _OUT, WAIT))
    assert first(loaded(text, parameters={"p": 7})) == 7
    kept = [s for s in loaded(text, parameters={"p": 7}).sequence.steps if isinstance(s, Other)]  # type: ignore[union-attr]
    assert [s.name for s in kept if s.name == UPDATE] == [UPDATE]


@pytest.mark.parametrize("given", [1.5, ml_dtypes.bfloat16(1.5), 0x3FC0])
def test_a_bfloat16_parameter_is_a_number_or_its_bits(given: Any) -> None:
    read = """%f = aiex.read_scratchpad_parameter @p : bf16
    %t = arith.constant 3.0 : bf16
    %g = arith.mulf %f, %t : bf16
    %x = arith.extf %g : bf16 to f32
    %v = arith.bitcast %x : f32 to i32"""
    text = "aiex.scratchpad_parameter @p : bf16\n" + device(_FLOW, core(read), host(_OUT, WAIT))
    got = np.int32(first(loaded(text, parameters={"p": given}))).view(np.float32)
    assert got == 4.5


def test_a_narrow_parameter_keeps_its_sign() -> None:
    read = "%f = aiex.read_scratchpad_parameter @p : i8\n%v = arith.extsi %f : i8 to i32"
    text = "aiex.scratchpad_parameter @p : i8\n" + device(_FLOW, core(read), host(_OUT, WAIT))
    assert first(loaded(text, parameters={"p": -3})) == -3


RAW = """%b0 = aie.buffer(%c) {sym_name = "store"} : memref<2xi32>
  %ready = aie.lock(%c) {init = 0 : i32, sym_name = "ready"}"""
TAKE = """%one = arith.constant 1 : i32
    %none = arith.constant 0 : i32
    aie.use_lock(%ready, Acquire, %one)
    %v = memref.load %b0[%z] : memref<2xi32>
    aie.use_lock(%ready, Release, %none)"""


def raw(*updates: str, size: int = 8) -> str:
    create = f"aiex.npu.create_scratchpad {{size = {size} : ui32}}"
    return device(_FLOW, RAW, core(TAKE), host(create, *updates, "aiex.set_lock(%ready, 1)", _OUT, WAIT))


def change(more: str, function: str = "") -> str:
    return f"aiex.npu.update_from_scratchpad{function} {{{more}, buffer = @store, address = 0 : ui32}}"


@pytest.mark.parametrize(
    ("function", "argument", "wanted"),
    [
        ("", 0, 20),
        ("<incr>", 4, 24),
        ("<decr>", 8, 12),
        ("<mul>", 3, 60),
        ("<incr>", 3, 20),
        ("<incr>", 7, 24),
    ],
)
def test_words_are_added_and_the_lowest_bits_cleared(function: str, argument: int, wanted: int) -> None:
    more = f"state_table_idx = 1 : ui8, func_arg = {argument} : ui32"
    assert first(loaded(raw(change(more, function)), parameters={"1": 20})) == wanted


def test_a_function_in_generic_form() -> None:
    op = """"aiex.npu.update_from_scratchpad"() <{state_table_idx = 1 : ui8, func = 0 : i32,
      func_arg = 3 : ui32, address = 0 : ui32, buffer = @store}> : () -> ()"""
    assert first(loaded(raw(op), parameters={"1": 20})) == 60


def test_an_update_is_in_the_memory_of_the_tile() -> None:
    design = loaded(raw(change("state_table_idx = 0 : ui8")), parameters={"0": 40})
    assert first(design) == 40
    at = design.configured.buffers["%b0"].offset
    words = design.array.compute_tile(0, 2).door.block_read32(at, 2)
    assert words.tolist() == [40, 0]


def test_a_design_with_loads_runs_again_on_what_tile_memory_holds() -> None:
    """As mlir-aie's scratchpad_regwrite: the second host adds the difference."""
    text = raw(change("state_table_idx = 0 : ui8"))
    text = text.replace("aie.device(npu1_1col) ", "aie.device(npu1_1col) @main ")
    text = text.replace(
        "aiex.npu.create",
        "aiex.npu.load_pdi {device_ref = @empty}\naiex.npu.load_pdi {device_ref = @main}\naiex.npu.create",
        1,
    )
    design = loaded("aie.device(npu1_1col) @empty {}\n" + text, parameters={"0": 168}, name="main")
    assert first(design) == 168
    assert first(design, parameters={"0": 4}) == 172


def test_pairs_of_words_change_48_bits() -> None:
    """DEV-SCRATCH-1."""
    array = Array("npu1_1col")
    at = (2 << 20) + 0x1000
    said = (("index", 0), ("function", FUNCTIONS.index("incr")), ("argument", 0), ("address", at))
    steps = [
        Write(at, 0xFFFF_FFFF),
        Write(at + 4, 0xABCD_FFFE),
        Other(UPDATE, b"", (*said, ("word", 9))),
    ]
    run_program(steps, array)
    assert array.compute_tile(0, 2).door.block_read32(0x1000, 2).tolist() == [4, 0xABCD_FFFF]
    with pytest.raises(InputFileError, match="word 0 of the scratchpad, which has no value"):
        run_program([Other(UPDATE, b"", said)], array)


def test_an_offset_of_a_transfer_by_name_and_by_its_word() -> None:
    fifos = "aie.objectfifo @in(%s, {%m}, 1 : i32) : !aie.objectfifo<memref<8xi32>>\n" + (
        "aie.objectfifo @out(%m, {%s}, 1 : i32) : !aie.objectfifo<memref<8xi32>>\n"
        "aie.objectfifo.link [@in] -> [@out] ([] [])"
    )
    part = "%a[0, 0, 0, 4][1, 1, 1, 8][0, 0, 0, 1]"
    for more in ("offset_parameter = @p", "offset_state_table_idx = 0 : ui8"):
        given = f"aiex.npu.dma_memcpy_nd({part}) {{id = 0 : i64, metadata = @in, {more}}} : memref<64xi32>"
        kind = (
            " {state_table_idx = 0 : ui8, kind = #aiex<scratchpad_parameter_kind addr>}"
            if "idx" in more
            else ""
        )
        text = f"aiex.scratchpad_parameter @p : i32{kind}\n" + device(fifos, host(_OUT, given, WAIT))
        got = ran(loaded(text, parameters={"p": 20}), np.arange(64, dtype=np.int32))[1]
        assert got[:8].tolist() == list(range(24, 32))


@pytest.mark.parametrize(
    ("text", "parameters", "says"),
    [
        (raw(change("state_table_idx = 2 : ui8")), {"2": 1}, "word 2 of a scratchpad that has 2"),
        (raw(change("state_table_idx = 0 : ui8"), size=6), {"0": 1}, "a scratchpad of 6 bytes"),
        (raw(change("state_table_idx = 0 : ui8"), size=132), {"0": 1}, "a scratchpad of 132 bytes"),
        (raw(change("state_table_idx = 0 : ui8", "<shift>")), {"0": 1}, "nothing is known of its word shift"),
        (raw(change("state_table_idx = 0 : ui8")), {}, "scratchpad parameter 0 has no value"),
        (device(_FLOW, core(READ), host(_OUT, WAIT)), {}, "no parameter has the name p"),
        (
            PARAMETER + device(_FLOW, core(READ), host(_OUT, WAIT)),
            {},
            "scratchpad parameter p has no value",
        ),
        (PARAMETER + device(_FLOW, core(READ), host(_OUT, WAIT)), {"p": 1, "q": 2}, "no parameter q"),
        (PARAMETER + device(_FLOW, core(READ), host(_OUT, WAIT)), {"p": 1.5}, "p of type i32 is 1.5"),
        (
            PARAMETER.replace("i32", "f32") + device(_FLOW, core(READ), host(_OUT, WAIT)),
            {"p": 1},
            "firmware carries 30 bits",
        ),
        (
            "".join(PARAMETER.replace("@p", f"@p{n}") for n in range(33)) + device(),
            {},
            "its scratchpad 32 words",
        ),
    ],
)
def test_what_a_scratchpad_cannot_do(text: str, parameters: dict[str, float], says: str) -> None:
    with pytest.raises(InputFileError, match=says):
        loaded(text, parameters=parameters)


# The processor bus

BUS = """
  func.func private @read_processor_bus(memref<8xi32>, i32, i32, i32)
  aie.lock(%c, 8) {init = 42 : i32, sym_name = "a"}
  aie.lock(%c, 9) {init = 17 : i32}
"""
_ENABLE = """
  %bus = arith.constant 0x32038 : i32
  %on = arith.constant 1 : i32
  aiex.npu.maskwrite32(%bus, %on, %on) {column = 0 : i32, row = 2 : i32} : i32, i32, i32
"""
_READS = """%begin = aie.lock(%c, 5) {init = 0 : i32}
  aie.core(%c) {
    %s0 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
    %y = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
    %go = arith.constant 1 : i32
    aie.use_lock(%begin, Acquire, %go)
    %at = arith.constant 0x1F080 : i32
    %n = arith.constant 2 : i32
    %by = arith.constant 16 : i32
    func.call @read_processor_bus(%y, %at, %n, %by) : (memref<8xi32>, i32, i32, i32) -> ()
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  }"""


def bus(enable: str, function: str = "read_processor_bus") -> str:
    text = device(_FLOW, BUS, _READS, host(enable, "aiex.set_lock(%begin, 1)", _OUT, WAIT))
    return text.replace("read_processor_bus", function)


def test_a_core_reads_the_registers_of_its_tile() -> None:
    got = ran(loaded(bus(_ENABLE)))[1]
    assert got[:2].tolist() == [42, 17]


def test_a_core_whose_bus_is_off_hangs() -> None:
    """DEV-BUS-1."""
    done = loaded(bus("")).run(max_cycles=100_000)
    assert "the processor bus is off, so a read at 0x1f080 never ends" in done.stopped
    assert "Write 1 to Core_Processor_Bus, 0x32038" in done.stopped
    assert str(done.result.status) == "stuck"


def test_a_function_of_the_user_is_given_the_core_and_writes_registers() -> None:
    def own(y: np.ndarray, at: int, n: int, by: int, *, core: Any) -> None:
        for k in range(n):
            core.bus.write(at + k * by, 5 + k)
        y[:n] = [core.bus.read(at + k * by) for k in range(n)]

    got = ran(loaded(bus(_ENABLE, "own"), {"own": own}))[1]
    assert got[:2].tolist() == [5, 6]


def test_the_library_writes_registers() -> None:
    fill = """memref.store %n, %y[%z] : memref<8xi32>
    memref.store %by, %y[%o] : memref<8xi32>
    func.call @write_processor_bus(%y, %at, %n, %by) : (memref<8xi32>, i32, i32, i32) -> ()
    func.call"""
    consts = "%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n%at ="
    text = bus(_ENABLE).replace("func.call", fill, 1).replace("%at =", consts, 1)
    text = text.replace(
        "func.func", "func.func private @write_processor_bus(memref<8xi32>, i32, i32, i32)\nfunc.func", 1
    )
    assert ran(loaded(text))[1][:2].tolist() == [2, 16]
