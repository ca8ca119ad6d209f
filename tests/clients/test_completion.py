"""Does a real bash complete commands, options, registers and tile kinds?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memtile.report.register_lookup import names_that_begin

_LINES = {
    "memtile in": {"info"},
    "memtile info DMA_S2MM_0_C": {"DMA_S2MM_0_Ctrl"},
    "memtile info xc2ve3858 DMA_MM2S_0_Con": {"DMA_MM2S_0_Constant_Pad_Value"},
    "memtile info lock0 --tile m": {"memory"},
    "memtile run --repo": {"--report"},
}
_SHELL = """
memtile() { "$PYTHON" -m memtile "$@"; }
env() { command env "${@:1:3}" "$PYTHON" -m memtile; }
eval "$(_MEMTILE_COMPLETE=source_bash memtile)"
while IFS= read -r line; do
  IFS=' ' read -ra COMP_WORDS <<< "$line"
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _memtile_completion memtile
  echo "${COMPREPLY[*]}"
done
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_and_values() -> None:
    done = subprocess.run(
        ["bash", "--norc", "-c", _SHELL],
        input="\n".join(_LINES) + "\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    answers = [set(line.split()) for line in done.stdout.splitlines()]
    assert dict(zip(_LINES, answers, strict=True)) == _LINES


@pytest.mark.parametrize(
    ("shell", "says"), [("zsh", "#compdef memtile"), ("fish", "complete --command memtile")]
)
def test_zsh_and_fish_get_a_script_of_their_own(shell: str, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memtile"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "_MEMTILE_COMPLETE": f"source_{shell}"},
    )
    assert done.stdout.lstrip().startswith(says)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_it_is_installed_for_the_shell_that_asks(tmp_path: Path) -> None:
    command = '"$PYTHON" -m memtile --install-completion; :'
    environment = {**os.environ, "PYTHON": sys.executable, "HOME": str(tmp_path)}
    subprocess.run(["bash", "--norc", "-c", command], env=environment, capture_output=True, check=True)
    scripts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("complete -o default -F _memtile_completion memtile" in text for text in scripts)


def test_names_begin_as_they_are_typed() -> None:
    assert names_that_begin("npu2_4") == ["npu2_4col"]
    assert names_that_begin("port_stalled_7") == ["PORT_STALLED_7"]
