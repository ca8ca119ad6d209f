"""A program of register accesses as annotated lines for people, and as JSON for programs.

It also has the summary of a program as lines for people and as JSON, and the difference of two programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import groupby
from typing import Any

from memtile.arch.tiles import TILE_KINDS
from memtile.bd.descriptor_cases import case_of, hex_words
from memtile.io.program.annotate import Annotated, CompletedDescriptor, RegisterNote, annotate
from memtile.io.program.program_formats import StoredProgram
from memtile.io.program.summary import StartedTask, Summary, channels_of, summary_of
from memtile.runs import operations as ops
from memtile.runs.operations import ArrayShape

_NAMES: dict[type[ops.Operation], str] = {
    ops.Write: "write",
    ops.BlockWrite: "block write",
    ops.MaskWrite: "mask write",
    ops.MaskPoll: "mask poll",
    ops.Other: "other",
}
_NAME_WIDTH = max(map(len, _NAMES.values()))


def disassembly_lines(program: StoredProgram, shape: ops.ArrayShape) -> Iterator[str]:
    """The program as text, an operation with its place, tile and value, then what it means, indented."""
    count = len(program.operations)
    yield f"{program.name}: {program.title}: {count} operation{'' if count == 1 else 's'}"
    for annotated in annotate(program.operations, shape):
        place = _place(program, annotated)
        yield f"{place}  {_NAMES[type(annotated.operation)]:{_NAME_WIDTH}}  {_what(annotated)}"
        indent = " " * (len(place) + 2)
        yield from (indent + line for line in _meaning(annotated))


def operation_lines(program: StoredProgram, shape: ops.ArrayShape) -> Iterator[tuple[str, ...]]:
    """The lines of each operation alone, without the place in the file."""
    for annotated in annotate(program.operations, shape):
        head = f"{_NAMES[type(annotated.operation)]}  {_what(annotated)}"
        yield (head, *(f"  {line}" for line in _meaning(annotated)))


def disassembly_json(program: StoredProgram, shape: ops.ArrayShape) -> dict[str, Any]:
    """The program as plain data; words, masks and addresses are hexadecimal strings."""
    return {
        "file": program.name,
        "format": program.format,
        "title": program.title,
        "array": {name: getattr(shape, name) for name in ("columns", "rows", "memory_tile_rows")},
        "operations": [_operation_json(program, item) for item in annotate(program.operations, shape)],
    }


def _place(program: StoredProgram, annotated: Annotated) -> str:
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


def _name(note: RegisterNote) -> str:
    return note.name if note.words == 1 else f"{note.name}, {note.words} words"


def _values(note: RegisterNote) -> str:
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


def _operation_json(program: StoredProgram, annotated: Annotated) -> dict[str, Any]:
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


def _note_json(note: RegisterNote) -> dict[str, Any]:
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


def summary_lines(program: StoredProgram, shape: ArrayShape) -> Iterator[str]:
    """The summary as text, a heading and indented lines for each part that there is."""
    found = summary_of(program.operations, shape)
    counts = (
        ("operation", found.operations),
        ("route", len(found.routes)),
        ("task", len(found.tasks)),
        ("core", len(found.cores)),
    )
    told = [f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts if count]
    yield f"{program.name}: {program.title}: {', '.join(told) or 'no operations'}"
    for heading, lines in (
        ("routes", [route.text for route in found.routes]),
        ("tasks", [f"{name}: {'; '.join(map(_task_text, tasks))}" for name, tasks in channels_of(found)]),
        ("locks", list(_locks(found))),
        ("cores enabled", [f"core {place}" for place in found.cores]),
        ("memories", list(_memories(found))),
        ("arguments", list(_arguments(found))),
        ("waits", list(_waits(found))),
        ("not done by the model", [f"{name}, {_times(n)}" for name, n in found.others.items()]),
    ):
        if lines:
            yield heading
            yield from (f"  {line}" for line in lines)


def summary_json(program: StoredProgram, shape: ArrayShape) -> dict[str, Any]:
    """The summary as plain data."""
    found = summary_of(program.operations, shape)
    image = found.image
    return {
        "file": program.name,
        "format": program.format,
        "title": program.title,
        "operations": found.operations,
        "routes": [
            {
                "source": route.source,
                "target": route.target,
                "packet_id": None if route.packets is None else route.packets[0],
                "packet_mask": None if route.packets is None else route.packets[1],
            }
            for route in found.routes
        ],
        "tasks": [
            {
                "channel": task.channel,
                "chain": list(task.chain),
                "words": list(task.words),
                "ring": task.ring,
                "runs": task.runs,
                "token": task.token,
            }
            for task in found.tasks
        ],
        "locks": [
            {"column": column, "row": row, "lock": lock, "value": value}
            for (column, row), values in sorted(found.locks.items())
            for lock, value in sorted(values.items())
        ],
        "cores": [{"column": column, "row": row} for column, row in found.cores],
        "memories": [
            {
                "column": column,
                "row": row,
                "data_words": image.memory_words.get((column, row), 0),
                "program_words": image.program_words.get((column, row), 0),
            }
            for column, row in sorted({*image.memory_words, *image.program_words})
        ],
        "arguments": [
            {"argument": p.argument, "register": f"0x{p.register:08X}", "offset": p.offset}
            for p in found.pointers
        ],
        "waits": {"tokens": found.tokens, "polls": found.polls},
        "others": dict(found.others),
    }


def difference(
    first: StoredProgram, second: StoredProgram, shapes: tuple[ArrayShape, ArrayShape]
) -> list[str]:
    """What two programs do differently, operation by operation, as a unified diff; empty = nothing."""
    before, after = (
        [line for lines in operation_lines(program, shape) for line in lines]
        for program, shape in zip((first, second), shapes, strict=True)
    )
    return list(unified_diff(before, after, first.name, second.name, lineterm=""))


def _task_text(task: StartedTask) -> str:
    bds = ", ".join(map(str, task.chain))
    words = ", ".join(map(str, dict.fromkeys(task.words)))
    what = f"{'ring of BDs' if task.ring else 'BDs' if len(task.chain) > 1 else 'BD'} {bds}"
    each = " each" if len(task.chain) > 1 and len(set(task.words)) == 1 else ""
    runs = "" if task.ring or task.runs == 1 else f", {task.runs} times"
    return f"{what}, {words} words{each}{runs}{', with a token' if task.token else ''}"


def _locks(found: Summary) -> Iterator[str]:
    for place, values in sorted(found.locks.items()):
        yield f"{found.image.kind(place)}({place[0]},{place[1]}): {', '.join(_lock_values(values))}"


def _lock_values(values: Mapping[int, int]) -> Iterator[str]:
    """Locks and their values; those that follow each other and have one value together."""
    for (value, _), group in groupby(
        enumerate(sorted(values)), lambda pair: (values[pair[1]], pair[1] - pair[0])
    ):
        locks = [lock for _, lock in group]
        yield f"{locks[0]} = {value}" if len(locks) == 1 else f"{locks[0]} to {locks[-1]} = {value}"


def _memories(found: Summary) -> Iterator[str]:
    image = found.image
    for what, words in (("data memory", image.memory_words), ("program memory", image.program_words)):
        for place, count in sorted(words.items()):
            yield f"{image.kind(place)}({place[0]},{place[1]}): {count} words of {what}"


def _arguments(found: Summary) -> Iterator[str]:
    for argument in sorted({pointer.argument for pointer in found.pointers}):
        count = sum(pointer.argument == argument for pointer in found.pointers)
        yield f"{argument}: in {count} descriptor{'' if count == 1 else 's'}"


def _waits(found: Summary) -> Iterator[str]:
    if found.tokens:
        yield f"for tokens, {_times(found.tokens)}"
    if found.polls:
        yield f"polls of a register, {_times(found.polls)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
