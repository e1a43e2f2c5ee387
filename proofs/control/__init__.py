"""Proofs of ``rtl/control``."""
