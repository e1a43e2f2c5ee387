"""Hypercast: graph convolutional networks trained on a hypercube of cores, bit for bit."""
