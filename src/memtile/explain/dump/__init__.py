"""What stood in an array when it died: coredumps, written and read, and what they say."""
