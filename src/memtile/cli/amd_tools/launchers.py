"""The folder that ``memtile tools`` writes: launchers for ``PATH``, and what Makefiles look for with them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from memtile.output_files import make_folder, write_output

TOOLS = ("v++", "aiecompiler", "x86simulator", "aiesimulator", "vitis", "vitis_analyzer")
RELEASE = "2025.2"
"""Release of Vitis whose command lines memtile follows; Makefiles take it from the name of the folder."""
_BOARDS = ("xilinx_vek280_base", "vek385_base")
_LAUNCHER = """#!/bin/sh
# Written by memtile tools. A command with the name of AMD's; memtile runs it.
exec {python} -P -m memtile.cli.amd_tools {tool} "$@"
"""
_SETTINGS = """# Written by memtile tools; source it.
export XILINX_VITIS={release}
export XILINX_VITIS_AIETOOLS={release}/aietools
export PLATFORM_REPO_PATHS={release}/base_platforms
export PATH={bin}:"$PATH"
"""
_PLATFORM = "A platform of memtile: its commands take the device from the name of this file.\n"


def write_tools(folder: Path) -> Path:
    """Write the folder; what is there under the same names is replaced.

    Args:
        folder: is made where it is missing.

    Returns:
        The folder for ``PATH``.

    Raises:
        InputFileError: the system refuses it.
    """
    folder = folder.resolve()
    home, binaries = folder / RELEASE, folder / "bin"
    for each in (binaries, home / "bin", home / "aietools" / "include"):
        make_folder(each)
    for tool in TOOLS:
        text = _LAUNCHER.format(python=shlex.quote(sys.executable), tool=shlex.quote(tool))
        for place in (binaries, home / "bin"):
            write_output(place / tool, text, durable=False)
            (place / tool).chmod(0o755)
    for name in platforms():
        for place in (folder, home):
            make_folder(place / "base_platforms" / name)
            write_output(place / "base_platforms" / name / f"{name}.xpfm", _PLATFORM, durable=False)
    settings = _SETTINGS.format(release=shlex.quote(str(home)), bin=shlex.quote(str(binaries)))
    write_output(folder / "settings64.sh", settings, durable=False)
    return binaries


def platforms() -> list[str]:
    """Names of platforms in the folder: of each board that of the release."""
    year, _, part = RELEASE.partition(".")
    return [f"{board}_{year}{part}0_1" for board in _BOARDS]
