"""The files of measurements: MLIR text, a transaction that does the same alone, and what they are.

A measurement as MLIR text of mlir-aie: tiles, streams, and the accesses as its host sequence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memtile import __version__
from memtile.arch.devices import device as find_device
from memtile.design.array import Array
from memtile.errors import DesignError, InputFileError
from memtile.explore.measure.experiment import Experiment
from memtile.explore.measure.script import TOKEN_ID, TRACE_WORDS, Place, ScriptFlow
from memtile.importers.instructions import instructions_of
from memtile.importers.mlir.configure import configure
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.input_files import read_text
from memtile.io.json_text import parse_json
from memtile.io.program.recorder import record
from memtile.output_files import make_folder, write_output
from memtile.runs.firmware import pointer_of
from memtile.runs.operations import BlockWrite, Operation, Other, Write, locate
from memtile.runs.waits import WAIT

_CONTROLLER = f" {{controller_id = #aie.packet_info<pkt_type = 0, pkt_id = {TOKEN_ID}>}}"
_WAITED = ("column", "row", "direction", "channel", "columns", "rows")
_KINDS = {"DMA": "DMA", "TRACE": "Trace"}


def mlir_text(
    device: str,
    columns: int,
    title: str,
    flows: Sequence[ScriptFlow],
    steps: Iterable[Operation],
    arguments: int,
) -> str:
    """The whole module, in the form of mlir-aie since 2026.

    Args:
        device: ``npu1`` or ``npu2``.
        columns: that the design needs.
        title: a comment in its first line.
        flows: streams.
        steps: of the host.
        arguments: how many arrays of words the host passes, the one for the trace first.
    """
    made = list(steps)
    blocks = {words: f"block_{n}" for n, words in enumerate(dict.fromkeys(_blocks(made)))}
    places = sorted({place for flow in flows for place in (flow.source, flow.target)} | set(_places(made)))
    lines = [f"// {title}", "module {", f"  aie.device({device}_{columns}col) {{"]
    for place in places:
        lines.append(f"    {_tile(place)} = aie.tile{place}{_CONTROLLER if place == (0, 0) else ''}")
    for flow in flows:
        lines += _flow(flow)
    for words, name in blocks.items():
        dense = ", ".join(map(str, map(_signed, words)))
        lines.append(
            f'    memref.global "private" constant @{name} : memref<{len(words)}xi32> = dense<[{dense}]>'
        )
    names = ", ".join(f"%arg{n}: memref<{TRACE_WORDS}xi32>" for n in range(arguments))
    lines.append(f"    aie.runtime_sequence({names}) {{")
    for number, step in enumerate(made):
        lines += (f"      {line}" for line in _step(number, step, blocks))
    lines += ["    }", "  }", "}", ""]
    return "\n".join(lines)


def _tile(place: Place) -> str:
    return f"%tile_{place[0]}_{place[1]}"


def _flow(flow: ScriptFlow) -> Iterator[str]:
    (kind, number), (to, at) = flow.source_port, flow.target_port
    if flow.packet is None:
        yield (
            f"    aie.flow({_tile(flow.source)}, {_KINDS[kind]} : {number}, "
            f"{_tile(flow.target)}, {_KINDS[to]} : {at})"
        )
        return
    source, target = f"{_KINDS[kind]} : {number}", f"{_KINDS[to]} : {at}"
    ends = (_tile(flow.source), source), (_tile(flow.target), target)
    yield from _packets(flow.packet, *ends, keep=kind == "TRACE")


def _packets(ident: int, source: tuple[str, str], target: tuple[str, str], *, keep: bool) -> Iterator[str]:
    yield f"    aie.packet_flow({ident}) {{"
    yield f"      aie.packet_source<{source[0]}, {source[1]}>"
    yield f"      aie.packet_dest<{target[0]}, {target[1]}>"
    yield "    } {keep_pkt_header = true}" if keep else "    }"


def _blocks(steps: Iterable[Operation]) -> Iterator[tuple[int, ...]]:
    return (step.words for step in steps if isinstance(step, BlockWrite))


def _places(steps: Iterable[Operation]) -> Iterator[Place]:
    for step in steps:
        if isinstance(step, Write | BlockWrite):
            column, row, _ = locate(step.address)
            yield column, row


def _step(number: int, step: Operation, blocks: dict[tuple[int, ...], str]) -> Iterator[str]:
    """A step with the constants that it needs."""
    if isinstance(step, Write):
        column, row, offset = locate(step.address)
        yield f"%a{number} = arith.constant {offset} : i32"
        yield f"%v{number} = arith.constant {_signed(step.value)} : i32"
        yield (
            f"aiex.npu.write32(%a{number}, %v{number}) "
            f"{{column = {column} : i32, row = {row} : i32}} : i32, i32"
        )
    elif isinstance(step, BlockWrite):
        size = len(step.words)
        yield f"%w{number} = memref.get_global @{blocks[step.words]} : memref<{size}xi32>"
        yield f"aiex.npu.blockwrite(%w{number}) {{address = {step.address} : ui32}} : memref<{size}xi32>"
    elif isinstance(step, Other) and step.name == WAIT:
        said = dict(step.details)
        for name in _WAITED:
            yield f"%{name}{number} = arith.constant {said[name]} : i32"
        values = ", ".join(f"%{name}{number}" for name in _WAITED)
        yield f"aiex.npu.sync({values}) : {', '.join(['i32'] * len(_WAITED))}"
    else:
        pointer = pointer_of(step)
        assert pointer is not None
        yield f"%o{number} = arith.constant {pointer.offset} : i32"
        yield (
            f"aiex.npu.address_patch(%o{number} : i32) "
            f"{{addr = {pointer.register} : ui32, arg_idx = {pointer.argument} : i32}}"
        )


def _signed(word: int) -> int:
    """As MLIR prints an i32."""
    return word - (1 << 32) if word >> 31 else word


MANIFEST = "measure.json"
DEVICES = ("npu1", "npu2")


def text_of(experiment: Experiment, device: str) -> str:
    """The design as MLIR text."""
    steps = experiment.operations(find_device(device))
    title = f"memtile measure: {experiment.setup}"
    flows = experiment.all_flows
    return mlir_text(device, experiment.columns, title, flows, steps, experiment.arguments)


def transaction_of(experiment: Experiment, device: str) -> bytes:
    """The design as one transaction: first the streams, then what the host does."""
    (described,) = devices(read(Text(experiment.name, text_of(experiment, device))))
    chosen = find_device(device)
    array = Array(device, experiment.columns)
    recording = record(array)
    configure(described, array)
    steps = (*recording.operations, *experiment.operations(chosen))
    return instructions_of(steps, chosen, experiment.columns)


def manifest_of(chosen: Sequence[Experiment], device: str) -> dict[str, Any]:
    """What a folder of measurements has, as data."""
    return {
        "memtile": __version__,
        "device": device,
        "designs": [
            {
                "name": each.name,
                "setup": each.setup,
                "columns": each.columns,
                "arguments": each.arguments,
                "constants": [{"name": one.name, "quantity": one.quantity} for one in each.constants],
                "needed": list(each.needed),
                "events": [
                    {"tile": list(unit.place), "module": unit.module, "events": list(unit.events)}
                    for unit in each.traced
                ],
            }
            for each in chosen
        ],
    }


def write_folder(folder: Path, chosen: Sequence[Experiment], device: str) -> dict[str, Any]:
    """Write text and transaction of each design, and what they are to ``measure.json``.

    Args:
        folder: for them; it is made if it is not there.
        chosen: the designs.
        device: that they are for.

    Returns:
        The manifest.

    Raises:
        InputFileError: a file cannot be written.
        DesignError: no such device, or one for which there are no designs.
    """
    name = _checked(device)
    made = manifest_of(chosen, name)
    files = {MANIFEST: (json.dumps(made, indent=2) + "\n").encode()}
    for each in chosen:
        files[f"{each.name}.mlir"] = text_of(each, name).encode()
        files[f"{each.name}.bin"] = transaction_of(each, name)
    make_folder(folder)
    for file, data in files.items():
        write_output(folder / file, data)
    return made


def _checked(device: str) -> str:
    """The device's name, if designs can be for it."""
    name = find_device(device).name
    if name in DEVICES:
        return name
    raise DesignError.of(
        "device",
        name,
        " or ".join(DEVICES),
        reason="measure_device",
        where="measurement",
        source="devices whose instructions and MLIR text are public",
    )


def device_of(folder: Path) -> str:
    """The device that a folder of measurements is for.

    Raises:
        InputFileError: it has no manifest, or one that is none.
    """
    path = folder / MANIFEST
    try:
        read = parse_json(read_text(path), str(path))
        return str(read["device"])
    except (KeyError, TypeError):
        raise InputFileError(
            f"{path}: this is not what memtile measure write makes. Write the folder again."
        ) from None
