"""What programs are written with."""
