"""Scores of a tool on ``tests/corpus``: what it names, and what it names wrongly. ``make corpus``.

The designs are run by ``memtile run`` in one process; ``--answers`` scores what another tool said of them.
Behind them come mistakes that are planted in our own fine designs, scored by the culprit; ``--planted`` says
how many.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from places import TESTS

if TYPE_CHECKING:
    from memtile.explain.findings import Finding

CORPUS = TESTS / "corpus"
KINDS = ("hangs", "races", "wrong", "slow", "fine")
MAX_CYCLES = 200_000
PLANTED = 200
"""Mistakes that are planted in our own designs, of all kinds in equal parts."""

Answer = frozenset[str] | bool
"""Codes that a tool named; of a tool without codes whether something is wrong."""


class Case(NamedTuple):
    """A design of the corpus.

    Attributes:
        name: its key in ``expected.json``, which is the name of its file without the ending.
        file: the design.
        codes: of the findings that it must have.
        source: where the mistake comes from.
        about: what happens.
        arguments: further ones of ``memtile run``.
        before: codes of the errors that ``memtile check`` must name before it runs.
        says: texts that the sentences or the repairs of its findings must have.
    """

    name: str
    file: Path
    codes: frozenset[str]
    source: str
    about: str
    arguments: tuple[str, ...] = ()
    before: frozenset[str] = frozenset()
    says: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The last part of its name, one of ``KINDS``."""
        return self.name.rpartition("-")[2]


def cases(names: Sequence[str] = ()) -> list[Case]:
    """The corpus, or those of it whose name has one of ``names`` in it."""
    entries = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
    wanted = {name: entry for name, entry in entries.items() if not names or any(n in name for n in names)}
    files = designs()
    return [_case(name, files[name], entry) for name, entry in wanted.items()]


def designs() -> dict[str, Path]:
    """The files of the corpus that are designs, by name."""
    endings = (".py", ".mlir", ".txt", ".bin")
    files = sorted(path for path in CORPUS.iterdir() if path.suffix in endings)
    return {path.stem: path for path in files if path.stem.rpartition("-")[2] in KINDS}


def _case(name: str, file: Path, entry: Mapping[str, Any]) -> Case:
    arguments = tuple(text.replace("{corpus}", str(CORPUS)) for text in entry.get("arguments", ()))
    codes = frozenset(entry["codes"])
    before = frozenset(entry.get("check", ()))
    says = tuple(entry.get("says", ()))
    return Case(name, file, codes, entry["source"], entry["about"], arguments, before, says)


def run(case: Case) -> dict[str, Any]:
    """The output of ``memtile run --json`` for a design."""
    from typer.testing import CliRunner

    from memtile.cli.main import app

    arguments = [
        "run",
        "--no-repair",
        str(case.file),
        "--json",
        "--max-cycles",
        str(MAX_CYCLES),
        *case.arguments,
    ]
    done = CliRunner().invoke(app, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    found: dict[str, Any] = json.loads(done.stdout)
    assert "error" not in found, found
    return found


def answer(case: Case) -> Answer:
    """The codes that memtile names."""
    return stated(run(case)["findings"], case.codes)


def stated(findings: Iterable[Mapping[str, Any]], expected: frozenset[str]) -> frozenset[str]:
    """Return the codes of errors and warnings, and of those notes that are expected: others may be added."""
    return frozenset(
        each["code"] for each in findings if each["severity"] != "note" or each["code"] in expected
    )


def check(case: Case) -> Sequence[Finding]:
    """What ``memtile check`` says of a design, without running it."""
    from memtile.cli.check import checked

    device = next((after for word, after in pairwise(case.arguments) if word == "--device"), "")
    (result,) = checked([str(case.file)], device)
    return result.findings


def checked_before(case: Case) -> frozenset[str]:
    """The codes that ``memtile check`` names for a design."""
    return stated([finding.as_json() for finding in check(case)], case.before)


class Score(NamedTuple):
    """How well a tool did on designs of one kind.

    Attributes:
        designs: how many.
        expected: findings that it should have named.
        found: those of them that it named.
        named: all that it named.
    """

    designs: int
    expected: int
    found: int
    named: int

    def __add__(self, other: object) -> Score:
        """Both together."""
        assert isinstance(other, Score)
        return Score(*(mine + its for mine, its in zip(self, other, strict=True)))

    @property
    def recall(self) -> float:
        """Of the expected findings the part that was found; 1 where none was expected."""
        return self.found / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        """Of the named findings the part that was expected; 1 where none was named."""
        return self.found / self.named if self.named else 1.0


def score(case: Case, said: Answer) -> Score:
    """The score of one answer."""
    if isinstance(said, bool):
        wrong = bool(case.codes)
        return Score(1, int(wrong), int(wrong and said), int(said))
    return Score(1, len(case.codes), len(case.codes & said), len(said))


def table(answers: Iterable[tuple[Case, Answer]]) -> str:
    """Recall and precision by kind, and a line for each design that is not answered as expected."""
    by_kind = {kind: Score(0, 0, 0, 0) for kind in KINDS}
    wrong = []
    for case, said in answers:
        by_kind[case.kind] += score(case, said)
        if said != (bool(case.codes) if isinstance(said, bool) else case.codes):
            given = said if isinstance(said, bool) else ", ".join(sorted(said)) or "nothing"
            wrong.append(f"{case.name}: {given}; expected {', '.join(sorted(case.codes)) or 'nothing'}")
    lines = [
        f"{'kind':<8}{'designs':>9}{'expected':>10}{'found':>7}{'named':>7}{'recall':>9}{'precision':>11}"
    ]
    total = Score(0, 0, 0, 0)
    for kind, one in by_kind.items():
        if one.designs:
            lines.append(_row(kind, one))
            total += one
    return "\n".join([*lines, _row("all", total), *wrong])


def _row(name: str, one: Score) -> str:
    counts = f"{one.designs:>9}{one.expected:>10}{one.found:>7}{one.named:>7}"
    return f"{name:<8}{counts}{one.recall:>9.1%}{one.precision:>11.1%}"


def _answers_of(file: Path) -> dict[str, Answer]:
    """What another tool said."""
    given = json.loads(file.read_text(encoding="utf-8"))
    return {name: said if isinstance(said, bool) else frozenset(said) for name, said in given.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of the names of designs; all if omitted")
    parser.add_argument("--before", action="store_true", help="what memtile check names, whatever its codes")
    parser.add_argument("--answers", type=Path, help="what another tool said, by design")
    parser.add_argument("--planted", type=int, default=PLANTED, help="mistakes to plant; 0 = none")
    chosen = parser.parse_args()
    said = None if chosen.answers is None else _answers_of(chosen.answers)
    missing: Answer = frozenset()
    if chosen.before:
        named = [(case, bool(checked_before(case))) for case in cases(chosen.names)]
        print(table(named))
        return 0 if not any(said and not case.codes for case, said in named) else 1
    answers = [
        (case, answer(case) if said is None else said.get(case.name, missing)) for case in cases(chosen.names)
    ]
    print(table(answers))
    if chosen.planted and not chosen.names and said is None:
        from support.culprit.measure import answers_of, numbers
        from support.culprit.texts import own

        print(f"\n{numbers(answers_of(own(), sample=chosen.planted))}")
    return 0 if all(said == case.codes for case, said in answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
