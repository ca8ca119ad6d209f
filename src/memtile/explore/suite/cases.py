"""The tests of a command line: designs of folders, and those that the settings name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memtile.errors import InputFileError
from memtile.explore.suite.settings import CaseSettings, NamedCase, SuiteSettings
from memtile.explore.suite.uses import refuse_unused
from memtile.explore.survey.survey_cases import SurveyCase, designs_of, find


@dataclass(frozen=True, slots=True)
class DesignCase:
    """A design and how it is tested.

    Attributes:
        name: of the test.
        design: its files, and what lies beside it.
        settings: how it is tested.
        baseline: its cycles in the baseline; None = it has none there.
    """

    name: str
    design: SurveyCase
    settings: CaseSettings
    baseline: int | None = None

    @property
    def budget(self) -> int | None:
        """Most cycles that it may take; None = any number."""
        most = self.settings.cycles if self.settings.cycles is not None else self.baseline
        return None if most is None else int(most * (1 + self.settings.within))

    def as_json(self) -> dict[str, Any]:
        """Plain data, for the process that runs it."""
        return {
            "name": self.name,
            "design": self.design.as_json(),
            "settings": self.settings.as_json(),
            "baseline": self.baseline,
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> DesignCase:
        """The test of plain data."""
        settings = CaseSettings(**data["settings"])
        return cls(data["name"], SurveyCase.of(data["design"]), settings, data["baseline"])


def cases_of(paths: Sequence[Path], suite: SuiteSettings) -> list[DesignCase]:
    """The tests of files and folders.

    A design that the settings name is tested as they say, once for each of its tests; another one with the
    usual settings. Designs that the settings name are tested too where a search of the folder misses them.

    Args:
        paths: files of designs, builds, and folders.
        suite: the settings.

    Raises:
        InputFileError: a path that is not there, or a folder without a design.
    """
    found = dict[str, DesignCase]()
    base = paths[0] if len(paths) == 1 and paths[0].is_dir() else Path()
    for path in paths:
        for case in _below(path, suite, base):
            found.setdefault(case.name, case)
    return list(found.values())


def _below(path: Path, suite: SuiteSettings, base: Path) -> Iterator[DesignCase]:
    if not path.exists():
        raise InputFileError(f"{path}: there is no such file or folder.")
    named = {str(_resolved(suite.folder / each.file)) for each in suite.tests}
    designs = (
        _searched(path, named) if path.is_dir() and str(_resolved(path)) not in named else designs_of(path)
    )
    for design in designs:
        name = _name(design, suite, base)
        if not (path.is_dir() and suite.excludes(name)) and str(_resolved(design.path)) not in named:
            yield DesignCase(name, design, suite.usual)
    for each in suite.tests:
        file = suite.folder / each.file
        if _resolved(file) == _resolved(path) or _resolved(path) in _resolved(file).parents:
            yield from _named(file, each, suite)


def _named(file: Path, test: NamedCase, suite: SuiteSettings) -> Iterator[DesignCase]:
    """A test of the settings; one for each device of a text with several.

    Raises:
        InputFileError: there is no such design, or a setting that it has no use for.
    """
    if not file.exists():
        raise InputFileError(f"{test.where}: file is {test.file!r}; {file} does not exist. Correct the path.")
    refuse_unused(test.where, file, test.keys)
    for design in designs_of(file):
        own = f"{test.name}:{design.part}" if test.name and design.part else test.name
        yield DesignCase(own or _name(design, suite, Path()), design, test.settings)


def _searched(path: Path, named: set[str]) -> Sequence[SurveyCase]:
    """What a search finds; nothing where only the settings name designs.

    Raises:
        InputFileError: there is no design at all.
    """
    try:
        return [replace(case, path=path / case.path.relative_to(path)) for case in find(path).cases]
    except InputFileError:
        if any(_resolved(path) in Path(file).parents for file in named):
            return ()
        raise


def _name(design: SurveyCase, suite: SuiteSettings, base: Path) -> str:
    """The path of a design from the folder of the settings, and the device that is meant of several.

    Designs that are not below that folder have their path from ``base``, the one folder that is tested.
    """
    file = _resolved(design.path)
    folders = [folder for folder in map(_resolved, (suite.folder, base)) if file.is_relative_to(folder)]
    name = file.relative_to(folders[0]).as_posix() if folders else design.path.as_posix()
    return f"{name}:{design.part}" if design.part else name


def _resolved(path: Path) -> Path:
    return path.resolve()
