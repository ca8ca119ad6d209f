"""Do the designs that mlir-aie runs on hardware give here what their host programs expect?

``pytest tests/outside --designs PATH``; the files are read where they are, none of them is in the project.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from outside_survey import survey, table


def test_designs_give_what_their_host_programs_expect(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = request.config.getoption("--designs", default=None)
    if not folder:
        pytest.skip("no folder of designs is given: --designs PATH, test/npu-xrt of mlir-aie")
    found = survey(Path(folder))
    with capsys.disabled():
        print(f"\n{table(found)}")
    assert found, f"no MLIR file is below {folder}"
    assert [each.name for each in found if each.kind == "wrong"] == []
