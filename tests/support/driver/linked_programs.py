"""The host program of the tests, compiled with the source that ``memtile host-source`` writes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from typer.testing import CliRunner

from left_out import need_program
from memtile.cli.main import app
from memtile.hosts.linked import SOURCES
from places import TESTS

COMPILERS = {"c": "cc", "c++": "c++"}
STRICT = {"c": "-std=c11", "c++": "-std=c++17"}
HOST = TESTS / "clients" / "linked_host.c"


def compiler(language: str) -> str:
    """Its path; a test without it is left out."""
    return need_program(COMPILERS[language])


def written(folder: Path) -> Path:
    """The folder with the sources."""
    done = CliRunner().invoke(app, ["host-source", str(folder)])
    assert done.exit_code == 0
    assert done.stdout == "".join(f"{folder / name}\n" for name in SOURCES)
    return folder


def compiled(folder: Path, language: str = "c", host: Path = HOST) -> Path:
    """The program, from sources written to ``folder``; a host may include what is there already."""
    tool = compiler(language)
    written(folder)
    made = folder / "host"
    flags = [STRICT[language], "-x", language, "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = [tool, *flags, str(host), str(folder / "memtile_ess.c"), f"-I{folder}", "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made
