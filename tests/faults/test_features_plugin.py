"""Does a feature line count as shown exactly when tests that claim it ran and passed?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import features_plugin
from places import TESTS

PAGE = Path(__file__).parents[2] / "docs" / "features.md"
INI = f"""
[pytest]
pythonpath = {TESTS} {Path(features_plugin.__file__).parent}
markers = feature(*ids): claims lines of the feature list
"""
ARGUMENTS = ("-p", "no:cacheprovider", "--features-out=page.md")
CLAIMS = """
import pytest

@pytest.mark.feature("F01", "F02")
def test_passes(): pass

@pytest.mark.feature("F03")
def test_fails(): assert False

@pytest.mark.feature("F04")
@pytest.mark.skip
def test_is_skipped(): pass

@pytest.mark.feature("F05")
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False

@pytest.mark.feature("F06")
@pytest.mark.parametrize("n", [0, 1])
def test_fails_once(n): assert n

@pytest.mark.feature("F07")
@pytest.mark.parametrize("n", ["a]b", "c[d"])
def test_passes_always(n): pass

@pytest.fixture
def broken():
    yield
    raise OSError

@pytest.mark.feature("F08")
def test_breaks_afterwards(broken): pass
"""

WRONG_MARKS = """
import pytest
feature = pytest.mark.feature

@feature("F01", "F99")
@pytest.mark.parametrize("n", [0, 1])
def test_unknown(n): pass

@feature("f01")
def test_lower_case(): pass

@feature()
def test_empty(): pass

@feature(1)
def test_number(): pass

@feature("F01", why="no")
def test_keyword(): pass

@feature("F01")
def test_is_fine(): pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project of its own that uses the plugin."""
    pytester.makeini(INI)
    pytester.makeconftest('pytest_plugins = ["features_plugin"]')
    return pytester


def claimed(page: Path) -> dict[str, list[str]]:
    """Feature id -> tests, read back from a page; ids that nobody claims are left out."""
    rows = re.findall(r"^\| (F\d+) \| .* \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: re.findall(r"`(.*?)`", tests) for name, tests in rows if tests != features_plugin.MISSING}


@pytest.mark.slow
@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_only_tests_that_passed_claim(suite: pytest.Pytester, spread: tuple[str, ...]) -> None:
    suite.makepyfile(test_claims=CLAIMS)
    suite.runpytest_subprocess(*ARGUMENTS, *spread).assert_outcomes(
        passed=5, failed=2, errors=1, skipped=1, xfailed=1
    )
    assert claimed(suite.path / "page.md") == {
        "F01": ["test_claims.py::test_passes"],
        "F02": ["test_claims.py::test_passes"],
        "F07": ["test_claims.py::test_passes_always"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("spread", [(), ("-n", "1")], ids=["one process", "xdist"])
def test_wrong_marks_are_refused_before_anything_runs(
    suite: pytest.Pytester, spread: tuple[str, ...]
) -> None:
    suite.makepyfile(test_wrong=WRONG_MARKS)
    result = suite.runpytest_subprocess(*ARGUMENTS, "-rN", *spread)
    result.assert_outcomes(errors=1)
    assert result.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED)
    lines = [line for line in result.outlines if line.startswith("test_wrong.py::")]
    assert lines == [
        f"test_wrong.py::{test}: feature({arguments}): at least one id of features.json allowed"
        for test, arguments in [
            ("test_unknown", "'F01', 'F99'"),
            ("test_lower_case", "'f01'"),
            ("test_empty", ""),
            ("test_number", "1"),
            ("test_keyword", "'F01', why='no'"),
        ]
    ]
    assert not (suite.path / "page.md").exists()


def test_page_is_not_written_unless_asked(suite: pytest.Pytester) -> None:
    suite.makepyfile("def test_it(): pass")
    suite.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert list(suite.path.glob("*.md")) == []


def test_no_line_of_the_list_lacks_a_part() -> None:
    """One that does names the deviation that says so, and this test has its id."""
    lacking = [text for text in features_plugin.features().values() if features_plugin.LACKS in text]
    assert lacking == []


def test_committed_page_has_the_lines_of_the_list() -> None:
    rows = re.findall(r"^\| (F\d+) \| (.*) \| .* \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == features_plugin.features()
