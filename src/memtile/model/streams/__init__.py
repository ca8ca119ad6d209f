"""Stream switches, packets and tile control (AM020 chapter 2, stream switch)."""
