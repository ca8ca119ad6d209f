"""What the rows were, commit by commit: a record for each is a line of ``history.jsonl``.

``make bench JSON=file`` measures them; ``.venv/bin/python benchmarks/history.py file`` appends what it wrote,
and prints how each rate changed since the record before. Rates of two machines are not to be compared, so a
record names its machine.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"
Record = dict[str, Any]
RATES = ("stepped cycles/s", "fast-forward cycles/s")
OF_COLUMNS = "ns/cycle of "


def processor() -> str:
    """What the machine calls its processor."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def record(rows: dict[str, Any]) -> Record:
    """A record of rows that were measured now, with this commit."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=HERE, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    return {
        "commit": git("rev-parse", "--short=10", "HEAD")
        + ("+" if git("status", "--porcelain", "-uno") else ""),
        "date": datetime.now(UTC).date().isoformat(),
        "version": version("memtile"),
        "machine": processor(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "rows": rows,
    }


def records(file: Path = HISTORY) -> list[Record]:
    """All records, the oldest first."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines if line]


def changes(before: Record, now: Record) -> list[str]:
    """A line for each rate that both records have."""
    lines = []
    for row, figures in now["rows"].items():
        for figure, value in figures.items():
            was = before["rows"].get(row, {}).get(figure)
            if figure.endswith("/s") and isinstance(value, int | float) and was:
                lines.append(f"{row:<16}{figure:<28}x {value / was:.2f}")
    return lines


def draw(history: Sequence[Record], picture: Path) -> Path:
    """The cost of columns in the latest record that has it, and what became of two rates.

    Raises:
        ValueError: no record has the cost of columns.
    """
    from matplotlib.figure import Figure

    costs = [
        {
            int(name.removeprefix(OF_COLUMNS)): value
            for name, value in of.items()
            if name.startswith(OF_COLUMNS)
        }
        for of in (each["rows"].get("columns8", {}) for each in history)
    ]
    latest = next((cost for cost in reversed(costs) if cost), None)
    if latest is None:
        raise ValueError("no record has the cost of columns")
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    growth, rates = figure.subplots(1, 2)
    growth.loglog(list(latest), list(latest.values()), "o-", label="measured")
    one = latest[min(latest)]
    growth.loglog(list(latest), [one * columns / min(latest) for columns in latest], ":", label="linear")
    growth.set(xlabel="busy columns of 38", ylabel="ns a cycle, stepped", title="Growth")
    growth.set_xticks(list(latest), [str(columns) for columns in latest], minor=False)
    for row in ("stream12", "halo1200", "gemm1"):
        for name, style in zip(RATES, ("o--", "o-"), strict=True):
            values = [each["rows"].get(row, {}).get(name) for each in history]
            rates.semilogy(
                [v / 1e6 if v else float("nan") for v in values], style, label=f"{row}, {name[:-9]}"
            )
    rates.set(ylabel="M cycles/s", title="History")
    rates.set_xticks(range(len(history)), [each["commit"][:7] for each in history], rotation=30)
    for axes in (growth, rates):
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize="x-small")
    figure.savefig(picture, dpi=110)
    return picture


def main() -> None:
    """Append a record of what ``rows.py`` wrote into a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path, help="what make bench JSON=file wrote")
    parser.add_argument("--history", type=Path, default=HISTORY, help="file to append to")
    given = parser.parse_args()
    known, now = records(given.history), record(json.loads(given.rows.read_text(encoding="utf-8")))
    with given.history.open("a", encoding="utf-8") as file:
        file.write(json.dumps(now) + "\n")
    print("\n".join(changes(known[-1], now)) if known else "the first record")


if __name__ == "__main__":
    main()
