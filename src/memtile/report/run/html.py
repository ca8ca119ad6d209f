"""The report of a run as one HTML file: style, script and data are in it, nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from memtile.plain_text import markup_text, script_json

SCRIPTS = ("model.js", "timeline.js", "panels.js", "main.js")


def report_page(data: Mapping[str, Any]) -> str:
    """The page.

    Args:
        data: from :func:`~memtile.report.run.data.report_data`.
    """
    parts = {
        "$TITLE": markup_text(f"{data['title']}: a run of memtile"),
        "$STYLE": _file("page.css"),
        "$DATA": script_json(data),
        "$SCRIPT": "\n".join(map(_file, SCRIPTS)),
    }
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda found: parts[found[0]], _file("page.html"))


def _file(name: str) -> str:
    return resources.files("memtile").joinpath("report", "run", "page", name).read_text(encoding="utf-8")
