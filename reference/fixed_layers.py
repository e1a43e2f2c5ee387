"""The products of a network's layers, forward and backward, in integers."""

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.reference.arithmetic import bit_length
from hypercast.reference.array_types import SparseArray
from hypercast.reference.dropout import Dropout
from hypercast.reference.float_product import float_product
from hypercast.reference.gradient_factors import gradient_factors
from hypercast.reference.network import AGGREGATE_FIRST, LINEAR, Network, Weight
from hypercast.reference.rows import AllRows
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Pass, Tensor

__all__ = ["Edges", "FixedLayers", "Gradient", "Tensors"]

_NO_DROPOUT = Dropout()
_ALL_ROWS = AllRows()
#: What tensors hold: integers, or, where they stand for real numbers, those.
Number = TypeVar("Number", np.int64, np.float64)
Stored = TypeVar("Stored", np.int64, np.float64, contravariant=True)


class Edges(Protocol):
    """What layers take of a ``Sample``."""

    @property
    def edges(self) -> Sequence[SparseArray]: ...

    @property
    def root_weight(self) -> int: ...


class Tensors(Protocol[Stored]):
    """What layers take of ``FixedTensors``, which explains each."""

    mantissas: dict[Tensor, npt.NDArray[Stored] | SparseArray]

    def base(self, *factors: Tensor) -> int: ...

    def store(self, name: Tensor, sums: npt.NDArray[Stored], base: int,
              dropout: Dropout | None = None) -> None: ...


class Gradient(NamedTuple, Generic[Number]):
    """A parameter's accumulated gradient, ``left.T @ right``.

    Attributes
    ----------
    left, right : array or scipy.sparse array
        Mantissas, a row per vertex.
    accumulators : numpy.ndarray
        The operands' product.
    exponent : int
        Exponent of the accumulators.
    """

    left: npt.NDArray[Number] | SparseArray
    right: npt.NDArray[Number]
    accumulators: npt.NDArray[Number]
    exponent: int

    @property
    def reach(self) -> int:
        """Every accumulator would be below ``2**reach`` even if no two terms cancelled."""
        return self.exponent + bit_length(_product(abs(self.left).T, abs(self.right)))


def _product(a: npt.NDArray[Number] | SparseArray,
             b: npt.NDArray[Number] | SparseArray) -> npt.NDArray[Number]:
    """Exact product of integer matrices; ``check_accumulators`` has bounded its sums.

    They fit in 48 bits and a float64 holds 53, so a dense product may use the fast BLAS.
    """
    if isinstance(a, scipy.sparse.csr_array | scipy.sparse.csc_array):
        return np.asarray((a @ b).todense() if scipy.sparse.issparse(b) else a @ b)
    dense: npt.NDArray[Number] = float_product(a.astype(np.float64), b.astype(np.float64)).astype(
        np.result_type(a, b))
    return dense


