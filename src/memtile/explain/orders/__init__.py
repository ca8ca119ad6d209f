"""Whether a run ends so in every order, or only in its own."""
