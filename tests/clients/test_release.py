"""Is the version the same everywhere, can memtile be cited, does a release change what it should alone?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import memtile

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "src/memtile/__init__.py", "CITATION.cff", "CHANGELOG.md", ".ci/release")
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{
        f"GIT_{who}_{what}": "tester@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


def citation(root: Path = ROOT) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == memtile.__version__ == citation()["version"]
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\S+), (.+)$", log, re.MULTILINE)[0]
    assert newest == (memtile.__version__, str(citation()["date-released"]))
    assert log.index("\n## Unreleased\n") < log.index(f"\n## {newest[0]}, ")


def test_the_citation_has_what_the_format_asks_for() -> None:
    found = citation()
    assert found["cff-version"] == "1.2.0"
    assert found.keys() >= {"message", "title", "authors", "type", "license", "abstract"}
    assert found["license"] == "Apache-2.0"


class Copy:
    """A repository with the files that a release changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        log = (ROOT / "CHANGELOG.md").read_text("utf-8")
        before, _, rest = log.partition("\n## Unreleased\n")
        released = rest[rest.index("\n## ") :]  # what is new may be much, or nothing
        log = f"{before}\n## Unreleased\n\n### Added\n\n- Something new.\n{released}"
        (folder / "CHANGELOG.md").write_text(log)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "All")

    def git(self, *arguments: str) -> str:
        command = ["git", *arguments]
        env = os.environ | GIT
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def release(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.folder / ".ci" / "release"), *arguments]
        return subprocess.run(command, env=os.environ | GIT, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_release_writes_version_and_day_commits_and_tags(copy: Copy) -> None:
    done = copy.release("9.8.7", "--untried")
    assert done.returncode == 0, done.stderr
    assert "git push --follow-tags" in done.stdout
    day = datetime.now(UTC).date()
    assert tomllib.loads((copy.folder / "pyproject.toml").read_text())["project"]["version"] == "9.8.7"
    assert '__version__ = "9.8.7"' in (copy.folder / "src/memtile/__init__.py").read_text()
    assert (citation(copy.folder)["version"], citation(copy.folder)["date-released"]) == ("9.8.7", day)
    head = f"\n## Unreleased\n\n## 9.8.7, {day}\n\n### Added\n\n- Something new.\n"
    assert head in (copy.folder / "CHANGELOG.md").read_text()
    assert copy.git("tag", "--list") == "v9.8.7"
    assert copy.git("status", "--porcelain") == ""
    changed = copy.git("diff", "--stat", "HEAD~1").splitlines()
    assert changed[-1].split(",")[0].strip() == "4 files changed"


def trying(copy: Copy, script: str) -> str:
    """Commit a way to try packages, a shell script with the repository as ``$ROOT``; returns the commit."""
    tried = copy.folder / ".ci" / "wheel"
    tried.write_text(f"#!/bin/sh\nROOT={copy.folder}\n{script}\n")
    tried.chmod(0o755)
    copy.git("add", "-A")
    copy.git("commit", "--quiet", "-m", "A way to try packages")
    return copy.git("rev-parse", "HEAD")


def test_packages_that_do_not_work_are_not_released(copy: Copy) -> None:
    before = trying(copy, "exit 1")
    done = copy.release("9.8.7")
    assert "Nothing was released" in done.stderr
    assert (copy.git("rev-parse", "HEAD"), copy.git("tag", "--list"), copy.git("status", "--porcelain")) == (
        before,
        "",
        "",
    )
    assert len(copy.git("worktree", "list").splitlines()) == 1


def test_the_packages_that_are_tried_are_those_of_the_release(copy: Copy) -> None:
    trying(
        copy,
        'git -C "$(dirname "$0")/.." show HEAD:pyproject.toml | grep -q 9.8.7 && echo ok > $ROOT/.git/tried',
    )
    assert copy.release("9.8.7").returncode == 0
    assert (copy.folder / ".git" / "tried").is_file()
    assert copy.git("tag", "--list") == "v9.8.7"


@pytest.mark.parametrize("works", [True, False])
def test_what_somebody_writes_while_the_packages_are_tried_is_kept(copy: Copy, works: bool) -> None:
    script = "echo mine >> $ROOT/CITATION.cff; echo new > $ROOT/new.txt; " + ("true" if works else "false")
    before = trying(copy, script)
    done = copy.release("9.8.7")
    assert "Nothing was released" in done.stderr
    assert (copy.folder / "CITATION.cff").read_text().endswith("mine\n")
    assert (copy.folder / "new.txt").read_text() == "new\n"
    assert (copy.git("rev-parse", "HEAD"), copy.git("tag", "--list")) == (before, "")


@pytest.mark.parametrize("works", [True, False])
def test_what_somebody_commits_while_the_packages_are_tried_is_kept(copy: Copy, works: bool) -> None:
    script = "echo new > $ROOT/new.txt; cd $ROOT; git add new.txt; git commit -qm Mine; "
    trying(copy, script + ("true" if works else "false"))
    assert "Nothing was released" in copy.release("9.8.7").stderr
    assert copy.git("log", "--format=%s", "-1") == "Mine"
    assert (copy.git("tag", "--list"), copy.git("status", "--porcelain")) == ("", "")


def test_what_cannot_be_released_is_told_and_nothing_changes(copy: Copy) -> None:
    said = {
        "0.0.1": "which is above 0.0.1",
        "1.2": "is no version; it must be three numbers",
    }
    for version, says in said.items():
        assert says in copy.release(version, "--untried").stderr
    copy.git("tag", "v9.0.0")
    assert "There is a tag v9.0.0" in copy.release("9.0.0", "--untried").stderr
    (copy.folder / "new.txt").write_text("x")
    assert "not committed" in copy.release("9.8.7", "--untried").stderr
    (copy.folder / "new.txt").unlink()
    log = copy.folder / "CHANGELOG.md"
    log.write_text(log.read_text().replace("### Added\n\n- Something new.\n", "", 1))
    copy.git("commit", "--quiet", "-am", "Nothing new")
    assert "has no section" in copy.release("9.8.7", "--untried").stderr
    assert copy.git("log", "--format=%s").splitlines() == ["Nothing new", "All"]
