"""``llms.txt``: what a language model reads first, with every page as it is written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from plan import parts

_HEADING = re.compile(r"^# (.*)$", re.MULTILINE)


_HEAD = """# memtile

> An open twin, in Python, of the memory tile of AMD's AIE-ML arrays (Ryzen AI NPU, Versal) and of the array
> around it: descriptors with proof, runs in which every cycle has a cause, and why a design hangs.

Install the wheel, or the repository, with pip; then `memtile --help`. Agents: `memtile mcp`, agents.md."""


def write(source: Path, site: Path, about: dict[str, str]) -> None:
    """The list, and beside the pages of the site their sources, ``tutorial.md`` by ``tutorial.html``."""
    lines = [_HEAD]
    names = [path.stem for path in source.glob("*.md")]
    for part in parts(names):
        lines += ["", f"## {part.title}: {part.about}", ""]
        for name in part.pages:
            lines.append(_row(source, name, about))
            copy = site / f"{name}.md"
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(source / f"{name}.md", copy)
    (site / "llms.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _row(source: Path, name: str, about: dict[str, str]) -> str:
    heading = _HEADING.search((source / f"{name}.md").read_text(encoding="utf-8"))
    says = f": {about[name]}" if name in about else ""
    return f"- [{heading[1] if heading else name}]({name}.md){says}"
