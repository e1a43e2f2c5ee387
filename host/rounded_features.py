"""Features that rounding to elements makes zero: a few are warned of, a whole column is refused."""

import math
import warnings

import numpy as np
import scipy.sparse

from hypercast.host.graph_checks import GraphError
from hypercast.reference.quantization import lowest_exponent

__all__ = ["RoundingWarning", "check_rounding"]

#: A smaller share of the values is not warned of: some of any are near zero.
_SHARE = 0.01


class RoundingWarning(UserWarning):
    """Features that are zero to the chip, but not to the graph."""


def check_rounding(features, width):
    """Warn of features that are not zero, but will be rounded to it.

    All have one exponent, by the largest of them.

    Parameters
    ----------
    features : (V, F) array or scipy.sparse.csr_array of float64
        As they are trained on.
    width : int
        Bits of an element.

    Raises
    ------
    GraphError
        If all that a column has are rounded to zero.
    """
    sparse = scipy.sparse.issparse(features)
    magnitudes = abs(features.data if sparse else features)
    largest = float(magnitudes.max(initial=0))
    unit = math.ldexp(1.0, lowest_exponent(largest, width))
    lost = (magnitudes <= unit / 2) & (magnitudes > 0)
    if not lost.any():
        return
    if sparse:
        counts, gone = (np.bincount(features.indices[chosen], minlength=features.shape[1])
                        for chosen in (magnitudes > 0, lost))
    else:
        counts, gone = (np.count_nonzero(chosen, axis=0) for chosen in (magnitudes > 0, lost))
    rounding = (f"all features are rounded to multiples of {unit:.3g}, so that {width}-bit "
                f"elements hold the largest, {largest:.3g}")
    empty = np.flatnonzero((gone == counts) & (counts > 0))
    if empty.size:
        columns = f"feature {empty[0]}" if empty.size == 1 else \
            f"{empty.size} features, such as {empty[0]},"
        values = magnitudes[features.indices == empty[0]] if sparse else magnitudes[:, empty[0]]
        raise GraphError(
            f"{columns} would be zero at all vertices: {rounding}, and it is at most "
            f"{values.max():.3g}; scale features to like sizes, correct outliers, or leave it out")
    share = gone.sum() / counts.sum()
    if share > _SHARE:
        warnings.warn(
            f"{share:.1%} of the features that are not zero will be: {rounding}; scale features to "
            f"like sizes, or correct outliers", RoundingWarning, stacklevel=2)
