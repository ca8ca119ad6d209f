"""The report of a run: one page that needs nothing else, the same as text and for Perfetto."""
