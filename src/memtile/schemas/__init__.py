"""JSON Schemas (draft 2020-12) of what commands read and write as JSON, made from the types in this room."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from memtile.documents import Schema, schema_of
from memtile.errors import InputFileError

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_LISTS = "; a list for a list."


class _Document(NamedTuple):
    """The title of a document, its module and type, and what it is where the type has no docstring."""

    title: str
    home: str
    description: str = ""


_DOCUMENTS = {
    "bd-decode-input": _Document(
        "Input of memtile bd decode and memtile bd explain",
        "descriptors.DecodeInput",
        "Register words of a BD, a list of such objects, or an object with the list as cases; other keys "
        "are ignored, so that the output of memtile bd encode and cases with both forms can be read. bd "
        "explain takes the tile kind from --tile where there is none.",
    ),
    "bd-decode-output": _Document(
        "Output of memtile bd decode",
        "descriptors.DecodeOutput",
        "For each set of words its descriptor, in the form that memtile bd encode reads, or why there is none"
        + _LISTS,
    ),
    "bd-encode-input": _Document(
        "Input of memtile bd encode",
        "descriptors.EncodeInput",
        "A descriptor, a list of them, or an object with the list as cases. The keys code, driver, "
        "expect, fields, id, in_range, note, origin, reason, words are remarks, which are ignored.",
    ),
    "bd-encode-output": _Document(
        "Output of memtile bd encode",
        "descriptors.EncodeOutput",
        "For each descriptor its tile kind, BD number and register words, word 0 first, or why there are none"
        + _LISTS,
    ),
    "bd-explain-output": _Document(
        "Output of memtile bd explain --json",
        "descriptors.ExplainOutput",
        "For each set of words what the descriptor does, in words and as pictures of the access order"
        + _LISTS,
    ),
    "check-output": _Document("Output of memtile check --json", "runs.CheckOutput"),
    "chrome-output": _Document(
        "Output of memtile trace decode --perfetto FILE.json",
        "traces.ChromeOutput",
        "Chrome's trace events in the shape of mlir-aie's tools: a process for each unit, a thread for "
        "each slot.",
    ),
    "diff-output": _Document("Output of memtile diff --json", "runs.DiffOutput"),
    "disasm-output": _Document(
        "Output of memtile disasm --json",
        "programs.DisasmOutput",
        "A file of register writes, each with what it means; a list for several files.",
    ),
    "disasm-summary-output": _Document(
        "Output of memtile disasm --summary --json",
        "programs.SummaryOutput",
        "What a file of register writes sets up; a list for several files.",
    ),
    "error-output": _Document("Error of any command that was asked for JSON", "tables.ErrorOutput"),
    "explain-output": _Document("Output of memtile explain --json", "runs.ExplainOutput"),
    "faults-output": _Document("Output of memtile faults --json", "runs.FaultsOutput"),
    "info-design-output": _Document("Output of memtile info DESIGN.py --json", "tables.DesignOutput"),
    "info-lookup-output": _Document("Output of memtile info NAME --json", "tables.LookupOutput"),
    "info-output": _Document("Output of memtile info --json", "tables.InfoOutput"),
    "info-registers-output": _Document("Output of memtile info --registers --json", "tables.RegistersOutput"),
    "info-timing-output": _Document("Output of memtile info --timing --json", "tables.TimingOutput"),
    "lower-input": _Document(
        "Input of memtile lower",
        "descriptors.LowerInput",
        "Tiling parameters (UG1603), a list of them, or an object with the list as tilings. The keys chain, "
        "num_buffers, pair, repetition_count, source, template_values, what are remarks, which are ignored.",
    ),
    "lower-output": _Document(
        "Output of memtile lower --json",
        "descriptors.LowerOutput",
        "For each tiling the fewest descriptors that do it, or why there are none" + _LISTS,
    ),
    "measure-calls-output": _Document("Output of memtile measure calls --json", "explorations.CallsOutput"),
    "measure-write-output": _Document("Output of memtile measure write --json", "explorations.MeasureOutput"),
    "plan-output": _Document("Output of memtile plan --json", "explorations.PlanOutput"),
    "record": _Document("File of memtile run --record", "runs.Record"),
    "register-dump": _Document(
        "A register dump as JSON, read by memtile run and memtile disasm",
        "programs.RegisterDump",
        "A list of objects with address and value, done in order, or one object of address to value. "
        "Other keys of the objects of a list are ignored.",
    ),
    "report": _Document("Data of a page of memtile run --report", "page.Report"),
    "run-graph-output": _Document("Output of memtile run GRAPH.cpp --json", "graphs.GraphRunOutput"),
    "run-output": _Document("Output of memtile run --json", "runs.RunOutput"),
    "serve-output": _Document("Output of memtile serve --json", "tables.ServeOutput"),
    "silicon-cases": _Document(
        "File of measured cases of one source, as memtile measure read writes it", "explorations.SiliconCases"
    ),
    "survey-output": _Document("Output of memtile survey --json", "explorations.SurveyOutput"),
    "sweep-output": _Document(
        "Output of memtile sweep --json and memtile sweep show --json", "explorations.SweepOutput"
    ),
    "sweep-replay-output": _Document("Output of memtile sweep replay --json", "explorations.ReplayOutput"),
    "test-output": _Document("Output of memtile test --json", "explorations.TestOutput"),
    "trace-output": _Document("Output of memtile trace decode --json", "traces.TraceOutput"),
    "warmup-output": _Document("Output of memtile warmup --json", "tables.WarmupOutput"),
}


def schema_titles() -> dict[str, str]:
    """The names of all schemas, in order of the alphabet, each with its title."""
    return {name: document.title for name, document in _DOCUMENTS.items()}


def schema_names() -> tuple[str, ...]:
    """Return the names of all schemas, in alphabetical order."""
    return tuple(_DOCUMENTS)


def schema(name: str) -> Schema:
    """A JSON Schema that needs no other file.

    Args:
        name: one of ``schema_names()``, such as ``"run-output"``.

    Returns:
        The schema as plain data, draft 2020-12; a new copy each time.

    Raises:
        InputFileError: no such schema.
    """
    if name not in _DOCUMENTS:
        raise InputFileError.of(
            "name",
            repr(name),
            f"one of {', '.join(schema_names())}",
            reason="schema",
            where="schema",
            source="JSON of memtile's commands",
        )
    title, home, description = _DOCUMENTS[name]
    module, form = home.split(".")
    found = schema_of(getattr(import_module(f"{__name__}.{module}"), form))
    said = {"description": description} if description else {}
    return {"$schema": _DRAFT, "$id": f"{name}.json", "title": title, **said, **found}
