"""Names of the texts of 2023 and early 2024, as they are called since.

The dialects were ``AIE`` and ``AIEX`` and their operations had capitals within (``AIE.useLock``); the host's
were ``AIEX.ipu`` and later ``aiex.ipu``. Everything else of those texts goes by its shape, as in all others
(mlir-aie, operations of the AIE and AIEX dialects; Riallto's designs).
"""

from __future__ import annotations

import re

DEVICES = {"ipu": "npu1", "npu": "npu1", "npu4": "npu2"}
"""Devices that texts name otherwise: mlir-aie until 2024, and IREE's name of Strix."""
_OLD = re.compile(r'(?P<lead>["!#]?)(?P<dialect>AIEX?|aiex?)\.(?P<name>[\w.$]+)(?P<tail>"?)')
_SIGNS = ("AIE.", "AIEX.", "aiex.ipu.", "aie.objectFifo")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMES = {
    "memTileDMA": "memtile_dma",
    "shimDMA": "shim_dma",
    "shimDMAAllocation": "shim_dma_allocation",
    "shimmux": "shim_mux",
    "packetrules": "packet_rules",
    "objectFifoSubview": "objectfifosubview",
}
_FIFO = "objectFifo"
_HOST = "ipu."


def renamed(words: list[str], content: str) -> list[str]:
    """The words of a text, those of old operations, types and attributes by their present names.

    Args:
        words: of the text.
        content: all of it.
    """
    if not any(sign in content for sign in _SIGNS):
        return words
    return [_renamed(word) if "." in word and word[:1] in '"!#Aa' else word for word in words]


def _renamed(word: str) -> str:
    found = _OLD.fullmatch(word)
    if found is None:
        return word
    dialect, name = found["dialect"].lower(), found["name"]
    if name.startswith(_HOST):
        name = "npu." + name[len(_HOST) :]
    elif found["dialect"].isupper() or name.startswith(_FIFO):  # the dialects lost their capitals first
        name = _name(name)
    return f"{found['lead']}{dialect}.{name}{found['tail']}"


def _name(name: str) -> str:
    """The present name of an operation or a type, ``useLock`` as ``use_lock``."""
    if name in _NAMES:
        return _NAMES[name]
    first, dot, rest = name.partition(".")
    if first == _FIFO:
        rest = rest if rest == "createObjectFifo" else _CAPITAL.sub("_", rest).lower()
        return f"{first.lower()}{dot}{rest}"
    return _CAPITAL.sub("_", name).lower()
