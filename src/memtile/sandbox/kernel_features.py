"""System calls that Python has no functions for."""

from __future__ import annotations

import ctypes
import os
import platform
from ctypes import c_long, c_ulong, c_void_p
from functools import cache
from typing import Any

MACHINE = platform.machine()
_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 537_396_514  # linux/capability.h
_CAPABILITIES = 64  # room for them in version 3
CAP_DAC_OVERRIDE = 1


@cache
def libc() -> Any:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """The result of a system call.

    Raises:
        OSError: it is negative; the number of the error is that of the last call.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def system_call(number: int, *arguments: int | Any) -> int:
    """Return what a system call returns.

    Args:
        number: of the call on this machine.
        arguments: integers, and references to structs of ``ctypes``.

    Raises:
        OSError: the kernel refuses it.
    """
    call = libc().syscall
    call.restype = c_long
    plain = [c_long(each) if isinstance(each, int) else ctypes.cast(each, c_void_p) for each in arguments]
    return checked(call(c_long(number), *plain))


def _prctl(option: int, value: int) -> None:
    checked(libc().prctl(option, c_ulong(value), c_ulong(0), c_ulong(0), c_ulong(0)))


def end_with_parent(signal: int) -> None:
    """Have the kernel send this process a signal when its parent ends, however that happens."""
    _prctl(_PR_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents end."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forgo_privileges() -> None:
    """Give up, for this process and all that it starts, what setuid programs would give back."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities(*kept: int) -> None:
    """Give up all capabilities but those ``kept``, also for programs that root starts.

    Raises:
        OSError: the kernel refuses it.
    """
    for capability in range(_CAPABILITIES):
        if capability not in kept:
            try:
                _prctl(_PR_CAPBSET_DROP, capability)
            except OSError:  # not known to this kernel, or there are none to drop
                continue
    bits = _permitted() & sum(1 << capability for capability in kept)
    low, high = bits & 0xFFFF_FFFF, bits >> 32
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)
    system_call(_CAPSET[MACHINE], ctypes.byref(header), ctypes.byref(data))


def _permitted() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("CapPrm"))
