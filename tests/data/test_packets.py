"""Do packets go where their headers, slots, arbiters and masters say, with nothing lost or mixed?"""

from __future__ import annotations

import pytest

from memtile.arch.packets import stream_header
from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import OWN
from memtile.testing.stream_bench import Bench
from support.designs.packet_bench import ALL, HERE, got, send, take

ANY = 0  # slot mask that compares no bit


@pytest.mark.feature("F19")
def test_the_header_is_inserted_and_says_who_sent_what() -> None:
    """DEV-PKT-6: the header comes first and does not count as a word of the descriptor."""
    bench = Bench("memory")
    bench.circuit("DMA0", "DMA0")
    send(bench, 0, 21, [7, 8, 9])
    take(bench, 0, 4)
    bench.run()
    assert got(bench, 0, 5) == [stream_header(21, 0, **HERE), 7, 8, 9, 0]
    assert bench.engine.state.channels.tasks_done[bench.mm2s()] == 1
    assert got(bench, 0, 1)[0].bit_count() % 2 == 1


@pytest.mark.feature("F19")
def test_ids_choose_the_masters_of_a_packet() -> None:
    """DEV-PKT-3: of two slots that match, the lower one decides; a mask bit of 0 is not compared."""
    bench = Bench("memory")
    bench.packets("DMA0", (5, ALL, 0, 0), (4, 30, 1, 0), (0, ANY, 2, 0))
    bench.collects("DMA0", 0, 0)
    bench.collects("DMA1", 0, 1, 2)
    bench.collects("DMA2", 0, 2, drop=True)
    for number, words in enumerate((2, 5, 1)):
        take(bench, number, words)
    for stream, words in ((5, [50]), (4, [40, 41]), (9, [90])):
        send(bench, 0, stream, words)
        bench.run()
    assert got(bench, 0, 3) == [stream_header(5, 0, **HERE), 50, 0]
    assert got(bench, 1, 6) == [stream_header(4, 0, **HERE), 40, 41, stream_header(9, 0, **HERE), 90, 0]
    assert got(bench, 2, 2) == [90, 0]


@pytest.mark.feature("F19")
@pytest.mark.parametrize("slot", range(4))
def test_each_of_the_four_slots_of_a_slave_takes_packets(slot: int) -> None:
    bench = Bench("memory")
    ids = [9 if n == slot else 20 + n for n in range(4)]
    bench.packets("DMA0", *[(stream, ALL, n, 0) for n, stream in enumerate(ids)])
    bench.collects("DMA0", 0, slot, drop=True)
    send(bench, 0, 9, [7, 8])
    take(bench, 0, 2)
    bench.run()
    assert got(bench, 0, 3) == [7, 8, 0]


@pytest.mark.feature("F19")
def test_a_receiving_descriptor_neither_makes_nor_takes_a_header() -> None:
    """Enable_Packet is for MM2S: S2MM writes its words from the first on, a header among them."""
    bench = Bench("memory")
    bench.circuit("DMA0", "DMA0")
    send(bench, 0, 21, [7, 8, 9])
    packet = Packet(id=3, type=5)
    bench.write_bd(1, Descriptor("memory", 4, OWN.address(0), packet=packet))
    bench.issue(bench.s2mm(), 1)
    bench.run()
    assert got(bench, 0, 5) == [stream_header(21, 0, **HERE), 7, 8, 9, 0]
    assert bench.engine.state.channels.moved[bench.s2mm()] == 4
    assert bench.engine.state.channels.tasks_done[bench.s2mm()] == 1


@pytest.mark.feature("F19")
@pytest.mark.parametrize("slow", [0, 1])
def test_a_packet_for_two_masters_waits_for_the_slower_one(slow: int) -> None:
    bench = Bench("memory")
    bench.packets("DMA2", (9, ALL, 0, 0))
    for number in range(2):
        bench.collects(f"DMA{number}", 0, 0, drop=True)
    send(bench, 2, 9, list(range(1, 101)))
    take(bench, 1 - slow, 100)
    bench.run()
    assert got(bench, 1 - slow, 100)[-1] == 0  # the other one takes nothing yet
    take(bench, slow, 100)
    bench.run()
    for number in range(2):
        assert got(bench, number, 101) == [*range(1, 101), 0]


@pytest.mark.feature("F19")
def test_packets_that_share_a_master_are_not_mixed() -> None:
    """DEV-PKT-3: the arbiter is held from header to TLAST, and slaves take turns."""
    bench = Bench("memory")
    bench.collects("DMA5", 3, 0, drop=True)
    for number in range(3):
        bench.packets(f"DMA{number}", (number, ALL, 0, 3))
        send(bench, number, number, [number + 1] * 5, packets=4)
    take(bench, 5, 60)
    bench.run()
    assert got(bench, 5, 61) == ([1] * 5 + [2] * 5 + [3] * 5) * 4 + [0]
    assert bench.engine.state.arbiters.packets[3] == 12


@pytest.mark.feature("F19")
def test_deterministic_merge_serves_its_positions_in_order() -> None:
    """DEV-PKT-4: two packets of one, one of the other; a position without packets is passed over."""
    bench = Bench("memory")
    bench.collects("DMA5", 1, 0, drop=True)
    bench.merge(1, ("DMA2", 2), ("DMA0", 0), ("DMA0", 1))
    for number in (0, 2):
        bench.packets(f"DMA{number}", (number, ALL, 0, 1))
    send(bench, 0, 0, [10], packets=3)
    take(bench, 5, 9)
    bench.run()
    assert got(bench, 5, 1) == [0]  # DMA2 is first, and has sent nothing
    send(bench, 2, 2, [12], packets=6)
    bench.run()
    assert got(bench, 5, 9) == [12, 12, 10] * 3


