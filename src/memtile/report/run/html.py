"""The report of a run as one HTML file: style, script and data are in it, nothing is fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

SCRIPTS = ("model.js", "timeline.js", "panels.js", "main.js")


def report_page(data: Mapping[str, Any]) -> str:
    """The page.

    Args:
        data: from :func:`~memtile.report.run.data.report_data`.
    """
    parts = {
        "$TITLE": escape(f"{data['title']}: a run of memtile"),
        "$STYLE": _file("page.css"),
        "$DATA": json.dumps(data, separators=(",", ":")).replace("</", "<\\/"),
        "$SCRIPT": "\n".join(map(_file, SCRIPTS)),
    }
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda found: parts[found[0]], _file("page.html"))


def _file(name: str) -> str:
    return resources.files("memtile").joinpath("report", "run", "page", name).read_text(encoding="utf-8")
