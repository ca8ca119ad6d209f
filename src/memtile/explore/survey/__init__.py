"""A folder of designs at once: each is tried, and sorted by what became of it."""
