"""Let a program import ``aie``: in this process alone, and with mlir-aie's own Python where it is installed.

``import memtile.iron.install`` is enough, in a program or in ``conftest.py``. Nothing else of Python changes:
no file runs at the start of other processes, and a process that does not import this module has no ``aie``.
"""

from __future__ import annotations

from memtile.iron.aie_names import install

install()
