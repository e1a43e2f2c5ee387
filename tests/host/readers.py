"""Every reader of files, with a sound example for it: what tests of damaged files go through."""

import collections
import gzip
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from hypercast import Graph, Model, Trainer
from hypercast.host.checkpoint_file import load_checkpoint
from hypercast.host.datasets import load
from hypercast.host.description.description import load_description
from hypercast.host.interchange.weights import load_weights, save_weights
from hypercast.host.report.folder import load_run
from hypercast.reference.network import initial_parameters

__all__ = ["READERS", "Reader"]

_VERTICES, _FEATURES = 12, 5
_EDGES = np.array([[vertex, (vertex + 1) % _VERTICES] for vertex in range(_VERTICES)])
_LABELS = np.arange(_VERTICES) % 3
_VALUES = np.arange(_VERTICES * _FEATURES).reshape(_VERTICES, _FEATURES) % 7 - 3.0
_NETWORK = Model(hidden=3).network(
    Graph.from_edges(_EDGES, _VALUES, _LABELS, train=range(_VERTICES)))


class Reader(NamedTuple):
    """A reader of files.

    Attributes
    ----------
    write : callable
        Writes a sound example into an empty folder.
    read : callable
        Reads what is in the folder, or raises ``ValueError``.
    """

    write: Callable[[Path], None]
    read: Callable[[Path], object]


def _adjacency():
    ones = np.ones(len(_EDGES))
    matrix = scipy.sparse.csr_matrix((ones, _EDGES.T), shape=(_VERTICES, _VERTICES))
    return matrix + matrix.T


def _planetoid(folder):
    onehot, features = np.eye(3, dtype=np.int32)[_LABELS], scipy.sparse.csr_matrix(_VALUES)
    graph = collections.defaultdict(list, {int(source): [int(target)] for source, target in _EDGES})
    parts = {"x": features[:3], "y": onehot[:3], "allx": features[:8], "ally": onehot[:8],
             "tx": features[8:], "ty": onehot[8:], "graph": graph}
    for name, part in parts.items():
        (folder / f"ind.tiny.{name}").write_bytes(pickle.dumps(part, protocol=2))
    (folder / "ind.tiny.test.index").write_text("8\n9\n10\n11\n")


def _saint(folder):
    scipy.sparse.save_npz(folder / "adj_full.npz", _adjacency())
    np.save(folder / "feats.npy", _VALUES)
    (folder / "class_map.json").write_text(json.dumps(dict(enumerate(_LABELS.tolist()))))
    (folder / "role.json").write_text(json.dumps(
        {"tr": list(range(6)), "va": [6, 7], "te": list(range(8, 12))}))


def _table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        np.savetxt(file, rows, delimiter=",", fmt="%.8g")


def _ogb(folder):
    for name, rows in (("edge", _EDGES), ("node-feat", _VALUES), ("node-label", _LABELS)):
        _table(folder / f"raw/{name}.csv.gz", rows)
    for name, rows in (("train", [0, 1, 2]), ("valid", [3]), ("test", [4, 5])):
        _table(folder / f"split/time/{name}.csv.gz", np.array(rows))


def _musae(folder):
    (folder / "tiny_edges.csv").write_text("id_1,id_2\n" + "".join(
        f"{source},{target}\n" for source, target in _EDGES))
    (folder / "tiny_target.csv").write_text("id,target\n" + "".join(
        f"{vertex},{label}\n" for vertex, label in enumerate(_LABELS)))
    (folder / "tiny_features.json").write_text(json.dumps(
        {vertex: [vertex % 4, 4] for vertex in range(_VERTICES)}))


def _benchmark(folder):
    parts = {"labels": _LABELS}
    for prefix, matrix in (("adj", _adjacency()), ("attr", scipy.sparse.csr_matrix(_VALUES))):
        parts |= {f"{prefix}_{part}": getattr(matrix, part)
                  for part in ("data", "indices", "indptr", "shape")}
    np.savez(folder / "tiny.npz", **parts)


def _edge_list(folder):
    np.savez_compressed(folder / "tiny.npz", edges=_EDGES, features=_VALUES, labels=_LABELS,
                        train=[0, 1, 2], test=[5])


def _toml(folder):
    (folder / "training.toml").write_text(
        "[graph]\nsource = 'karate'\n[model]\nhidden = [8, 4]\ndropout = 0.25\n"
        "[recipe]\nepochs = 20\nlearning_rate = [1e-2, 0.5]\nschedule = [[5, 0.5]]\n"
        "[device]\npreset = 'tiny'\nlanes = 4\n[stopping]\npatience = 3\n")


def _yaml(folder):
    (folder / "training.yaml").write_text(
        "graph: {source: karate}\nmodel:\n  hidden: [8, 4]\n  residual: true\nrecipe:\n"
        "  epochs: 20\n  learning_rate: 1e-2\n  optimiser: adam\nsampling:\n"
        "  sampler: walks\n  walk: 3\n")


def _weights(folder):
    save_weights(folder / "weights.safetensors", _NETWORK, initial_parameters(_NETWORK, 0))


def _run(folder):
    with Trainer(Graph.load("karate"), Model(hidden=3), epochs=2, run=folder) as trainer:
        trainer.fit()
        trainer.keep_numbers()
    (folder / "lock").unlink(missing_ok=True)


READERS = {
    "Planetoid": Reader(_planetoid, load),
    "GraphSAINT": Reader(_saint, load),
    "OGB": Reader(_ogb, load),
    "MUSAE": Reader(_musae, load),
    "gnn-benchmark": Reader(_benchmark, load),
    "edge list": Reader(_edge_list, load),
    "TOML": Reader(_toml, lambda folder: load_description(folder / "training.toml")),
    "YAML": Reader(_yaml, lambda folder: load_description(folder / "training.yaml")),
    "weights": Reader(
        _weights, lambda folder: load_weights(folder / "weights.safetensors", _NETWORK)),
    "checkpoint": Reader(_run, lambda folder: load_checkpoint(folder / "checkpoint.safetensors")),
    "run": Reader(_run, load_run),
}
