"""memtile: an open twin of AMD's AIE-ML memory tile.

Designs need the names here: arrays and tiles, buffers, locks and transfers, views, results, and the errors.
``memtile.bd``, ``memtile.access``, ``memtile.adf``, ``memtile.kernels``, ``memtile.trace``,
``memtile.programs``, ``memtile.hosts.iron`` and ``memtile.testing`` have more names for each subject; all
other modules are internal (``docs/stability.md``). Each name is loaded on its first use, so that
``import memtile`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import enlist, offer

if TYPE_CHECKING:
    from memtile import access as access
    from memtile import adf as adf
    from memtile import bd as bd
    from memtile import kernels as kernels
    from memtile import programs as programs
    from memtile import testing as testing
    from memtile import trace as trace
    from memtile.access.drawing import Drawing
    from memtile.access.graph_text.fragment import tiling_of
    from memtile.access.notation import dma_dimensions, rearrange, repeat, tensor_access_pattern
    from memtile.access.tiling import TilingParameters, TraversingParameters
    from memtile.access.views import View, pad, sliding_window_view, view
    from memtile.arch.devices import Device, device
    from memtile.arch.register_map import register_named
    from memtile.arch.timing import Timing
    from memtile.bd.descriptor import Descriptor
    from memtile.check.check import check_design
    from memtile.check.check_result import CheckResult
    from memtile.design.array import Array
    from memtile.design.buffers import Buffer
    from memtile.design.channels import Channel
    from memtile.design.demands import Demand
    from memtile.design.events import Event
    from memtile.design.host import Host, HostAction
    from memtile.design.locks import Lock
    from memtile.design.logic_ports import PlioIn, PlioOut
    from memtile.design.memory_tile import MemoryTile
    from memtile.design.object_fifo import End, ObjectFifo
    from memtile.design.other_tiles import ComputeTile, InterfaceTile
    from memtile.design.parameters import Choices, Range
    from memtile.design.placement import place_buffers
    from memtile.design.protocols import Guarded, hand_over, one_reader, one_writer
    from memtile.design.run_design import run
    from memtile.design.tile import Tile
    from memtile.design.transfers import Transfer
    from memtile.errors import (
        DescriptorError,
        DesignError,
        InputFileError,
        MemtileError,
        Problem,
        RegisterError,
        SimulationError,
        TransferError,
    )
    from memtile.explain.checks import Check
    from memtile.explain.findings import Finding
    from memtile.explain.results import ChannelUse, CoreUse, Result, Status
    from memtile.explore.campaign import CampaignResult, Outcome, campaign
    from memtile.explore.plan.attention import Attention
    from memtile.explore.plan.convolution import Convolution
    from memtile.explore.plan.gemm import Gemm
    from memtile.explore.plan.plan_result import PlanResult
    from memtile.explore.plan.planner import plan
    from memtile.explore.plan.row_reductions import RowReduction
    from memtile.explore.rerun import bottleneck, sensitivity
    from memtile.explore.sweep.sweep import SweepPlan, sweep
    from memtile.explore.sweep.sweep_result import SweepResult
    from memtile.explore.threads import run_many
    from memtile.importers.design import load
    from memtile.importers.loaded import Loaded
    from memtile.iron.program_design import load_iron
    from memtile.mlir_writer.designs import kernel_functions, to_mlir
    from memtile.model.state.causes import Cause, CoreCause
    from memtile.report.access_picture import tiles_figure
    from memtile.report.cycles_picture import save_cycles
    from memtile.runs.options import RunOptions
    from memtile.schemas import schema, schema_names
    from memtile.sim.doors.event_panel import EventUnit
    from memtile.sim.loop.upsets import Upset, raining, scattered

__version__ = "0.2.0"

_HOMES = {
    "Array": "memtile.design.array",
    "Attention": "memtile.explore.plan.attention",
    "Buffer": "memtile.design.buffers",
    "CampaignResult": "memtile.explore.campaign",
    "Cause": "memtile.model.state.causes",
    "Channel": "memtile.design.channels",
    "ChannelUse": "memtile.explain.results",
    "Check": "memtile.explain.checks",
    "CheckResult": "memtile.check.check_result",
    "Choices": "memtile.design.parameters",
    "ComputeTile": "memtile.design.other_tiles",
    "Convolution": "memtile.explore.plan.convolution",
    "CoreCause": "memtile.model.state.causes",
    "CoreUse": "memtile.explain.results",
    "Demand": "memtile.design.demands",
    "Descriptor": "memtile.bd.descriptor",
    "DescriptorError": "memtile.errors",
    "DesignError": "memtile.errors",
    "Device": "memtile.arch.devices",
    "Drawing": "memtile.access.drawing",
    "End": "memtile.design.object_fifo",
    "Event": "memtile.design.events",
    "EventUnit": "memtile.sim.doors.event_panel",
    "Finding": "memtile.explain.findings",
    "Gemm": "memtile.explore.plan.gemm",
    "Guarded": "memtile.design.protocols",
    "Host": "memtile.design.host",
    "HostAction": "memtile.design.host",
    "InputFileError": "memtile.errors",
    "InterfaceTile": "memtile.design.other_tiles",
    "Loaded": "memtile.importers.loaded",
    "Lock": "memtile.design.locks",
    "MemoryTile": "memtile.design.memory_tile",
    "MemtileError": "memtile.errors",
    "ObjectFifo": "memtile.design.object_fifo",
    "Outcome": "memtile.explore.campaign",
    "PlanResult": "memtile.explore.plan.plan_result",
    "PlioIn": "memtile.design.logic_ports",
    "PlioOut": "memtile.design.logic_ports",
    "Problem": "memtile.errors",
    "Range": "memtile.design.parameters",
    "RegisterError": "memtile.errors",
    "Result": "memtile.explain.results",
    "RowReduction": "memtile.explore.plan.row_reductions",
    "RunOptions": "memtile.runs.options",
    "SimulationError": "memtile.errors",
    "Status": "memtile.explain.results",
    "SweepPlan": "memtile.explore.sweep.sweep",
    "SweepResult": "memtile.explore.sweep.sweep_result",
    "Tile": "memtile.design.tile",
    "TilingParameters": "memtile.access.tiling",
    "Timing": "memtile.arch.timing",
    "Transfer": "memtile.design.transfers",
    "TransferError": "memtile.errors",
    "TraversingParameters": "memtile.access.tiling",
    "Upset": "memtile.sim.loop.upsets",
    "View": "memtile.access.views",
    "bottleneck": "memtile.explore.rerun",
    "campaign": "memtile.explore.campaign",
    "check_design": "memtile.check.check",
    "device": "memtile.arch.devices",
    "dma_dimensions": "memtile.access.notation",
    "hand_over": "memtile.design.protocols",
    "kernel_functions": "memtile.mlir_writer.designs",
    "load": "memtile.importers.design",
    "load_iron": "memtile.iron.program_design",
    "one_reader": "memtile.design.protocols",
    "one_writer": "memtile.design.protocols",
    "pad": "memtile.access.views",
    "place_buffers": "memtile.design.placement",
    "plan": "memtile.explore.plan.planner",
    "raining": "memtile.sim.loop.upsets",
    "rearrange": "memtile.access.notation",
    "register_named": "memtile.arch.register_map",
    "repeat": "memtile.access.notation",
    "run": "memtile.design.run_design",
    "run_many": "memtile.explore.threads",
    "save_cycles": "memtile.report.cycles_picture",
    "scattered": "memtile.sim.loop.upsets",
    "schema": "memtile.schemas",
    "schema_names": "memtile.schemas",
    "sensitivity": "memtile.explore.rerun",
    "sliding_window_view": "memtile.access.views",
    "sweep": "memtile.explore.sweep.sweep",
    "tensor_access_pattern": "memtile.access.notation",
    "tiles_figure": "memtile.report.access_picture",
    "tiling_of": "memtile.access.graph_text.fragment",
    "to_mlir": "memtile.mlir_writer.designs",
    "view": "memtile.access.views",
}

_BELOW = "access", "adf", "bd", "kernels", "programs", "testing", "trace"

__all__ = [
    "Array",
    "Attention",
    "Buffer",
    "CampaignResult",
    "Cause",
    "Channel",
    "ChannelUse",
    "Check",
    "CheckResult",
    "Choices",
    "ComputeTile",
    "Convolution",
    "CoreCause",
    "CoreUse",
    "Demand",
    "Descriptor",
    "DescriptorError",
    "DesignError",
    "Device",
    "Drawing",
    "End",
    "Event",
    "EventUnit",
    "Finding",
    "Gemm",
    "Guarded",
    "Host",
    "HostAction",
    "InputFileError",
    "InterfaceTile",
    "Loaded",
    "Lock",
    "MemoryTile",
    "MemtileError",
    "ObjectFifo",
    "Outcome",
    "PlanResult",
    "PlioIn",
    "PlioOut",
    "Problem",
    "Range",
    "RegisterError",
    "Result",
    "RowReduction",
    "RunOptions",
    "SimulationError",
    "Status",
    "SweepPlan",
    "SweepResult",
    "Tile",
    "TilingParameters",
    "Timing",
    "Transfer",
    "TransferError",
    "TraversingParameters",
    "Upset",
    "View",
    "bottleneck",
    "campaign",
    "check_design",
    "device",
    "dma_dimensions",
    "hand_over",
    "kernel_functions",
    "load",
    "load_iron",
    "one_reader",
    "one_writer",
    "pad",
    "place_buffers",
    "plan",
    "raining",
    "rearrange",
    "register_named",
    "repeat",
    "run",
    "run_many",
    "save_cycles",
    "scattered",
    "schema",
    "schema_names",
    "sensitivity",
    "sliding_window_view",
    "sweep",
    "tensor_access_pattern",
    "tiles_figure",
    "tiling_of",
    "to_mlir",
    "view",
]

# what results ask for and rooms above theirs do
enlist(
    {
        "record": "memtile.explain.record",
        "save_report": "memtile.report.run.files",
        "save_timeline": "memtile.report.run.files",
    }
)
if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES, _BELOW)
