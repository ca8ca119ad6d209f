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
    folders = request.config.getoption("--designs", default=None)
    if not folders:
        pytest.skip("no folder of designs is given: --designs PATH, test/npu-xrt of mlir-aie")
    found = [each for folder in folders for each in survey(Path(folder))]
    with capsys.disabled():
        print(f"\n{table(found)}")
    assert found, f"no MLIR file is below {', '.join(folders)}"
    assert [each.name for each in found if each.kind == "wrong"] == []
