"""Does the GitHub action test a repository of designs? Its steps run here as a job of GitHub runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from left_out import need_package
from places import ROOT
from support.mlir import mlir_texts

DATA = np.arange(1, 65, dtype=np.int32)
ACTION = ROOT / "action.yml"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a design, and one in a folder of old ones that nothing is known of."""
    for name in ("good", "old"):
        (folder := tmp_path / "repository" / name).mkdir(parents=True)
        (folder / "design.mlir").write_text(mlir_texts.PASSTHROUGH)
    np.save(tmp_path / "repository" / "good" / "in0.npy", DATA)
    np.save(tmp_path / "repository" / "good" / "out2.npy", DATA)
    return tmp_path / "repository"


@pytest.mark.slow
def test_its_steps_test_the_designs(repository: Path, tmp_path: Path) -> None:
    action = need_package("yaml").safe_load(ACTION.read_text())
    assert action["runs"]["using"] == "composite"
    inputs = {name: each["default"] for name, each in action["inputs"].items()} | {"options": "--no-check"}
    installs, summary = tmp_path / "installs", tmp_path / "summary.md"
    (python := tmp_path / "bin" / "python").parent.mkdir()
    python.write_text(
        f'#!/bin/sh\n[ "$2" != pip ] || exec echo "$@" >> {installs}\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    codes = []
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        variables = {
            name: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, value in step["env"].items()
        }
        line = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        codes.append(
            subprocess.run(line, cwd=repository, env=environment | variables, check=False).returncode
        )
    assert codes == [1]  # nothing says what the old one must give
    assert installs.read_text() == f"-m pip install --quiet {ROOT}\n"
    suite = ElementTree.parse(repository / "memtile-tests.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert (repository / "memtile-tests.sarif").is_file()
    assert summary.read_text().startswith(
        "### memtile: FAILED: 2 designs tested, 1 not good (1 passed, 1 unknown)"
    )
