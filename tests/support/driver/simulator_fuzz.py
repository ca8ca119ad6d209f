"""Random lines for ``memtile serve``, well-formed and malformed, against a mirror of what they should do."""

from __future__ import annotations

import random

from support.driver.simulator_client import BASE, NPI, Client

FIRST = 1 << 25 | 1 << 20 | 0x1000  # data memory of the memory tile in column 1
WORDS = 256
BDS = 1 << 25 | 1 << 20 | 0xA0000
NO_ANSWER = 0xFFFF_FFFF
ACTING = (0x4, 0x30)  # NPI registers: control, interrupts
# Words that keep all of their bits: data memory, words 0, 1 and 7 of all descriptors, most NPI registers.
PLACES = (
    *(BASE + FIRST + 4 * n for n in range(WORDS)),
    *(BASE + BDS + 0x20 * bd + 4 * word for bd in range(48) for word in (0, 1, 7)),
    *(NPI + 4 * n for n in range(64) if 4 * n not in ACTING),
)
NOWHERE = (
    0,  # below the array
    BASE - 4,
    BASE + FIRST + 2,  # no word
    BASE + (1 << 25 | 1 << 20 | 0x80000),  # answered by nothing
    BASE + (4 << 25),  # no such column
    BASE + (1 << 25 | 6 << 20),  # no such row
    (1 << 64) - 4,
    NPI + 0x10000,
)


def spoiled(random_: random.Random, line: bytes) -> bytes:
    """The line with one byte changed, removed or added, still one line."""
    at = random_.randrange(len(line) - 1)
    byte = random_.choice([b"\x00", b"G", b" ", b"0", b"\xff", b"", b"R", b"W"])
    return line[:at] + byte + line[at + random_.randrange(2) :]


def malformed_read(random_: random.Random) -> bytes:
    """A line that begins as a read and is none."""
    line = b"R 0X%016X" % random_.choice(PLACES)
    at = random_.randrange(1, len(line))
    spoil = random_.choice(
        [line[:at], line[:at] + b"G" + line[at + 1 :], line[:at] + b" " + line[at:], line + b"0"]
    )
    return spoil + b"\n"


class Fuzz:
    """Random lines to one server, which nobody else writes to."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client, self._random = client, random.Random(seed)
        self._mirror = dict.fromkeys(PLACES, 0)
        self._batch = [b"W 0X%016X 0X%08X\n" % (place, 0) for place in PLACES]
        self._expected: list[int] = []
        self.checked = 0

    def run(self, lines: int) -> None:
        """Send so many lines; every answer is compared."""
        for _ in range(lines):
            self._add(self._random.random())
            if len(self._expected) > self._random.choice((0, 0, 0, 4)):
                self.flush()
        self.flush()

    def flush(self) -> None:
        self._client.send(b"".join(self._batch))
        self._batch.clear()
        for expected in self._expected:
            assert int(self._client.receive(), 16) == expected
        self.checked += len(self._expected)
        self._expected.clear()

    def _add(self, kind: float) -> None:
        random_ = self._random
        place, value = random_.choice(PLACES), random_.getrandbits(32)
        if kind < 0.6:
            self._batch.append(b"W 0X%016X 0X%08X\n" % (place, value))
            self._mirror[place] = value
        elif kind < 0.68:
            noise = random_.randbytes(random_.randrange(60)).replace(b"\n", b"")
            self._batch.append(b"W" + noise + b"\n")
        elif kind < 0.76:
            line = spoiled(random_, b"W 0X%016X 0X%08X 1\n" % (place, value))
            self._batch.append(line if line.startswith(b"W") else b"W" + line)
        elif kind < 0.8:
            self._batch.append(b"W 0X%016X 0X%08X\n" % (random_.choice(NOWHERE), value))
        elif kind < 0.84:
            self._ask(b"R 0X%016X\n" % random_.choice(NOWHERE), NO_ANSWER)
        elif kind < 0.88:
            self._ask(malformed_read(random_), NO_ANSWER)
        else:
            self._ask(b"R 0X%016X\n" % place, self._mirror[place])

    def _ask(self, line: bytes, expected: int) -> None:
        self._batch.append(line)
        self._expected.append(expected)


def fuzz(client: Client, lines: int, seed: int) -> int:
    """Random lines; the number of replies checked."""
    run = Fuzz(client, seed)
    run.run(lines)
    return run.checked
