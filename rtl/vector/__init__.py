"""The vector unit: rounding, bias and activation, the loss, and the optimiser."""
