"""Do programs of IRON run with the host runtime and the tensors that mlir-aie itself has?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memtile.hosts.iron import install
from support.mlir import iron_programs


def _module(name: str, **names: Any) -> ModuleType:
    found = ModuleType(name)
    vars(found).update(names)
    return found


@pytest.fixture
def aie(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``aie.utils`` of a source tree of mlir-aie, but for what its build generates: traces and devices."""
    designs = request.config.getoption("--designs", default=None)
    if not designs:
        pytest.skip("no folder of designs is given: --designs PATH, test/npu-xrt of mlir-aie")
    given = designs if isinstance(designs, list) else [designs]
    folders = [above / "python" for each in given for above in Path(each).resolve().parents]
    python = next((each for each in folders if (each / "utils" / "hostruntime").is_dir()), None)
    if python is None:
        pytest.skip("no Python sources of mlir-aie above the designs")
    (tmp_path / "aie").symlink_to(python)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    generated = {
        "aie.utils.trace": _module("aie.utils.trace", TraceConfig=object),
        "aie.utils.trace.utils": _module("aie.utils.trace.utils", create_ctrl_pkt=None, extract_tile=None),
    }
    for name, module in generated.items():
        monkeypatch.setitem(sys.modules, name, module)
    import aie.utils

    yield aie.utils
    for name in [name for name in sys.modules if name.split(".")[0] == "aie"]:
        sys.modules.pop(name)


# as mlir-aie has it, np.array(tensor) warns in NumPy 2
@pytest.mark.filterwarnings("ignore:__array__ implementation")
@pytest.mark.parametrize("program", ["tensors_of_all_kinds", "residency", "state_persists", "numbers"])
def test_programs(aie: Any, tmp_path: Path, program: str) -> None:
    install()
    (folder := tmp_path / "cache").mkdir()
    getattr(iron_programs, program)(aie, folder)
