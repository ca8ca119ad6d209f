"""``aie.utils.hostruntime.xrtruntime``: names of mlir-aie's runtime on XRT."""
