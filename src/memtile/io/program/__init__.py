"""Programs of register accesses: transactions, CDO files, register dumps; read, written, run."""
