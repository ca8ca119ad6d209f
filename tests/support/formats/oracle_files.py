"""Oracle files: facts from outside that the tests compare with, one JSON file each under ``oracle/``."""

from __future__ import annotations

import json
from typing import Any

from places import TESTS


def load(name: str) -> dict[str, Any]:
    """The content of ``oracle/name.json``."""
    return json.loads((TESTS / "oracle" / f"{name}.json").read_text())


def header_only_offsets() -> dict[str, set[int]]:
    """Module -> offsets of the registers of the driver's header that ``registers.json`` does not have."""
    modules = load("driver_registers")["modules"]
    return {module: {row[1] for row in rows if len(row) > 4} for module, rows in modules.items()}
