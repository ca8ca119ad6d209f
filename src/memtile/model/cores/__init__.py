"""The cores of compute tiles, as far as memory sees them (AM020 chapter 4)."""
