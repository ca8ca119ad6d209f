"""File formats that several rooms read."""
