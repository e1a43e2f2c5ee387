# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of other libraries are the same ones as arrays."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.host.graphs.interchange.tensors import as_array, as_splits
from tests.host.graphs.interchange.stand_ins import (
    FEATURES,
    LABELS,
    BlockTensor,
    CooTensor,
    SparseTensor,
    Tensor,
    data,
)


@pytest.mark.parametrize("tensor", [CooTensor(), BlockTensor(), SparseTensor(FEATURES),
                                    scipy.sparse.coo_matrix(FEATURES)])
def test_sparse_tensors_stay_sparse(tensor):
    found = as_array(tensor, "x")
    assert isinstance(found, scipy.sparse.csr_array)
    assert found.todense().tolist() == FEATURES.tolist()


class Elements(Tensor):
    """A dense tensor of a type that NumPy may lack."""

    def __init__(self, values, dtype, lacking=True):
        super().__init__(values)
        self.dtype, self._lacking = dtype, lacking
        self.layout, self.shape = "torch.strided", self._values.shape

    def numpy(self):
        if self._lacking:
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return self._values

    def detach(self):
        return self

    cpu = detach

    def float(self):
        return Elements(self._values.astype(np.float32), "float32", lacking=False)


def test_elements_of_types_that_numpy_lacks():
    wide = SimpleNamespace(is_floating_point=True)
    found = as_array(Elements(FEATURES, wide), "x")
    assert found.dtype == np.float32 and found.tolist() == FEATURES.tolist()
    with pytest.raises(GraphError, match=r"y is of type .*, which NumPy lacks \(Got unsupported "
                                         r"ScalarType .*give y as float32 or int64"):
        as_array(Elements(LABELS, SimpleNamespace(is_floating_point=False)), "y")


def codes(torch, dtype):
    """A tensor of each bit pattern of a type of 8 or 16 bits."""
    bits = torch.iinfo(torch.uint8 if dtype.itemsize == 1 else torch.uint16).max + 1
    kind = np.uint8 if dtype.itemsize == 1 else np.uint16
    return torch.from_numpy(np.arange(bits).astype(kind)).view(dtype)


#: Type to bits of exponent and mantissa, the exponent's bias, and whether a zero has a sign and the
#: largest exponent is of infinities.
FLOATS = {"bfloat16": (8, 7, 127, True), "float8_e5m2": (5, 2, 15, True),
          "float8_e4m3fn": (4, 3, 7, False), "float8_e4m3fnuz": (4, 3, 8, False),
          "float8_e5m2fnuz": (5, 2, 16, False)}


@pytest.mark.parametrize("name", FLOATS)
def test_every_value_of_narrow_floats_is_kept(name):
    torch = pytest.importorskip("torch")
    exponents, mantissas, bias, ieee = FLOATS[name]
    tensor = codes(torch, getattr(torch, name))
    pattern = np.arange(len(tensor))
    exponent = pattern >> mantissas & (1 << exponents) - 1
    mantissa = pattern & (1 << mantissas) - 1
    expected = np.ldexp((mantissa + ((exponent > 0) << mantissas)).astype(float),
                        np.maximum(exponent, 1) - bias - mantissas)
    expected *= np.where(pattern >> mantissas + exponents, -1, 1)
    if ieee:
        expected[exponent == (1 << exponents) - 1] = np.nan
    found = as_array(tensor, "x").astype(float)
    known = np.isfinite(found)
    assert np.array_equal(found[known], expected[known]) and known.mean() > 0.8
    if ieee:
        assert np.array_equal(known, np.isfinite(expected))


def test_every_scale_of_8_bits_is_kept():
    torch = pytest.importorskip("torch")
    found = as_array(codes(torch, torch.float8_e8m0fnu), "x")
    assert np.array_equal(found[:255], np.ldexp(1.0, np.arange(255) - 127))


@pytest.mark.parametrize("name", [
    "bfloat16", "half", "float8_e4m3fn", "double", "bool", "uint8", "uint16", "uint32", "uint64",
    "int8", "int32"])
@pytest.mark.parametrize("form", ["dense", "grad", "negative", "coo", "csr", "csc", "bsr", "bsc",
                                  "mkldnn", "hybrid", "strided"])
