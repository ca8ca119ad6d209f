"""Parameters of the scratchpad as a core reads them."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.importers.kernels.emitter import Emitter, Handler
from memtile.importers.kernels.expressions import wrapped
from memtile.importers.kernels.quote import expr
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.scratchpad import READ, SHIFT


def read_parameter(emitter: Emitter, form: OperationForm) -> None:
    """``%v = aiex.read_scratchpad_parameter @foo : bf16``: the bits above those that firmware clears."""
    memory, kind = emitter.parameter(form)
    bits = expr("u32(whole(_memory[0])) >> _shift", _memory=memory, _shift=SHIFT)
    value = expr("from_bf16(_bits)", _bits=bits) if kind == "bf16" else wrapped(bits, kind)
    emitter.lines.add("_name = _value", _name=emitter.define(form.result, kind), _value=value)


HANDLERS: Mapping[str, Handler] = {READ: read_parameter}
