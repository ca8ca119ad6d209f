"""What operations on locks and on the ends of object FIFOs say, in the custom form and in the generic one."""

from __future__ import annotations

from typing import Literal, NamedTuple

from memtile.importers.mlir.forms.operands import OperationForm

PORTS = ("Produce", "Consume")
_ACTIONS: dict[str, Literal["acquire", "acquire_ge", "release"]] = {
    "Acquire": "acquire",
    "AcquireGreaterEqual": "acquire_ge",
    "Release": "release",
}
"""What an action of ``aie.use_lock`` does."""
_ACTION_NUMBERS = ("Acquire", "Release", "AcquireGreaterEqual")


class LockForm(NamedTuple):
    """What ``aie.use_lock(%l, AcquireGreaterEqual, %n)`` says.

    Attributes:
        lock: name of its value.
        action: ``acquire`` exactly so much, ``acquire_ge`` at least, or ``release``.
        units: a number, or the value of one.
    """

    lock: str
    action: Literal["acquire", "acquire_ge", "release"]
    units: str


def lock_form(form: OperationForm, *, reason: str = "mlir_operation") -> LockForm | None:
    """What ``aie.use_lock`` says; None of an acquire that is not enabled.

    Args:
        form: of the operation.
        reason: of the error.

    Raises:
        InputFileError: an action that locks do not have.
    """
    if form.attributes.get("acq_en") is False:
        return None
    if form.generic:
        action, values = form.choice("action", _ACTION_NUMBERS), form.values
        return LockForm(
            values[0], _ACTIONS[action], values[1] if len(values) > 1 else str(form.integer("value"))
        )
    texts = form.texts()
    action = texts[1].strip('"')
    if action not in _ACTIONS:
        raise form.error(f"{action} is no action of a lock", ", ".join(_ACTIONS), reason=reason)
    return LockForm(texts[0], _ACTIONS[action], texts[2] if len(texts) > 2 else "1")


def fifo_form(form: OperationForm) -> tuple[str, str, str]:
    """Name and port of ``aie.objectfifo.acquire`` or ``release``, and the number of objects or its value."""
    if form.generic:
        return form.symbol_of("objFifo_name"), form.choice("port", PORTS), str(form.integer("size"))
    port, count = form.texts().first(2)
    return form.symbol, port, count
