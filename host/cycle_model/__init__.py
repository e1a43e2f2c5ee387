"""The cycle model: what a training step takes, without simulating its data."""
