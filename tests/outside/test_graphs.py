"""Do public ADF graphs give their published outputs, cycles, hangs and refusals?

``pytest tests/outside/test_graphs.py --graphs PATH``; none of them is in the project.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.adf.public_graphs import PUBLIC_GRAPHS, PublicGraph, checked, judged


@pytest.fixture
def root(request: pytest.FixtureRequest) -> Path:
    given = request.config.getoption("--graphs", default=None)
    if not given:
        pytest.skip("no folder of public graphs is given: --graphs PATH, see support/adf/public_graphs.py")
    return Path(given).resolve()


def is_there(graph: PublicGraph, root: Path) -> None:
    if not (root / graph.project / graph.source).is_file():
        pytest.skip(f"{graph.project} is not below {root}")


@pytest.mark.parametrize("name", PUBLIC_GRAPHS)
def test_a_graph_is_refused_as_published_or_not_at_all(name: str, root: Path, tmp_path: Path) -> None:
    is_there(PUBLIC_GRAPHS[name], root)
    assert judged(PUBLIC_GRAPHS[name], root, tmp_path) == list(PUBLIC_GRAPHS[name].refused)


@pytest.mark.parametrize("name", [name for name, graph in PUBLIC_GRAPHS.items() if graph.check])
def test_a_graph_gives_what_is_published(name: str, root: Path, tmp_path: Path) -> None:
    is_there(PUBLIC_GRAPHS[name], root)
    checked(PUBLIC_GRAPHS[name], root, tmp_path)
