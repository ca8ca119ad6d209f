"""The gallery: every example with its code, its run, and the report of its run."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from memtile.cli.main import app

_HEAD = """# Gallery

Designs that are in the repository, each with what `memtile run` says of it and with the
[report](../report.md) of its run, to be looked at here.

| design | what it does |
|---|---|
"""


class Shown(NamedTuple):
    """An example that was run.

    Attributes:
        name: of its file without ending.
        title: the first sentence of its docstring.
        text: the rest of it.
        code: the file.
        output: of ``memtile run``.
    """

    name: str
    title: str
    text: str
    code: str
    output: str


def run(path: Path, reports: Path, work: Path) -> Shown:
    """Run an example in the folder ``work``, its report into ``reports``.

    Raises:
        RuntimeError: it does not end well.
    """
    code = path.read_text(encoding="utf-8")
    title, _, text = (ast.get_docstring(ast.parse(code)) or path.stem).partition("\n")
    report, here = reports / f"{path.stem}.html", Path.cwd()
    os.chdir(work)  # some write files
    try:
        done = CliRunner(env={"COLUMNS": "110"}).invoke(app, ["run", str(path), "--report", str(report)])
    finally:
        os.chdir(here)
    if done.exit_code:
        raise RuntimeError(f"{path.name} ends with exit code {done.exit_code}: {done.output}")
    return Shown(path.stem, title.rstrip("."), text.strip(), code, done.stdout)


def write(shown: list[Shown], folder: Path) -> None:
    """The pages of the gallery."""
    folder.mkdir(exist_ok=True)
    rows = "\n".join(f"| [{each.name}]({each.name}.md) | {each.title} |" for each in shown)
    names = "\n".join(each.name for each in shown)
    text = f"{_HEAD}{rows}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")
    for each in shown:
        link = f'<p><a href="../reports/{each.name}.html">The report of this run</a></p>'
        page = (
            f"# {each.title}\n\n{each.text}\n\n```{{raw}} html\n{link}\n```\n\n```console\n$ memtile run"
            f" examples/{each.name}.py\n{each.output.rstrip()}\n```\n\n```python\n{each.code.rstrip()}\n```\n"
        )
        (folder / f"{each.name}.md").write_text(page, encoding="utf-8")
