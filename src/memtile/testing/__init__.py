"""Helpers for tests of designs and tools built on memtile.

Hypothesis strategies (using one needs Hypothesis, importing this package does not), a bench that holds one
tile to exact cycles, masters for its stream ports, an encoder of traces, and a picture that shows wrong
words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.testing.pictures import feature_map
    from memtile.testing.rig import Rig
    from memtile.testing.strategies import descriptors, register_words, tilings
    from memtile.testing.stream_bench import Bench
    from memtile.testing.trace_encoder import TraceEncoder, encode_trace

_HOMES = {
    "Bench": "memtile.testing.stream_bench",
    "Rig": "memtile.testing.rig",
    "TraceEncoder": "memtile.testing.trace_encoder",
    "descriptors": "memtile.testing.strategies",
    "encode_trace": "memtile.testing.trace_encoder",
    "feature_map": "memtile.testing.pictures",
    "register_words": "memtile.testing.strategies",
    "tilings": "memtile.testing.strategies",
}

__all__ = [
    "Bench",
    "Rig",
    "TraceEncoder",
    "descriptors",
    "encode_trace",
    "feature_map",
    "register_words",
    "tilings",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
