"""What a user declares (buffers, locks, transfers, tasks), turned into register writes."""
