"""Do tilings mean what AMD's guide and tutorials print, and do their descriptors move exactly that?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.access.lowering.lower import Lowering, lower
from memtile.access.tiling import TilingParameters, TraversingParameters, tiling_elements
from memtile.errors import TransferError

ORACLE = Path(__file__).parents[1] / "oracle" / "tilings.json"
TILINGS: list[dict[str, Any]] = json.loads(ORACLE.read_text())["tilings"]
BY_ID = {case["id"]: case for case in TILINGS}
LEGAL = [case["id"] for case in TILINGS if case.get("legal", True)]
TILES = {
    "memtile": "memory",
    "aie_ml_data_memory": "compute",
    "external_ddr_via_interface_tile": "interface",
}


def tiling(case: dict[str, Any]) -> TilingParameters:
    boundary = case["boundary_dimension"]
    return TilingParameters(
        buffer_dimension=tuple(case["buffer_dimension"]),
        tiling_dimension=tuple(case["tiling_dimension"]),
        offset=tuple(case["offset"]),
        tile_traversal=tuple(TraversingParameters(**loop) for loop in case["tile_traversal"]),
        packet_port_id=case.get("packet_port_id", -1),
        boundary_dimension=None if boundary is None else tuple(boundary),
        repetition=case.get("repetition", 1),
        phase=case.get("phase", 0),
    )


def lowered(case: dict[str, Any]) -> Lowering:
    return lower(tiling(case).request(case["element_bits"]), TILES[case["memory"]], case["access"])


def labels(index: np.ndarray, expected: dict[str, Any]) -> np.ndarray:
    """Published values of element indices: the index, or its coordinates weighted."""
    if "labels" not in expected:
        return np.where(index < 0, 0, index)
    shape, weights = expected["labels"]["shape"], expected["labels"]["weights"]
    coordinates = np.unravel_index(np.maximum(index, 0), shape, order="F")
    return np.where(index < 0, 0, sum(c * w for c, w in zip(coordinates, weights, strict=True)))


def published(case: dict[str, Any]) -> tuple[np.ndarray, list[int]]:
    """What the case gives, and what AMD prints."""
    expected, index = case["expected"], tiling_elements(tiling(case))
    if expected["kind"] == "identity":
        return index, list(range(len(index)))
    if expected["kind"] != "memory":
        return labels(index, expected)[: len(expected["values"])], expected["values"]
    read = BY_ID.get(expected.get("read", ""))
    source = tiling_elements(tiling(read)) if read else np.arange(len(index))
    memory = np.zeros(len(expected["values"]), np.int64)
    memory[index] = labels(source, expected)
    return memory, expected["values"]


@pytest.mark.feature("F37", "F38", "F39", "F40", "F45")
@pytest.mark.parametrize("name", [case["id"] for case in TILINGS if "expected" in case])
def test_sequence_is_the_published_one(name: str) -> None:
    given, expected = published(BY_ID[name])
    assert given.tolist() == expected


@pytest.mark.feature("F36", "F46")
@pytest.mark.parametrize("name", LEGAL)
def test_lowering_is_certified(name: str) -> None:
    case = BY_ID[name]
    result = lowered(case)
    assert result.certificate.holds
    assert result.certificate.words * 32 == len(tiling_elements(tiling(case))) * case["element_bits"]
    if "compiler" in case:
        assert 2 * len(result.descriptors) <= case["compiler"]["bds_for_this_port"]


@pytest.mark.parametrize("name", [case["id"] for case in TILINGS if not case.get("legal", True)])
def test_known_bad_tiling_is_refused(name: str) -> None:
    with pytest.raises(TransferError):
        lowered(BY_ID[name])
