"""Finds how to train a network on several boards: who does what, in which order."""
