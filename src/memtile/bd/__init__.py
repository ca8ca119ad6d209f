"""Buffer descriptors: one typed descriptor for three tile kinds, its register words, and its legality."""
