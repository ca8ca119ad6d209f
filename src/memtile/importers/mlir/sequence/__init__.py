"""A host sequence as a program of register accesses: what the firmware of an NPU does for the host.

The operations are those of transactions (``io.program``): writes, pointer patches for arguments, waits for
tokens. So a sequence runs, waits and takes its arrays as a file of instructions does. Numbers may be values;
loops are unrolled. ``program`` goes through a sequence; ``accesses``, ``transfer_forms``, ``sequence_tasks``
and ``sequence_values`` say what its operations do.
"""
