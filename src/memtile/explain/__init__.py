"""What a run means: how it ended, who waits for whom, causes as sentences."""
