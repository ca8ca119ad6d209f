"""A program of register accesses as annotated lines for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtile.arch.tiles import TILE_KINDS
from memtile.bd.cases import case_of
from memtile.bd.word_cases import hex_words
from memtile.io.program.annotate import Annotated, CompletedDescriptor, Note, annotate
from memtile.io.program.formats import Program
from memtile.runs import operations as ops

_NAMES: dict[type[ops.Operation], str] = {
    ops.Write: "write",
    ops.BlockWrite: "block write",
    ops.MaskWrite: "mask write",
    ops.MaskPoll: "mask poll",
    ops.Other: "other",
}
_NAME_WIDTH = max(map(len, _NAMES.values()))


def disassembly_lines(program: Program, shape: ops.ArrayShape) -> Iterator[str]:
    """The program as text, an operation with its place, tile and value, then what it means, indented."""
    count = len(program.operations)
    yield f"{program.name}: {program.title}: {count} operation{'' if count == 1 else 's'}"
    for annotated in annotate(program.operations, shape):
        place = _place(program, annotated)
        yield f"{place}  {_NAMES[type(annotated.operation)]:{_NAME_WIDTH}}  {_what(annotated)}"
        indent = " " * (len(place) + 2)
        yield from (indent + line for line in _meaning(annotated))


def operation_lines(program: Program, shape: ops.ArrayShape) -> Iterator[tuple[str, ...]]:
    """The lines of each operation alone, without the place in the file."""
    for annotated in annotate(program.operations, shape):
        head = f"{_NAMES[type(annotated.operation)]}  {_what(annotated)}"
        yield (head, *(f"  {line}" for line in _meaning(annotated)))


def disassembly_json(program: Program, shape: ops.ArrayShape) -> dict[str, Any]:
    """The program as plain data; words, masks and addresses are hexadecimal strings."""
    return {
        "file": program.name,
        "format": program.format,
        "title": program.title,
        "array": {name: getattr(shape, name) for name in ("columns", "rows", "memory_tile_rows")},
        "operations": [_operation_json(program, item) for item in annotate(program.operations, shape)],
    }


def _place(program: Program, annotated: Annotated) -> str:
    return annotated.operation.place.removeprefix(f"{program.name}, ")


def _what(annotated: Annotated) -> str:
    operation = annotated.operation
    match operation:
        case ops.Other(name, payload, details):
            shown = ", ".join(f"{key} {value}" for key, value in details)
            return f"{name}, {len(payload)} bytes{': ' + shown if shown else ''}"
        case ops.Write(_, value):
            return f"{_where(annotated)} = 0x{value:08X}"
        case ops.MaskWrite(_, mask, value) | ops.MaskPoll(_, mask, value):
            return f"{_where(annotated)} = 0x{value:08X} in bits 0x{mask:08X}"
        case ops.BlockWrite(_, words):
            return f"{_where(annotated)}, {len(words)} word{'' if len(words) == 1 else 's'}"
    raise TypeError(f"not an operation: {operation!r}")


def _where(annotated: Annotated) -> str:
    if annotated.location is None:
        return "nothing"
    column, row, offset = annotated.location
    title = TILE_KINDS[annotated.tile].title if annotated.tile else "no tile"
    return f"{title} ({column}, {row}) 0x{offset:05X}"


def _meaning(annotated: Annotated) -> Iterator[str]:
    for note in annotated.notes:
        yield f"{_name(note)}{_values(note)}"
    for remark in annotated.remarks:
        yield f"-> {remark}"
    for descriptor in annotated.descriptors:
        yield f"-> BD {descriptor.bd} is complete"
        yield from (f"   {line}" for line in _explained(descriptor))


def _name(note: Note) -> str:
    return note.name if note.words == 1 else f"{note.name}, {note.words} words"


def _values(note: Note) -> str:
    """Fields that are not 0; all of them where a mask chose them."""
    chosen = note.mask != ops.WORD_MAX
    shown = [f"{name} {value}" for name, value in note.fields.items() if value or chosen]
    if shown:
        return f": {', '.join(shown)}"
    return ": all fields 0" if note.fields else ""


def _explained(descriptor: CompletedDescriptor) -> Iterator[str]:
    if descriptor.explanation is None:
        yield f"not a descriptor: {descriptor.error}"
        return
    width = max(len(topic) for topic, _ in descriptor.explanation.lines)
    for topic, text in descriptor.explanation.lines:
        yield f"{topic:{width}}  {text}"
    for problem in descriptor.explanation.problems:
        yield f"not legal: {problem.message}"


def _operation_json(program: Program, annotated: Annotated) -> dict[str, Any]:
    operation = annotated.operation
    result: dict[str, Any] = {"place": _place(program, annotated), "operation": _NAMES[type(operation)]}
    match operation:
        case ops.Other(name, payload, details):
            result |= {"name": name, "bytes": len(payload), "details": dict(details)}
        case ops.Write(address, value):
            result |= _hex(address=address, value=value)
        case ops.MaskWrite(address, mask, value) | ops.MaskPoll(address, mask, value):
            result |= _hex(address=address, mask=mask, value=value)
        case ops.BlockWrite(address, words):
            result |= {**_hex(address=address), "words": hex_words(words)}
    if annotated.location is not None:
        column, row, offset = annotated.location
        result |= {"tile": annotated.tile, "column": column, "row": row, "offset": f"0x{offset:05X}"}
    result["registers"] = [_note_json(note) for note in annotated.notes]
    result["remarks"] = list(annotated.remarks)
    result["descriptors"] = [_descriptor_json(descriptor) for descriptor in annotated.descriptors]
    return result


def _hex(**words: int) -> dict[str, str]:
    return {name: f"0x{word:08X}" for name, word in words.items()}


def _note_json(note: Note) -> dict[str, Any]:
    base = {"name": note.name, "offset": f"0x{note.offset:05X}"}
    if note.words > 1:
        return {**base, "words": note.words}
    return {**base, **_hex(value=note.value, mask=note.mask), "fields": dict(note.fields)}


def _descriptor_json(descriptor: CompletedDescriptor) -> dict[str, Any]:
    base = {"bd": descriptor.bd, "words": hex_words(descriptor.words)}
    if descriptor.explanation is None:
        return {**base, "error": descriptor.error}
    return {
        **base,
        "descriptor": case_of(descriptor.explanation.descriptor, descriptor.bd),
        "lines": [line._asdict() for line in descriptor.explanation.lines],
        "problems": [problem.as_json() for problem in descriptor.explanation.problems],
    }
