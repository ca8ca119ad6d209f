"""Do several devices of a text take the array one after another, and do cores that are reset begin anew?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.errors import InputFileError
from support.mlir.mlir_designs import FLOWS, NUMBERS, WAIT, copied, device, host, loaded, ran

_FIFOS = """
  aie.objectfifo @in(%s, {%c}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
"""


def _adds(what: int) -> str:
    return f"""aie.core(%c) {{
      %z = arith.constant 0 : index
      %n = arith.constant 0x7FFFFFFE : index
      %w = arith.constant 16 : index
      %o = arith.constant 1 : index
      %k = arith.constant {what} : i32
      scf.for %t = %z to %n step %o {{
        %s0 = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %s1 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %s1[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %z to %w step %o {{
          %v = memref.load %x[%i] : memref<16xi32>
          %r = arith.addi %v, %k : i32
          memref.store %r, %y[%i] : memref<16xi32>
        }}
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }}
      aie.end
    }}"""


_PART = """aie.runtime_sequence @part(%x: memref<16xi32>, %y: memref<16xi32>) {
  aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1, metadata = @out} : memref<16xi32>
  aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0, metadata = @in} : memref<16xi32>
  aiex.npu.dma_wait {symbol = @out}
}"""


def _use(name: str, first: int) -> str:
    parts = "\n".join(
        f"%{side}{first} = memref.subview %{side}[{first}] [16] [1] : memref<64xi32> to memref<16xi32>"
        for side in "ab"
    )
    run = f"aiex.run @part(%a{first}, %b{first}) : (memref<16xi32>, memref<16xi32>)"
    return f"aiex.configure @{name} {{\n{parts}\n{run}\n}}"


def _module(*uses: str) -> str:
    main = device(host(*uses), tiles="", name="@main")
    others = (device(_FIFOS, _adds(what), _PART, name=f"@add{what}") for what in (2, 5))
    return "\n".join((main, *others))


def test_devices_take_the_array_one_after_another() -> None:
    """Their cores, locks, rings and streams are those of the device that is loaded, again and again."""
    text = _module(_use("add2", 0), _use("add5", 16), _use("add2", 32), _use("add2", 48))
    got = ran(loaded(text, name="main"), NUMBERS)[1]
    np.testing.assert_array_equal(got, NUMBERS + np.repeat([2, 5, 2, 2], 16))


def test_a_device_that_is_not_there_and_a_number_are_named() -> None:
    with pytest.raises(InputFileError, match="no device has the name add7"):
        loaded(_module(_use("add7", 0)), name="main")
    with pytest.raises(InputFileError, match="it names no device"):
        loaded(_module("aiex.npu.load_pdi {id = 1 : i32, size = 0 : i32, address = 0 : ui64}"), name="main")
    with pytest.raises(InputFileError, match="the device has no sequence other"):
        loaded(_module(_use("add2", 0).replace("@part", "@other")), name="main")


@pytest.mark.parametrize("named", [None, "main"])
def test_a_device_without_a_name_is_called_main(named: str | None) -> None:
    """mlir-aie gives a device without a symbol the name main (``DeviceOp``), and prints leave it out."""
    text = "\n".join(
        (
            device(_FIFOS, _adds(2), _PART, name="@add2"),
            device(
                host(_use("add2", 0), "aiex.npu.load_pdi {device_ref = @main}", _use("add2", 16)), tiles=""
            ),
        )
    )
    got = ran(loaded(text, name=named), NUMBERS)[1]
    np.testing.assert_array_equal(got[:32], NUMBERS[:32] + 2)


@pytest.mark.parametrize(("initial", "wanted"), [("", 3), (", initial_value = dense<4> : tensor<64xi32>", 4)])
def test_memory_outlives_a_load_and_streams_do_not(initial: str, wanted: int) -> None:
    """DEV-PDI-1: the second sends what the first left in the memory tile, unless it says itself."""
    sends = """aie.flow(%m, DMA : 0, %s, DMA : 0)
      aie.memtile_dma(%m) {
        %0 = aie.dma(MM2S, 0) [{
          aie.dma_bd(%w : memref<64xi32>)
        }]
        aie.end
      }"""
    devices = [
        device(
            f"%w = aie.buffer(%m) {{address = 0 : i32{initial}}} : memref<64xi32>",
            sends,
            FLOWS,
            name=f"@{name}",
        )
        for name, initial in (("one", ", initial_value = dense<3> : tensor<64xi32>"), ("two", initial))
    ]
    loads = "\n".join(f"aiex.npu.load_pdi {{device_ref = @{name}}}" for name in ("one", "two"))
    main = device(host(loads, copied("out", "b", 1), WAIT), tiles="", name="@main")
    got = ran(loaded("\n".join((main, *devices)), name="main"))[1]
    np.testing.assert_array_equal(got, np.full(64, wanted))


_COUNTS = """
  %taken = aie.lock(%c, 0) {init = 1 : i32}
  %made = aie.lock(%c, 1) {init = 0 : i32}
  %count = aie.buffer(%c) : memref<1xi32>
  %found = aie.buffer(%c) : memref<8xi32>
  aie.flow(%c, DMA : 0, %s, DMA : 0)
  aie.mem(%c) {
    %0 = aie.dma(MM2S, 0) [{
      aie.use_lock(%made, AcquireGreaterEqual, 1)
      aie.dma_bd(%found : memref<8xi32>)
      aie.use_lock(%taken, Release, 1)
    }]
    aie.end
  }
  aie.core(%c) {
    %z = arith.constant 0 : index
    %w = arith.constant 8 : index
    %o = arith.constant 1 : index
    %k = arith.constant 1 : i32
    aie.use_lock(%taken, AcquireGreaterEqual, 1)
    %n = memref.load %count[%z] : memref<1xi32>
    %m1 = arith.addi %n, %k : i32
    memref.store %m1, %count[%z] : memref<1xi32>
    scf.for %i = %z to %w step %o {
      memref.store %m1, %found[%i] : memref<8xi32>
    }
    aie.use_lock(%made, Release, 1)
    aie.end
  }
