"""The option that says where designs of others are."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--designs PATH``: a folder of mlir-aie's hardware tests, test/npu-xrt."""
    parser.addoption("--designs", metavar="PATH", help="folder test/npu-xrt of mlir-aie")
