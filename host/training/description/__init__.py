"""Descriptions of trainings: graph, model, recipe, device; in Python, in a file, as options."""
