"""pytest: designs of a repository as tests, and a fixture that tests one.

Nothing of memtile is imported until there is something to test. Designs are collected where the option
``memtile_designs`` of pytest's configuration has patterns for them, or where ``memtile-tests.toml`` has
``pytest = true``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from memtile.explore.suite.cases import DesignCase
    from memtile.explore.suite.outcome import CaseOutcome
    from memtile.explore.suite.suite import SuiteProcess
    from memtile.runs.program import Run

_PATTERNS = "memtile_designs"
_SETTINGS = "memtile-tests.toml"
_SUFFIXES = (".mlir", ".py", ".cpp", ".cc", ".cxx")
_PROCESS: pytest.StashKey[SuiteProcess] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the option."""
    parser.addini(
        _PATTERNS, "Designs to test with memtile: patterns such as *.mlir.", type="args", default=[]
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a design where that is switched on."""
    if file_path.suffix not in _SUFFIXES:
        return None
    patterns = parent.config.getini(_PATTERNS)
    settings = _settings_of(file_path.parent)
    if not any(file_path.match(pattern) for pattern in patterns) and not (settings and _collects(settings)):
        return None
    found: pytest.Collector = DesignFile.from_parent(parent, path=file_path)
    return found


@cache
def _settings_of(folder: Path) -> Path | None:
    """The settings of a folder, in it or the nearest above within the repository."""
    if (folder / _SETTINGS).is_file():
        return folder / _SETTINGS
    if (folder / ".git").exists() or folder == folder.parent:
        return None
    return _settings_of(folder.parent)


@cache
def _collects(settings: Path) -> bool:
    """Whether settings have pytest collect designs."""
    from memtile.explore.suite.settings import read_settings

    return read_settings(settings).pytest


class DesignFile(pytest.File):
    """A file with designs."""

    def collect(self) -> Iterator[pytest.Item]:
        """The tests of its designs."""
        from memtile.errors import MemtileError

        try:
            cases = _cases(self.path)
        except MemtileError as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            yield DesignItem.from_parent(self, name=case.name.rpartition("/")[2], case=case)


def _cases(path: Path) -> Sequence[DesignCase]:
    """The tests of a file: none of one that is no design."""
    from dataclasses import replace

    from memtile.explore.suite.baseline import read_baseline
    from memtile.explore.suite.cases import cases_of
    from memtile.explore.suite.settings import read_settings
    from memtile.explore.survey.survey_cases import is_design

    suite = read_settings(_settings_of(path.parent))
    is_named = any((suite.folder / each.file).resolve() == path for each in suite.tests)
    if not (is_named or is_design(path)):
        return ()
    known = read_baseline(suite.baseline, missing_ok=True) if suite.baseline else {}
    cases = cases_of([path], suite)
    return [
        replace(case, baseline=known.get(case.name))
        for case in cases
        if is_named or not suite.excludes(case.name)
    ]


class DesignItem(pytest.Item):
    """The test of a design.

    Args:
        case: the design, and how it is tested.
    """

    def __init__(self, *, case: DesignCase, **more: Any) -> None:
        super().__init__(**more)
        self.case = case

    def runtest(self) -> None:
        """Test the design in the process that tests all of them."""
        from memtile.explore.suite.suite import SuiteProcess
        from memtile.runs.options import USUAL

        if _PROCESS not in self.config.stash:
            self.config.stash[_PROCESS] = SuiteProcess(USUAL, {})
        outcome = self.config.stash[_PROCESS].test(self.case)
        if not outcome.good:
            raise DesignFailedError(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *more: Any) -> Any:
        """What is wrong with the design; no traceback."""
        if isinstance(excinfo.value, DesignFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *more)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the design is."""
        return self.path, None, self.case.name


class DesignFailedError(Exception):
    """A design whose test is not good.

    Args:
        outcome: of the test.
    """

    def __init__(self, outcome: CaseOutcome) -> None:
        super().__init__("\n".join([outcome.summary, *outcome.details()]))
        self.outcome = outcome


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process that tests designs."""
    if (process := config.stash.get(_PROCESS, None)) is not None:
        process.end()


@pytest.fixture
def memtile_design(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Run]:
    """A function that tests a design: ``memtile_design(file, inputs={0: a}, expect={2: c}, cycles=65_407)``.

    It checks the design and runs it, and the test fails with its findings unless all is well. It returns the
    run: its arrays by name, and its result with the cycles. Files are relative to that of the test. Keywords
    are those of ``[[design]]`` in ``memtile-tests.toml``; inputs and expected arrays may be NumPy arrays.
    """

    def tested(file: str | Path, **settings: Any) -> Run:
        from memtile.cli.suite_attempt import attempt_run
        from memtile.explore.suite.cases import DesignCase, cases_of
        from memtile.explore.suite.settings import SuiteSettings, settings_of
        from memtile.explore.suite.uses import refuse_unused

        path = request.path.parent / file
        for key in ("inputs", "expect"):
            if key in settings:
                settings[key] = _saved(tmp_path, key, settings[key])
        refuse_unused("memtile_design", path, settings)
        chosen = settings_of("memtile_design", settings, request.path.parent)
        case = DesignCase(str(file), cases_of([path], SuiteSettings())[0].design, chosen)
        outcome, run = attempt_run(case)
        if run is None or not (outcome.good or outcome.verdict == "unknown"):
            pytest.fail("\n".join([outcome.summary, *outcome.details()]), pytrace=False)
        return run

    return tested


def _saved(folder: Path, key: str, arrays: Mapping[Any, Any]) -> dict[str, str]:
    """Arrays as files: those that are none yet are saved."""
    import numpy as np

    found = dict[str, str]()
    for name, array in arrays.items():
        if isinstance(array, str | Path):
            found[str(name)] = str(array)
            continue
        path = folder / f"{key}_{len(found)}.npy"
        np.save(path, array)
        found[str(name)] = str(path)
    return found
