"""Traces and waveforms: recording and decoding them, names for their events, and files for viewers.

Traces come from a run of the model or from a board (``docs/trace.md``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.io.trace.decoder import Interval, Trace, UnitTrace, decode
    from memtile.io.trace.perfetto import perfetto_bytes
    from memtile.io.trace.trace_names import NamedUnit, chrome_json, named, trace_csv, trace_json, unnamed
    from memtile.io.trace.trace_packets import read_words
    from memtile.io.trace.trace_setup import TracedUnit, traced_as, traced_by
    from memtile.io.trace.tracing import Tracing
    from memtile.io.trace.waveform import Waveform, trace_vcd

_HOMES = {
    "Interval": "memtile.io.trace.decoder",
    "NamedUnit": "memtile.io.trace.trace_names",
    "Trace": "memtile.io.trace.decoder",
    "TracedUnit": "memtile.io.trace.trace_setup",
    "Tracing": "memtile.io.trace.tracing",
    "UnitTrace": "memtile.io.trace.decoder",
    "Waveform": "memtile.io.trace.waveform",
    "chrome_json": "memtile.io.trace.trace_names",
    "decode": "memtile.io.trace.decoder",
    "named": "memtile.io.trace.trace_names",
    "perfetto_bytes": "memtile.io.trace.perfetto",
    "read_words": "memtile.io.trace.trace_packets",
    "trace_csv": "memtile.io.trace.trace_names",
    "trace_json": "memtile.io.trace.trace_names",
    "trace_vcd": "memtile.io.trace.waveform",
    "traced_as": "memtile.io.trace.trace_setup",
    "traced_by": "memtile.io.trace.trace_setup",
    "unnamed": "memtile.io.trace.trace_names",
}

__all__ = [
    "Interval",
    "NamedUnit",
    "Trace",
    "TracedUnit",
    "Tracing",
    "UnitTrace",
    "Waveform",
    "chrome_json",
    "decode",
    "named",
    "perfetto_bytes",
    "read_words",
    "trace_csv",
    "trace_json",
    "trace_vcd",
    "traced_as",
    "traced_by",
    "unnamed",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
