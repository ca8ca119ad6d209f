"""What memtile claims, measured again: figure, limit and value of each row of ``claims.toml``.

``python benchmarks/claims.py`` measures all rows, ``--only SUBJECT`` or ``--only "SUBJECT: FIGURE"`` some.
Each command runs once, for all rows that take a figure from it. ``--write docs/claims.md`` puts the values
into the page, and leaves those of other rows and of rows that need files that were not given; a value whose
limit or command is no longer that of its row goes. The exit code is 1 if a row is beyond its limit, its
command failed or it could not be measured, unless it needs files that were not given.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent
TABLE = HERE / "claims.toml"
MARK = "<!-- table of claims, made by `make claims` -->"
SECONDS = 7200  # for a command
LOADED = " (on a loaded machine)"
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {">=": operator.ge, "<=": operator.le, "=": operator.eq}
_NEED = re.compile(r"\{([\w-]+)\}")
_PASSED = r"^[=\s]*(\d[^\n]* passed[^\n]*|\d+ passed[^\n]*) in [\d.]+s"
_FINE = re.compile(r"\d+ passed(, \d+ (skipped|deselected|warnings?))*")
_JSON = {
    "benchmarks/rows.py": "--json",
    "benchmarks/long_runs.py": "--json",
    "pytest -q benchmarks/": "--benchmark-json",
}
"""Options that have a command write its figures to a file, by what the command has in it."""


class Claim(NamedTuple):
    """A row of the table.

    Attributes:
        subject: what of memtile it is about.
        figure: what is measured, in words.
        limit: ``>=``, ``<=`` or ``=`` and a value; ``passes`` for tests.
        run: the command that measures it; ``{NAME}`` is a path that the user gives.
        value: ``row: figure`` of a command that writes figures, ``test: figure`` of benchmarks.
        shows: a pattern whose first group is the figure, in what the command prints.
        unit: of the figure.
    """

    subject: str
    figure: str
    limit: str
    run: str
    value: str = ""
    shows: str = ""
    unit: str = ""

    @property
    def needs(self) -> set[str]:
        """Names of the paths that the user gives."""
        return set(_NEED.findall(self.run))

    def is_named(self, names: Sequence[str]) -> bool:
        """Whether it is of a subject among these, or is one of them with its figure."""
        return self.subject in names or f"{self.subject}: {self.figure}" in names

    @property
    def shown_limit(self) -> str:
        """The limit for people."""
        sign, _, value = self.limit.partition(" ")
        return f"{sign} {text(number(value), digits=12)} {self.unit}".strip() if value else self.limit

    def holds(self, value: float | str) -> bool:
        """Whether a value is within the limit."""
        sign, _, limit = self.limit.partition(" ")
        return _COMPARED[sign](value, number(limit)) if limit else bool(_FINE.fullmatch(str(value)))


class OnPage(NamedTuple):
    """What the page says of a row.

    Attributes:
        measured: its value, or why it has none.
        holds: ``yes``, ``**no**``, or ``-`` without a value.
    """

    measured: str
    holds: str


class Measured(NamedTuple):
    """What came of a claim.

    Attributes:
        claim: the row.
        value: its value; None = it was not measured.
        why: why not, or how its command failed.
        is_missing: it needs a path that was not given.
    """

    claim: Claim
    value: float | str | None
    why: str = ""
    is_missing: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether it is beyond its limit, or its command failed."""
        return not self.is_missing and (
            self.value is None or bool(self.why) or not self.claim.holds(self.value)
        )

    @property
    def shown(self) -> str:
        """The value for people."""
        if self.value is None:
            return f"not measured: {self.why}"
        value = f"{text(self.value)} {self.claim.unit}".strip()
        return f"{value}, but {self.why}" if self.why else value

    def on_page(self, *, loaded: bool) -> OnPage:
        """The value and whether it holds; ``loaded`` = the machine had other work meanwhile."""
        shown = self.shown.replace("|", "/") + (LOADED if loaded and self.value is not None else "")
        return OnPage(shown, "-" if self.value is None else "**no**" if self.is_fault else "yes")


def claims() -> list[Claim]:
    """The rows of the table."""
    return [Claim(**row) for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["claim"]]


def number(given: str) -> float | str:
    """A number if it is one."""
    try:
        return float(given.replace(",", ""))
    except ValueError:
        return given


def text(value: float | str, *, digits: int = 3) -> str:
    """A value for people: so many digits or a whole number, millions as M or G."""
    if isinstance(value, str):
        return value
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:.{digits}g} {letter}"
    whole = value == int(value) or abs(value) >= 10**digits
    return f"{value:,.0f}" if whole else f"{value:,.{digits}g}"


class Outcome(NamedTuple):
    """What a command gave.

    Attributes:
        printed: all that it printed.
        figures: that it wrote, by row or test.
        why: why it has none; empty = it has.
    """

    printed: str
    figures: Mapping[str, Mapping[str, Any]]
    why: str = ""