def test_real_tensors(name, form):
    torch = pytest.importorskip("torch")
    values = np.array([[0, 1, 0, 3], [2, 0, 0, 0]])
    dense = torch.tensor(values).to(getattr(torch, name))
    forms = {
        "dense": lambda: dense, "grad": lambda: dense.requires_grad_(),
        "negative": lambda: torch.complex(torch.zeros(values.shape), -dense.float()).conj().imag,
        "coo": dense.to_sparse, "csr": dense.to_sparse_csr, "csc": dense.to_sparse_csc,
        "bsr": lambda: dense.to_sparse_bsr((1, 2)), "bsc": lambda: dense.to_sparse_bsc((1, 2)),
        "mkldnn": dense.to_mkldnn, "hybrid": lambda: dense.to_sparse(1),
        "strided": lambda: dense.T.contiguous().T}
    try:
        tensor = forms[form]()
    except (RuntimeError, NotImplementedError):
        pytest.skip(f"PyTorch has no such tensor of {name}")
    expected = as_array(dense.detach(), "x").tolist()
    assert expected == ((values != 0) if name == "bool" else values).astype(float).tolist()
    try:
        found = as_array(tensor, "x")
    except GraphError as error:  # what PyTorch itself cannot do with a type
        assert "not implemented for" in str(error)
        return
    assert (found.toarray() if scipy.sparse.issparse(found) else found).tolist() == expected


@pytest.mark.parametrize(("make", "message"), [
    (lambda torch: torch.ones(4, 2, dtype=torch.complex64), "real numbers, not of type complex64"),
    (lambda torch: torch.ones(4, 2, dtype=torch.complex64).conj(), "not of type complex64"),
    (lambda torch: torch.ones(4, 2).to(torch.complex32), "x is of type torch.complex32, which"),
    (lambda torch: torch.empty(4, 2, dtype=torch.uint4), "x is of type torch.uint4, which NumPy"),
    (lambda torch: torch.empty(4, 2, dtype=torch.bits8), "x is of type torch.bits8, which NumPy"),
    (lambda torch: torch.quantize_per_tensor(torch.ones(4, 2), 0.1, 0, torch.qint8),
     r"x is quantised, of type torch\.qint8; give its dequantize\(\)"),
    (lambda torch: torch.empty(4, 2, device="meta"), "x .*meta"),
    (lambda torch: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "x cannot be made"),
    (lambda torch: torch.empty(4, 2, dtype=torch.float4_e2m1fn_x2), "x cannot be made an array"),
    (lambda torch: [torch.ones(2), torch.ones(3)], "x are ragged: row 1 is of length 3"),
])
def test_real_tensors_that_are_refused(make, message):
    torch = pytest.importorskip("torch")
    with pytest.raises(GraphError, match=message):
        Graph.from_pyg(data(x=make(torch)))


@pytest.mark.parametrize(("rows", "message"), [
    ([[1, 2], [3, 4], [5]], "row 2 is of length 1, but row 0 is of length 2"),
    ([[1], [2, 3], [4, 5, 6]], "row 1 is of length 2, but row 0 is of length 1"),
    ([[1, 2], 3], "row 1 is no list, but row 0 is of length 2"),
    ([0, [1, 2]], "row 1 is of length 2, but row 0 is no list"),
    (((1, 2), (3,)), "row 1 is of length 1, but row 0 is of length 2"),
])
def test_ragged_lists_name_the_first_row_that_is_odd(rows, message):
    with pytest.raises(GraphError, match=f"^x are ragged: {message}; give rows of equal lengths$"):
        as_array(rows, "x")


def test_lists_that_are_not_ragged_say_what_is_wrong_with_them():
    class Wrong:
        def __array__(self, *arguments, **options):
            raise ValueError("it has no numbers")

    for values in (Wrong(), [[Wrong()], [Wrong()]]):
        with pytest.raises(GraphError, match=r"^x cannot be made an array \(it has no numbers\)"):
            as_array(values, "x")


def test_masked_values_are_refused():
    values = np.ma.masked_array([[1, 2], [3, 4]], [[0, 0], [1, 0]])
    with pytest.raises(GraphError, match=r"x has masked values, such as that at \(1, 0\)"):
        as_array(values, "x")
    assert as_array(np.ma.masked_array([1, 2], [0, 0]), "x").tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [">f4", ">i8", "<f8", "u1"])
