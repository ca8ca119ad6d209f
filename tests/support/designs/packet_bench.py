"""Packets and tokens of a bench with one memory tile, for tests; see ``memtile.testing.stream_bench``."""

from __future__ import annotations

from memtile.bd.descriptor import Descriptor, Packet
from memtile.bd.windows import OWN
from memtile.testing.stream_bench import Bench

ALL = 31  # slot mask that compares every bit of the stream id
HERE = {"column": 1, "row": 1}


def send(bench: Bench, number: int, stream: int, words: list[int], *, packets: int = 1) -> None:
    """MM2S ``number`` sends ``words`` as a packet, or several."""
    ch, bd = bench.mm2s(number), 24 * (number % 2) + number
    source = 0x4000 + 0x400 * number
    bench.fill(source, words)
    packet = Packet(id=stream, type=number)
    bench.write_bd(bd, Descriptor("memory", len(words), OWN.address(source), packet=packet))
    bench.issue(ch, bd, packets)


def take(bench: Bench, number: int, words: int) -> None:
    """S2MM ``number`` puts what comes at word 0x400 times its number."""
    bd = 24 * (number % 2) + 12 + number
    bench.write_bd(bd, Descriptor("memory", words, OWN.address(0x400 * number)))
    bench.issue(bench.s2mm(number), bd)


def got(bench: Bench, number: int, words: int) -> list[int]:
    """What S2MM ``number`` put there."""
    return bench.memory(0x400 * number, words)


def fetch(bench: Bench, number: int, runs: int = 1, *, asked: bool = True, words: int = 4) -> int:
    """A task of MM2S ``number`` whose words the host takes."""
    ch, bd = bench.mm2s(number), 24 * (number % 2) + number
    bench.write_bd(bd, Descriptor("memory", words, OWN.address(0)))
    bench.engine.catch(ch)
    bench.issue(ch, bd, runs, token=asked)
    return ch
