"""Do external buffers of a text, and the rings of interface tiles over them, move what they should?"""

from __future__ import annotations

import pytest

from memtile import Status
from memtile.errors import DesignError, InputFileError
from support.mlir.mlir_designs import NUMBERS, device, loaded

BUFFERS = """
  %in = aie.external_buffer {sym_name = "in"} : memref<64xi32>
  %out = aie.external_buffer {sym_name = "out"} : memref<64xi32>
"""
FIFOS = """
  aie.objectfifo @a(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @b(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo.link [@a] -> [@b]([] [])
"""
REGISTERED = """
  aie.objectfifo.register_external_buffers @a (%s, {%in}) : (memref<64xi32>)
  aie.objectfifo.register_external_buffers @b (%s, {%out}) : (memref<64xi32>)
"""
GENERIC = """
  "aie.objectfifo.register_external_buffers"(%s, %in) <{objFifo_name = @a}> : (index, memref<64xi32>) -> ()
  "aie.objectfifo.register_external_buffers"(%s, %out) <{objFifo_name = @b}> : (index, memref<64xi32>) -> ()
"""
BY_HAND = """
  %free = aie.lock(%s, 0) {init = 1 : i32}
  %full = aie.lock(%s, 1) {init = 0 : i32}
  aie.flow(%s, DMA : 0, %s, DMA : 1)
  aie.shim_dma(%s) {
    %0 = aie.dma_start(MM2S, 0, ^send, ^next)
  ^send:
    aie.dma_bd(%in : memref<64xi32> offset = 0 len = 64)
    aie.next_bd ^end
  ^next:
    %1 = aie.dma_start(S2MM, 1, ^take, ^end)
  ^take:
    aie.use_lock(%free, AcquireGreaterEqual, 1)
    aie.dma_bd(%out : memref<64xi32> offset = 0 len = 64)
    aie.use_lock(%full, Release, 1)
    aie.next_bd ^end
  ^end:
    aie.end
  }
"""
OLD = BY_HAND.replace(" offset = 0 len = 64", ", 0, 64")


@pytest.mark.parametrize("untimed", [False, True])
@pytest.mark.parametrize("registered", [REGISTERED, GENERIC])
def test_object_fifos_begin_and_end_in_external_buffers(registered: str, untimed: bool) -> None:
    design = loaded(device(BUFFERS, FIFOS, registered))
    done = design.run(NUMBERS, max_cycles=20_000, untimed=untimed)
    assert done.result.status is Status.FINISHED, done.result
    assert done.arrays["out"].tolist() == NUMBERS.tolist()
    assert not done.stopped


def test_several_buffers_are_one_after_another() -> None:
    more = '%more = aie.external_buffer {sym_name = "more"} : memref<64xi32>\n'
    last = '%last = aie.external_buffer {sym_name = "last"} : memref<64xi32>\n'
    registered = REGISTERED.replace("{%in}", "{%in, %more}").replace("{%out}", "{%out, %last}")
    done = loaded(device(BUFFERS, more, last, FIFOS, registered)).run(NUMBERS, None, NUMBERS + 100)
    assert done.arrays["out"].tolist() == NUMBERS.tolist()
    assert done.arrays["last"].tolist() == (NUMBERS + 100).tolist()


@pytest.mark.parametrize("text", [BY_HAND, OLD])
def test_descriptors_of_an_interface_tile_by_hand(text: str) -> None:
    done = loaded(device(BUFFERS, text)).run(NUMBERS, max_cycles=20_000)
    assert done.arrays["out"].tolist() == NUMBERS.tolist()


def test_an_array_of_another_size_is_refused() -> None:
    design = loaded(device(BUFFERS, FIFOS, REGISTERED))
    with pytest.raises(InputFileError, match="external buffer in is 128 bytes; it must be 256 bytes"):
        design.run(NUMBERS[:32])
    with pytest.raises(InputFileError, match="3 arrays"):
        design.run(NUMBERS, NUMBERS, NUMBERS)


def test_a_buffer_outside_is_out_of_reach_of_other_tiles() -> None:
    chain = "aie.memtile_dma(%m) { %0 = aie.dma(S2MM, 0) [{ aie.dma_bd(%in : memref<64xi32>) }]\n aie.end }"
    with pytest.raises(InputFileError, match="does not reach buffer"):
        loaded(device(BUFFERS, chain))


def shared(more: str) -> tuple[int, int]:
    """Where the pool of a FIFO between two cores that share memory is."""
    fifo = "aie.objectfifo @f(%c, {%d}, 2 : i32) OPTION : !aie.objectfifo<memref<16xi32>>\n"
    option, _, line = more.partition(";")
    made = loaded(device(fifo.replace("OPTION", option), line)).configured
    place = made.buffers["%f_buff_0"].place
    assert place is not None
    return place


def test_of_two_tiles_that_share_memory_the_text_may_choose_one() -> None:
    assert shared("") == (0, 2)
    assert shared("{via_shared_mem = 0 : i32}") == (0, 2)
    assert shared("{via_shared_mem = 1 : i32}") == (0, 3)
    assert shared(";aie.objectfifo.allocate @f (%d)") == (0, 3)
    through = "aie.objectfifo @f(%c, {%d}, 2 : i32) {via_DMA = true} : !aie.objectfifo<memref<16xi32>>"
    assert len(loaded(device(through)).configured.device.flows) == 1


def test_no_array_has_a_port_to_programmable_logic() -> None:
    text = device(BUFFERS, FIFOS.replace("2 : i32)", "2 : i32) {plio = true}"), REGISTERED)
    with pytest.raises(DesignError, match="leads to programmable logic"):
        loaded(text)


@pytest.mark.parametrize("given", [0, 1])
def test_cores_run_without_a_host_sequence(given: int) -> None:
    lock = f'%go = aie.lock(%c, 0) {{init = {given} : i32, sym_name = "go"}}'
    core = "aie.core(%c) { aie.use_lock(%go, AcquireGreaterEqual, 1)\n aie.end }"
    done = loaded(device(lock, core)).run(max_cycles=2_000)
    found = [(each.code, each.severity.value, "aiex.set_lock" in each.fix) for each in done.result.findings]
    stuck = (Status.STUCK, [("MT0302", "warning", True)])  # an outside host may set the lock
    assert (done.result.status, found) == ((Status.FINISHED, []) if given else stuck)
