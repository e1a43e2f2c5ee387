"""Tensors of other libraries as NumPy and SciPy arrays, by what they can do."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.graph_checks import GraphError

__all__ = ["as_array", "as_splits"]

#: Name of each split here to its name in PyTorch Geometric, DGL and OGB.
_MASKS = {"train": "train", "validation": "val", "test": "test"}


def as_array(tensor: Any) -> Any:
    """A tensor, or what ``numpy.asarray`` takes, as an array; sparse ones become CSR arrays.

    Parameters
    ----------
    tensor : torch.Tensor, torch_sparse.SparseTensor, scipy.sparse array or array
        On any device, dense or sparse.
    """
    if hasattr(tensor, "to_scipy"):
        tensor = tensor.to_scipy(layout="csr")
    if scipy.sparse.issparse(tensor):
        return scipy.sparse.csr_array(tensor)
    if getattr(tensor, "is_sparse_csr", False):
        tensor = tensor.to_sparse_coo()
    if getattr(tensor, "is_sparse", False):
        tensor = tensor.coalesce()
        return scipy.sparse.csr_array(
            (as_array(tensor.values()), as_array(tensor.indices())), shape=tuple(tensor.shape))
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().numpy()
    return np.asarray(tensor)


def as_splits(values: Callable[[str], Any],
              parts: Mapping[str, object] | None) -> dict[str, npt.NDArray[Any]]:
    """Members of each split, from ``parts`` or from the masks among ``values``.

    Parameters
    ----------
    values : callable
        Returns the value of a name, or None: of ``train_mask``, ``val_mask`` and ``test_mask``.
    parts : dict or None
        Members by ``"train"``, ``"validation"`` and ``"test"``.

    Raises
    ------
    GraphError
        If there are neither.
    """
    if parts is not None:
        return {name: as_array(members) for name, members in parts.items()}
    masks = {name: values(f"{mask}_mask") for name, mask in _MASKS.items()}
    if masks["train"] is None:
        raise GraphError("the graph has no train_mask; give parts=random_split(labels, ...) or "
                         "splits of your own")
    return {name: _mask(as_array(mask), _MASKS[name])
            for name, mask in masks.items() if mask is not None}


def _mask(values: npt.NDArray[Any], name: str) -> npt.NDArray[np.bool_]:
    """(V,) array of bool of a mask, or the first of several."""
    if values.ndim not in (1, 2) or not np.all((values == 0) | (values == 1)):
        raise GraphError(f"{name}_mask is no array of booleans, one per vertex; give those, or "
                         f"numbers of vertices by parts=")
    values = values.astype(bool)
    return values if values.ndim == 1 else values[:, 0]
