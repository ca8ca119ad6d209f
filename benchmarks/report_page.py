"""Processor time and memory of a run of 38 columns at work for 1.66 M cycles, and of its page."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

from bench_array import LARGE, streaming_array
from processor_time import processor_time

COLUMNS, CYCLES = 38, 1_660_000


def main() -> None:
    """Run the array, write its page, print what it took."""
    array = streaming_array(LARGE, COLUMNS, COLUMNS)
    began = processor_time()
    result = array.run(CYCLES, history=True)
    with tempfile.TemporaryDirectory() as folder:
        result.report(page := Path(folder, "report.html"))
        size = page.stat().st_size / 1e6
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{COLUMNS} columns, {result.cycles:,} cycles, page of {size:.2f} MB")
    print(f"{processor_time() - began:.1f} s, {used:.0f} MB")


if __name__ == "__main__":
    main()
