"""The summary of a program as lines for people and as JSON, and the difference of two programs."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from memtile.io.program.formats import Program
from memtile.io.program.summary import Summary, Task, channels_of, summary_of
from memtile.report.disassembly import operation_lines
from memtile.runs.operations import ArrayShape


def summary_lines(program: Program, shape: ArrayShape) -> Iterator[str]:
    """The summary as text, a heading and indented lines for each part that there is."""
    found = summary_of(program.operations, shape)
    count = found.operations
    yield f"{program.name}: {program.title}: {count} operation{'' if count == 1 else 's'}"
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


def summary_json(program: Program, shape: ArrayShape) -> dict[str, Any]:
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


def difference(first: Program, second: Program, shapes: tuple[ArrayShape, ArrayShape]) -> list[str]:
    """What two programs do differently, operation by operation, as a unified diff; empty = nothing."""
    before, after = (
        [line for lines in operation_lines(program, shape) for line in lines]
        for program, shape in zip((first, second), shapes, strict=True)
    )
    return list(unified_diff(before, after, first.name, second.name, lineterm=""))


def _task_text(task: Task) -> str:
    bds = ", ".join(map(str, task.chain))
    words = ", ".join(map(str, dict.fromkeys(task.words)))
    what = f"{'ring of BDs' if task.ring else 'BDs' if len(task.chain) > 1 else 'BD'} {bds}"
    each = " each" if len(task.chain) > 1 and len(set(task.words)) == 1 else ""
    runs = "" if task.ring or task.runs == 1 else f", {task.runs} times"
    return f"{what}, {words} words{each}{runs}{', with a token' if task.token else ''}"


def _locks(found: Summary) -> Iterator[str]:
    for place, values in sorted(found.locks.items()):
        listed = ", ".join(f"{lock} = {value}" for lock, value in sorted(values.items()))
        yield f"{found.image.kind(place)}({place[0]},{place[1]}): {listed}"


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
