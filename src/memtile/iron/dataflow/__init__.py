"""``aie.iron.dataflow``: object FIFOs, and routes, locks and DMAs said by the program."""

from memtile.iron.dataflow.cascadeflow import CascadeFlow
from memtile.iron.dataflow.endpoint import ObjectFifoEndpoint
from memtile.iron.dataflow.flow import Flow, FlowEndpoint, PacketDest, PacketFlow
from memtile.iron.dataflow.objectfifo import ObjectFifo, ObjectFifoHandle, PadDims, StreamDims
from memtile.iron.dataflow.objectfifolink import ObjectFifoLink
from memtile.iron.dataflow.tile_dma import Acquire, Bd, BdIteration, DmaChannel, Release, TileDma

__all__ = [
    "Acquire",
    "Bd",
    "BdIteration",
    "CascadeFlow",
    "DmaChannel",
    "Flow",
    "FlowEndpoint",
    "ObjectFifo",
    "ObjectFifoEndpoint",
    "ObjectFifoHandle",
    "ObjectFifoLink",
    "PacketDest",
    "PacketFlow",
    "PadDims",
    "Release",
    "StreamDims",
    "TileDma",
]
