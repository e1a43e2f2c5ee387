"""Proofs of the hardware: what blocks promise on their ports, whatever their inputs do."""
