"""Building a model: from placed tiles to tables at rest."""
