"""What went wrong inside a C++ kernel: an error with the user's file and line, the buffer and the index."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtile.cpp.image import HOST_FRAMES, Fault, Image
from memtile.cpp.line_tables import Frame
from memtile.cpp.symbols import own_frame
from memtile.errors import DesignError

if TYPE_CHECKING:
    from memtile.sim.kernels.kernel_core import Core

_SOURCE = "C++ kernels, docs/cpp.md"
_NEAR = 1 << 16  # bytes from a buffer at which an address is taken to be about it
_DEBUG = "Run it with --sanitize, which finds the access that did it."


class Argument(NamedTuple):
    """A buffer that a call was given.

    Attributes:
        kind: type of an element in the text.
        address: that the kernel sees.
        bytes: that it has.
        item: bytes of an element.
        name: for messages.
    """

    kind: str
    address: int
    bytes: int
    item: int
    name: str

    def distance(self, address: int) -> int:
        """Bytes from the buffer to an address; 0 = it is within."""
        return max(self.address - address, address - (self.address + self.bytes - 1), 0)

    def place(self, address: int) -> str:
        """An address as an index of the buffer."""
        index = (address - self.address) // self.item
        return f"index {index} of {self.name} ({self.bytes // self.item} x {self.kind})"


class FaultText(NamedTuple):
    """What a message says."""

    says: str
    allowed: str
    step: str


def error_of(image: Image, core: Core, name: str, arguments: Sequence[Argument]) -> DesignError:
    """The error of the call that has just failed.

    Args:
        image: of the core.
        core: that called.
        name: of the function.
        arguments: buffers that it was given.
    """
    if image.report.fault == Fault.SIGNAL and image.report.signal in (signal.SIGINT,):
        signal.raise_signal(image.report.signal)
    place = place_of(image)
    found = _SAYS[Fault(image.report.fault)](image, arguments)
    line = f"{_short(place.file)}:{place.line}: " if place else ""
    where = f"{core.name}, {name}, cycle {core.now}"
    return DesignError.of(
        "kernel",
        name,
        found.allowed,
        f"{line}{found.says}",
        found.step,
        reason=f"cpp_{Fault(image.report.fault).name.lower()}",
        where=where,
        source=_SOURCE,
    )


def place_of(image: Image) -> Frame | None:
    """Where in the user's source the kernel failed or waits; None if nothing knows it."""
    report = image.report
    if report.line:
        return Frame("", report.file.decode("utf-8", "replace"), report.line)
    return own_frame(image.library, [int(each) - image.base for each in report.frame[: report.frames]])


def _short(file: str) -> str:
    """A file as the user sees it from here."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def _near(address: int, arguments: Sequence[Argument]) -> str:
    near = min(arguments, key=lambda each: each.distance(address), default=None)
    return (
        near.place(address)
        if near is not None and near.distance(address) < _NEAR
        else f"address {address:#x}"
    )


def _signalled(image: Image, arguments: Sequence[Argument]) -> FaultText:
    report = image.report
    name = signal.Signals(report.signal).name
    if report.signal in (signal.SIGSEGV, signal.SIGBUS):
        says = f"the kernel accesses {_near(report.address, arguments)}, where it has no memory ({name})"
        return FaultText(says, "accesses within its buffers", _DEBUG)
    return FaultText(f"the kernel stops with {name}", "kernels that return", _DEBUG)


def _endless(image: Image, _arguments: Sequence[Argument]) -> FaultText:
    says = f"the kernel works for {image.call.seconds} s of processor time without waiting or an end"
    return FaultText(says, "kernels that end or wait", "Look for what should end its loop.")


def _failed(image: Image, _arguments: Sequence[Argument]) -> FaultText:
    return FaultText(image.report.reason.decode("utf-8", "replace"), "operations that the core has", "")


def _outside(image: Image, arguments: Sequence[Argument]) -> FaultText:
    report = image.report
    verb = "writes" if report.writes else "reads"
    near = _near(report.address, arguments)
    says = f"the kernel {verb} {report.bytes} bytes at {near}, outside of its buffers"
    return FaultText(
        says, "accesses within its buffers", "Check the bounds of its loop, and sizes in the design."
    )


def _misaligned(image: Image, arguments: Sequence[Argument]) -> FaultText:
    report = image.report
    near = _near(report.address, arguments)
    size = report.bytes or report.extra
    says = f"a vector access of {size} bytes at {near} is not aligned to {report.extra} bytes"
    step = "Align the buffer or the index, or use an unaligned access such as aie::load_unaligned_v."
    return FaultText(says, f"multiples of {report.extra} bytes", step)


def _undefined(image: Image, _arguments: Sequence[Argument]) -> FaultText:
    return FaultText(image.report.reason.decode("utf-8", "replace"), "defined behaviour of C++", "")


def _overflow(image: Image, _arguments: Sequence[Argument]) -> FaultText:
    report, stack = image.report, image.report.extra // HOST_FRAMES
    says = f"the kernel uses {report.bytes} bytes of stack on the host, its core has {stack}"
    step = "Raise stack_size of the core, or move local arrays into buffers."
    return FaultText(says, f"at most {stack} bytes", step)


_SAYS: Mapping[Fault, Callable[[Image, Sequence[Argument]], FaultText]] = {
    Fault.SIGNAL: _signalled,
    Fault.ENDLESS: _endless,
    Fault.FAILED: _failed,
    Fault.OUTSIDE: _outside,
    Fault.MISALIGNED: _misaligned,
    Fault.UNDEFINED: _undefined,
    Fault.OVERFLOW: _overflow,
}
