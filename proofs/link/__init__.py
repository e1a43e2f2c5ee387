"""Proofs of ``rtl/link``."""
