"""The tasks, locks and streams of a design played through without data and without time."""
