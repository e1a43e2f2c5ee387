"""The array engine: products of matrices, dense or word-sparse."""
