"""Designs that isolate one timing constant each, and what a trace of them says that it is.

``script`` is how a design is put down, ``experiment_files`` writes all of them,
``seen`` and ``fitted_constants`` make numbers of their traces, ``cases`` the file of a measurement.
"""
