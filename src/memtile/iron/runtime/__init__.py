"""``aie.iron.runtime``: what the host does, in order."""

from memtile.iron.runtime.data import RuntimeData
from memtile.iron.runtime.dmataskhandle import Task
from memtile.iron.runtime.runtime import Runtime, sync_parameters
from memtile.iron.runtime.taskgroup import TaskGroup

__all__ = ["Runtime", "RuntimeData", "Task", "TaskGroup", "sync_parameters"]
