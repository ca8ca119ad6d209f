"""``aie.iron.runtime``: what the host does, in order."""

from memtile.iron.runtime.data import RuntimeData
from memtile.iron.runtime.dmataskhandle import Task
from memtile.iron.runtime.runtime import Runtime, sync_parameters
from memtile.iron.runtime.taskgroup import TaskGroup
from memtile.iron.runtime.tile_tasks import TileDmaTask, tile_dma_chain, tile_dma_task

__all__ = [
    "Runtime",
    "RuntimeData",
    "Task",
    "TaskGroup",
    "TileDmaTask",
    "sync_parameters",
    "tile_dma_chain",
    "tile_dma_task",
]
