"""Proofs of ``rtl/aggregation``."""
