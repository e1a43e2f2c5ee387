"""Proofs of ``rtl/folding``."""
