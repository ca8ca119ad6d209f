"""Lays out the source of the site: pages of ``docs/`` as they are, notebooks and examples as pages."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import registers_page
from links import linked
from plan import parts
from search_words import KEYWORDS, WEIGHTS

ROOT = Path(__file__).parents[1]
_ROOT_PAGES = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_HEADINGS = {"readme.md": "Overview and install"}  # of a page whose heading is the name of the project
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_EXAMPLE = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
_ROW = re.compile(r"^\| \[[^\]]*\]\(([^)]*)\.md\) \| (.*?) \|", re.MULTILINE)


def stage(source: Path) -> None:
    """Write everything that Sphinx reads, but the gallery's runs."""
    shutil.copytree(ROOT / "docs" / "pictures", source / "pictures")
    files = pages()
    names = [*(page_name(page) for file, page in files.items() if file.endswith(".md")), "lookup"]
    titles = {file: title_of(ROOT / file) for file in files if file.endswith(".md")}
    for file, page in files.items():
        path, to = ROOT / file, source / page
        if path.suffix == ".md" and page != "index.md":
            text = linked(_lexed(path.read_text("utf-8")), file, page, files, titles)
            to.write_text(_indexed(_headed(text, page), page_name(page)), encoding="utf-8")
        elif path.suffix == ".ipynb":
            to.parent.mkdir(exist_ok=True)
            to.write_text(linked(notebook_page(path), file, page, files, titles), encoding="utf-8")
    front = with_output((ROOT / "web" / "index.md").read_text("utf-8"))
    (source / "index.md").write_text(front + "".join(_toctrees(names)), encoding="utf-8")
    for name in ("conf.py", "favicon.ico", "playground.md"):
        shutil.copy(ROOT / "web" / name, source)
    registers_page.write(source)
    shutil.copy(ROOT / "web" / "site.css", source / "_static")
    words = f"const KEYWORDS = {json.dumps(KEYWORDS)};\nconst WEIGHTS = {json.dumps(dict(WEIGHTS))};\n"
    scorer = (ROOT / "web" / "search_scorer.js").read_text("utf-8")
    (source / "search_scorer.js").write_text(words + scorer, encoding="utf-8")


def title_of(path: Path) -> str:
    """The heading of a page."""
    found = _HEADING.search(path.read_text("utf-8")) if path.is_file() else None
    return found[1] if found else path.name


def with_output(text: str) -> str:
    """A page with what its first example prints, below it."""
    example = _EXAMPLE.search(text)
    assert example is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example[1], {"__name__": "example"})
    lines = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
    return f"{text[: example.end()]}\n```text\n{lines}\n```\n{text[example.end() :]}"


def _headed(text: str, page: str) -> str:
    """A page whose own heading says nothing on the site gets another one."""
    return _HEADING.sub(f"# {_HEADINGS[page]}", text, count=1) if page in _HEADINGS else text


def _indexed(text: str, page: str) -> str:
    """A page that the search also finds by words that people use and it does not; they are hidden."""
    words = [word for word in KEYWORDS.get(page, ()) if word not in text.lower()]
    hidden = f"```{{container}} search-words\n{', '.join(words)}\n```"
    return f"{text.rstrip()}\n\n{hidden}\n" if words else text


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
        listed = "\n".join(part.pages)
        yield f"```{{toctree}}\n:hidden:\n:caption: {part.title}\n:titlesonly:\n\n{listed}\n```\n\n"
