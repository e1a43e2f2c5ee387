# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of other libraries as NumPy and SciPy arrays, by what these objects can do."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.graphs.graph_error import GraphError

__all__ = ["as_array", "as_edge_weights", "as_splits"]

#: Name of each split here to its name in PyTorch Geometric, DGL and OGB.
_MASKS = {"train": "train", "validation": "val", "test": "test"}
#: Characters of what another library says.
_LONGEST = 200


def as_array(values: Any, name: str) -> Any:
    """Numbers in any form as an array with the same values; sparse ones become CSR arrays.

    Types of PyTorch that NumPy lacks become float32 if that has all their values, as for bfloat16
    and types of 8 bits.

    Parameters
    ----------
    values : torch.Tensor, torch_sparse.SparseTensor, scipy.sparse array or what numpy.asarray takes
        On any device, dense or sparse.
    name : str
        What it is, for messages.

    Raises
    ------
    GraphError
        If it is none of that, such as lists of several lengths; if values are masked, or a sparse
        matrix has an index that is none of its own.
    """
    try:
        return _array(values, name)
    except (GraphError, MemoryError):
        raise
    except Exception as error:  # objects of others can raise anything
        odd = _odd_row(values)
        if odd:
            raise GraphError(f"{name} are ragged: {odd}; give rows of equal lengths") from error
        text = str(error)[:_LONGEST] or type(error).__name__
        raise GraphError(f"{name} cannot be made an array ({text}); give a numpy.ndarray, or "
                         f"lists of numbers") from error


def _array(values: Any, name: str) -> Any:
    if hasattr(values, "to_scipy"):
        values = values.to_scipy(layout="csr")
    if scipy.sparse.issparse(values):
        _check_indices(values, name)
        return scipy.sparse.csr_array(values)
    if hasattr(values, "detach"):
        return _of_tensor(values.detach(), name)
    for row, part in enumerate(values) if isinstance(values, (list, tuple)) else [(None, values)]:
        if np.ma.is_masked(part):
            place = [*([] if row is None else [row]), *np.argwhere(np.ma.getmaskarray(part))[0]]
            raise GraphError(f"{name} has masked values, such as that at "
                             f"({', '.join(map(str, place))}); give numbers there "
                             f"(numpy.ma.filled)")
    found = np.asarray(values)
    if found.dtype == object and found.ndim and (odd := _odd_row(found)):
        raise GraphError(f"{name} are ragged: {odd}; give rows of equal lengths")
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def as_edge_weights(values: Any, name: str) -> Any:
    """A number per edge, as ``as_array`` takes them, in a row or in a column."""
    found = as_array(values, name)
    if scipy.sparse.issparse(found) or found.size != max(found.shape, default=0):
        raise GraphError(f"{name} has shape {found.shape}"
                         f"{', sparse' if scipy.sparse.issparse(found) else ''}; give one number "
                         f"per edge")
    return found.reshape(-1)


def _check_indices(matrix: Any, name: str) -> None:
    """Refuse indices that are none of a sparse matrix's own: SciPy takes them unseen, and reads
    them as others, or memory that is not there."""
    form = matrix.format.upper()
    for line, indices, count in _index_arrays(matrix, f"{name}: indptr of the {form} matrix"):
        if not len(indices) or (indices.min() >= 0 and indices.max() < count):
            continue
        bad = np.flatnonzero((indices < 0) | (indices >= count))[0]
        raise GraphError(f"{name}: entry {bad} of the {form} matrix is in {line} "
                         f"{int(indices[bad])}, but {line}s are 0 to {count - 1}; remove it, or "
                         f"give the matrix its shape")


def _index_arrays(matrix: Any, starts: str) -> Iterator[tuple[str, Any, int]]:
    """What a sparse matrix has indices of, the indices, and how many of that there are.

    Errors call the places where its lines begin ``starts``.
    """
    shape = matrix.shape
    names = ("row", "column") if len(shape) == 2 else ("place",) * len(shape)
    if matrix.format == "coo":
        yield from zip(names, matrix.coords, shape, strict=True)
    elif matrix.format == "dok":
        keys = np.array([*matrix.keys()], dtype=np.int64).reshape(-1, len(shape))
        yield from zip(names, keys.T, shape, strict=True)
    elif matrix.format == "lil":
        yield names[1], np.array([index for row in matrix.rows for index in row], int), shape[1]
    elif matrix.format in ("csr", "csc", "bsr"):
        high, wide = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        lines, count = (1, *shape)[-2] // high, shape[-1] // wide
        if matrix.format == "csc":
            lines, count, names = count, lines, names[::-1]
        ends, stored = np.asarray(matrix.indptr), min(len(matrix.indices), len(matrix.data))
        if len(ends) != lines + 1 or ends[0] or (np.diff(ends) < 0).any() or ends[-1] > stored:
            raise GraphError(f"{starts} goes from {ends[0]} to {ends[-1]} in {len(ends)} steps, "
                             f"but there are {stored} entries and {lines} lines; make it anew from "
                             f"its entries (scipy.sparse.coo_array)")
        yield names[-1], matrix.indices[:ends[-1]], count


