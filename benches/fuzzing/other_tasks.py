# SPDX-License-Identifier: BSD-2-Clause
"""Data sets of the Open Graph Benchmark for other tasks than a graph can be trained for."""

import gzip
from pathlib import Path
from random import Random

from hypercast.benches.fuzzing.file_damage import damage_file
from hypercast.benches.fuzzing.trial import Trial, WrongError, outcome, require
from hypercast.host.graphs.graph import Graph

__all__ = ["OTHER_TASKS", "try_other_task"]

_GRAPH = {"raw/edge.csv.gz": "0,1\n1,2\n", "raw/node-feat.csv.gz": "1\n2\n3\n",
          "raw/num-node-list.csv.gz": "3\n", "raw/num-edge-list.csv.gz": "2\n"}
#: Task to the files of a data set, and words of its refusal.
OTHER_TASKS = {
    "several kinds of vertices": ({
        "raw/num-node-dict.csv.gz": "author,paper\n3,4\n",
        "raw/triplet-type-list.csv.gz": "paper,cites,paper\n",
        "raw/nodetype-has-feat.csv.gz": "author,paper\nFalse,True\n",
        "raw/node-feat/paper/node-feat.csv.gz": "1\n2\n3\n4\n",
        "raw/relations/paper___cites___paper/edge.csv.gz": "0,1\n",
        "split/time/nodetype-has-split.csv.gz": "author,paper\nFalse,True\n",
        "split/time/paper/train.csv.gz": "0\n"}, "heterogeneous graph"),
    "edges": ({**_GRAPH, "split/time/train.pt": "", "split/time/valid.pt": "",
               "split/time/test.pt": ""}, "link property prediction"),
    "graphs": ({**_GRAPH, "raw/num-node-list.csv.gz": "1\n2\n",
                "raw/num-edge-list.csv.gz": "0\n2\n", "raw/graph-label.csv.gz": "0\n1\n",
                "split/scaffold/train.csv.gz": "0\n", "mapping/mol.csv.gz": "C\n"},
               "graph property prediction"),
}


def _write(folder: Path, random: Random) -> str:
    """Write a data set; returns words that its refusal should have."""
    files, said = OTHER_TASKS[random.choice(list(OTHER_TASKS))]
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else b"x")
    return said


def try_other_task(trial: Trial) -> str:
    """A data set of another task, perhaps with a damaged file: it is never taken for a graph."""
    folder = trial.folder / "ogb"
    said = _write(folder, trial.random)
    whole = trial.chance(0.3)
    if not whole:
        file = trial.random.choice(sorted(one for one in folder.rglob("*") if one.is_file()))
        trial.note(damage_file(trial.random, file))
    try:
        Graph.load(folder)
    except Exception as error:
        if whole:
            require(said in str(error) and "download it again" not in str(error),
                    f"it is not said what the data set is: {error}")
        return outcome(error, [str(folder)])
    raise WrongError(f"a data set for another task ({said}) is taken for a graph")
