"""Traces and waveforms: recording and decoding them, names for their events, and files for viewers.

Traces come from a run of the model or from a board (``docs/trace.md``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.io.trace.chrome import chrome_json
    from memtile.io.trace.decoder import Interval, Trace, UnitTrace, decode
    from memtile.io.trace.names import NamedUnit, named, unnamed
    from memtile.io.trace.perfetto import perfetto_bytes
    from memtile.io.trace.setup import TracedUnit, traced_as, traced_by
    from memtile.io.trace.tables import trace_csv, trace_json
    from memtile.io.trace.tracing import Tracing
    from memtile.io.trace.words import read_words
    from memtile.io.wave.vcd import trace_vcd
    from memtile.io.wave.waveform import Waveform

_HOMES = {
    "Interval": "memtile.io.trace.decoder",
    "NamedUnit": "memtile.io.trace.names",
    "Trace": "memtile.io.trace.decoder",
    "TracedUnit": "memtile.io.trace.setup",
    "Tracing": "memtile.io.trace.tracing",
    "UnitTrace": "memtile.io.trace.decoder",
    "Waveform": "memtile.io.wave.waveform",
    "chrome_json": "memtile.io.trace.chrome",
    "decode": "memtile.io.trace.decoder",
    "named": "memtile.io.trace.names",
    "perfetto_bytes": "memtile.io.trace.perfetto",
    "read_words": "memtile.io.trace.words",
    "trace_csv": "memtile.io.trace.tables",
    "trace_json": "memtile.io.trace.tables",
    "trace_vcd": "memtile.io.wave.vcd",
    "traced_as": "memtile.io.trace.setup",
    "traced_by": "memtile.io.trace.setup",
    "unnamed": "memtile.io.trace.names",
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
