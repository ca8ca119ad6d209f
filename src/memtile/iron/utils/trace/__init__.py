"""``aie.utils.trace``: traces of tiles, set up and read; ``memtile trace decode`` reads them too."""

from memtile.iron.utils.trace.config import TraceConfig
from memtile.iron.utils.trace.events import (
    CoreEvent,
    GenericEvent,
    MemEvent,
    MemTileEvent,
    MemTilePortEvent,
    PacketType,
    PortEvent,
    ShimTileEvent,
    ShimTilePortEvent,
    get_events_for_device,
)
from memtile.iron.utils.trace.parse import parse_trace
from memtile.iron.utils.trace.setup import configure_packet_ctrl_flow, configure_trace, start_trace
from memtile.iron.utils.trace.utils import (
    create_ctrl_pkt,
    extract_tile,
    get_cycles,
    get_cycles_summary,
    get_vector_time,
    pack4bytes,
    parity,
    print_cycles_summary,
    split_trace_segments,
)

__all__ = [
    "CoreEvent",
    "GenericEvent",
    "MemEvent",
    "MemTileEvent",
    "MemTilePortEvent",
    "PacketType",
    "PortEvent",
    "ShimTileEvent",
    "ShimTilePortEvent",
    "TraceConfig",
    "configure_packet_ctrl_flow",
    "configure_trace",
    "create_ctrl_pkt",
    "extract_tile",
    "get_cycles",
    "get_cycles_summary",
    "get_events_for_device",
    "get_vector_time",
    "pack4bytes",
    "parity",
    "parse_trace",
    "print_cycles_summary",
    "split_trace_segments",
    "start_trace",
]
