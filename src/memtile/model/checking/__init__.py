"""What is noted of a run for whoever asks what orders its accesses: nothing, unless somebody does."""
