"""Buffer descriptors: one typed descriptor for all tile kinds, its register words, and its legality."""
