"""Proofs of ``rtl/vector``."""
