"""Planetoid's files ind.NAME.*: Cora, CiteSeer, PubMed.

(Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings, 2016.)
"""

import collections
import hashlib
import io
import pickle
from pathlib import Path

import numpy as np
import scipy.sparse

from hypercast.host.datasets.error import DatasetError
from hypercast.host.graph import Graph

__all__ = ["load_planetoid"]

#: SHA-256 of the known data sets' files.
CHECKSUMS = {
    "cora": {
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
}
_PICKLES = ("x", "y", "tx", "ty", "allx", "ally", "graph")
_REMEDY = "download it again from https://github.com/kimiyoung/planetoid (data)"


def _encode(text, encoding):
    """How Python 3 pickles bytes for Python 2; only that encoding is let through."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"encoding {encoding} is not expected in a data set")
    return text.encode(encoding)


def _reconstruct(subtype, shape, typecode):
    """How NumPy pickles the array that the data that follow are put in."""
    if subtype is not np.ndarray:
        raise pickle.UnpicklingError(f"array type {subtype} is not expected in a data set")
    return np.ndarray(shape, typecode)


#: All that a pickle may ask for, by the last part of the module's name and the name: modules were
#: renamed over the years (numpy.core and numpy._core, scipy.sparse.csr and scipy.sparse._csr).
_ALLOWED = {
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("collections", "defaultdict"): collections.defaultdict,
    ("_codecs", "encode"): _encode,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("multiarray", "_reconstruct"): _reconstruct,
    ("csr", "csr_matrix"): scipy.sparse.csr_matrix,
    ("_csr", "csr_matrix"): scipy.sparse.csr_matrix,
}


class _Unpickler(pickle.Unpickler):
    """Loads lists, dictionaries, NumPy arrays and SciPy CSR matrices, and nothing else."""

    def find_class(self, module, name):
        try:
            return _ALLOWED[module.rpartition(".")[2], name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"it asks for {module}.{name}, which no data set needs") from None


def _unpickle(path, content):
    try:
        return _Unpickler(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # a damaged pickle can raise anything
        raise DatasetError(f"{path} is truncated or damaged ({error}); {_REMEDY}") from error


def load_planetoid(folder, *, name=None, verify=True):
    """A graph from a folder of Planetoid files, with Planetoid's split.

    Trained on the vertices of ``x``, validated on the next 500, tested on those of
    ``test.index``. Test numbers that are left out belong to vertices without features or label.
    A vertex whose row of labels is zero has none, and is in no split.

    Parameters
    ----------
    folder : path-like
        Where the files are. They are pickles, but nothing in them is executed.
    name : str, optional
        The NAME in the files' names; needed only if there are several.
    verify : bool
        Whether the files of a known data set (cora) must be the original ones.

    Raises
    ------
    DatasetError
        If a file is missing, damaged, or not the one expected.
    """
    folder = Path(folder)
    name = name or _only_name(folder)
    parts = {}
    for part in (*_PICKLES, "test.index"):
        path = folder / f"ind.{name}.{part}"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DatasetError(f"{path} cannot be read ({error.strerror}); {_REMEDY}") from error
        expected = CHECKSUMS.get(name, {}).get(part)
        found = hashlib.sha256(content).hexdigest()
        if verify and expected and found != expected:
            raise DatasetError(f"{path} is not the original: SHA-256 should be {expected}, but is "
                               f"{found}; {_REMEDY}, or load with verify=False")
        parts[part] = _unpickle(path, content) if part in _PICKLES else content
    try:
        return _assemble(parts)
    except (ValueError, OverflowError, TypeError, AttributeError, IndexError) as error:
        raise DatasetError(
            f"the files ind.{name}.* in {folder} do not fit each other ({error}); {_REMEDY}"
        ) from error


def _only_name(folder):
    names = sorted(path.name.removeprefix("ind.").removesuffix(".graph")
                   for path in folder.glob("ind.*.graph"))
    if len(names) != 1:
        found = f"several data sets ({', '.join(names)}); give a name" if names else (
            f"no file ind.NAME.graph; {_REMEDY}")
        raise DatasetError(f"{folder} has {found}")
    return names[0]


def _csr(matrix):
    """A CSR matrix whose parts were read from a file, with its indices checked."""
    matrix = scipy.sparse.csr_array(
        (matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    matrix.check_format(full_check=True)
    return matrix


def _assemble(parts):
    """The graph; raises ``ValueError`` and the like if the parts contradict each other."""
    known, tested = _csr(parts["allx"]), _csr(parts["tx"])
    onehot = np.asarray(parts["ally"])
    numbers = np.array(parts["test.index"].split(), dtype=np.int64)
    counts = known.shape[0], tested.shape[0], tested.shape[0]
    if counts != (len(onehot), len(parts["ty"]), len(numbers)):
        raise ValueError(f"features of {counts[0]} and {counts[1]} vertices, labels of "
                         f"{len(onehot)} and {len(parts['ty'])}, {len(numbers)} test numbers")
    if len(np.unique(numbers)) != len(numbers) or numbers.min() < len(onehot):
        raise ValueError("test.index has a number twice or one that allx has, too")

    vertices = int(numbers.max()) + 1
    if vertices > 2 * sum(counts[:2]):
        raise ValueError(f"test.index reaches to {vertices - 1}, leaving most vertices out")
    rows = np.full(vertices, -1)  # row of each vertex in the features of allx, then tx
    rows[:len(onehot)] = np.arange(len(onehot))
    rows[numbers] = len(onehot) + np.arange(len(numbers))
    present = np.flatnonzero(rows >= 0)
    spread = scipy.sparse.csr_array(
        (np.ones(len(present)), (present, rows[present])), shape=(vertices, sum(counts[:2])))
    onehot = spread @ np.concatenate([onehot, np.asarray(parts["ty"])])
    labels = np.where(onehot.any(axis=1), onehot.argmax(axis=1), -1)

    edges = [(int(source), int(target))
             for source, targets in parts["graph"].items() for target in targets]
    train = len(parts["y"])
    splits = {"train": np.arange(train), "test": numbers,
              "validation": np.arange(train, min(train + 500, counts[0]))}
    return Graph.from_edges(
        np.array(edges), spread @ scipy.sparse.vstack([known, tested]), labels,
        **{name: members[labels[members] >= 0] for name, members in splits.items()})
