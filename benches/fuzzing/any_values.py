# SPDX-License-Identifier: BSD-2-Clause
"""Values of any kind for the parts of a graph."""

import contextlib
import importlib.util
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import scipy.sparse

from hypercast.benches.fuzzing.trial import READ, Trial, outcome, require
from hypercast.benches.fuzzing.value_damage import EDGES
from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_error import GraphError

__all__ = ["try_any_value", "try_tensors"]

_TYPES = ("?", "i1", "u8", "f2", "f4", "f8", "g", "c8", "U2", "S1", "O", "m8[s]", ">f8", ">i4")
#: Types of PyTorch, also types that NumPy lacks, and layouts.
_TENSORS = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool",
            "uint8", "int32", "uint16", "complex64")
_LAYOUTS = ("strided", "to_sparse", "to_sparse_csr", "to_sparse_csc", "to_mkldnn", "requires_grad_")


class _Hostile:
    """Answers with errors of kinds that nobody expects."""

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("two\nlines")


class _Lacking:
    """A tensor of a type that NumPy has not."""

    layout = "torch.strided"
    dtype = SimpleNamespace(is_floating_point=False)

    def detach(self) -> "_Lacking":
        return self

    cpu = detach

    def numpy(self) -> Any:
        raise TypeError("Got unsupported ScalarType Int4")


def _value(random: Random, depth: int = 0) -> Any:
    """A value of any kind; nested lists are ragged more often than not."""
    kind = random.choice(("edge", "list", "list", "array", "sparse", "masked", "other"))
    if kind == "list" and depth < 3:
        return [_value(random, depth + 1) if random.random() < 0.3 else random.choice(
            ([0, 1], [1, 2], [0], 0, 1, 2, 0.5, "a")) for _ in range(random.randint(0, 5))]
    shape = tuple(random.randint(0, 4) for _ in range(random.randint(0, 3)))
    if kind in ("array", "masked"):
        with np.errstate(all="ignore"):
            values: Any = np.array([random.choice((0, 1, 2, 3)) for _ in range(
                int(np.prod(shape)))]).reshape(shape).astype(random.choice(_TYPES))
        return values if kind == "array" else np.ma.masked_array(
            values, mask=np.full(shape, random.choice((False, True))))
    if kind == "sparse":
        return scipy.sparse.random_array(shape or (4, 4), density=0.5)
    return random.choice((*EDGES, _Hostile(), _Lacking(), range(4), {0, 1}, len, object(), 1j, b"x",
                          iter([0, 1]), np.datetime64("NaT"), np.float32(1), networkx.path_graph(4),
                          SimpleNamespace(shape=(4, 4)), [np.zeros(2), np.zeros(3)]))


def try_any_value(trial: Trial) -> str:
    """A graph of parts; one of them is of any kind."""
    random = trial.random
    make, arguments = random.choice(_makers())
    name = random.choice(list(arguments))
    arguments[name] = value = _value(random)
    trial.note(f"{make.__name__}, {name}: {type(value).__name__}")
    try:
        found: Any = make(**arguments)
    except GraphError as error:
        text = str(error)
        require("; " in text or " must be " in text, f"the refusal says no remedy: {text}")
        return outcome(error, [""])
    if isinstance(found, Graph):
        require(found.edges.shape == (found.vertices,) * 2 and
                found.features.shape[0] == len(found.splits) == found.vertices,
                "a graph whose parts do not fit")
    return READ


def _makers() -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    """Functions that make graphs and splits, and arguments that they take."""
    vertices = np.arange(4)
    parts = {"features": np.eye(4), "labels": [0, 1, 0, 1], "train": [0], "validation": [1],
             "test": [2]}
    return [
        (Graph.from_edges, {
            **parts, "edges": [[0, 1], [1, 2]], "weights": None, "directed": False}),
        (Graph.from_scipy, {**parts, "adjacency": np.eye(4), "directed": True}),
        (Graph.from_networkx, {**parts, "graph": networkx.path_graph(4), "weight": None}),
        (_of_pyg, {
            "x": np.eye(4), "y": vertices % 2, "edge_index": np.array([[0, 1], [1, 2]]),
            "adj_t": None, "train_mask": vertices == 0, "val_mask": vertices == 1,
            "test_mask": None, "weight": None, "parts": None}),
        (random_split, {"labels": vertices % 2, "train": 0.5, "validation": 0.2, "seed": 0})]


def _of_pyg(weight: Any, parts: Any, **data: Any) -> Graph:
    return Graph.from_pyg(SimpleNamespace(**data), weight=weight, parts=parts)


def try_tensors(trial: Trial) -> str:
    """Features in a tensor of any type and layout of PyTorch; of NumPy, where it is not there."""
    random = trial.random
    values = np.array([[random.randint(0, 3) for _ in range(4)] for _ in range(4)])
    tensor: Any = values.astype(random.choice(("f2", "f4", "u2", "?", "c8")))
    kind = str(tensor.dtype)
    if importlib.util.find_spec("torch"):
        import torch
        kind, layout = random.choice(_TENSORS), random.choice(_LAYOUTS)
        trial.note(f"{kind}, {layout}")
        tensor = torch.tensor(values).to(getattr(torch, kind))
        with contextlib.suppress(RuntimeError):  # PyTorch has not every layout of every type
            tensor = tensor if layout == "strided" else getattr(tensor, layout)()
    data = SimpleNamespace(x=tensor, y=np.arange(4) % 2, edge_index=np.array([[0], [1]]),
                           train_mask=np.arange(4) < 2)
    try:
        features: Any = Graph.from_pyg(data).features
    except GraphError as error:
        require("complex" in kind or "not implemented" in str(error),
                f"a tensor of {kind} is refused: {error}")
        return outcome(error, ["features", "x"])
    found = features.toarray() if scipy.sparse.issparse(features) else features
    expected = (values != 0) if kind.startswith("bool") else values
    require(np.array_equal(found, expected), f"a tensor of {kind} became {found}, not {expected}")
    return READ
