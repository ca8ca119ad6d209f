"""The external memory of a Phoenix laptop, fitted to half of the cases of documents that calibrate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from memtile.arch.boards import BOARDS
from support.silicon.silicon_rig import Case

RUNS = 50  # of the medians that count; single runs differ by the whole of what is fitted
WORDS = 64  # of each of their tasks
BEAT = 4  # words of one write
COLLECTED = 1  # cycle in which the last word of a write is taken, before it can be made
EGRESS = 128  # words on their way are a multiple of it, above the latency: a word a cycle (shim-mm2s-rate)
WAITED = "chain-8-mm2s-task-1"  # pushed before the task before it had ended (chain-8-mm2s-gap-0): it waited


def fits(case: Case) -> bool:
    """Whether constants are fitted to it: half of the cases, by the SHA-256 of the id, of used documents."""
    return case.role == "calibration" and hashlib.sha256(case.id.encode()).digest()[0] % 2 == 0


def fitted(found: Iterable[Case]) -> dict[str, int]:
    """Constants of external memory, by name.

    The tasks that follow the first one of their channel give the latency, the first ones what they take
    longer: a read all of its time, a write the answer to its first beat.
    """
    used = [case for case in found if fits(case) and case.runs == RUNS and case.id != WAITED]
    load = BOARDS["phoenix"]["task_load"]
    read = _middle(used, "mm2s", "external") - WORDS - load
    write = _middle(used, "s2mm", "external") - WORDS - COLLECTED - load
    return {
        "external_latency": read,
        "external_write_latency": write,
        "external_egress_words": EGRESS * (read // EGRESS + 1),
        "external_first_read": _middle(used, "mm2s", "first") - WORDS - read - load,
        "external_first_write": _middle(used, "s2mm", "first") - BEAT - COLLECTED - write - load,
    }


def spread(found: Iterable[Case]) -> dict[str, tuple[int, int]]:
    """The lowest and the highest of the first access in all cases that it is fitted to, by name.

    Writes of 1,024 words and more hide it, and say nothing.
    """
    used = [case for case in found if fits(case) and case.time_of == "first"]
    latency, load = fitted(found), BOARDS["phoenix"]["task_load"]
    reads = [
        case.measured - load - latency["external_latency"] - _words(case)
        for case in used
        if "-mm2s" in case.id
    ]
    writes = [
        case.measured - load - latency["external_write_latency"] - COLLECTED - BEAT
        for case in used
        if "-s2mm" in case.id and _words(case) < 1024
    ]
    return {
        "external_first_read": (max(0, int(min(reads))), int(max(reads))),
        "external_first_write": (max(0, int(min(writes))), int(max(writes))),
    }


def _words(case: Case) -> int:
    return int(case.data["rig"]["arguments"]["words"])


def _middle(used: Iterable[Case], direction: str, time_of: str) -> int:
    """The median of what was measured."""
    values = [case.measured for case in used if f"-{direction}" in case.id and case.time_of == time_of]
    return int(np.floor(np.median(values)))
