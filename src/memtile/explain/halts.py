"""Why a channel has stopped at an error: the error bits of AM025, and what none of them shows, in words."""

from __future__ import annotations

from collections.abc import Sequence

UNKNOWN_FORMAT = "a compressed format that is not public"
"""Stands among the names of error bits for what no bit shows (DEV-AIE2P-3)."""

CAUSES = {
    "Error_BD_Invalid": "the descriptor has no Valid_BD",
    "Error_BD_Unavailable": "the descriptor is one of those that only channels of the other parity have",
    "Error_DM_Access_to_Unavailable": "an address is in no memory that the channel reaches",
    "Error_Lock_Access_to_Unavailable": "a lock is none that the channel reaches",
    "Error_FoT_Length_Exceeded": "the packet is longer than the descriptor, {length} words",
    "Error_FoT_BDs_per_Task": "the packet is longer than the chain of the task",
    "AXI_MM_Slave_Error": "external memory at {byte:#x} is read-only",
    "AXI_MM_Decode_Error": "no external memory is at {byte:#x}",
    UNKNOWN_FORMAT: "send the data uncompressed, or try it on npu1",
}


def cause_of(errors: Sequence[str], length: int, byte: int) -> str:
    """The errors that stop a channel, in words.

    Args:
        errors: AM025 names of the bits.
        length: words of the descriptor.
        byte: address of the last access to external memory.
    """
    known = [CAUSES[name] for name in errors if name in CAUSES]
    return ", ".join(known).format(length=length, byte=byte)
