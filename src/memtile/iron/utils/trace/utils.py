"""``aie.utils.trace.utils``: words of packets, and cycles from the JSON of a trace."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from memtile.arch.packets import STREAM_HEADER, PacketOperation, control_header
from memtile.arch.registers import field_of
from memtile.arch.trace_facts import PACKET_WORDS
from memtile.errors import InputFileError
from memtile.input_files import name_of, read_text
from memtile.io.json_text import parse_json

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
    """The events of a trace.

    Raises:
        InputFileError: the file cannot be read, or is no list of events as Perfetto shows them.
    """
    found = parse_json(read_text(trace_path), name_of(trace_path))
    if not isinstance(found, list):
        raise InputFileError(f"{name_of(trace_path)}: this is no list of events. Give the JSON of a trace.")
    for number, each in enumerate(found, 1):
        if lacks := _lacks(each):
            raise InputFileError(
                f"{name_of(trace_path)}, event {number}: it has no {lacks}. Give the JSON of a trace, "
                "such as memtile's or that of aie.utils.trace."
            )
    return found


def _lacks(event: Any) -> str:
    """What an event has to have and has not, in words; empty if it has all."""
    if not isinstance(event, dict):
        return "names of its values: it is no object"
    fields: dict[str, type | tuple[type, ...]] = {"name": str, "ph": str, "pid": int}
    if event.get("ph") in ("B", "E"):
        fields["ts"] = (int, float)
    wrong = [name for name, kind in fields.items() if not isinstance(event.get(name), kind)]
    if not wrong and event["name"] == "process_name" and not isinstance(event.get("args"), dict):
        wrong = ["args"]
    return f"{wrong[0]}, or one of another kind" if wrong else ""


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
    found: dict[int, list[Any]] = {
        each["pid"]: [each["args"].get("name", f"process {each['pid']}")]
        for each in records
        if each["name"] == "process_name"
    }
    since: dict[int, Any] = {}
    for each in records:
        pid = each["pid"]
        if each["ph"] != "B":
            continue
        if each["name"] == _BEGIN:
            since.setdefault(pid, each["ts"])
        elif each["name"] == _END and pid in since:
            found.setdefault(pid, [f"process {pid}"]).append(each["ts"] - since.pop(pid))
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
        if each["name"] == "INSTR_VECTOR" and each["ph"] in ("B", "E") and first <= each["ts"] <= last:
            if each["ph"] == "B":
                started.append(each["ts"])
            elif started:
                total += each["ts"] - started.pop()
    return float(total / (last - first)) if last > first else 0.0


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
