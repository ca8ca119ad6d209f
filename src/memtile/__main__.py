"""``python -m memtile``: the same as the ``memtile`` script."""

from __future__ import annotations

from memtile.cli.main import main

main()
