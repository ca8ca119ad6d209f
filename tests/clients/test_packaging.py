"""Can a stranger with nothing but Python install, run and check the project, and get what we have?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
}
REQUIREMENTS = sorted(
    text
    for texts in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in texts
    if Requirement(text).name != PROJECT["name"]
)


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_every_dependency_is_pinned_within_its_range(text: str) -> None:
    requirement = Requirement(text)
    assert PINS[canonicalize_name(requirement.name)] in requirement.specifier


def test_constraints_hold_nothing_but_exact_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_dev_extra_takes_in_all_others() -> None:
    extras = PROJECT["optional-dependencies"]
    included = {extra for text in extras["dev"] for extra in Requirement(text).extras}
    assert included == extras.keys() - {"dev"}


@pytest.mark.parametrize("command", ["make lint", "make test"])
def test_build_server_runs_the_commands_of_the_readme(command: str) -> None:
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert f"`{command}`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_explains_every_make_target() -> None:
    targets = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [target for line in targets for target in line.split() if f"`make {target}`" not in readme] == []


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert broken == []


def test_consoles_of_the_readme_print_what_it_says(tmp_path: Path) -> None:
    consoles = re.findall(
        r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    assert consoles
    for console in consoles:
        commands = re.findall(r"^\$ (.*)$", console, re.MULTILINE)
        shown = "".join(line for line in console.splitlines(keepends=True) if not line.startswith("$ "))
        script = ["bash", "-c", "\n".join(commands)]
        run = subprocess.run(
            script, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert run.stdout + run.stderr == shown
