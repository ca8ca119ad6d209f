"""``aie.utils.test``: what host programs make of their options."""

from __future__ import annotations

from typing import Any

from memtile.iron.utils.npuruntime import NPUKernel


def create_npu_kernel(opts: Any) -> Any:
    """Put the kernel of ``--xclbin``, ``--instr`` and ``--kernel`` into ``opts.npu_kernel``."""
    trace_config = None
    if getattr(opts, "trace_size", 0) > 0:
        from memtile.iron.utils.trace import TraceConfig

        trace_config = TraceConfig(trace_size=opts.trace_size, trace_file=opts.trace_file)
    opts.npu_kernel = NPUKernel(opts.xclbin, opts.instr, kernel_name=opts.kernel, trace_config=trace_config)
    return opts
