"""The ends of streams at a test bench, and external memory."""
