"""``aie.utils.trace.utils``: words of packets, and cycles from the JSON of a trace."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from memtile.arch.packets import STREAM_HEADER, PacketOperation, control_header
from memtile.arch.registers import field_of
from memtile.arch.trace_facts import PACKET_WORDS

_BEGIN, _END = "INSTR_EVENT_0", "INSTR_EVENT_1"


def parity(x: int) -> int:
    """1 if the number of bits that are set is odd."""
    return x.bit_count() & 1


def extract_tile(data: int) -> tuple[int, int, int, int]:
    """Column, row, packet type and id of a packet's first word."""
    column, row, kind, number = (
        field_of(STREAM_HEADER, name).get(data) for name in ("Column", "Row", "Packet_Type", "Stream_ID")
    )
    return column, row, kind, number


def pack4bytes(b3: int, b2: int, b1: int, b0: int) -> int:
    """A word of four bytes, the highest first; what is above a byte is left out."""
    return int.from_bytes(bytes(each & 0xFF for each in (b3, b2, b1, b0)), "big")


def create_ctrl_pkt(operation: int, beats: int, addr: int, ctrl_pkt_read_id: int = 28) -> int:
    """The control header of a packet.

    Args:
        operation: 0 write, 1 read, 2 write with increments, 3 block write.
        beats: words without one.
        addr: byte offset in the tile.
        ctrl_pkt_read_id: id of the answer.
    """
    return control_header(PacketOperation(operation), addr, beats + 1, ctrl_pkt_read_id)


def _records(trace_path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(trace_path).read_text())
    return found


def _begins(records: Iterable[dict[str, Any]], name: str) -> list[Any]:
    return [each["ts"] for each in records if each["name"] == name and each["ph"] == "B"]


def get_cycles(trace_path: str) -> float:
    """Cycles from the first INSTR_EVENT_0 to the first INSTR_EVENT_1; infinite if one is not there."""
    records = _records(trace_path)
    begin, end = (_begins(records, name) for name in (_BEGIN, _END))
    return float(end[0] - begin[0]) if begin and end else math.inf


def get_cycles_summary(trace_path: str) -> list[list[Any]]:
    """For each process its name, then the cycles from each INSTR_EVENT_0 to the INSTR_EVENT_1 behind it."""
    records = _records(trace_path)
    names = {int(each["pid"]): each["args"]["name"] for each in records if each["name"] == "process_name"}
    found: dict[int, list[Any]] = {pid: [name] for pid, name in names.items()}
    since: dict[int, Any] = {}
    for each in records:
        pid = int(each["pid"])
        if each["ph"] != "B":
            continue
        if each["name"] == _BEGIN:
            since.setdefault(pid, each["ts"])
        elif each["name"] == _END and pid in since:
            found[pid].append(each["ts"] - since.pop(pid))
    return list(found.values())


def print_cycles_summary(trace_path: str) -> None:
    """Print :func:`get_cycles_summary`: how often, and the first, least, mean and most cycles."""
    for name, *cycles in get_cycles_summary(trace_path):
        print(f"{name}\nTotal number of full kernel invocations is {len(cycles)}")
        if cycles:
            figures = cycles[0], min(cycles), sum(cycles) / len(cycles), max(cycles)
            print("First/Min/Avg/Max cycles is", "/ ".join(map(str, figures)))


def get_vector_time(trace: str) -> float:
    """The share of the time between INSTR_EVENT_0 and 1 in which vector instructions ran; 0 without both."""
    records = _records(trace)
    begin, end = (_begins(records, name) for name in (_BEGIN, _END))
    if not begin or not end:
        return 0
    first, last = begin[-1], end[-1]
    started: list[Any] = []
    total = 0
    for each in records:
        if each["name"] == "INSTR_VECTOR" and first <= each["ts"] <= last:
            if each["ph"] == "B":
                started.append(each["ts"])
            elif each["ph"] == "E" and started:
                total += each["ts"] - started.pop()
    return float(total / (last - first))


def split_trace_segments(trace_pkts: Sequence[str], min_gap: int = PACKET_WORDS) -> list[list[str]]:
    """Parts of a trace between runs of at least ``min_gap`` words of zero; zeros at both ends are left out.

    Args:
        trace_pkts: hexadecimal words.
        min_gap: as many zeros are a gap.
    """
    segments: list[list[str]] = []
    pending: list[str] = []
    for is_zero, group in groupby((word for word in trace_pkts if word), lambda word: int(word, 16) == 0):
        words = list(group)
        if is_zero:
            pending = words
        elif segments and len(pending) < min_gap:
            segments[-1] += [*pending, *words]
        else:
            segments.append(words)
    return segments
