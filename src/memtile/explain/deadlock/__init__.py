"""Who waits for whom in an array that does not go on, and what is the root of it."""
