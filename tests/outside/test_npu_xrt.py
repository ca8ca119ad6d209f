"""Do the designs that mlir-aie runs on hardware give here what their host programs expect?

``pytest tests/outside --designs PATH``; the files are read where they are, none of them is in the project.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memtile.sim.skip.fast_forward import fast_forwarding
from support.designs.flowing_designs import differences
from support.mlir.outside_survey import run, survey, table


@pytest.fixture
def folders(request: pytest.FixtureRequest) -> list[Path]:
    given = request.config.getoption("--designs", default=None)
    if not given:
        pytest.skip("no folder of designs is given: --designs PATH, test/npu-xrt of mlir-aie")
    return [Path(folder) for folder in given]


def test_designs_give_what_their_host_programs_expect(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found = [each for folder in folders for each in survey(folder)]
    with capsys.disabled():
        print(f"\n{table(found)}")
    assert found, f"no MLIR file is below {', '.join(map(str, folders))}"
    assert [each.name for each in found if each.kind == "wrong"] == []


def test_designs_end_in_the_same_state_if_each_cycle_is_stepped(folders: list[Path]) -> None:
    for folder in folders:
        for file in sorted(folder.rglob("*.mlir")):
            name = file.relative_to(folder).as_posix()
            kind, _, jumping = run(name, file)
            with fast_forwarding(False):
                stepped, _, stepping = run(name, file)
            assert kind == stepped, name
            if jumping is not None and stepping is not None:
                assert not differences(jumping.array.engine, stepping.array.engine), name
