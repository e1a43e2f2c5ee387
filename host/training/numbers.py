# SPDX-License-Identifier: BSD-2-Clause
"""How well the integers of a training step stand for real numbers, tensor by tensor."""

import warnings
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse

from hypercast.reference.array_types import FloatMatrix, IntMatrix, SparseArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_step import float_step
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Pass, Tensor
from hypercast.rtl.isa import MASTER_EXPONENT

__all__ = ["SaturationWarning", "TensorNumbers", "step_numbers", "warn_of_saturation"]


class SaturationWarning(UserWarning):
    """Elements of an evaluation that did not fit, so that logits are not what they should be."""


class TensorNumbers(NamedTuple):
    """One tensor in a training step.

    Attributes
    ----------
    name : Tensor
        As in ``FixedPasses``.
    exponent : int
        A value is its mantissa times two to that.
    largest : float
        Largest magnitude of a value.
    bits : int
        Bits, with the sign, that the largest mantissa takes.
    saturations : int
        Elements that did not fit; of parameters, in their update.
    error : float or None
        Root of the summed squared differences from float64, over the root of the summed squares; it
        includes errors of the tensors before. None where all are zero.
    """

    name: Tensor
    exponent: int
    largest: float
    bits: int
    saturations: int
    error: float | None

    def __repr__(self) -> str:
        error = "none" if self.error is None else f"{self.error:.2g}"
        return (f"TensorNumbers({self.name}: exponent={self.exponent}, largest={self.largest:.4g}, "
                f"bits={self.bits}, saturations={self.saturations}, error={error})")


def step_numbers(oracle: FixedGnn, adjacency: SparseArray,
                 features: FloatMatrix) -> list[TensorNumbers]:
    """The numbers of the next training step, which is done.

    Parameters
    ----------
    oracle : FixedGnn
        Before the step, which it does.
    adjacency, features
        What its sample was made of, in real numbers.

    Returns
    -------
    list of TensorNumbers
        Inputs, parameters as they were before the step, then tensors in the order in which they
        are made.
    """
    parameters = {name: np.ldexp(master.astype(np.float64), MASTER_EXPONENT)
                  for name, master in oracle.masters.items()}
    sample = oracle.sample
    expected = float_step(oracle.network, parameters, adjacency, features, sample.labels,
                          sample.splits, oracle.step_key)
    found = {name: (oracle.tensors[name], oracle.exponents[name])
             for name in (EDGES, FEATURES, *parameters)}
    before = oracle.saturations.copy()
    oracle.train_step()
    found |= {name: (oracle.tensors[name], oracle.exponents[name])
              for name in expected if name not in found}
    return [_numbers(name, *tensor, oracle.saturations[name] - before[name], expected[name])
            for name, tensor in found.items()]


def warn_of_saturation(oracle: FixedGnn, adjacency: SparseArray, features: FloatMatrix) -> None:
    """Warn if an evaluation of the present parameters saturates, which is done.

    It has the exponents of the last step, which something may have outgrown.

    Parameters
    ----------
    oracle, adjacency, features
        As of ``step_numbers``.
    """
    before = oracle.saturations.copy()
    oracle.evaluate()
    saturated = oracle.saturations - before + _saturated_parameters(oracle)
    if not saturated:
        return
    network = replace(oracle.network, layers=tuple(
        replace(layer, dropout=0.0) for layer in oracle.network.layers))
    parameters = {name: np.ldexp(master.astype(np.float64), MASTER_EXPONENT)
                  for name, master in oracle.masters.items()}
    sample, last = oracle.sample, len(network.layers)
    expected = float_step(network, parameters, adjacency, features, sample.labels, sample.splits,
                          oracle.step_key)[Tensor(Kind.LOGITS, last)]
    name = Tensor(Kind.LOGITS, last, Pass.EVALUATION)
    found = np.ldexp(oracle.tensors[name].astype(np.float64), oracle.exponents[name])
    off = np.abs(found - expected).max() / max(np.abs(expected).max(), np.finfo(float).tiny)
    count = saturated.total()
    names = ", ".join(sorted({name.of_training for name in saturated}))
    warnings.warn(
        f"{count:,} element{'s' * (count > 1)} of {names} saturated, as they outgrew the headroom "
        f"since the last step: logits are up to {off:.1%} of the largest from those of float64; "
        f"train on, at a lower learning rate or with more headroom in [recipe]",
        SaturationWarning, stacklevel=3)


def _saturated_parameters(oracle: FixedGnn) -> Counter[Tensor]:
    """Elements of weights and biases that their update has made too large for their exponents."""
    found: Counter[Tensor] = Counter()
    limit = 1 << (oracle.recipe.element_width - 1)
    for name, master in oracle.masters.items():
        mantissas = np.ldexp(master.astype(np.float64), MASTER_EXPONENT - oracle.exponents[name])
        found[name] = int(np.count_nonzero((mantissas > limit - 0.5) | (mantissas < -limit - 0.5)))
    return +found


def _numbers(name: Tensor, mantissas: IntMatrix, exponent: int, saturations: int,
             expected: FloatMatrix) -> TensorNumbers:
    values, norm = mantissas * 2.0**exponent, _norm(expected)
    top, bottom = int(mantissas.max()), int(mantissas.min())
    return TensorNumbers(
        name=name, exponent=exponent, largest=max(top, -bottom) * 2.0**exponent,
        bits=max(top, ~bottom).bit_length() + 1, saturations=saturations,
        error=_norm(values - expected) / norm if norm else None)


def _norm(matrix: FloatMatrix) -> float:
    values = matrix.data if scipy.sparse.issparse(matrix) else matrix
    return float(np.linalg.norm(values))
