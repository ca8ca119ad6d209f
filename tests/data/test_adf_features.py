"""Has each feature of graphs a public graph by path, and a test with an own one?"""

from __future__ import annotations

import pytest

from places import TESTS
from support.adf.public_graphs import OWN_TESTS, PUBLIC_GRAPHS


@pytest.mark.parametrize("feature", OWN_TESTS)
def test_a_feature_has_a_public_graph_and_an_own_one(feature: str) -> None:
    assert [name for name, graph in PUBLIC_GRAPHS.items() if feature in graph.features]
    file, name = OWN_TESTS[feature]
    assert f"def {name}(" in (TESTS / file).read_text()


def test_public_graphs_cover_features_that_there_are() -> None:
    assert {each for graph in PUBLIC_GRAPHS.values() for each in graph.features} == set(OWN_TESTS)
