"""``aie.utils.compile``: parameters and architectures of designs."""

from __future__ import annotations

from typing import Any

from memtile.iron.ops.enums import AIEArch


def resolve_target_arch(device: Any) -> str:
    """``aie2`` or ``aie2p`` of a device.

    Raises:
        ValueError: no device, or the first generation.
    """
    names = {AIEArch.AIE2: "aie2", AIEArch.AIE2p: "aie2p"}
    if device is None or device.arch not in names:
        raise ValueError(f"{device}: the architecture is {' or '.join(names.values())}")
    return names[device.arch]
