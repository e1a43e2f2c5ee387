"""The products of a network's layers, forward and backward, in integers."""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from hypercast.reference.arithmetic import bit_length
from hypercast.reference.dropout import Dropout
from hypercast.reference.network import AGGREGATE_FIRST, LINEAR

__all__ = ["FixedLayers", "Gradient"]

_NO_DROPOUT = Dropout()


class Gradient(NamedTuple):
    """A parameter's accumulated gradient, ``left.T @ right``.

    Attributes
    ----------
    left, right : array or scipy.sparse array
        Mantissas, a row per vertex.
    accumulators : numpy.ndarray
        Their product.
    exponent : int
        Of the accumulators.
    factors : tuple of str
        Names of the tensors whose exponents it is the sum of.
    """

    left: np.ndarray | scipy.sparse.csr_array
    right: np.ndarray
    accumulators: np.ndarray
    exponent: int
    factors: tuple[str, str]

    @property
    def reach(self):
        """Every accumulator would be below ``2**reach`` even if no two terms cancelled."""
        return self.exponent + bit_length(_product(abs(self.left).T, abs(self.right)))


def _product(a, b):
    """Exact product of integer matrices; ``check_accumulators`` has bounded its sums.

    They fit in 48 bits and a float64 holds 53, so a dense product may use the fast BLAS.
    """
    if scipy.sparse.issparse(a):
        return np.asarray((a @ b).todense() if scipy.sparse.issparse(b) else a @ b)
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.result_type(a, b))


class FixedLayers:
    """Computes what ``FixedGcn`` stores.

    Parameters
    ----------
    network : Network
        The layers.
    file : FixedTensors
        Holds X, the weights, and everything made of them.
    """

    def __init__(self, network, file):
        self._network = network
        self._file = file
        self._tensors = file.mantissas
        self._inputs = {}  # of the last training step: name and mantissas, by name of the weights

    def take(self, sample):
        """Use the edges of another ``Sample``."""
        transposed = {id(edges): edges.T.tocsr() for edges in sample.edges}
        self._root_weight = sample.root_weight
        self._edges = {
            ("A" if matrices is sample.edges else "A^T", number): matrix
            for matrices in (sample.edges, [transposed[id(edges)] for edges in sample.edges])
            for number, matrix in enumerate(matrices, 1)}

    def forward(self, number, step_key=None):
        """Exponent and accumulators of a layer's sums, without the bias.

        Parameters
        ----------
        number : int
            The layer, from 1.
        step_key : int, optional
            Of a training step; without it, there is no dropout.
        """
        training = step_key is not None
        suffix = "" if training else ".eval"
        dropout = self._network.dropouts[number - 1] if training else _NO_DROPOUT
        weights = self._network.weights(number)
        inputs = {weight.name: self._input(weight, step_key) for weight in weights}
        if training:
            self._inputs |= inputs
        order = self._network.layers[number - 1].order
        name, (source, matrix) = next(iter(inputs.items()))
        if order == AGGREGATE_FIRST:
            aggregated = f"M{number}{suffix}"
            self._drain(aggregated, ("A", source), _product(self._edges["A", number], matrix),
                        dropout)
            return self._multiply((aggregated, name), self._tensors[aggregated])
        if order == LINEAR:
            products = [self._multiply((source, name), matrix)
                        for name, (source, matrix) in inputs.items()]
            return products[0][0] + dropout.exponent, sum(sums for _, sums in products)
        combined = [f"{letter}{number}{suffix}" for letter in "TS"[:len(weights)]]
        for result, (name, (source, matrix)) in zip(combined, inputs.items(), strict=True):
            base, sums = self._multiply((source, name), matrix)
            self._file.store(result, sums, base, dropout)
        return self._aggregate(("A", number), *combined)

    def parameter_gradients(self, number):
        """``Gradient`` of each parameter of a layer by name, from that of its outputs."""
        outputs = f"dZ{number}"
        order = self._network.layers[number - 1].order
        gradient = self._tensors[outputs]
        ones = np.ones(len(gradient), dtype=np.int64)
        found = {f"b{number}": self._gradient(("one", outputs), ones)}
        for weight in self._network.weights(number):
            source, inputs = self._inputs[weight.name]
            right = outputs
            if order == AGGREGATE_FIRST:
                source = f"M{number}"
                inputs = self._tensors[source]
            elif order != LINEAR and not weight.root:
                right = f"dT{number}"
                self._drain(right, ("A", outputs), _product(self._edges["A^T", number], gradient))
            found[weight.name] = self._gradient((source, right), inputs)
        return found

    def input_gradient(self, number):
        """Exponent and accumulators of the gradient of a layer's inputs, those of layer 2 up."""
        layer, weights = self._network.layers[number - 1], self._network.weights(number)
        outputs = f"dZ{number}"
        jumping = self._network.jumping[:-1]
        if number == len(self._network.layers):
            for source in jumping:
                self._drain_transposed(f"dC{source}", (outputs, f"W{number}.{source}"))
        if not self._network.sums_gradients(number):
            factor = outputs if layer.order == LINEAR else f"dT{number}"
            return self._multiply_transposed((factor, weights[-1].name))
        parts = [f"dM{number}"]
        self._drain_transposed(parts[0], (outputs, weights[0].name))
        if number - 1 in jumping:
            parts.append(f"dC{number - 1}")
        if layer.root:
            parts.append(f"dS{number}")
            self._drain_transposed(parts[-1], (outputs, weights[-1].name))
        edges = None if layer.order == LINEAR else ("A^T", number)
        return self._aggregate(edges, *parts)

    def _input(self, weight, step_key):
        """Name and mantissas of what weights are multiplied by; of X, what is kept."""
        if weight.source:  # hidden features have been dropped when they were drained
            source = f"H{weight.source}{'.eval' if step_key is None else ''}"
            return source, self._tensors[source]
        dropout = _NO_DROPOUT if step_key is None else self._network.dropouts[0]
        return "X", dropout.apply(self._tensors["X"], step_key)

    def _multiply(self, factors, matrix):
        """Exponent and accumulators of a product with weights; ``matrix`` is the first factor."""
        return self._file.base(*factors), _product(matrix, self._tensors[factors[1]])

    def _multiply_transposed(self, factors):
        """Likewise, with transposed weights."""
        outputs, name = factors
        return self._file.base(*factors), _product(self._tensors[outputs], self._tensors[name].T)

    def _aggregate(self, edges, name, *roots):
        """Exponent and accumulators of sums over neighbours, and of rows added to them.

        Parameters
        ----------
        edges : tuple or None
            A or A^T, and of which layer. None: no neighbours.
        name : str
            Whose rows are summed.
        *roots : str
            Whose rows are added, as far as there are such, or sums.
        """
        matrix = self._tensors[name]
        sums = _product(self._edges[edges], matrix) if edges else self._root_weight * matrix
        for root in roots:
            rows = self._tensors[root][:len(sums)]
            sums[:len(rows)] += self._root_weight * rows
        return self._file.base("A", name), sums

    def _gradient(self, factors, left):
        right = self._tensors[factors[1]]
        left = left[:len(right)]  # rows of a root
        return Gradient(left, right, _product(left.T, right), self._file.base(*factors),
                        factors)

    def _drain(self, name, factors, sums, dropout=_NO_DROPOUT):
        """The product of two tensors, times the scale of ``dropout``, becomes a tensor."""
        self._file.store(name, sums, self._file.base(*factors), dropout)

    def _drain_transposed(self, name, factors):
        base, sums = self._multiply_transposed(factors)
        self._file.store(name, sums, base)
