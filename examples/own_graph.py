# SPDX-License-Identifier: BSD-2-Clause
"""Trains on a graph made in Python, and writes predictions and weights."""

from pathlib import Path

import networkx
import numpy as np

from hypercast import Graph, Model, Trainer
from hypercast.host.graphs.datasets import random_split

# Two communities; features say something about the vertex, but not enough.
communities = networkx.planted_partition_graph(2, 40, p_in=0.2, p_out=0.02, seed=1)
labels = np.repeat([0, 1], 40)
features = np.random.default_rng(1).normal(size=(80, 8)) + labels[:, None]
graph = Graph.from_networkx(communities, features, labels,
                            **random_split(labels, train=0.2, validation=0.2, seed=1))

folder = Path("build/own_graph")
with Trainer(graph, Model("sage", hidden=8), epochs=100, learning_rate=0.1, patience=15,
             run=folder) as trainer:
    trainer.fit()
    print(f"best epoch {trainer.final['epoch'] + 1} of {trainer.epoch}, "
          f"test accuracy {trainer.evaluate()['test_accuracy']:.1%}")
    trainer.predict().save(folder / "predictions.csv")
    trainer.save_weights(folder / "weights.safetensors")
