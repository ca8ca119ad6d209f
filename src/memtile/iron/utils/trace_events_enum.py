"""``aie.utils.trace_events_enum``, until 2025: events of trace units under the names that they had there."""

from memtile.iron.utils.trace.events import CoreEvent, MemEvent, MemTileEvent, ShimTileEvent
from memtile.iron.utils.trace.events import ShimTileEvent as PLEvent

__all__ = ["CoreEvent", "MemEvent", "MemTileEvent", "PLEvent", "ShimTileEvent"]
