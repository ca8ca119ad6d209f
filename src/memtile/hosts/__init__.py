"""Other people's runtimes that run on the twin."""
