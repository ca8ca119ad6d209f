"""Commands with the names of AMD's tools (``v++``, ``aiecompiler``, ``x86simulator``, ``aiesimulator``).

``memtile tools DIR`` writes small launchers for them. A table of options says of each one what it does here:
it is used, it is accepted without effect, which is said once, or it is refused by name.
"""
