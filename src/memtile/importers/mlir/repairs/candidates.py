"""All candidates of a text, likeliest first: by what is odd in the text, and by how near findings are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memtile.explain.findings import Finding
from memtile.explain.repairs import Candidate, hides
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.repairs.design_text import DesignText, Suspects
from memtile.importers.mlir.repairs.host_steps import host_candidates
from memtile.importers.mlir.repairs.numbers import number_candidates
from memtile.importers.mlir.repairs.releases import fifo_candidates, lock_candidates
from memtile.importers.mlir.repairs.streams import stream_candidates
from memtile.importers.mlir.token_packets import Text

_NEAR = 0.7  # how much likelier a change is at what the first finding is about
_BY_CODE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "MT0302": ("release", "lock", "object_fifo", "port", "count", "depth"),
        "MT0103": ("release", "lock", "object_fifo", "port", "count", "depth"),
        "MT0303": ("lock_value",),
        "MT0106": ("lock_value", "release"),
        "MT0304": ("length", "repeat", "bound"),
        "MT0108": ("length", "repeat"),
        "MT0305": ("lock",),
        "MT0306": ("packet_id",),
        "MT0307": ("arbiter", "order"),
        "MT0111": ("packet_id",),
        "MT0309": ("bound", "release"),
        "MT0310": ("lock",),
        "MT0312": ("flow", "start", "channel", "port"),
        "MT0109": ("flow", "channel", "port"),
        "MT0110": ("flow", "start", "channel"),
        "MT0113": ("flow", "start", "channel"),
        "MT0313": ("issue_token", "wait"),
        "MT0112": ("issue_token", "wait"),
        "MT0314": ("wait",),
        "MT0207": ("wait", "bd_id"),
        "MT0315": ("bd_id",),
        "MT0318": ("wait",),
        "MT0116": ("wait",),
        "MT0122": ("acquire", "release", "lock", "lock_value"),
        "MT0201": ("acquire", "lock_value", "lock", "wait"),
        "MT0204": ("acquire", "lock_value", "lock"),
    }
)
"""Kinds of change that are likelier where the first findings have a code."""
_MEANT = 0.3  # how much
_SOURCES = (fifo_candidates, lock_candidates, host_candidates, stream_candidates, number_candidates)


def candidates(text: Text, findings: Sequence[Finding]) -> list[Candidate]:
    """The changes of a text that may repair it, likeliest first.

    Args:
        text: of the design.
        findings: of its run or its check, the root of the matter first.

    Raises:
        InputFileError: it is no MLIR.
    """
    design = DesignText(read(text), findings)
    suspects = Suspects(findings, design)
    meant = {kind for each in findings[:2] for kind in _BY_CODE.get(each.code, ())}
    found: dict[tuple[tuple[int, str, str], ...], Candidate] = {}
    for source in _SOURCES:
        for operation, each in source(design):
            if hides(each, findings):
                continue
            made = replace(
                each,
                unlikely=each.unlikely - _NEAR * suspects.near(operation) - _MEANT * (each.kind in meant),
            )
            key = tuple((change.offset, change.old, change.new) for change in made.changes)
            if key not in found or found[key].unlikely > made.unlikely:
                found[key] = made
    return sorted(found.values(), key=lambda each: each.unlikely)
