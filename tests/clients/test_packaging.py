"""Can a stranger with nothing but Python install, run and check the project, and get what we have?"""

from __future__ import annotations

import re
import shutil
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


LOCKS = {
    name: dict(re.findall(r"^(\S+)==(\S+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
    for name in ("requirements.lock", "tools.lock")
}


def test_every_file_of_the_package_is_installed() -> None:
    """Headers and sources of C++ too: what no pattern names is missing in a wheel."""
    package = ROOT / "src" / "memtile"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["memtile"]
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    made = (".py", ".pyc")
    others = {each for each in package.rglob("*") if each.is_file() and each.suffix not in made}
    assert len(others) > 50
    assert sorted(map(str, others - packed)) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_a_hash_of_each_package_and_no_address(lock: str) -> None:
    """What pip asks with ``--require-hashes``: nothing is installed whose file is not known."""
    packages = re.split(r"\n(?=\S)", (ROOT / lock).read_text(encoding="utf-8").strip())
    form = re.compile(r"[\w.-]+==[\w.]+( ; [^\n]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")
    assert [text for text in packages if not form.fullmatch(text)] == []
    assert len(packages) == len(LOCKS[lock]) > 10


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_and_the_constraints_have_the_same_versions(lock: str) -> None:
    both = {canonicalize_name(name) for name in LOCKS[lock]} & PINS.keys()
    assert len(both) > 5
    assert {
        name: PINS[canonicalize_name(name)] for name in LOCKS[lock] if canonicalize_name(name) in both
    } == {name: version for name, version in LOCKS[lock].items() if canonicalize_name(name) in both}


def test_the_locks_have_what_the_package_and_its_release_ask_for() -> None:
    release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    asked = {
        "requirements.lock": PROJECT["dependencies"],
        "tools.lock": release["release"] + build["requires"],
    }
    for lock, texts in asked.items():
        for requirement in map(Requirement, texts):
            assert LOCKS[lock][canonicalize_name(requirement.name)] in requirement.specifier
    unpinned = LOCKS["requirements.lock"].keys() - {canonicalize_name(name) for name in PINS}
    assert unpinned == {"colorama"}  # of Windows alone


def test_releases_are_built_and_tried_with_what_the_locks_have() -> None:
    script = (ROOT / ".ci" / "wheel").read_text(encoding="utf-8")
    installs = [line for line in script.splitlines() if "pip" in line and " install " in line]
    assert [line for line in installs if "--require-hashes" not in line and "--no-deps" not in line] == []
    assert "--no-isolation" in script


def test_files_with_material_of_others_are_named_with_its_licence() -> None:
    text = (ROOT / "THIRD-PARTY.md").read_text(encoding="utf-8")
    package = ROOT / "src"
    extracts = [path for path in (package / "memtile").rglob("*") if path.suffix == ".txt"]
    assert extracts
    for path in extracts:
        assert f"`{path.relative_to(package)}`" in text
        assert "MIT licence, in THIRD-PARTY.md" in path.read_text(encoding="utf-8")
    for words in (
        "Copyright (C) 2019 - 2020 Xilinx, Inc.",
        "Copyright (C) 2021 Xilinx, Inc.",
        "Permission is hereby",
    ):
        assert words in text
    assert PROJECT["license-files"] == ["LICENSE", "THIRD-PARTY.md"]


def test_what_runs_is_what_is_tested() -> None:
    """The Pythons that the package names are those that ``.ci/pythons`` looks for."""
    named = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    found = re.search(r"for minor in ([\d ]+);", (ROOT / ".ci" / "pythons").read_text(encoding="utf-8"))
    assert found
    assert found[1].split() == named
    assert "step .ci/newest" in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_a_python_is_found_or_named_as_missing(tmp_path: Path) -> None:
    """With no Python but one on the PATH, which is none of those that the package is for."""
    for name in ("bash", "env", "mktemp", "rm", "dirname", "tail"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "python3.12").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3.12").chmod(0o755)
    script = tmp_path / "clone" / ".ci" / "pythons"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "pythons", script)
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run([str(script)], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"Python 3.{minor} is not installed; it is left out." for minor in (11, 12, 13, 14)
    ]
    (tmp_path / "python3.12").write_text(f"#!/bin/sh\nexec {sys.executable} -c 'print(\"/a/python\")'\n")
    done = subprocess.run([str(script)], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "3.12 /a/python\n"
    assert "3.12" not in done.stderr


def test_dev_extra_takes_in_all_others_but_a_compiler() -> None:
    """``ziglang`` takes 400 MB and a minute for its first library: ``.ci/newest`` tries it once."""
    extras = PROJECT["optional-dependencies"]
    included = {extra for text in extras["dev"] for extra in Requirement(text).extras}
    assert included == extras.keys() - {"dev", "cpp"}
    assert "ziglang c++" in (ROOT / ".ci" / "newest").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command", ["make lint", "make test", "make properties", "make interpreted", "make mutants"]
)
def test_build_server_runs_the_commands_of_the_readme(command: str) -> None:
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert any(f"{step} ".startswith(f"step {command} ") for step in steps)
    assert f"`{command}`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_explains_every_make_target() -> None:
    targets = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [target for line in targets for target in line.split() if f"`make {target}`" not in readme] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout of git")
def test_no_module_is_ignored_by_git() -> None:
    """A pattern for build output must not name a package: who clones the repository would lack it."""
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "src", "tests"]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [name for name in ignored.splitlines() if name.endswith(".py")] == []


NAMED = {  # packages that somebody is told to install
    str(path.relative_to(ROOT)): re.findall(r'pip install "?([\w.\[\]-]+?)"?[`.,\s]', path.read_text("utf-8"))
    for path in (*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md"))
}


@pytest.mark.parametrize("file", [file for file, names in NAMED.items() if names])
def test_what_a_message_says_to_install_can_be_installed(file: str) -> None:
    """No extra of this package, which is on no index; a package of the lists above."""
    known = {canonicalize_name(Requirement(text).name) for text in REQUIREMENTS}
    assert {canonicalize_name(name) for name in NAMED[file]} <= known


def test_two_tiles_are_joined_with_the_base_install() -> None:
    assert "rustworkx" in {Requirement(text).name for text in PROJECT["dependencies"]}


def test_help_and_docstrings_name_no_file_that_the_wheel_does_not_have() -> None:
    found = [path for path in (ROOT / "src").rglob("*.py") if "examples/" in path.read_text("utf-8")]
    assert found == []
