"""Evaluates parameters that were trained elsewhere."""

from collections.abc import Mapping

from hypercast.reference.array_types import IntArray
from hypercast.reference.fixed_passes import FixedPasses
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Tensor

__all__ = ["Judge"]


class Judge(FixedPasses):
    """Forward passes of any parameters, such as those trained on samples, on a whole graph."""

    def judge(self, masters: Mapping[Tensor, IntArray]) -> Metrics:
        """``Metrics`` of a pass without dropout, with exponents chosen from the pass itself.

        Parameters
        ----------
        masters : dict
            Master weights by parameter.
        """
        self.round_weights(masters)
        return self.metrics(self.calibrated(self.forward))
