"""Candidates that give a stream of a host an array that its sequence never moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText
from memtile.importers.mlir.repairs.exchanges import array_token
from memtile.importers.mlir.repairs.host_steps import SEQUENCES
from memtile.importers.mlir.repairs.releases import Found
from memtile.importers.mlir.repairs.stream_moves import host_streams
from memtile.importers.unmoved_arrays import unused_arguments

_TWICE, _ONCE = 0.25, 0.6
"""How unlikely the change is where another stream moves the old array too, and where none does."""
_MOST = 16  # streams of a host


def array_candidates(design: DesignText) -> Iterator[Found]:
    """Return candidates that give all moves of a stream an array that nothing moves."""
    for sequence in design.named(*SEQUENCES):
        streams = host_streams(design, [sequence])
        kinds = dict(sequence.regions[0].blocks[0].arguments)
        moved = Counter(array for _, array in streams)
        for _, name in unused_arguments(sequence):
            for (channel, array), moves in list(streams.items())[:_MOST]:
                if array in kinds and kinds[array] == kinds[name]:
                    tokens = [array_token(design, each) for each in moves]
                    changes = [design.edits.token(at, name) for at in tokens if at is not None]
                    lines = " and ".join(str(line) for line in dict.fromkeys(each.line for each in moves))
                    says = f"line {lines}: {channel.removeprefix('@')} moves {name}, which nothing moves"
                    unlikely = _TWICE if moved[array] > 1 else _ONCE
                    yield moves[0], Candidate("array", f"{says}, instead of {array}", changes, unlikely)
