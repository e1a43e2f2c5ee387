"""Cores in turn on the logic of one, for FPGAs that are too small for all of them."""
