"""What operations on locks and on the ends of object FIFOs say, in the custom form and in the generic one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from memtile.importers.mlir.forms.operands import OperationForm, shown
from memtile.importers.mlir.types import Shaped, shaped

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
    """Name and port of ``aie.objectfifo.acquire`` or ``release``, and the number of objects or its value.

    Texts of autumn 2026 may say the number behind the port, ``@of(Consume) [1]``, or leave it to the results.

    Raises:
        InputFileError: a port that object FIFOs do not have.
    """
    if form.generic:
        return form.symbol_of("objFifo_name"), form.choice("port", PORTS), str(form.integer("size"))
    texts = form.texts()
    port, *count = texts.first(max(1, len(texts)))
    if port not in PORTS:
        says, allowed = f"its port is {shown(port)}", " or ".join(PORTS)
        step = f"An object FIFO has the ports {' and '.join(PORTS)}: write (Consume, 1)."
        raise form.error(says, allowed, reason="mlir_operands", given=port, step=step)
    behind = form.texts("[") if form.bracket("[") is not None else [str(len(object_types(form)))]
    return form.symbol, port, (count or behind)[0]


def object_types(form: OperationForm) -> list[Shaped]:
    """Types of the objects that ``aie.objectfifo.acquire`` gives one by one; none if it gives a subview."""
    return list(_memrefs(form, "memref"))


def subview_type(form: OperationForm) -> Shaped | None:
    """Type of the objects of the subview that ``aie.objectfifo.acquire`` gives; None if it gives none."""
    return next(_memrefs(form, "!aie.objectfifosubview"), None)


def _memrefs(form: OperationForm, word: str) -> Iterator[Shaped]:
    """The memrefs behind a word, outside of brackets: the type itself, or what is in the brackets of one."""
    tokens = form.operation.tokens
    for first, end in form.operation.spans:
        at = first
        while at < end:
            if tokens.words[at] == word and at + 1 in tokens.close:
                begin, last = (at, at + 1) if word == "memref" else (at + 2, at + 3)
                kind = shaped(tokens.join(begin, tokens.close.get(last, last) + 1))
                if kind is not None:
                    yield kind
            at = tokens.close.get(at, at) + 1
