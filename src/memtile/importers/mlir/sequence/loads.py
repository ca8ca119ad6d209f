"""Several devices in one sequence: what it loads, and the sequences of others that it runs."""

from __future__ import annotations

from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.runtime_values import runtime_values
from memtile.importers.mlir.sequence.sequence_reader import ArgumentView, Call, Reader
from memtile.importers.mlir.tree import Operation
from memtile.importers.mlir.types import shaped

_LOAD, _CONFIGURE = "aiex.npu.load_pdi", "aiex.configure"


def loaded_by(operation: Operation) -> str:
    """The symbol of the device that an operation of a sequence lets take the array; empty if it is none."""
    if operation.name not in (_LOAD, _CONFIGURE):
        return ""
    form = OperationForm(operation)
    key = "device_ref" if operation.name == _LOAD else "symbol"
    return form.symbol or str(form.attributes.get(key, ""))


def load_pdi(reader: Reader, form: Call) -> None:
    """``aiex.npu.load_pdi {device_ref = @device}``: the array is that device from now on."""
    if "device_ref" not in form.attributes:
        says = "it names no device; which one a number means is said outside of the text"
        raise form.error(says, "device_ref = @device", reason="mlir_load")
    reader.load(form, form.symbol_of("device_ref"))


def configure(reader: Reader, form: Call) -> None:
    """``aiex.configure @device { .. }``: its region is done on that device."""
    name = form.symbol or form.symbol_of("symbol")
    here, known = reader.made.device.device, reader.devices.described if reader.devices else {}
    if name in known and known[name].device != here:
        says = f"the device {name} is {known[name].device}, the one that loads it {here}"
        raise form.error(says, "devices of one kind", reason="mlir_device", given=name)
    reader.load(form, name)
    reader.run(reader, form.block())


def run(reader: Reader, form: Call) -> None:
    """``aiex.run @sequence(%a, %b) : (memref<4xi32>)``: a sequence of the device that is loaded."""
    name = form.symbol or form.symbol_of("runtime_sequence_symbol")
    sequences = reader.made.device.sequences
    if name not in sequences:
        known = ", ".join(sequences) or "none"
        raise form.error(f"the device has no sequence {name}", f"one of {known}", reason="mlir_sequence")
    called = f"{reader.made.device.name}:{name}"
    if called in reader.inside:
        raise form.error(f"the sequence {name} runs itself", "another one", reason="mlir_sequence")
    block = OperationForm(sequences[name]).regions[0].blocks[0]
    given = [reader.values[value] if value in reader.values else form.known(value) for value in form.values]
    if len(given) != len(block.arguments):
        says = f"{len(given)} arguments for {len(block.arguments)}"
        raise form.error(says, "as many as the sequence has", reason="mlir_sequence")
    for value, (inner, kind) in zip(given, block.arguments, strict=True):
        wanted = shaped(kind)
        if isinstance(value, ArgumentView) and wanted is not None and wanted != value.shape:
            says = f"argument {inner} of {name} is a {kind}, it gets one of {value.shape.element}"
            raise form.error(says, kind, reason="mlir_sequence")
    outer, runtime = reader.values, reader.runtime
    names = zip(form.values, (inner for inner, _ in block.arguments), strict=True)
    reader.runtime = runtime_values(sequences[name], [inner for value, inner in names if value in runtime])
    reader.inside.append(called)
    reader.values = {inner: value for (inner, _), value in zip(block.arguments, given, strict=True)}
    reader.run(reader, block)
    reader.values, reader.runtime = outer, runtime
    reader.inside.pop()
