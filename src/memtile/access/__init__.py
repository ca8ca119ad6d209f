"""What moves: the address walk of a descriptor; tilings and views lowered to descriptors. No time here."""
