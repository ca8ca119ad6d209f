"""Is each PLIO that an interface tile cannot have refused, and each stuck one explained by its name?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memtile import Array, MemtileError, one_writer
from memtile.errors import InputFileError
from memtile.sim.loop.engine_snapshot import put_back, take


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def words(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint32)


def test_ports_widths_and_clocks_that_there_are_not_are_refused() -> None:
    tile = Array("xcve2802", 1).interface_tile(0)
    start = "interface tile (0,0), PLIO "
    ports = "(AM009: AI Engine to programmable logic interface)."
    assert refused(lambda: tile.plio_in(8)) == f"{start}in: port is 8, allowed are 0..7 {ports}"
    assert refused(lambda: tile.plio_out(6)) == f"{start}out: port is 6, allowed are 0..5 {ports}"
    assert refused(lambda: tile.plio_in(0, width=48)) == (
        f"{start}in: width is 48 bits; it must be 32, 64 or 128 bits (UG1079: input_plio and output_plio)."
    )
    for mhz in (0, -5, 1251):
        assert f"clock is {mhz} MHz; it must be above 0 and at most the 1250 MHz of the array" in refused(
            lambda mhz=mhz: tile.plio_in(0, mhz=mhz)  # type: ignore[misc]
        )


def test_128_bits_have_two_adjacent_ports() -> None:
    tile = Array("xcve2802", 1).interface_tile(0)
    says = "a PLIO of 128 bits has two adjacent ports, so that its first is even, not 1"
    assert says in refused(lambda: tile.plio_in(1, width=128))
    tile.plio_in(0, width=128)
    assert "SOUTH1 cannot be a PLIO: slave SOUTH0 has it" in refused(lambda: tile.plio_in(1))
    tile.plio_in(2, width=64)
    tile.plio_in(3, width=64)
    tile.plio_out(0, width=128)  # the other direction has ports of its own
    assert "SOUTH3 cannot be a PLIO: slave SOUTH3 has it" in refused(lambda: tile.plio_in(3))


@pytest.mark.parametrize("device", ["npu1", "npu2"])
def test_an_npu_has_no_programmable_logic(device: str) -> None:
    tile = Array(device, 1).interface_tile(0)
    assert "has no programmable logic beside its array; Versal devices have" in refused(
        lambda: tile.plio_in(0)
    )


def test_flags_of_other_words_are_refused() -> None:
    into = Array("xcve2802", 1).interface_tile(0).plio_in(0).named("input_0")
    assert refused(lambda: into.feed(words(4), [1, 0])) == (
        "PLIO 'input_0' at interface(0,0) slave SOUTH0: tlast is 2 flags for 4 words; it must be one for "
        "each word (UG1076: CSV file format)."
    )
    assert "stalls is 3 stalls for 4 words" in refused(lambda: into.feed(words(4), stalls=[1, 0, 0]))
    assert "stalls is -1..0, allowed are 0..1048575" in refused(lambda: into.feed(words(2), stalls=[-1, 0]))
    assert "elements of type float64" in refused(lambda: into.feed(np.zeros(4)))
    assert "the data has 3 bytes" in refused(lambda: into.feed(np.zeros(3, np.uint8)))


def test_a_port_of_the_dma_goes_to_the_logic_only_once() -> None:
    """SOUTH3 is the way in of MM2S 0: the PLIO has it by Mux_Config, and then the channel cannot have it."""
    array = Array("xcve2802", 3)
    tile, shared = array.interface_tile(2), array.memory_tile(2)
    into = tile.plio_in(3)
    array.connect(into, shared.s2mm[0])
    assert "cannot have" in refused(lambda: array.connect(tile.mm2s[0], shared.s2mm[1]))


@pytest.mark.parametrize("column", [1, 2])  # without DMA and with one
def test_a_plio_at_a_port_of_the_dma_brings_its_words(column: int) -> None:
    array = Array("xcve2802", 3)
    tile = array.interface_tile(column)
    into, from_it = tile.plio_in(3), tile.plio_out(2)
    array.connect(into, from_it)
    into.feed(words(8))
    assert array.run().good
    assert from_it.output().tolist() == list(range(8))


def filled(fed: int) -> tuple[Array, object]:
    """A memory tile waits for 16 words, and sends them on."""
    array = Array("xcve2802", 1)
    tile, shared = array.interface_tile(0), array.memory_tile(0)
    into, from_it = tile.plio_in(0).named("input_0"), tile.plio_out(2).named("output_0")
    block = shared.buffer("block", 16)
    locks = one_writer(shared, "block", [shared.write(block)], [[shared.read(block)]])
    locks.start([shared.s2mm[0]], [shared.mm2s[0]])
    array.connect(into, shared.s2mm[0])
    array.connect(shared.mm2s[0], from_it)
    if fed:
        into.feed(words(fed))
    return array, from_it


def test_an_input_that_is_too_short_is_named() -> None:
    array, _ = filled(12)
    result = array.run()
    assert str(result.status) == "stuck"
    assert [(f.code, f.message, f.fix) for f in result.findings] == [
        (
            "MT0304",
            "memory(0,1) S2MM 0 ('block') waits for words of PLIO 'input_0' at slave port SOUTH0 of tile "
            "(0, 0), which has sent all of its 12 words.",
            "Feed as many words as are received: the input is too short, or a rate is too high.",
        )
    ]


def test_an_input_without_words_is_named() -> None:
    array = Array("xcve2802", 1)
    shared, into = array.memory_tile(0), array.interface_tile(0).plio_in(0).named("input_0")
    shared.s2mm[0].start(shared.write(shared.buffer("block", 16)))
    array.connect(into, shared.s2mm[0])
    found = array.run().findings
    assert [f.code for f in found] == ["MT0312"]
    assert found[0].message.endswith(
        "PLIO 'input_0' at slave port SOUTH0 of tile (0, 0), which was fed no words."
    )


def test_words_that_nothing_takes_are_counted_at_their_plio() -> None:
    array = Array("xcve2802", 1)
    into = array.interface_tile(0).plio_in(1).named("input_1")
    into.feed(words(100))
    result = array.run()
    name = "PLIO 'input_1' at slave port SOUTH1 of tile (0, 0)"
    assert result.waiting == (f"{name}: 100 words wait, and nothing takes them",)
    assert [f.message for f in result.findings] == [f"{name} has 100 words that nothing takes."]


def test_a_channel_without_a_task_does_not_take_what_a_plio_sends() -> None:
    array = Array("xcve2802", 1)
    shared, into = array.memory_tile(0), array.interface_tile(0).plio_in(0).named("input_0")
    array.connect(into, shared.s2mm[0])
    into.feed(words(100))
    result = array.run()
    assert str(result.status) == "stuck"
    assert "words come to memory(0,1) S2MM 0, which never had a task: " in result.findings[0].message
    counted = [int(text) for text in result.findings[0].message.split() if text.isdigit()]
    assert 100 in [sum(counted[-n:]) for n in range(1, 4)]


def test_a_file_without_the_words_of_a_source_at_work_is_refused() -> None:
    array, _ = filled(64)
    array.run(10)
    snapshot = take(array.engine)
    for name in [name for name in snapshot.arrays if name.startswith("logic/")]:
        del snapshot.arrays[name]
    with pytest.raises(InputFileError, match=r"logic\.sending"):
        put_back(Array("xcve2802", 1).engine, snapshot)


def test_a_file_whose_fifo_has_more_words_than_the_source_is_refused() -> None:
    array = Array("xcve2802", 1)
    into = array.interface_tile(0).plio_in(0, width=64)
    into.feed(np.arange(2, dtype=np.uint32))
    snapshot = take(array.engine)
    snapshot.arrays["state/logic.stored"][into.index] = 3
    says = r"logic\.stored\[\d+\] is 3; it must be at most the words of the file"
    with pytest.raises(InputFileError, match=says):
        put_back(Array("xcve2802", 1).engine, snapshot)


def test_a_refused_circuit_of_a_plio_leaves_its_port_to_the_dma() -> None:
    array = Array("xcve2302")
    column = array.device.noc_columns[0]
    outside, shared = array.interface_tile(column), array.memory_tile(column)
    core = array.compute_tile(column, array.device.compute_rows[0])
    array.connect(core.mm2s[0], shared.s2mm[0])
    assert "cannot have" in refused(lambda: array.connect(outside.plio_in(3), shared.s2mm[0]))
    array.connect(outside.mm2s[0], shared.s2mm[1])
    buffer, given = shared.buffer("b", 16), np.arange(16, dtype=np.int32)
    shared.s2mm[1].start(shared.write(buffer))
    outside.mm2s[0].start(outside.read(array.external("x", given)))
    shared.expect(buffer, given)
    assert array.run().good