def test_two_arbiters_work_side_by_side() -> None:
    bench = Bench("memory")
    for number in range(2):
        bench.packets(f"DMA{number}", (number, ALL, number, number))
        bench.collects(f"DMA{number}", number, number)
        send(bench, number, number, list(range(100)))
        take(bench, number, 101)
    bench.run()
    for number in range(2):
        assert got(bench, number, 101) == [stream_header(number, number, **HERE), *range(100)]
    assert bench.engine.now < 130


def test_an_unknown_id_stops_the_port_until_a_slot_matches() -> None:
    """DEV-PKT-1."""
    bench = Bench("memory")
    bench.packets("DMA0", (1, ALL, 0, 0))
    bench.collects("DMA0", 0, 0)
    send(bench, 0, 2, [5, 6])
    take(bench, 0, 3)
    bench.run()
    port = int(bench.engine.spec.tiles.slave_base[0])
    assert got(bench, 0, 3) == [0, 0, 0]
    assert bench.engine.state.switch.unrouted[port] == 1
    bench.packets("DMA0", (2, ALL, 0, 0))
    bench.run()
    assert got(bench, 0, 3) == [stream_header(2, 0, **HERE), 5, 6]


@pytest.mark.parametrize("slave_packets", [True, False])
def test_a_packet_port_and_a_circuit_port_never_connect(slave_packets: bool) -> None:
    bench = Bench("memory")
    bench.circuit("DMA0", "DMA0")
    if slave_packets:
        bench.packets("DMA0", (0, ANY, 0, 0))
    else:
        bench.collects("DMA0", 0, 0)
    send(bench, 0, 2, [5, 6])
    take(bench, 0, 3)
    bench.run()
    assert got(bench, 0, 3) == [0, 0, 0]


def test_a_new_configuration_cuts_a_packet_and_frees_its_arbiter() -> None:
    """DEV-PKT-5: the rest of a packet without TLAST no longer keeps the others out."""
    bench = Bench("memory")
    bench.collects("DMA5", 0, 0, drop=True)
    for number in range(2):
        bench.packets(f"DMA{number}", (number, ALL, 0, 0))
    bench.fill(0x1000, [9, 9])
    endless = Descriptor("memory", 2, OWN.address(0x1000), packet=Packet(id=0), tlast_suppress=True)
    bench.write_bd(0, endless)
    bench.issue(bench.mm2s(0), 0)
    send(bench, 1, 1, [4])
    take(bench, 5, 3)
    bench.run()
    assert bench.engine.state.channels.moved[bench.s2mm(5)] == 2
    bench.circuit("DMA0")
    bench.run()
    assert got(bench, 5, 3) == [9, 9, 4]


def _long_packet() -> Bench:
    """A bench with a packet of 8 words on its way from DMA0 to DMA5; two words have come."""
    bench = Bench("memory")
    bench.collects("DMA5", 0, 0, drop=True)
    bench.packets("DMA0", (0, ALL, 0, 0))
    send(bench, 0, 0, [*range(10, 18)])
    take(bench, 5, 8)
    while bench.engine.state.channels.moved[bench.s2mm(5)] < 2:
        bench.engine.run(bench.engine.now + 1)
    return bench


def test_the_configuration_of_other_ports_leaves_a_packet_on_its_way() -> None:
    """DEV-PKT-5: another flow of the switch is set up while words of this one are between its ports."""
    bench = _long_packet()
    bench.collects("DMA4", 1, 0, drop=True)
    bench.packets("DMA1", (0, ALL, 0, 1))
    bench.circuit("DMA2", "DMA2")
    bench.run()
    assert got(bench, 5, 8) == [*range(10, 18)]


def test_the_same_configuration_again_leaves_a_packet_on_its_way() -> None:
    bench = _long_packet()
    bench.collects("DMA5", 0, 0, drop=True)
    bench.packets("DMA0", (0, ALL, 0, 0))
    bench.run()
    assert got(bench, 5, 8) == [*range(10, 18)]


def test_a_master_that_goes_to_another_arbiter_cuts_the_packets_of_its_old_one() -> None:
    """DEV-PKT-5: no word comes to a master that takes packets of another arbiter."""
    bench = _long_packet()
    bench.collects("DMA5", 1, 0, drop=True)
    bench.run()
    assert bench.engine.state.arbiters.holder[0] == -1
    assert got(bench, 5, 8)[4:] == [0] * 4, "two words were behind the master already"


def test_the_out_of_order_id_travels_in_bits_10_to_5() -> None:
    """DEV-PKT-2."""
    bench = Bench("memory")
    bench.circuit("DMA0", "DMA0")
    bench.write_bd(0, Descriptor("memory", 1, OWN.address(0), packet=Packet(3, 2), ooo_id=33))
    bench.issue(bench.mm2s(), 0)
    take(bench, 0, 2)
    bench.run()
    assert got(bench, 0, 1) == [stream_header(3, 2, **HERE, out_of_order=33)]
    assert got(bench, 0, 1)[0] & 0x7FE0 == 2 << 12 | 33 << 5
