"""Calls of the host that wait for ever: the run ends there, and its result says why."""

from __future__ import annotations

from memtile.errors import DesignError


class HostWaitError(DesignError):
    """A call of the host waits for something that never comes; ``main`` goes no further."""
