"""Landlock: the kernel checks each path that this process and its children open, and where signals go.

Figures are from ``linux/landlock.h`` and the kernel's page "Landlock: unprivileged access control".
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from functools import cache

from memtile.sandbox.kernel_features import system_call

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on all machines
_VERSION = 1
_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << n for n in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << n for n in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = (1 << n for n in range(13, 16))
_SINCE = {REFER: 2, TRUNCATE: 3, IOCTL_DEV: 5}  # the others came with version 1
_ALL = (1 << 16) - 1
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = READ | _ALL & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
USE = READ_FILE | WRITE_FILE | TRUNCATE
"""Rights to read and start programs; to do that and change; to use a device."""
TRUNCATES = 3
"""First version that knows of truncation."""
_TCP = 4
SCOPES = 6
"""First version that keeps signals and abstract sockets inside."""


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@cache
def version() -> int:
    """Return the version of Landlock that the kernel has; 0 = none, or it is switched off."""
    try:
        return system_call(_CREATE, 0, 0, _VERSION)
    except OSError:
        return 0


def restrict(rights: Iterable[tuple[str, int]]) -> None:
    """Forbid this process and its children all files but some, TCP, and signals to others.

    Args:
        rights: paths of files and folders with what is allowed there and below; what does not exist is
            left out.

    Raises:
        OSError: the kernel refuses it.
    """
    handled = _ALL & ~sum(right for right, first in _SINCE.items() if version() < first)
    attributes = _RulesetAttributes(handled, 3 if version() >= _TCP else 0, 3 if version() >= SCOPES else 0)
    size = 8 * (1 + (version() >= _TCP) + (version() >= SCOPES))
    rules = system_call(_CREATE, ctypes.byref(attributes), size, 0)
    for path, allowed in rights:
        _allow(rules, path, allowed & handled)
    system_call(_RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(parent).st_mode):
        allowed &= _OF_FILES
    system_call(_ADD, rules, _BENEATH, ctypes.byref(_Beneath(allowed, parent)), 0)
    os.close(parent)
