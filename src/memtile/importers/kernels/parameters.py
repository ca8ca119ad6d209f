"""Parameters of the scratchpad as a core reads them."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.importers.kernels.emitter import Emitter, Handler
from memtile.importers.kernels.expressions import wrapped
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.scratchpad import READ, SHIFT


def read_parameter(emitter: Emitter, form: Form) -> None:
    """``%v = aiex.read_scratchpad_parameter @foo : bf16``: the bits above those that firmware clears."""
    memory, kind = emitter.parameter(form)
    bits = f"(u32(whole({memory}[0])) >> {SHIFT})"
    text = f"from_bf16({bits})" if kind == "bf16" else wrapped(bits, kind)
    emitter.lines.add(f"{emitter.define(form.result, kind)} = {text}")


HANDLERS: Mapping[str, Handler] = {READ: read_parameter}
