"""The page that looks up registers, events and ports by name and address, made from the tables.

All of them go into one script, ``_static/registers.js``, which the page loads from its own folder: it also
works from disk.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from memtile.arch.devices import ARRAY_BASE, DEVICES
from memtile.arch.tiles import COLUMN_SHIFT, ROW_SHIFT, TILE_BYTES
from memtile.report.register_lookup import ROLES, FoundRegister, numbers_of, rows_of

WEB = Path(__file__).parent


def write(source: Path) -> None:
    """Write the page and its scripts below the source of the site."""
    static = source / "_static"
    static.mkdir(exist_ok=True)
    text = json.dumps(data(), separators=(",", ":"))
    (static / "registers.js").write_text(f"const REGISTERS = {text};\n", encoding="utf-8")
    for name in ("register_search.js", "register_search.css"):
        shutil.copy(WEB / "registers" / name, static)
    shutil.copy(WEB / "registers" / "lookup.md", source)


def data() -> dict[str, Any]:
    """Registers, events and ports of the tile kinds of each generation, and where tiles of devices are."""
    tables = _Shared()
    generations = {each.generation: each for each in DEVICES.values()}
    kinds = [
        {
            "generation": generation,
            "role": role,
            "title": of.kind(role).title,
            "rows": [tables.row(row) for row in rows_of(of.kind(role))],
            "numbers": [
                [each.name, each.number, tables.number(each.what)] for each in numbers_of(of.kind(role))
            ],
        }
        for generation, of in generations.items()
        for role in ROLES
    ]
    devices = [
        {
            "name": each.name,
            "generation": each.generation,
            "columns": each.columns,
            "rows": each.rows,
            "memory": [each.memory_rows.start, each.memory_rows.stop],
        }
        for each in DEVICES.values()
    ]
    address = {"column": COLUMN_SHIFT, "row": ROW_SHIFT, "tile": TILE_BYTES, "base": ARRAY_BASE}
    return {
        "address": address,
        "devices": devices,
        "kinds": kinds,
        "texts": tables.texts,
        "fields": tables.fields,
    }


class _Shared:
    """Texts and lists of fields that many registers share, each once.

    Attributes:
        texts: what accesses do, modules, grades and the like.
        fields: lists of fields: name, most and least significant bit, access.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fields: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._layouts: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The place of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]

    def row(self, found: FoundRegister) -> list[Any]:
        """A register: names, offset, bytes, reset, access, module, source, what it does, fields."""
        row = found.register
        layout = [[each.name, each.msb, each.lsb, each.access.value] for each in row.fields]
        key = json.dumps(layout)
        if key not in self._layouts:
            self._layouts[key] = len(self.fields)
            self.fields.append(layout)
        differs = found.driver_name.upper() != row.name.upper()
        texts = (row.access.value if row.fields else "ro", found.module, found.source, found.does)
        return [
            *(row.name, found.driver_name if differs else "", row.offset, row.span, row.reset),
            *map(self.number, texts),
            self._layouts[key],
        ]
