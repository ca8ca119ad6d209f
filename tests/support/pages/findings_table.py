"""The table of findings on a page, with examples from the corpus.

``PYTHONPATH=tests python tests/support/pages/findings_table.py PAGE`` writes it.
"""

from __future__ import annotations

from functools import cache

from memtile.explain.findings import CODES
from support.pages import corpus_scores as corpus
from support.pages.marked_table import MarkedTable


def examples() -> dict[str, corpus.Case]:
    """For each code the first design of the corpus that has no other one."""
    found: dict[str, corpus.Case] = {}
    for case in sorted(corpus.cases()):
        if len(case.codes) == 1:
            found.setdefault(next(iter(case.codes)), case)
    return found


def examples_before() -> dict[str, corpus.Case]:
    """For each code that is told before a run the first design of the corpus that has no other one then."""
    found: dict[str, corpus.Case] = {}
    for case in sorted(corpus.cases()):
        if len(case.before) == 1:
            found.setdefault(next(iter(case.before)), case)
    return found


@cache
def table() -> str:
    """A row for each code: what it stands for, an example of its message, its repair."""
    rows = ["| code | what it stands for | example | repair |", "|---|---|---|---|"]
    shown, before = examples(), examples_before()
    for code, of in CODES.items():
        if code in before:
            told = next(each for each in corpus.check(before[code]) if each.code == code)
            rows.append(f"| {code} | {of.title} | {_cell(told.message)} | {_cell(told.fix)} |")
        elif code in shown:
            finding = next(each for each in corpus.run(shown[code])["findings"] if each["code"] == code)
            rows.append(f"| {code} | {of.title} | {_cell(finding['message'])} | {_cell(finding['fix'])} |")
        else:
            rows.append(f"| {code} | {of.title} | - | - |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return text.replace(f"{corpus.CORPUS}/", "").replace("|", "\\|")


TABLE = MarkedTable("findings", table)


if __name__ == "__main__":
    TABLE.write()
