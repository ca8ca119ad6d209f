"""Operations of mlir-aie in all their spellings, read into a ``description``.

The text has changed twice: numbers became values (``use_lock(%l, Release, %c1)``), lists in angle brackets
became ``sizes = [..] strides = [..]``, positions got names. Operands, types and attributes can be told apart
by their shape, so one function an operation reads all spellings; the generic form has them as attributes.
"""
