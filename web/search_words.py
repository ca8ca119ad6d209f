"""What people search for on the site, and which page answers it; ``search_scorer.js`` ranks by it."""

from __future__ import annotations

from collections.abc import Mapping

KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "findings": ("stuck", "deadlock", "hang", "hangs", "race", "finding"),
    "array": ("packet", "packet id", "packet switch", "stream", "broadcast", "cascade"),
    "allocation": ("bank conflict", "bank", "lock value", "lock", "initial value", "double buffer"),
    "tilings": ("padding", "pad", "tiling", "transpose", "stride"),
    "notebooks": ("notebook", "jupyter", "colab"),
    "plan": ("gemm", "matmul", "convolution", "attention", "matrix multiplication"),
    "explain": ("coredump", "core dump", "dump"),
    "board": ("dead board", "board", "dead", "timeout", "hardware hang"),
    "speed": ("how fast", "speed", "fast", "slow run", "simulation speed"),
    "lookup": ("register", "address", "offset", "dma_s2mm_0_ctrl"),
    "trace": ("perfetto", "trace", "vcd"),
    "timing": ("latency", "clock", "calibration"),
    "mlir": ("mlir", "aie.objectfifo", "objectfifo"),
    "iron": ("iron",),
    "check": ("check", "lint"),
    "sweep": ("sweep", "pareto", "energy", "dask"),
    "design_space": ("design space", "cite", "citation", "citing"),
    "agents": ("mcp", "agent", "llm"),
    "files": ("xclbin", "txn", "format"),
    "readme": ("install", "installation", "pip"),
    "tutorial": ("tutorial", "getting started", "first"),
}
"""What people search for -> the page that answers it; more words count more."""

WEIGHTS: Mapping[str, float] = {
    "changelog": 0.1,
    "contributing": 0.2,
    "silicon": 0.2,
    "deviations": 0.2,
    "features": 0.3,
    "claims": 0.2,
    "speed": 0.5,
    "reference": 0.5,
    "stability": 0.5,
    "gallery": 0.6,
}
"""Of results of the search: pages of tables and measurements come behind the others, which have 1."""