class FixedLayers(Generic[Number]):
    """Computes what ``FixedPasses`` stores.

    Parameters
    ----------
    network : Network
        The layers.
    file : Tensors
        Holds X, the weights, and everything made of them.
    """

    def __init__(self, network: Network, file: Tensors[Number]) -> None:
        self._network = network
        self._file: Tensors[Number] = file
        self._tensors: dict[Tensor, npt.NDArray[Number] | SparseArray] = file.mantissas
        self._factors = gradient_factors(network)
        # Mantissas of the last training step, by name of the weights.
        self._inputs: dict[Tensor, npt.NDArray[Number] | SparseArray] = {}

    def take(self, sample: Edges, place: AllRows = _ALL_ROWS) -> None:
        """Use the edges of another ``Sample``, and its ``place``."""
        self._place = place
        forward, transposed = ({id(edges): made(edges) for edges in sample.edges}
                               for made in (place.forward, place.transposed))
        self._root_weight = sample.root_weight
        self._edges = {
            (direction, number): matrix
            for direction, found in ((False, forward), (True, transposed))
            for matrices in [[found[id(edges)] for edges in sample.edges]]
            for number, matrix in enumerate(matrices, 1)}

    def forward(self, number: int,
                step_key: int | None = None) -> tuple[int, npt.NDArray[Number]]:
        """Exponent and accumulators of a layer's sums, without the bias.

        Parameters
        ----------
        number : int
            The layer, from 1.
        step_key : int, optional
            Step key of a training step; without it, there is no dropout.
        """
        training = step_key is not None
        during = Pass.TRAINING if training else Pass.EVALUATION
        dropout = self._network.dropouts[number - 1] if training else _NO_DROPOUT
        weights = self._network.weights(number)
        inputs = {weight.name: self._input(weight, step_key) for weight in weights}
        if training:
            self._inputs |= {name: matrix for name, (_, matrix) in inputs.items()}
        order = self._network.layers[number - 1].order
        name, (source, matrix) = next(iter(inputs.items()))
        if order == AGGREGATE_FIRST:
            aggregated = Tensor(Kind.AGGREGATED, number, during)
            self._drain(aggregated, (EDGES, source),
                        self._over_neighbours((False, number), source, matrix), dropout)
            return self._multiply((aggregated, name), self._tensors[aggregated])
        if order == LINEAR:
            products = [self._multiply((source, name), matrix)
                        for name, (source, matrix) in inputs.items()]
            base, sums = products[0]
            for _, more in products[1:]:
                sums = sums + more
            return base + dropout.exponent, sums
        combined = [Tensor(kind, number, during)
                    for kind in (Kind.COMBINED, Kind.ROOT)[:len(weights)]]
        for result, (name, (source, matrix)) in zip(combined, inputs.items(), strict=True):
            base, sums = self._multiply((source, name), matrix)
            self._file.store(result, sums, base, dropout)
        return self._aggregate((False, number), *combined)

    def parameter_gradients(self, number: int) -> dict[Tensor, Gradient[Number]]:
        """``Gradient`` of each parameter of a layer by name, from that of its outputs."""
        outputs = Tensor(Kind.GRADIENT, number)
        gradient = self._tensors[outputs]
        combined = Tensor(Kind.COMBINED_GRADIENT, number)
        weights = self._network.weights(number)
        if any(combined in self._factors[weight.name] for weight in weights):
            self._drain(combined, (EDGES, outputs),
                        self._over_neighbours((True, number), outputs, gradient))
        ones = np.ones(len(gradient), dtype=np.int64)
        bias = Tensor(Kind.BIAS, number)
        found = {bias: self._gradient(bias, ones)}
        for weight in weights:
            left = self._factors[weight.name][0]
            found[weight.name] = self._gradient(
                weight.name, self._tensors[left] if left.kind == Kind.AGGREGATED
                else self._inputs[weight.name])
        return found

    def input_gradients(self, number: int) -> Iterator[tuple[int, int, npt.NDArray[Number]]]:
        """The gradients of outputs of other layers to which a layer is the last to add something.

        Yields
        ------
        tuple
            The other layer; exponent and accumulators of the gradient.
        """
        if number == 1:
            return
        network, outputs = self._network, Tensor(Kind.GRADIENT, number)
        if network.jumping and number == len(network.layers):
            for name, source, _ in network.weights(number):
                if source in network.jumped:
                    self._drain_transposed(Tensor(Kind.JUMPING_GRADIENT, source), (outputs, name))
                else:
                    base, sums = self._multiply_transposed((outputs, name))
                    yield source, base, sums
            return
        base, sums = self._input_gradient(number)
        if network.finishes(number):
            yield network.source(number), base, sums
        else:
            self._file.store(Tensor(Kind.PARTIAL_GRADIENT, number), sums, base)

    def _input_gradient(self, number: int) -> tuple[int, npt.NDArray[Number]]:
        """Exponent and accumulators of the gradient of a layer's input, from it and those after it.
        """
        layer, weights = self._network.layers[number - 1], self._network.weights(number)
        outputs = Tensor(Kind.GRADIENT, number)
        initial = self._network.added_initial(number)
        if number in self._network.initial:
            product = Tensor(Kind.ROOT_GRADIENT, number)
            self._drain_transposed(product, (outputs, weights[-1].name))
            if initial:
                base, sums = self._aggregate(None, initial, product)
                self._file.store(Tensor(Kind.PARTIAL_GRADIENT, number), sums, base)
        if not self._network.sums_gradients(number):
            factor = outputs if layer.order == LINEAR else Tensor(Kind.COMBINED_GRADIENT, number)
            return self._multiply_transposed((factor, weights[0].name))
        parts = [Tensor(Kind.AGGREGATED_GRADIENT, number)]
        self._drain_transposed(parts[0], (outputs, weights[0].name))
        if added := self._network.added_gradient(number):
            parts.append(added)
        if initial:
            parts.append(initial)
        if layer.root:
            parts.append(Tensor(Kind.ROOT_GRADIENT, number))
            self._drain_transposed(parts[-1], (outputs, weights[-1].name))
        edges = None if layer.order == LINEAR else (True, number)
        return self._aggregate(edges, *parts)

    def _input(self, weight: Weight,
               step_key: int | None) -> tuple[Tensor, npt.NDArray[Number] | SparseArray]:
        """The tensor and mantissas of what weights are multiplied by; of X, what is kept."""
        if weight.source:  # hidden features have been dropped when they were drained
            source = Tensor(Kind.HIDDEN, weight.source,
                            Pass.EVALUATION if step_key is None else Pass.TRAINING)
            return source, self._tensors[source]
        features = self._tensors[FEATURES]
        return FEATURES, features if step_key is None else self._network.dropouts[0].apply(
            features, step_key, self._place.ranks)

    def _multiply(self, factors: tuple[Tensor, Tensor], matrix: npt.NDArray[Number] | SparseArray,
                  ) -> tuple[int, npt.NDArray[Number]]:
        """Exponent and accumulators of a product with weights; ``matrix`` is the first factor."""
        return self._file.base(*factors), _product(matrix, self._tensors[factors[1]])

    def _multiply_transposed(self, factors: tuple[Tensor, Tensor],
                             ) -> tuple[int, npt.NDArray[Number]]:
        """Like ``_multiply``, with transposed weights."""
        outputs, name = factors
        return self._file.base(*factors), _product(self._tensors[outputs], self._tensors[name].T)

    def _aggregate(self, edges: tuple[bool, int] | None, name: Tensor,
                   *roots: Tensor) -> tuple[int, npt.NDArray[Number]]:
        """Exponent and accumulators of sums over neighbours, and of rows added to them.

        Parameters
        ----------
        edges : tuple or None
            Whether they are transposed, and of which layer. None: no neighbours.
        name : Tensor
            Whose rows are summed.
        *roots : Tensor
            Whose rows are added, as far as there are such, or sums.
        """
        matrix = self._tensors[name]
        sums = self._over_neighbours(edges, name, matrix) if edges else self._root_weight * matrix
        for root in roots:
            rows = self._tensors[root][:len(sums)]
            sums[:len(rows)] += self._root_weight * rows
        return self._file.base(EDGES, name), sums

    def _over_neighbours(self, edges: tuple[bool, int], name: Tensor,
                         matrix: npt.NDArray[Number] | SparseArray) -> npt.NDArray[Number]:
        """Sums of rows over neighbours, along edges or transposed ones of a layer."""
        return _product(self._edges[edges],
                        self._place.with_neighbours(matrix, transposed=edges[0], name=name,
                                                    exponent=self._file.base(name)))

    def _gradient(self, name: Tensor,
                  left: npt.NDArray[Number] | SparseArray) -> Gradient[Number]:
        """The gradient of a parameter; ``left`` is its first factor."""
        factors = self._factors[name]
        right = self._tensors[factors[1]]
        left = left[:len(right)]  # rows of a root
        return Gradient(left, right, _product(left.T, right), self._file.base(*factors))

    def _drain(self, name: Tensor, factors: tuple[Tensor, Tensor], sums: npt.NDArray[Number],
               dropout: Dropout = _NO_DROPOUT) -> None:
        """The product of two tensors, times the scale of ``dropout``, becomes a tensor."""
        self._file.store(name, sums, self._file.base(*factors), dropout)

    def _drain_transposed(self, name: Tensor, factors: tuple[Tensor, Tensor]) -> None:
        base, sums = self._multiply_transposed(factors)
        self._file.store(name, sums, base)