"""
_ENABLE = """
  %control = arith.constant 0x32000 : i32
  %on = arith.constant 1 : i32
  aiex.npu.maskwrite32(%control, %on, %on) {column = 0 : i32, row = 2 : i32} : i32, i32, i32
"""


def _eight(first: int) -> str:
    return copied("out", "b", first, f"[0, 0, 0, {8 * first}][1, 1, 1, 8][0, 0, 0, 1]") + f"\n{WAIT}"


def test_a_core_that_is_reset_begins_anew_with_its_memory_as_it_is() -> None:
    """DEV-CORE-6."""
    text = device(_COUNTS, FLOWS, host(_eight(0), "aiex.core_reset(%c)", _ENABLE, _eight(1)))
    got = ran(loaded(text))[1]
    np.testing.assert_array_equal(got[:16], np.repeat([1, 2], 8))


def test_a_core_without_program_left_is_not_begun_by_enabling_alone() -> None:
    done = loaded(device(_COUNTS, FLOWS, host(_eight(0), _ENABLE, _eight(1)))).run(max_cycles=20_000)
    assert "tokens never came" in done.stopped


def test_offsets_from_the_scratchpad() -> None:
    task = """%t = aiex.dma_configure_task_for @in {
      aie.dma_bd(%a : memref<64xi32> offset = 4 len = 16) {offset_parameter = @from}
      aie.end
    }
    aiex.dma_start_task(%t)"""
    out = copied("out", "b", 1, "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]")
    text = device(_FIFOS, _adds(0), host(out, task, WAIT))
    got = ran(loaded(text, parameters={"from": 20}), NUMBERS)[1]
    np.testing.assert_array_equal(got[:16], NUMBERS[24:40])
    with pytest.raises(InputFileError, match="scratchpad parameter from has no value"):
        loaded(text)


def test_names_are_those_of_the_device_that_is_loaded() -> None:
    """The first device calls its FIFOs in and out, the second first and last: who waits is told so."""
    other = device(
        _FIFOS.replace("@in", "@first").replace("@out", "@last"),
        _adds(5).replace("@in", "@first").replace("@out", "@last"),
        _PART.replace("@in", "@first").replace("@out", "@last"),
        name="@add5",
    )
    main = device(host(_use("add2", 0), _use("add5", 16)), tiles="", name="@main")
    text = "\n".join((main, device(_FIFOS, _adds(2), _PART, name="@add2"), other))
    done = loaded(text, name="main").run(NUMBERS, None, max_cycles=200_000)
    lines = "\n".join(done.result.resting)
    assert "'first_cons_lock'" in lines or "'first_cons_cons_lock" in lines, lines
    assert "'in_" not in lines
