"""Traces of a design: what a tile records, when it begins and ends, and where the host gets it."""

from __future__ import annotations

from typing import Any

from memtile.iron.dialects import _ops
from memtile.iron.extras.meta import region_op
from memtile.iron.ops.enums import TraceShimRouting

_OPS = _ops.AIE


trace = region_op(_OPS["TraceOp"], terminator=lambda *_: _OPS["EndOp"]())


def trace_mode(mode: Any, **more: Any) -> Any:
    """``aie.trace.mode``."""
    return _OPS["TraceModeOp"](mode=mode, **more)


def trace_event(event: Any, *, label: str | None = None, **more: Any) -> Any:
    """``aie.trace.event``."""
    return _OPS["TraceEventOp"](event=event, label=label, **more)


def trace_packet(id: int | None = None, type: Any = None, **more: Any) -> Any:
    """``aie.trace.packet``."""
    return _OPS["TracePacketOp"](id=id, type_=type, **more)


def trace_port(slot: int, port: Any, channel: int, direction: Any, **more: Any) -> Any:
    """``aie.trace.port``."""
    return _OPS["TracePortOp"](slot=slot, port=port, channel=channel, direction=direction, **more)


def trace_start(*, broadcast: int | None = None, event: Any = None, **more: Any) -> Any:
    """``aie.trace.start``."""
    return _OPS["TraceStartEventOp"](broadcast=broadcast, event=event, **more)


def trace_stop(*, broadcast: int | None = None, event: Any = None, **more: Any) -> Any:
    """``aie.trace.stop``."""
    return _OPS["TraceStopEventOp"](broadcast=broadcast, event=event, **more)


def trace_start_config(name: str, **more: Any) -> Any:
    """``aie.trace.start_config``."""
    return _OPS["TraceStartConfigOp"](name, **more)


def trace_host_config(
    buffer_size: int,
    *,
    reuse_output_buffer: bool = False,
    routing: Any = TraceShimRouting.Single,
    egress_shim_col: int = 0,
    **more: Any,
) -> Any:
    """``aie.trace.host_config``.

    Raises:
        ValueError: the routing is not ``single``.
    """
    if isinstance(routing, str):
        if routing != "single":
            raise ValueError(f"routing {routing!r}: a trace goes to one interface tile, 'single'")
        routing = TraceShimRouting.Single
    return _OPS["TraceHostConfigOp"](
        buffer_size,
        reuse_output_buffer=reuse_output_buffer,
        routing=routing,
        egress_shim_col=egress_shim_col,
        **more,
    )


__all__ = [
    "trace",
    "trace_event",
    "trace_host_config",
    "trace_mode",
    "trace_packet",
    "trace_port",
    "trace_start",
    "trace_start_config",
    "trace_stop",
]
