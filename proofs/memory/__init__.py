"""Proofs of ``rtl/memory``."""
