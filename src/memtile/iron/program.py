"""``aie.iron.program``: a whole design, built into a module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memtile.iron.buffer import Buffer
from memtile.iron.configuration import DeviceConfiguration
from memtile.iron.dataflow.channels import number_channels
from memtile.iron.dataflow.flow import Flow
from memtile.iron.dialects.aie import device
from memtile.iron.extras.context import mlir_mod_ctx
from memtile.iron.helpers.dialects.func import FuncBase
from memtile.iron.ir import MLIRError
from memtile.iron.ops.attributes import IntegerAttr, StringAttr
from memtile.iron.ops.enums import TraceMode
from memtile.iron.ops.operations import Module
from memtile.iron.ops.types import IntegerType
from memtile.iron.placers import Placer
from memtile.iron.resolvable import Resolvable
from memtile.iron.scratchpad_parameter import ScratchpadParameter

_MODES = ("load-pdi", "expand-load-pdis", "control-packets")


class Program:
    """A design.

    Args:
        device: that it is for.
        rt: what the host does.
        workers: what the cores do, beside those that ``rt.start`` names.
        reconfiguration_mode: how mlir-aie's compiler loads configurations; memtile loads them all alike.

    Raises:
        ValueError: no device, or an unknown mode.
    """

    def __init__(
        self,
        device: Any,
        rt: Any,
        workers: Iterable[Any] | None = None,
        *,
        reconfiguration_mode: str = "load-pdi",
    ) -> None:
        if reconfiguration_mode not in _MODES:
            raise ValueError(
                f"Unsupported reconfiguration mode {reconfiguration_mode!r}; known are {', '.join(_MODES)}"
            )
        self._mode = reconfiguration_mode
        self._composed: tuple[tuple[str, Program], ...] = ()
        if device is None:
            raise ValueError("a Program needs a device: NPU1(), NPU2() or another of aie.iron.device")
        self._device, self._rt = device, rt
        self._workers = list(dict.fromkeys([*(workers or ()), *rt.workers]))
        self._trace: dict[str, Any] = {}
        if rt._trace:
            self.enable_trace(**rt._trace)

    def enable_trace(
        self,
        trace_size: int | None = None,
        workers: list[Any] | None = None,
        reuse_output_buffer: bool = False,
        coretile_events: list[Any] | None = None,
        coremem_events: list[Any] | None = None,
        memtile_events: list[Any] | None = None,
        shimtile_events: list[Any] | None = None,
        egress_shim_col: int = 0,
        core_trace_mode: Any = TraceMode.EventTime,
    ) -> None:
        """Trace the tiles of workers into ``trace_size`` bytes."""
        self._trace = {
            "trace_size": trace_size,
            "workers": workers,
            "reuse_output_buffer": reuse_output_buffer,
            "egress_shim_col": egress_shim_col,
            "events": {
                "coretile_events": coretile_events,
                "coremem_events": coremem_events,
                "memtile_events": memtile_events,
                "shimtile_events": shimtile_events,
                "core_trace_mode": core_trace_mode,
            },
        }

    def resolve_program(
        self, device_name: str | Placer | None = "main", *, placer: Placer | None = None
    ) -> Module:
        """Build the module.

        Args:
            device_name: of the device in it; programs until April 2026 give a placer here.
            placer: what places workers.
        """
        if not isinstance(device_name, str):
            placer, device_name = device_name or placer, "main"
        if placer is not None:
            placer.make_placement(self._device, self._workers)
        with mlir_mod_ctx() as context:
            for name, program in self._composed or ((device_name, self),):
                program._into_module(name)
        if self._composed:
            self._mark(context.module)
        if self._mode != _MODES[0]:
            context.module.operation.attributes["iron.reconfiguration_mode"] = StringAttr(self._mode)
        return context.module

    @classmethod
    def compose(cls, configurations: Sequence[DeviceConfiguration], *, entry: Any) -> Program:
        """A program of several configurations of the array.

        Args:
            configurations: in the order of the module.
            entry: the sequence that the host runs.

        Raises:
            ValueError: the sequence belongs to none of them.
        """
        if not any(entry.configuration is each for each in configurations):
            raise ValueError(f"entry={entry.name!r} is a sequence of none of the configurations")
        made = cls(entry.configuration.device, entry)
        made._composed = tuple((each.name, cls(each.device, each)) for each in configurations)
        return made

    def _mark(self, module: Module) -> None:
        attributes = module.operation.attributes
        attributes["iron.configuration_count"] = IntegerAttr(IntegerType(32), len(self._composed))
        attributes["iron.entry"] = StringAttr(f"{self._rt.configuration.name}:{self._rt.name}")

    def _into_module(self, device_name: str) -> None:
        """Build the device in the module that is open."""
        self._device = type(self._device)()
        for parameter in self._arguments(ScratchpadParameter):
            parameter.resolve()
        device(self._device.resolve(), sym_name=device_name)(self._build)
        for parameter in self._rt._scratchpad_parameters:
            parameter.resolve()

    def _arguments(self, kind: Any) -> list[Any]:
        return [arg for worker in self._workers for arg in worker.flat_fn_args if isinstance(arg, kind)]

    def _fifos(self) -> list[Any]:
        """Ends of object FIFOs, each once, by name."""
        ends = [*self._rt.fifos, *(fifo for worker in self._workers for fifo in worker.fifos)]
        return sorted({id(end): end for end in ends}.values(), key=lambda end: end.name)

    def _tiles(self, fifos: list[Any]) -> Iterable[Any]:
        for worker in self._workers:
            yield worker.tile
            for arg in worker.flat_fn_args:
                if isinstance(arg, Resolvable):
                    yield from arg.tiles()
        for fifo in fifos:
            yield from (endpoint.tile for endpoint in fifo.all_of_endpoints())
            if fifo._object_fifo._delegate_tile is not None:
                yield fifo._object_fifo._delegate_tile
        for each in (*self._rt.flows, *self._rt.tile_dmas):
            yield from each.all_tiles()
        yield from (each.tile for each in (*self._rt.locks, *self._rt.buffers))

    def _build(self) -> None:
        fifos = self._fifos()
        for tile in self._tiles(fifos):
            self._device.resolve_tile(tile)
        number_channels(self._rt.flows, self._rt.tile_dmas, self._device.dma_channels)
        self._build_parts(fifos)
        for arg in self._arguments((FuncBase, Resolvable)):
            arg.emit() if isinstance(arg, FuncBase) else arg.resolve()
        self._refuse_shared_tiles()
        for worker in self._workers:
            worker.resolve()
        cascades = [cascade for worker in self._workers for cascade in worker._outgoing_cascades]
        for each in (*cascades, *self._rt.tile_dmas):
            each.resolve()
        self._rt.resolve(begins=self._configure_trace())
        for flow in (*self._rt.flows, *self._arguments(Flow)):
            if flow.fills:
                flow.allocate()

    def _build_parts(self, fifos: list[Any]) -> None:
        """What cores, DMAs and sequences use."""
        rt = self._rt
        for each in (*fifos, *rt.flows, *rt.locks, *rt.buffers, *rt.external_buffers):
            each.resolve()
        for dma in rt.tile_dmas:
            for buffer in dma.all_buffers_and_locks()[0]:
                if isinstance(buffer, Buffer):
                    buffer._tile = dma.tile if buffer.tile is None else buffer._tile
                buffer.resolve()

    def _refuse_shared_tiles(self) -> None:
        """Refuse two cores on one tile, which mlir-aie's verifier of ``aie.device`` refuses.

        Raises:
            MLIRError: two workers have the same column and row.
        """
        held: dict[tuple[int, int], Any] = {}
        for worker in self._workers:
            place = (worker.tile.col, worker.tile.row)
            if None in place:
                continue
            if place in held:
                raise MLIRError(
                    f"tile {place} already has a core, {held[place]}; {worker} is placed there too: a "
                    f"tile has one "
                    "core, so give one of them another tile, or none to have it placed"
                )
            held[place] = worker

    def _configure_trace(self) -> Any:
        """Set tracing up in the device; what the sequence begins with."""
        size = self._trace.get("trace_size")
        if not size:
            return None
        from memtile.iron.utils import trace

        traced = self._trace["workers"]
        workers = [each for each in self._workers if each.trace is not None] if traced is None else traced
        trace.configure_trace([worker.tile.op for worker in workers], **self._trace["events"])

        def begins() -> None:
            trace.start_trace(
                trace_size=size,
                reuse_output_buffer=self._trace["reuse_output_buffer"],
                routing="single",
                egress_shim_col=self._trace["egress_shim_col"],
            )

        return begins
