"""All candidates of a text, likeliest first: by what is odd in the text, and by how near findings are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memtile.explain.findings import OF_WORDS, Finding
from memtile.explain.repairs import Candidate, hides
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.repairs.both_ends import both_ends_candidates
from memtile.importers.mlir.repairs.core_bodies import body_candidates
from memtile.importers.mlir.repairs.design_text import DesignText, Suspects
from memtile.importers.mlir.repairs.exchanges import exchange_candidates
from memtile.importers.mlir.repairs.fifos import form_candidates
from memtile.importers.mlir.repairs.host_arrays import array_candidates
from memtile.importers.mlir.repairs.host_steps import host_candidates
from memtile.importers.mlir.repairs.lock_uses import (
    object_candidates,
    place_candidates,
    run_candidates,
    set_candidates,
    silent_candidates,
    unit_candidates,
)
from memtile.importers.mlir.repairs.numbers import advised_candidates, number_candidates
from memtile.importers.mlir.repairs.releases import Found, fifo_candidates, lock_candidates
from memtile.importers.mlir.repairs.stream_moves import order_candidates, stream_move_candidates
from memtile.importers.mlir.repairs.streams import stream_candidates
from memtile.importers.mlir.repairs.values import value_candidates
from memtile.importers.mlir.token_packets import Text

_NEAR = 1.0  # how much likelier a change is at what the first finding is about
_MOVE = ("length", "size", "stride", "offset", "repeat")
_OF_VALUES = "MT0405"
_STREAM = ("flow", "channel", "port", "start")
_BY_CODE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "MT0101": ("bd_id", "order", "next_bd", "wait"),
        "MT0102": ("flow", "channel", "port"),
        "MT0103": ("release", "lock", "object_fifo", "port", "count", "depth"),
        "MT0105": ("acquire", "release"),
        "MT0106": ("lock_value", "release"),
        "MT0108": (*_MOVE, "loop"),
        "MT0109": _STREAM,
        "MT0110": _STREAM,
        "MT0111": ("packet_id",),
        "MT0112": ("issue_token", "wait"),
        "MT0113": _STREAM,
        "MT0116": ("wait",),
        "MT0118": ("release",),
        "MT0119": ("depth",),
        "MT0120": ("offset", "object_fifo", "type"),
        "MT0121": ("start",),
        "MT0122": ("acquire", "release", "lock", "lock_value", "count"),
        "MT0123": ("offset", "stride", "size"),
        "MT0124": ("next_bd",),
        "MT0125": ("offset", "stride", "size", "length"),
        "MT0139": _STREAM,
        "MT0201": ("acquire", "lock_value", "lock", "wait", "buffer", "order"),
        "MT0203": ("buffer",),
        "MT0204": ("acquire", "lock_value", "lock"),
        "MT0207": ("wait", "bd_id", "order"),
        "MT0209": ("buffer",),
        "MT0302": ("release", "lock", "object_fifo", "port", "count", "depth", "packet_id", "offset"),
        "MT0303": ("lock_value",),
        "MT0304": (*_MOVE, "bound", "packet_id", "loop"),
        "MT0305": ("lock", "object_fifo"),
        "MT0306": ("packet_id", "flow"),
        "MT0307": ("arbiter", "order"),
        "MT0309": ("bound", "release"),
        "MT0310": ("lock",),
        "MT0312": _STREAM,
        "MT0313": ("issue_token", "wait", "flow"),
        "MT0314": ("wait", "start"),
        "MT0315": ("bd_id",),
        "MT0318": ("wait", "order"),
        "MT0338": ("set_lock",),
        "MT0342": ("count",),
        "MT0323": _MOVE,
        "MT0324": _MOVE,
        "MT0325": ("count", "release"),
        "MT0401": ("object_fifo", "stride", "offset", "order", "padding"),
        "MT0402": ("order", "offset", "padding"),
        "MT0403": ("buffer", "padding", "length", "size"),
        "MT0405": (
            *("array", "padding", "offset", "stride", "buffer", "next_bd", "lock_value", "flow", "type"),
            "packet_id",
        ),
    }
)
"""Kinds of change that are likelier where the first findings have a code."""
_BY_WORDS: Sequence[tuple[re.Pattern[str], tuple[str, ...]]] = (
    (re.compile("is used as|its type is not|of the type"), ("type", "buffer")),
    (re.compile("sizes and padding make"), ("padding", "length", "size")),
    (re.compile("reach element"), ("stride", "size", "offset", "type")),
    (re.compile("links it to|FIFOs meet in"), ("object_fifo",)),
    (re.compile("(released|acquired) at its"), ("port", "object_fifo")),
    (re.compile(r"releases \d+ objects"), ("count", "release")),
    (re.compile("reports no end"), ("issue_token", "wait")),
    (re.compile("is never started"), ("start",)),
)
"""The same for refusals that have no code of their own, by words of their message."""
_MEANT = 0.8  # how much
_PASSED_ON = 0.3  # how much of both for a move of words that come out right or wrong as they were made
_SAID = 0.5  # how much likelier is what the fix of the first finding names
_NAME = re.compile(r"(?:'|@)([\w.$]+)")
_NUMBER = re.compile(r"(?:offset|stride|length of|size|acquire|release|all|id|BD|repeat_count =) (\d+)")
_SOURCES = (
    fifo_candidates,
    form_candidates,
    lock_candidates,
    set_candidates,
    silent_candidates,
    host_candidates,
    stream_candidates,
    number_candidates,
    exchange_candidates,
)
_OF_WORDS = (array_candidates, both_ends_candidates, order_candidates, body_candidates)
"""Sources of changes with which as many words go other ways: only expected words tell them apart."""
_SAID_BY_IT: Sequence[Callable[[DesignText, Finding | None], Iterator[Found]]] = (
    advised_candidates,
    unit_candidates,
    object_candidates,
    place_candidates,
    run_candidates,
    value_candidates,
    stream_move_candidates,
)
"""Sources that change what the first finding says."""


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
    meant = {kind: _MEANT / (n + 1) for n in (1, 0) for each in findings[n : n + 1] for kind in _meant(each)}
    fix = "".join(each.fix for each in findings[:1])
    values = any(each.code == _OF_VALUES for each in findings[:1])
    names = {*_NAME.findall(fix), *_NUMBER.findall(fix)}
    found: dict[tuple[tuple[int, str, str], ...], Candidate] = {}
    first = next(iter(findings), None)
    of_words = any(each.code in OF_WORDS for each in findings)
    sources = (*_SOURCES, *(_OF_WORDS if of_words else ()))
    offered = [*(source(design) for source in sources), *(source(design, first) for source in _SAID_BY_IT)]
    for source, pairs in zip((*sources, *_SAID_BY_IT), offered, strict=True):
        for operation, each in pairs:
            if hides(each, findings):
                continue
            likelier = _NEAR * suspects.near(operation) + meant.get(each.kind, 0.0)
            if values and source is number_candidates and each.kind in _MOVE:
                likelier *= _PASSED_ON
            likelier += _SAID * any(change.new.strip('@%"') in names for change in each.changes)
            made = replace(each, unlikely=each.unlikely - likelier)
            key = tuple((change.offset, change.old, change.new) for change in made.changes)
            if key not in found or found[key].unlikely > made.unlikely:
                found[key] = made
    return sorted(found.values(), key=lambda each: each.unlikely)


def _meant(finding: Finding) -> tuple[str, ...]:
    """Kinds of change that a finding is about."""
    words = next((kinds for pattern, kinds in _BY_WORDS if pattern.search(finding.message)), ())
    return (*words, *_BY_CODE.get(finding.code, ()))
