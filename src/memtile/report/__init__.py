"""Tables and pictures of results; nothing is computed here that a result does not already hold."""
