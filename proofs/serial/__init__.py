"""Proofs of ``rtl/serial``."""
