"""The device of a platform or part, by the names that AMD gives them."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

from memtile.arch.devices import Device, device
from memtile.errors import DesignError

OVERRIDE = "MEMTILE_DEVICE"
"""Environment variable with the device that is taken whatever the command line names."""

_SOURCE = "UG1702: --platform, --part"
_DEVICES = (  # names in platforms and parts; the first that occurs counts
    (r"vek280|ve2802|xcve2802", "xcve2802"),
    (r"vd100|ve2302|xcve2302", "xcve2302"),
    (r"vek385|xc2?ve3858", "xc2ve3858"),
)
_FIRST = r"vck190|vck5000|vpk\d{3}|xcvc\d{4}|xcvp\d{4}|xqrvc\d{4}|vc1902|vc2802"


def device_of(platform: str, part: str) -> Device:
    """The device that a compiler is asked for.

    Args:
        platform: path or name of a platform (``.../xilinx_vek280_base_202520_1.xpfm``); the file is not read.
        part: such as ``xcve2802-vsvh1760-2MP-e-S``; counts where there is no platform.

    Raises:
        DesignError: neither is given, or it names no device of a generation with memory tiles.
    """
    chosen = os.environ.get(OVERRIDE, "")
    if chosen:
        return device(chosen)
    name = PurePath(platform).stem if platform else part
    if not name:
        raise _refusal("", "no platform and no part is given", "Give --platform or --part")
    for pattern, found in _DEVICES:
        if re.search(pattern, name, re.IGNORECASE):
            return device(found)
    if re.search(_FIRST, name, re.IGNORECASE):
        raise _refusal(
            name,
            f"{name} has AI Engines of the first generation, which memtile does not model",
            "Name a platform of AIE-ML",
        )
    raise _refusal(name, f"the device of {name} is not known", "Name the part with --part")


def _refusal(name: str, says: str, advice: str) -> DesignError:
    return DesignError.of(
        "platform",
        repr(name),
        "a platform with xcve2802, xcve2302 or xc2ve3858",
        says,
        f"{advice}, or set {OVERRIDE}=xcve2802 to compile for that device.",
        reason="tool_platform",
        where="compiler",
        source=_SOURCE,
    )
