"""Ways in and out of an array: transactions, CDO, register dumps, the driver's simulator socket."""
