"""Proofs of ``rtl/lib``."""
