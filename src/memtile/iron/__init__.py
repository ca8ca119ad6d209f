"""IRON, mlir-aie's interface for designs in Python, without mlir-aie: pure Python, no compiler.

``memtile.iron.X`` is what ``aie.iron.X`` and ``aie.X`` are there; ``memtile.iron.install`` lets a program
import
them under those names.
"""

from memtile.iron import algorithms, kernels
from memtile.iron.buffer import Buffer
from memtile.iron.buffer import Buffer as GlobalBuffer
from memtile.iron.configuration import DeviceConfiguration
from memtile.iron.dataflow import (
    Acquire,
    Bd,
    BdIteration,
    CascadeFlow,
    DmaChannel,
    Flow,
    FlowEndpoint,
    ObjectFifo,
    PacketDest,
    PacketFlow,
    PadDims,
    Release,
    StreamDims,
    TileDma,
)
from memtile.iron.dtype import dtype_to_str, str_to_dtype
from memtile.iron.external_buffer import ExternalBuffer
from memtile.iron.helpers.taplib.symbolic import require
from memtile.iron.kernel import ExternalFunction, Kernel
from memtile.iron.localbuffer import LocalBuffer
from memtile.iron.lock import Lock
from memtile.iron.program import Program
from memtile.iron.runtime import (
    Runtime,
    RuntimeData,
    Task,
    TaskGroup,
    TileDmaTask,
    sync_parameters,
    tile_dma_chain,
    tile_dma_task,
)
from memtile.iron.scratchpad_parameter import ScratchpadParameter
from memtile.iron.utils import (
    arange,
    ceildiv,
    ensure_current_device,
    full,
    get_current_device,
    ones,
    rand,
    randint,
    set_current_device,
    set_tensor_class,
    tensor,
    zeros,
    zeros_like,
)
from memtile.iron.utils.callabledesign import CallableDesign, jit
from memtile.iron.utils.compile.jit import (
    CompilableDesign,
    CompileTime,
    DispatchTime,
    In,
    InOut,
    Out,
    compile_context,
    compileconfig,
    get_compile_arg,
)
from memtile.iron.worker import Worker, WorkerRuntimeBarrier

__all__ = [
    "Acquire",
    "Bd",
    "BdIteration",
    "Buffer",
    "CallableDesign",
    "CascadeFlow",
    "CompilableDesign",
    "CompileTime",
    "DeviceConfiguration",
    "DispatchTime",
    "DmaChannel",
    "ExternalBuffer",
    "ExternalFunction",
    "Flow",
    "FlowEndpoint",
    "GlobalBuffer",
    "In",
    "InOut",
    "Kernel",
    "LocalBuffer",
    "Lock",
    "ObjectFifo",
    "Out",
    "PacketDest",
    "PacketFlow",
    "PadDims",
    "Program",
    "Release",
    "Runtime",
    "RuntimeData",
    "ScratchpadParameter",
    "StreamDims",
    "Task",
    "TaskGroup",
    "TileDma",
    "TileDmaTask",
    "Worker",
    "WorkerRuntimeBarrier",
    "algorithms",
    "arange",
    "ceildiv",
    "compile_context",
    "compileconfig",
    "dtype_to_str",
    "ensure_current_device",
    "full",
    "get_compile_arg",
    "get_current_device",
    "jit",
    "kernels",
    "ones",
    "rand",
    "randint",
    "require",
    "set_current_device",
    "set_tensor_class",
    "str_to_dtype",
    "sync_parameters",
    "tensor",
    "tile_dma_chain",
    "tile_dma_task",
    "zeros",
    "zeros_like",
]
