"""What can be said of a design before it runs: budgets, circuits, locks, rows, sharing."""
