# SPDX-License-Identifier: BSD-2-Clause
"""The array engine: products of matrices, dense or word-sparse."""
