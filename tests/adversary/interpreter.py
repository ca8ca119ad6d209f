"""Whole states of random designs after a run; as a command in a process of its own, without compiled code.

The command reads a pickled kind, design and number of cycles at a time from standard input, and answers each.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import cache
from hashlib import sha256
from typing import Any

from adversary import array_designs
from places import ROOT
from support.designs.makers import MAKERS
from support.engine.states import arrays


def digests(kind: str, design: Any, cycles: int) -> dict[str, str]:
    """Return a digest of each column of the state after so many cycles of stepping."""
    if kind == "array":
        array = array_designs.build(design)
        engine, stop = array.engine, array.run(cycles, fast_forward=False).status
    else:
        engine = MAKERS[kind].build(design, False)
        stop = engine.run(cycles)
    found = {name: sha256(data).hexdigest() for name, data in arrays(engine.state).items()}
    return {**found, "stop": stop.name, "now": str(engine.now)}


@cache
def _process() -> subprocess.Popen[bytes]:
    environment = {**os.environ, "MEMTILE_JIT": "0", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}
    command = [sys.executable, "-m", "adversary.interpreter"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def interpreted(kind: str, design: Any, cycles: int) -> dict[str, str]:
    """Return what :func:`digests` gives in a process without compiled code."""
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump((kind, design, cycles), process.stdin)
    process.stdin.flush()
    answer: dict[str, str] = pickle.load(process.stdout)
    return answer


def main() -> None:
    """Answer until standard input ends."""
    while True:
        try:
            given = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(digests(*given), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
