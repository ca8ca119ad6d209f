"""Plans: from what a layer needs to designs for memory tiles, tried and ranked."""