def _of_tensor(tensor: Any, name: str) -> Any:
    """An array, or a CSR array, of a tensor of PyTorch without gradient."""
    layout = str(getattr(tensor, "layout", "torch.strided")).removeprefix("torch.")
    if layout.startswith("sparse"):
        if layout != "sparse_coo":
            tensor = tensor.to_sparse_coo()
        if len(tensor.shape) == 2 and tensor.sparse_dim() == 2:
            tensor = tensor.coalesce()
            values = _of_tensor(tensor.values(), name)
            if values.dtype == np.float16:  # which SciPy lacks
                values = values.astype(np.float32)
            return scipy.sparse.csr_array((values, _of_tensor(tensor.indices(), name)),
                                          shape=tuple(tensor.shape))
    if layout != "strided":
        tensor = tensor.to_dense()
    if getattr(tensor, "is_quantized", False):
        raise GraphError(f"{name} is quantised, of type {tensor.dtype}; give its dequantize()")
    for resolve in ("resolve_conj", "resolve_neg"):  # what is conjugate or negative by a flag
        tensor = getattr(tensor, resolve, lambda same=tensor: same)()
    tensor = tensor.cpu()
    try:
        return tensor.numpy()
    except TypeError as error:
        kind = getattr(tensor, "dtype", None)
        if not getattr(kind, "is_floating_point", False):
            raise GraphError(f"{name} is of type {kind}, which NumPy lacks ({error}); give "
                             f"{name} as float32 or int64 (tensor.to)") from error
        return tensor.float().numpy()


def _odd_row(values: Any, place: str = "row") -> str:
    """Which row of nested lists has another length than the first; empty if none has."""
    if not isinstance(values, (list, tuple)) and not (
            isinstance(values, np.ndarray) and values.dtype == object):
        return ""
    lengths = [_length(row) for row in values]
    for number, length in enumerate(lengths):
        if length != lengths[0]:
            first, here = ("is no list" if one is None else f"is of length {one}"
                           for one in (lengths[0], length))
            return f"{place} {number} {here}, but {place} 0 {first}"
    return next((odd for number, row in enumerate(values)
                 if (odd := _odd_row(row, f"{place} {number}, place"))), "")


def _length(row: Any) -> int | None:
    try:
        return None if isinstance(row, str) else len(row)
    except Exception:  # it has none, or does not say
        return None


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
        if not isinstance(parts, Mapping) or not {"train"} <= {*parts} <= {*_MASKS}:
            found = ", ".join(map(str, parts)) if isinstance(parts, Mapping) else parts
            raise GraphError(f"parts is {str(found)[:_LONGEST] or 'empty'}, but names of splits "
                             f"are train (which is needed), validation and test; give a dict of "
                             f"them, such as random_split(labels)")
        return {name: as_array(members, f"the {name} split") for name, members in parts.items()}
    masks = {name: values(f"{mask}_mask") for name, mask in _MASKS.items()}
    if masks["train"] is None:
        raise GraphError("the graph has no train_mask; give parts=random_split(labels, ...) or "
                         "splits of your own")
    return {name: _mask(as_array(mask, f"{_MASKS[name]}_mask"), _MASKS[name])
            for name, mask in masks.items() if mask is not None}


def _mask(values: Any, name: str) -> npt.NDArray[np.bool_]:
    """(V,) array of bool of a mask, or the first of several."""
    if scipy.sparse.issparse(values):
        values = values.toarray()
    if values.dtype.kind not in "biuf" or values.ndim not in (1, 2) or 0 in values.shape[1:] \
            or not np.all((values == 0) | (values == 1)):
        raise GraphError(f"{name}_mask is no array of booleans, one per vertex; give those, or "
                         f"numbers of vertices by parts=")
    mask: npt.NDArray[np.bool_] = values.astype(bool)
    return mask if mask.ndim == 1 else mask[:, 0]
