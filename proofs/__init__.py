# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of the hardware: what blocks promise on their ports, whatever their inputs do."""
