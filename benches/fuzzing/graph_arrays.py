# SPDX-License-Identifier: BSD-2-Clause
"""Damaged arrays, as graphs are made of in Python."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.fuzzing.graph_formats import draw_graph
from hypercast.benches.fuzzing.reading import Reading, edges_of, entries_of, labels_of, of_graph
from hypercast.benches.fuzzing.trial import (
    READ,
    REFUSED,
    SAME,
    Trial,
    check_refusal,
    outcome,
    require,
)
from hypercast.benches.fuzzing.value_damage import damaged_array
from hypercast.host.description.model import Model
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_error import GraphError
from hypercast.host.training.trainer import Trainer

__all__ = ["try_arrays"]


def try_arrays(trial: Trial) -> str:
    """A graph of arrays, one of them damaged, and a model that is to be trained on it."""
    random = trial.random
    edges, features, labels, splits = draw_graph(random)
    parts: dict[str, Any] = {
        "edges": edges, "features": features, "labels": labels, **splits,
        "weights": np.ones(len(edges))}
    if trial.chance(0.3):
        parts["features"] = scipy.sparse.csr_array(features)
    written = of_graph(Graph.from_edges(**parts))
    name = random.choice(list(parts))
    values = parts[name] if name in ("features",) else np.array(parts[name])
    parts[name], text = damaged_array(random, values)
    trial.note(f"{name}: {text}")
    # A fault of one part can show in another part that does not fit it.
    names = [*parts, "vertex", "vertices", "weight", "feature"]
    try:
        graph = Graph.from_edges(**parts)
    except GraphError as error:
        return outcome(error, names)
    found = of_graph(graph)
    same = not found.difference(written)
    if not same:
        different = found.difference(_reading(parts))
        require(not different, f"accepted with other {', '.join(different)} than the arrays have")
    try:
        Trainer(graph, model=Model(hidden=(2,)), epochs=1).fit()
    except (ValueError, ArithmeticError) as error:  # raised by the trainer's own checks
        check_refusal(str(error), names)
        return REFUSED
    return SAME if same else READ


def _reading(parts: Mapping[str, Any]) -> Reading:
    labels = labels_of(parts["labels"])
    edges = parts["edges"].reshape(-1, 2) if isinstance(parts["edges"], np.ndarray) else \
        parts["edges"]
    features = parts["features"]
    if not scipy.sparse.issparse(features):
        features = np.asarray(features, dtype=np.float64)
    splits = {name: sorted(np.flatnonzero(part).tolist() if np.asarray(part).dtype == bool
                           else np.asarray(part).tolist())
              for name in ("train", "validation", "test") for part in [parts[name]]}
    return Reading(tuple(features.shape), entries_of(features), edges_of(edges), labels, splits)