def outcome(run: str, paths: Mapping[str, str]) -> Outcome:
    """Run a command of the table."""
    given = _NEED.sub(lambda name: shlex.quote(paths[name[1]]), run)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.json")
        words = command(given, file)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))}
        try:
            done = subprocess.run(
                words,
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Outcome("", {}, f"the command took over {SECONDS} s")
        except OSError as error:
            return Outcome("", {}, f"{words[0]}: {error.strerror}")
        figures = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if "benchmarks" in figures:
        figures = {test["name"]: test["extra_info"] for test in figures["benchmarks"]}
    last = ([line for line in done.stdout.splitlines() if line.strip()] or [""])[-1]
    return Outcome(done.stdout, figures, f"exit code {done.returncode}: {last}" if done.returncode else "")


def command(run: str, file: Path) -> list[str]:
    """The words of a command, with ``file`` for its figures if it writes some."""
    words = shlex.split(run)
    options = [option for part, option in _JSON.items() if part in run]
    start = {"memtile": [sys.executable, "-m", "memtile"], "python": [sys.executable]}
    first = start.get(words[0], [words[0]])
    return [*first, *words[1:], *(f"{option}={file}" for option in options)]


def taken(claim: Claim, given: Outcome) -> Measured:
    """The figure of a claim in what its command gave."""
    row, _, figure = claim.value.rpartition(": ")
    match = re.search(claim.shows or _PASSED, given.printed, re.MULTILINE)
    found = given.figures.get(row, {}).get(figure) if row else number(match[1]) if match else None
    without = f"no figure {claim.value or claim.shows or 'of tests'} in what the command gave"
    return Measured(claim, found, given.why or (without if found is None else ""))


def measure(
    chosen: Sequence[Claim], paths: Mapping[str, str], page: Path | None = None, *, loaded: bool = False
) -> list[Measured]:
    """Measure claims; print each, and write it into a page, as soon as it is known."""
    found, outcomes = [], dict[str, Outcome]()
    for claim in chosen:
        if missing := sorted(claim.needs - paths.keys()):
            each = Measured(claim, None, f"needs --path {missing[0]}=PATH", is_missing=True)
        else:
            if claim.run not in outcomes:
                outcomes[claim.run] = outcome(claim.run, paths)
            each = taken(claim, outcomes[claim.run])
        mark = "no " if each.is_fault else "-  " if each.is_missing else "yes"
        print(f"{mark} {claim.subject}: {claim.figure}: {each.shown} (limit {claim.shown_limit})", flush=True)
        if page is not None and not each.is_missing:
            values = {(claim.subject, claim.figure): each.on_page(loaded=loaded)}
            page.write_text(in_page(page.read_text(encoding="utf-8"), values), encoding="utf-8")
        found.append(each)
    return found


def cells(row: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in row.strip().strip("|").split(" | ")]


def values_in(page: str) -> dict[tuple[str, str], OnPage]:
    """What a page says was measured, by subject and figure, with the present limit and command."""
    rows = [cells(line) for line in page.partition(MARK)[2].strip().splitlines() if line.startswith("|")]
    present = {(claim.subject, claim.figure, claim.shown_limit, f"`{claim.run}`") for claim in claims()}
    return {(row[0], row[1]): OnPage(row[3], row[4]) for row in rows[2:] if (*row[:3], row[5]) in present}


def table(values: Mapping[tuple[str, str], OnPage]) -> str:
    """The rows of a page, with these values."""
    lines = ["| subject | figure | limit | measured | holds | command |", "|---|---|---|---|---|---|"]
    for claim in claims():
        path = next(iter(sorted(claim.needs)), "")
        none = f"not measured: needs --path {path}=PATH" if path else "not measured yet"
        value = values.get((claim.subject, claim.figure), OnPage(none, "-"))
        row = (claim.subject, claim.figure, claim.shown_limit, *value, f"`{claim.run}`")
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def in_page(page: str, values: Mapping[tuple[str, str], OnPage]) -> str:
    """A page with the present table, and values that replace those that it has."""
    rows = table({**values_in(page), **values})
    return re.sub(rf"(?<={re.escape(MARK)}\n).*?(?=\n(?!\|)|\Z)", lambda _: rows, page, flags=re.DOTALL)


def main() -> int:
    """Measure what is asked for; 1 if something is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", action="append", metavar="SUBJECT", help="rows of a subject, or 'SUBJECT: FIGURE'; repeat"
    )
    parser.add_argument("--path", action="append", default=[], metavar="NAME=PATH", help="files of others")
    parser.add_argument("--json", type=Path, help="file to write the values to")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page to put the values into")
    parser.add_argument(
        "--loaded", action="store_true", help="say on the page that the machine had other work"
    )
    parser.add_argument("--list", action="store_true", help="print the rows, measure nothing")
    given = parser.parse_args()
    chosen = [claim for claim in claims() if not given.only or claim.is_named(given.only)]
    if not chosen:
        parser.error(f"no such subject; there are {', '.join(dict.fromkeys(c.subject for c in claims()))}")
    if given.list:
        print(*(f"{c.subject}: {c.figure}: {c.shown_limit}: {c.run}" for c in chosen), sep="\n")
        return 0
    paths = dict(each.split("=", 1) for each in given.path)
    found = measure(chosen, paths, given.write, loaded=given.loaded)
    if given.json:
        rows = [{**each.claim._asdict(), "measured": each.value, "why": each.why} for each in found]
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    wrong = [each for each in found if each.is_fault]
    missing = sum(each.is_missing for each in found)
    print(f"{len(found) - len(wrong) - missing} hold, {len(wrong)} do not, {missing} not measured")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
