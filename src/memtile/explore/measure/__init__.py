"""Designs that isolate one timing constant each, and what a trace of them says that it is.

``script`` is how a design is put down, ``designs`` has all of them, ``text`` and ``files`` write them,
``seen`` and ``reading`` make numbers of their traces, ``cases`` the file of a measurement.
"""
