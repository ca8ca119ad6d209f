"""Lays out the source of the site: pages of ``docs/`` as they are, notebooks and examples as pages."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from links import linked
from plan import parts

ROOT = Path(__file__).parents[1]
_ROOT_PAGES = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LABELS = {"readme": "Overview and install <readme>"}  # whose heading is the name of the project
_ROW = re.compile(r"^\| \[[^\]]*\]\(([^)]*)\.md\) \| (.*?) \|", re.MULTILINE)


def stage(source: Path) -> None:
    """Write everything that Sphinx reads, but the gallery's runs."""
    shutil.copytree(ROOT / "docs" / "pictures", source / "pictures")
    files = pages()
    names = [page_name(page) for file, page in files.items() if file.endswith(".md")]
    for file, page in files.items():
        path, to = ROOT / file, source / page
        if path.suffix == ".md" and page != "index.md":
            to.write_text(linked(_lexed(path.read_text("utf-8")), file, page, files), encoding="utf-8")
        elif path.suffix == ".ipynb":
            to.parent.mkdir(exist_ok=True)
            to.write_text(linked(notebook_page(path), file, page, files), encoding="utf-8")
    front = (ROOT / "web" / "index.md").read_text("utf-8")
    (source / "index.md").write_text(front + "".join(_toctrees(names)), encoding="utf-8")
    for name in ("conf.py", "favicon.ico", "playground.md"):
        shutil.copy(ROOT / "web" / name, source)


def pages() -> dict[str, str]:
    """By path in the repository the path on the site, of pages, notebooks, examples and pictures."""
    found = {**_ROOT_PAGES, "docs/README.md": "index.md", "docs": "index.md"}
    for path in sorted((ROOT / "docs").glob("*.md")):
        found.setdefault(f"docs/{path.name}", path.name)
    for path in sorted((ROOT / "docs" / "pictures").iterdir()):
        found[f"docs/pictures/{path.name}"] = f"pictures/{path.name}"
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        found[f"notebooks/{path.name}"] = f"notebooks/{path.stem}.md"
    for path in examples():
        found[f"examples/{path.name}"] = f"gallery/{path.stem}.md"
    return found


def examples() -> list[Path]:
    """The designs of the gallery: Python files with a function ``design``."""
    found = sorted((ROOT / "examples").glob("*.py"))
    return [path for path in found if re.search(r"^def design\(", path.read_text("utf-8"), re.MULTILINE)]


def descriptions() -> dict[str, str]:
    """What each page says, from the table of ``docs/README.md``."""
    return dict(_ROW.findall((ROOT / "docs" / "README.md").read_text("utf-8")))


def notebook_page(path: Path) -> str:
    """A notebook as a page: its texts, its code, what its cells show with the pictures inline."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        html = data.get("text/html") or data.get("image/svg+xml")
        if html:
            yield f"```{{raw}} html\n<div class='shown'>{''.join(html)}</div>\n```"
        elif text := "".join(data.get("text/plain", "")).rstrip():
            yield f"```text\n{text}\n```"


def _lexed(text: str) -> str:
    """The diagrams of timing, for which Pygments has no lexer, as plain text."""
    return re.sub(r"^```timing.*$", "```text", text, flags=re.MULTILINE)


def page_name(page: str) -> str:
    """The path of a page without its ending, as Sphinx names it."""
    return page.removesuffix(".md")


def _toctrees(names: list[str]) -> Iterator[str]:
    for part in parts(names):
        listed = "\n".join(_LABELS.get(page, page) for page in part.pages)
        yield f"```{{toctree}}\n:hidden:\n:caption: {part.title}\n:titlesonly:\n\n{listed}\n```\n\n"
