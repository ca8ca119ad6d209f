"""How a text is launched, where the lines that build it say so: ``RUN:`` of the text or of a ``run.lit``.

aiecc makes an xclbin with a file of instructions, or an ELF with both; firmware pushes tasks at another pace
then (DEV-QUEUE-2). Lines that ask for both, or for neither, say nothing.
"""

from __future__ import annotations

import re

from memtile.arch.dispatch import Dispatch, Launch
from memtile.importers.mlir.description import DeviceDescription
from memtile.importers.mlir.overlay import run_lines

_OPTIONS = {
    Dispatch.XCLBIN: re.compile(r"--(?:(?:aie-generate|get)-xclbin|xclbin-name)(?![\w-]|=false)"),
    Dispatch.ELF: re.compile(
        r"--(?:(?:(?:aie-)?generate|get)-(?:full-)?elf|(?:full-)?elf-name)(?![\w-]|=false)"
    ),
}
"""Options of aiecc that make what is launched; ``--get-core-elfs`` makes parts of an xclbin."""


def said_by_lines(device: DeviceDescription) -> Launch | None:
    """The launch that the lines of a text ask for; None = none, or both."""
    lines = run_lines(device)
    found = [each for each, options in _OPTIONS.items() if any(map(options.search, lines))]
    return Launch(found[0], "as RUN: lines of the text say") if len(found) == 1 else None
