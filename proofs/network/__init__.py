"""Proofs of ``rtl/network``."""