def test_numbers_are_in_the_order_of_bytes_of_this_machine(dtype):
    found = as_array(np.array([1, 2, 3], dtype), "x")
    assert found.dtype.isnative and found.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.tolist() == [1, 2, 3]


def test_splits_are_the_first_of_several_masks_or_parts():
    masks = {"train_mask": Tensor([[1, 0], [0, 1]]), "test_mask": Tensor([0.0, 1.0])}
    found = as_splits(masks.get, None)
    assert {name: mask.tolist() for name, mask in found.items()} == {
        "train": [True, False], "test": [False, True]}
    found = as_splits(masks.get, {"train": [1], "validation": [0]})
    assert {name: members.tolist() for name, members in found.items()} == {
        "train": [1], "validation": [0]}


@pytest.mark.parametrize(("parts", "message"), [
    ({}, "parts is empty, but"), ({"validation": [0]}, "parts is validation, but"),
    ({"train": [0], "val": [1]}, "parts is train, val, but"), (3, "parts is 3, but")])
def test_parts_that_are_no_splits(parts, message):
    with pytest.raises(GraphError, match=message):
        as_splits({}.get, parts)


@pytest.mark.parametrize("mask", [
    np.array(["a"]), np.array([0, 2]), np.array(1), np.zeros((2, 0)), np.zeros((1, 1, 1)),
    np.array([1j])])
def test_what_is_no_mask(mask):
    with pytest.raises(GraphError, match="train_mask is no array of booleans"):
        as_splits({"train_mask": mask}.get, None)


FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


@pytest.mark.parametrize("form", FORMATS)
def test_sparse_matrices_of_all_formats(form):
    dense = np.arange(24.0).reshape(6, 4) % 5
    for kind in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        assert np.array_equal(as_array(kind(dense).asformat(form), "x").toarray(), dense)


def with_index(form, place, index):
    """A matrix of 6 rows and 4 columns, one of whose indices is another."""
    matrix = scipy.sparse.csr_array(np.ones((6, 4))).asformat(form)
    if form == "lil":
        matrix.rows[place][1] = index
    elif form == "dok":
        matrix._dict[place % 6, index] = 1.0
    elif form == "coo":
        matrix.coords = matrix.coords[0], matrix.coords[1].copy()
        matrix.coords[1][place] = index
    else:
        matrix.indices[place] = index
    return matrix


@pytest.mark.parametrize("index", [-1, -7, 6, 77, 2**31 - 1])
@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dok", "lil"])
def test_indices_that_are_none_of_a_matrix(form, index):
    line = "row" if form == "csc" else "column"
    with pytest.raises(GraphError, match=f"x: entry .* is in {line} {index}, but {line}s are 0 to"):
        as_array(with_index(form, 3, index), "x")


@pytest.mark.parametrize("change", [
    lambda starts: starts[:-1], lambda starts: starts + 1, lambda starts: starts[::-1],
    lambda starts: np.append(starts[:-1], 99), lambda starts: np.append(starts, starts[-1])])
@pytest.mark.parametrize("form", ["csc", "csr"])
def test_lines_that_do_not_begin_where_a_matrix_says(form, change):
    matrix = scipy.sparse.csr_array(np.ones((6, 4))).asformat(form)
    matrix.indptr = change(matrix.indptr)
    with pytest.raises(GraphError, match=r"x: indptr of the CS. matrix goes from .* make it anew"):
        as_array(matrix, "x")


@pytest.mark.parametrize("values", [
    [[1, 2], [3, [4]], [5, 6]], [[[1], [2]], [[3], [4, 5]]],
    np.array([[1.0, 2.0], [1.0, [2.0]]], dtype=object)])
def test_lists_that_are_ragged_inside_a_row(values):
    with pytest.raises(GraphError, match="x are ragged: row 1, place 1 is of length"):
        as_array(values, "x")


def test_rows_with_masked_values():
    rows = [np.ma.array([1.0, 2.0], mask=mask) for mask in ([0, 0], [0, 1])]
    with pytest.raises(GraphError, match=r"x has masked values, such as that at \(1, 1\)"):
        as_array(rows, "x")
    assert as_array(rows[:1], "x").tolist() == [[1, 2]]
    with pytest.raises(GraphError, match=r"x has masked values, such as that at \(1\)"):
        as_array([3, np.ma.masked], "x")
