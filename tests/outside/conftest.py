"""The options that say where designs and graphs of others are."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--designs PATH``: a folder of mlir-aie's hardware tests, test/npu-xrt; ``--mutants`` of them."""
    parser.addoption("--designs", metavar="PATH", action="append", help="folder test/npu-xrt of mlir-aie")
    parser.addoption("--graphs", metavar="PATH", help="folder of public ADF graphs")
    parser.addoption("--mutants", metavar="N", type=int, help="run N of these designs with mistakes in them")
    parser.addoption(
        "--programs",
        metavar="PATH",
        action="append",
        help="folder of binary files, instructions and containers",
    )
    parser.addoption("--load-only", action="store_true", help="load these mutants, do not run them")
    parser.addoption("--first-mutant", metavar="N", type=int, default=0, help="number of the first one")
    parser.addoption("--mutant-processes", metavar="N", type=int, help="processes that run them")
