"""Do tilings mean what AMD's guide and tutorials print, and do their descriptors move exactly that?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memtile.access.expected import matches, stream_elements
from memtile.access.tiling import tiling_elements
from memtile.access.tiling_cases import TilingCase, parse_tiling
from memtile.errors import TransferError
from support.formats.oracle_files import load

TILINGS: list[dict[str, Any]] = load("tilings")["tilings"]
BY_ID = {case.name: case for case in map(parse_tiling, TILINGS)}
LEGAL = [name for name, case in BY_ID.items() if case.legal]


def published(case: TilingCase, given: np.ndarray) -> bool:
    """Whether an element stream is what AMD prints."""
    assert case.expected is not None
    read = BY_ID.get(case.expected.read)
    return matches(case.expected, given, None if read is None else tiling_elements(read.tiling))


@pytest.mark.feature("F37", "F38", "F39", "F40", "F45")
@pytest.mark.parametrize("name", [name for name, case in BY_ID.items() if case.expected])
def test_sequence_is_the_published_one(name: str) -> None:
    stream = tiling_elements(BY_ID[name].tiling)
    assert published(BY_ID[name], stream)
    assert not published(BY_ID[name], stream[::-1])


@pytest.mark.feature("F36", "F46")
@pytest.mark.parametrize("name", LEGAL)
def test_lowering_is_certified_and_moves_the_elements_of_the_tiling(name: str) -> None:
    case = BY_ID[name]
    result = case.lowered()
    assert result.certificate.holds
    stream = stream_elements(result.tasks, case.element_bits)
    assert np.array_equal(stream, tiling_elements(case.tiling))
    if case.published_bds is not None:
        assert 2 * len(result.descriptors) <= case.published_bds


@pytest.mark.parametrize("name", [name for name in BY_ID if name not in LEGAL])
def test_known_bad_tiling_is_refused(name: str) -> None:
    with pytest.raises(TransferError):
        BY_ID[name].lowered()
