"""Training: recipes, the trainer, its run folder and checkpoints, and its measures."""
