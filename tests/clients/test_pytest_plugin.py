"""Does pytest collect designs as tests where that is switched on, and show what is wrong with them?"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest

from support.mlir import mlir_texts

INSTALLED = any(each.name == "memtile" for each in entry_points(group="pytest11"))
PLUGIN = ("-p", "memtile" if INSTALLED else "memtile.testing.pytest_plugin", "-p", "no:cacheprovider")
DATA = np.arange(1, 65, dtype=np.int32)


@pytest.fixture
def designs(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a design that is right and one that is stuck."""
    for name, text in (("good", mlir_texts.PASSTHROUGH), ("stuck", mlir_texts.STUCK)):
        folder = pytester.mkdir(name)
        (folder / "design.mlir").write_text(text)
    np.save(pytester.path / "good" / "in0.npy", DATA)
    np.save(pytester.path / "good" / "out2.npy", DATA)
    return pytester


@pytest.mark.usefixtures("warm_workers")
@pytest.mark.parametrize("how", ["an option of pytest", "the settings"])
def test_designs_are_tests_where_that_is_switched_on(designs: pytest.Pytester, how: str) -> None:
    if how == "the settings":
        designs.makefile(".toml", **{"memtile-tests": 'pytest = true\nexclude = ["other/*"]\n'})
    else:
        designs.makeini("[pytest]\nmemtile_designs = *.mlir\n")
    done = designs.runpytest_inprocess(*PLUGIN, "-q")
    done.assert_outcomes(passed=1, failed=1)
    text = done.stdout.str()
    assert "stuck/design.mlir: stuck, " in text
    assert "error MT0" in text
    assert "Traceback" not in text
    assert "def runtest" not in text


def test_designs_are_no_tests_otherwise(designs: pytest.Pytester) -> None:
    designs.makefile(".toml", **{"memtile-tests": "seconds = 60\n"})
    designs.runpytest_inprocess(*PLUGIN, "-q").assert_outcomes()


def test_a_wrong_setting_is_named_when_designs_are_collected(designs: pytest.Pytester) -> None:
    designs.makefile(".toml", **{"memtile-tests": "pytest = true\nsecond = 3\n"})
    done = designs.runpytest_inprocess(*PLUGIN, "-q")
    assert done.ret != 0
    done.stdout.fnmatch_lines(["*unknown key 'second'; did you mean 'seconds'*"])


def test_the_fixture_tests_a_design_and_gives_its_run(designs: pytest.Pytester) -> None:
    designs.makepyfile(
        """
        import numpy as np

        DATA = np.arange(64, dtype=np.int32)

        def test_good(memtile_design):
            run = memtile_design("good/design.mlir", inputs={0: DATA}, expect={2: DATA})
            assert run.arrays["2"].size == 64
            memtile_design("good/design.mlir", inputs={0: DATA}, cycles=run.result.cycles)

        def test_wrong(memtile_design):
            memtile_design("good/design.mlir", inputs={0: DATA}, expect={2: DATA + 1})
        """
    )
    done = designs.runpytest_inprocess(*PLUGIN, "-q")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*good/design.mlir: wrong, argument 2*"])
    assert "attempt_run" not in done.stdout.str()


def test_the_plugin_is_light() -> None:
    code = "import sys, memtile.testing.pytest_plugin as _; print({'numpy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
