"""The clock of benchmarks: what others do on the machine hardly changes it."""

from __future__ import annotations

import resource
import time


def processor_time() -> float:
    """Seconds of processor time of this process, and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
