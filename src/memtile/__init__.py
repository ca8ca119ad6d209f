"""memtile: an open twin of AMD's AIE-ML memory tile."""

from __future__ import annotations

__version__ = "0.1.0"
