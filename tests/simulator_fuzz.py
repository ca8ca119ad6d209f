"""Random lines for ``memtile serve``, well-formed and malformed, against a mirror of what they should do."""

from __future__ import annotations

import random

from simulator_client import BASE, Client

FIRST = 1 << 25 | 1 << 20 | 0x1000  # data memory of the memory tile in column 1
WORDS = 256


def spoiled(random_: random.Random, line: bytes) -> bytes:
    """The line with one byte changed, removed or added, still one line."""
    at = random_.randrange(len(line) - 1)
    byte = random_.choice([b"\x00", b"G", b" ", b"0", b"\xff", b"", b"R", b"W"])
    return line[:at] + byte + line[at + random_.randrange(2) :]


def fuzz(client: Client, lines: int, seed: int) -> int:
    """Random lines against a mirror of what they should do; the number of replies checked."""
    random_ = random.Random(seed)
    mirror = [0] * WORDS
    for n in range(WORDS):
        client.write32(FIRST + 4 * n, 0)
    checked = 0
    batch: list[bytes] = []
    for _ in range(lines):
        n, value = random_.randrange(WORDS), random_.getrandbits(32)
        address = BASE + FIRST + 4 * n
        kind = random_.random()
        if kind < 0.7:
            batch.append(b"W 0X%016X 0X%08X\n" % (address, value))
            mirror[n] = value
        elif kind < 0.8:
            batch.append(random_.randbytes(random_.randrange(60)).replace(b"\n", b"").lstrip(b"RW") + b"\n")
        elif kind < 0.9:
            line = b"W 0X%016X 0X%08X 1\n" % (address, value)
            batch.append(spoiled(random_, line).lstrip(b"R"))
        else:
            client.send(b"".join([*batch, b"R 0X%016X\n" % address]))
            batch.clear()
            assert int(client.receive(), 16) == mirror[n]
            checked += 1
    return checked
