"""A reference encoder of trace packets, written from the published frame table as strings of bits.

It shares nothing with the trace unit of the model nor with the tables of the decoder, so that each can be
tested against it. It is slow and simple: give it what was asserted in which cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_PAYLOAD_BYTES = 28
_WORD = 4
_FILLER = "11111110"
_SYNC = "11111111"
_STOP = "110111" + 26 * "0"
_CYCLES_OF_SYNC = 2**18


class TraceEncoder:
    """One trace unit.

    Args:
        column: of its tile, as its packet headers say.
        row: of its tile.
        packet_type: of its packets.
        stream_id: of its packets.
    """

    def __init__(self, column: int = 0, row: int = 1, packet_type: int = 3, stream_id: int = 0) -> None:
        self._header = _header(column, row, packet_type, stream_id)
        self._bytes: list[int] = []
        self._now = 0
        self._last: tuple[int, int] | None = None
        self._repeats = 0

    def start(self, cycle: int) -> None:
        """The start event is in ``cycle``; also what follows frames that were lost."""
        self._flush()
        self._emit("11110000" + f"{cycle:056b}")
        self._now, self._last = cycle, None

    def record(self, cycle: int, slots: int) -> None:
        """In ``cycle``, later than all before, the events of the mask ``slots`` (not 0) were asserted."""
        delta = cycle - self._now - 1
        while delta >= _CYCLES_OF_SYNC:
            self._flush()
            self._emit(_SYNC)
            delta -= _CYCLES_OF_SYNC
            self._last = None
        if (delta, slots) == self._last:
            self._repeats += 1
            if self._repeats == 1023:
                self._flush()
        else:
            self._flush()
            self._emit(_event_frame(delta, slots))
            self._last = delta, slots
        self._now = cycle

    def lose(self) -> None:
        """Discard pending packets, as a unit does whose packets nothing takes."""
        self._repeats, self._last = 0, None

    def stop(self) -> None:
        """The stop event: everything is sent."""
        self._flush()
        self._emit(_STOP)
        self.fill()

    def fill(self) -> None:
        """Complete the last packet with fillers."""
        self._flush()
        while len(self._bytes) % _PAYLOAD_BYTES:
            self._bytes.append(int(_FILLER, 2))

    def packets(self) -> list[list[int]]:
        """The complete packets so far, eight words each."""
        whole = len(self._bytes) // _PAYLOAD_BYTES * _PAYLOAD_BYTES
        return [
            [self._header, *_words(self._bytes[at : at + _PAYLOAD_BYTES])]
            for at in range(0, whole, _PAYLOAD_BYTES)
        ]

    def _flush(self) -> None:
        if self._repeats:
            count = self._repeats
            self._emit(f"1110{count:04b}" if count < 16 else f"110110{count:010b}")
        self._repeats = 0

    def _emit(self, bits: str) -> None:
        frame = [int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)]
        room = _WORD - len(self._bytes) % _WORD
        if room < min(len(frame), _WORD):
            self._bytes += room * [int(_FILLER, 2)]
        self._bytes += frame


def encode_trace(
    recorded: Mapping[int, int], start: int, pieces: Iterable[tuple[int, int]] = (), **header: int
) -> list[list[int]]:
    """Packets of a unit that starts at cycle ``start`` and stops after the last record.

    Args:
        recorded: cycle -> mask of the slots asserted; cycles later than ``start``.
        start: cycle of the start event.
        pieces: (first, last) cycles of overruns: events in between are lost, and ``last`` restarts.
        header: ``column``, ``row``, ``packet_type`` and ``stream_id``.
    """
    unit = TraceEncoder(**header)
    unit.start(start)
    lost = sorted(pieces)
    for cycle in sorted(recorded):
        while lost and cycle >= lost[0][0]:
            if cycle <= lost[0][1]:
                break
            unit.lose()
            unit.start(lost.pop(0)[1])
        else:
            unit.record(cycle, recorded[cycle])
    for _, last in lost:
        unit.lose()
        unit.start(last)
    unit.stop()
    return unit.packets()


def _event_frame(delta: int, slots: int) -> str:
    if slots.bit_count() == 1:
        opcodes, operand = ("0", "100", "101"), f"{slots.bit_length() - 1:03b}"
    else:
        opcodes, operand = ("1100", "110100", "110101"), f"{slots:08b}"
    width, opcode = next((w, o) for w, o in zip((4, 10, 18), opcodes, strict=True) if delta < 2**w)
    return f"{opcode}{operand}{delta:0{width}b}"


def _header(column: int, row: int, packet_type: int, stream_id: int) -> int:
    bits = f"000{column:07b}{row:05b}0{packet_type:03b}0000000{stream_id:05b}"
    return int(f"{1 - bits.count('1') % 2}{bits}", 2)


def _words(data: list[int]) -> list[int]:
    return [int.from_bytes(data[at : at + _WORD], "big") for at in range(0, len(data), _WORD)]
