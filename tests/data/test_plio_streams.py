"""Do words of the programmable logic come where a design sends them: memory tiles, cores, packets, files?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from memtile import Array
from memtile.io.plio_csv import read_plio_csv
from memtile.io.plio_text import read_plio, write_plio


def device() -> tuple[Array, Any, Any]:
    array = Array("xcve2802", 1)
    return array, array.interface_tile(0), array.memory_tile(0)


def test_packets_with_headers_of_ug1079_go_to_the_channels_of_their_ids(tmp_path: Path) -> None:
    """0x8FFF0000 has id 0; the file is that of a PLIO of 64 bits, whose last lines are half full."""
    path = tmp_path / "input.txt"
    path.write_text("2415853568 1\n2 3\nTLAST\n4\n268369921 5\n6 7\nTLAST\n8\n")
    found = read_plio(path, "int32", 64, packets=True)
    array, tile, shared = device()
    into = tile.plio_in(0, width=64)
    array.packet_bus("split", (into, [shared.s2mm[0]]), (into, [shared.s2mm[1]]), ids=[0, 1])
    for number, wanted in enumerate((np.arange(1, 5), np.arange(5, 9))):
        block = shared.buffer(f"block{number}", 4)
        shared.s2mm[number].start(shared.write(block))
        shared.expect(block, wanted)
    into.feed(found.words, found.tlast)
    assert array.run().good


def test_merged_packets_leave_with_their_headers_and_tlast() -> None:
    array, tile, shared = device()
    out = tile.plio_out(0, width=64)
    bus = array.packet_bus("merge", *((shared.mm2s[n], [out]) for n in (0, 1)), keep_headers=True)
    for n in (0, 1):
        block = shared.buffer(f"block{n}", 4, data=np.arange(4 * n, 4 * n + 4))
        shared.mm2s[n].start(bus.streams[n].packets(shared.read(block)))
    assert array.run().good
    words = out.output()
    assert [int(word) & 0x1F for word in words[[0, 5]]] == [0, 1]
    assert np.delete(words, [0, 5]).tolist() == list(range(8))
    assert out.tlasts().tolist() == ([0] * 4 + [1]) * 2


def test_a_core_gets_and_puts_words_of_plio() -> None:
    array, tile, _ = device()
    core = array.compute_tile(0, 3)
    into, out = tile.plio_in(4).named("input_0"), tile.plio_out(5)
    array.connect(into, core.stream_in)
    array.connect(core.stream_out, out)

    def doubles(core: Any) -> Iterator[Any]:
        for _ in range(4):
            word = yield core.get_stream()
            assert word is not None
            yield core.put_stream(2 * word)

    core.run_kernel(doubles)
    into.feed(np.arange(3))
    result = array.run()
    assert out.output().tolist() == [0, 2, 4]
    assert result.findings[0].message == (
        "core (0, 3) (kernel 'doubles') waits for words of PLIO 'input_0' at slave port SOUTH4 of tile "
        "(0, 0), which has sent all of its 3 words."
    )
    into.feed(np.array([7]))
    assert array.run().good
    assert out.output().tolist() == [0, 2, 4, 14]


def test_a_file_goes_through_the_array_into_another_one(tmp_path: Path) -> None:
    """cint16 at 128 bits and 312.5 MHz: a line every four cycles of 0.8 ns, the first one with cycle 7."""
    given = "1 -1 2 -2 3 -3 4 -4\n5 -5 6 -6 7 -7 8 -8\n"
    path = tmp_path / "input.txt"
    path.write_text(given)
    found = read_plio(path, "cint16", 128)
    array, tile, _ = device()
    into, out = tile.plio_in(0, width=128), tile.plio_out(2, width=128)
    array.connect(into, out)
    into.feed(found.words, found.tlast)
    array.run()
    after = tmp_path / "output.txt"
    write_plio(after, out.output(), out.tlasts(), "cint16", 128)
    assert after.read_text().replace(" \n", "\n") == given
    write_plio(after, out.output(), out.tlasts(), "cint16", 128, times_ps=out.times_ps())
    assert after.read_text().splitlines()[::2] == ["T 5600 ps", "T 8800 ps"]


def test_stalls_of_a_csv_file_hold_words_up(tmp_path: Path) -> None:
    path = tmp_path / "input.csv"
    path.write_text("CMD,D,D,TLAST,TKEEP\nDATA,1,2,0,-1\nSTALL:3\nDATA,3,4,1,-1\n")
    found = read_plio_csv(path, "int32", 64)
    array, tile, _ = device()
    into, out = tile.plio_in(0, width=64, mhz=625), tile.plio_out(2, width=64, mhz=625)
    array.connect(into, out)
    into.feed(found.words, found.tlast, found.stalls)
    array.run()
    assert np.diff(out.times()).tolist() == [1, 7, 1]  # the second line would come 2 cycles after the first
    assert out.tlasts().tolist() == [0, 0, 0, 1]
