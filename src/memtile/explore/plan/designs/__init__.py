"""Designs with holes: what a plan fills in are the defaults of ``design()``; a kept design is such a file."""
