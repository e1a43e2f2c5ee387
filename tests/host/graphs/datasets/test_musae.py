# SPDX-License-Identifier: BSD-2-Clause
import json

import numpy as np
import pytest

from hypercast.host.graphs.datasets import DatasetError, load_musae
from hypercast.host.graphs.graph import Graph

EDGES = "id_1,id_2\n0,1\n1,2\n2,2\n3,0\n"
TARGETS = "id,page_name,page_type\n0,Mäuse,shop\n2,\"a, b\",city\n1,,shop\n3,x,town\n"


def write(folder, *, prefix="tiny", edges=EDGES, target=TARGETS, name="tiny.json",
          features=None):
    (folder / f"{prefix}_edges.csv").write_text(edges)
    (folder / f"{prefix}_target.csv").write_text(target, encoding="utf-8")
    lists = {"2": [1, 4, 4], "0": [0], "1": []} if features is None else features
    (folder / name).write_text(json.dumps(lists))


@pytest.mark.parametrize("name", ["tiny.json", "tiny_features.json"])
def test_musae(tmp_path, name):
    write(tmp_path, name=name)
    graph = Graph(**load_musae(tmp_path, train=0.5, validation=0.25))
    assert graph.labels.tolist() == [1, 1, 0, 2]
    assert graph.features.todense().tolist() == [
        [1, 0, 0, 0, 0], [0] * 5, [0, 1, 0, 0, 1], [0] * 5]
    pairs = {tuple(sorted(pair)) for pair in np.argwhere(graph.edges.todense()).tolist()}
    assert pairs == {(0, 1), (1, 2), (2, 2), (0, 3)}
    assert sorted(graph.splits.tolist()) == [1, 1, 2, 3]


@pytest.mark.parametrize("names", ["", "id_1,id_2\n", "\ufefffrom,to\n"])
def test_no_edge_is_taken_for_names_of_columns(tmp_path, names):
    write(tmp_path, edges=names + "0,1\n1,2\n2,3\n", target="\ufeff" + TARGETS)
    assert Graph.load(tmp_path).edges.nnz == 6


@pytest.mark.parametrize("first", ["0 1", "0\t1", "0;1", "0x1,0x2", "\u22121,\u22122", "1e,2", "a",
                                   "a,b,c"])
def test_a_first_line_that_names_no_two_columns_is_not_left_out(tmp_path, first):
    write(tmp_path, edges=f"{first}\n0,1\n1,2\n2,3\n")
    with pytest.raises(DatasetError, match=r"tiny_edges\.csv.* correct the file"):
        load_musae(tmp_path)


def target_of(classes):
    return "id,page_type\n" + "".join(f"{row},{one}\n" for row, one in enumerate(classes))


def test_numbers_as_classes(tmp_path):
    write(tmp_path, target=target_of([5, -1, 0, 5]))
    assert load_musae(tmp_path)["labels"].tolist() == [1, -1, 0, 1]


@pytest.mark.parametrize("odd", ["nan", "1.0", "01", "-0", "+1", "1e3", "-2", "\u22121", "inf"])
def test_classes_are_numbers_of_one_spelling_or_names(tmp_path, odd):
    write(tmp_path, target=target_of(["0", odd, "1", "0"]))
    with pytest.raises(DatasetError, match=r"column page_type of .*tiny_target"):
        load_musae(tmp_path)


def test_twitch(tmp_path):
    """Twitch numbers its graph's vertices anew; classes are in the order of their names."""
    write(tmp_path, prefix="musae_DE", name="musae_DE_features.json", target=(
        "id,days,mature,views,partner,new_id\n77,1,True,1,False,1\n78,1,False,1,False,0\n"
        "79,1,True,1,False,2\n80,1,False,1,False,4\n"))
    graph = Graph.load(tmp_path)
    assert graph.labels.tolist() == [0, 1, 1, -1, 0]
    assert graph.splits[3] == 0


def test_numeric_classes(tmp_path):
    write(tmp_path, target="id,target\n0,10\n1,9\n2,10\n3,100\n")
    assert Graph.load(tmp_path).labels.tolist() == [1, 0, 1, 2]


def test_as_many_classes_and_features_as_can_be(tmp_path):
    write(tmp_path, features={"3": [(1 << 24) - 1]},
          target="id,target\n" + "".join(f"{n},{n * 7}\n\n" for n in range(512)))
    found = load_musae(tmp_path)
    assert found["labels"].tolist() == [*range(512)]  # whatever lines are empty
    assert found["features"].shape == (512, 1 << 24)


@pytest.mark.parametrize(("changes", "message"), [
    ({"target": "id,colour\n0,red\n"}, "columns id, colour, but none of page_type, ml_target"),
    ({"target": "name,target\n0,1\n"}, "but none of new_id, id; rename"),
    ({"target": "id,target\n900,1\n901,2\n"}, "goes from 900 to 901 in 2 rows; number the"),
    ({"target": "id,target\n" + "".join(f"{n},{n * 7}\n" for n in range(600))},
     "600 different values; only classes, at most 512"),
    ({"target": "id,target\n0,a\n"}, "features of vertex 2, but the targets' vertices are 0 to 0"),
    ({"target": "id,target\nx,a\n"}, r"tiny_target\.csv, line 2: id 'x' is no whole"),
    ({"target": ""}, "columns , but none of"),
    ({"target": "id,target\n"}, "tiny_target.csv has no rows; give one for each vertex"),
    ({"edges": "id_1,id_2\n0,9\n"}, "vertex 0 to 9, but vertices are 0 to 3"),
    ({"edges": "id_1,id_2\n0,x\n"}, "damaged"),
    ({"target": "id,target\n0,1\n1,0\n0,1\n"}, "column id of .* has 0 in several rows; keep one"),
    ({"features": {"7": [1]}}, "features of vertex 7, but the targets' vertices are 0 to 3"),
    ({"features": {"1": [-1]}}, r"tiny\.json, vertex 1: -1 is no number of a feature"),
    ({"features": {"0": [2], "1": [0.7, 1.3]}}, r"vertex 1: 0\.7 is no whole .*save real features"),
    ({"features": {"0": []}}, "lists no feature of any vertex"),
    ({"features": []}, r"tiny\.json is no map from vertices to lists"),
    ({"features": {"1": [True]}}, "vertex 1: True is no whole number"),
    ({"features": {"1": [1.0]}}, r"vertex 1: 1\.0 is no whole number"),
    ({"features": {"1": 1}}, "vertex 1: 1 is no list of whole numbers"),
    ({"features": {"4": [1]}}, "features of vertex 4, but the targets' vertices are 0 to 3"),
    ({"features": {"1": [1 << 24]}}, "16777216 is no number of a feature, which are 0 to 16777215"),
    ({"target": "id,target\n" + "".join(f"{n},{n}\n" for n in range(513))},
     "513 different values; only classes, at most 512"),
    ({"features": {"01": [1]}}, "vertex 01: '01' is no whole number"),
    ({"features": {"1": [1 << 40]}}, "1099511627776 is no number of a feature"),
    ({"edges": "-1,2\n0,1\n"}, r"tiny_edges\.csv can be read, .*from vertex -1 to 2"),
    ({"edges": "id_1,id_2\n0,1.0\n"}, r"tiny_edges\.csv, line 2: '1\.0' is no whole number"),
    ({"edges": "1.5,2\n0,1\n"}, r"line 1: '1\.5' is no whole number"),
    ({"edges": "a,2\n0,1\n"}, "line 1: 'a' is no whole number"),
    ({"edges": "0,1_0\n"}, "line 1: '1_0' is no whole number"),
    ({"edges": "0,1\n2\n"}, r"line 2 has 1 numbers, but lines before have 2"),
    ({"edges": "0,1,2\n"}, "3 numbers in a line, but an edge is of two"),
    ({"target": "id,target\n0,1\n1\n"}, "line 3 has 1 fields, but there are 2 columns"),
    ({"target": "id,target\n0,1\n1,\n"}, "line 3 has no target; give one"),
    ({"target": "id,target,target\n0,1,2\n"}, "one of them twice"),
    ({"target": "id,target\n0,1\n\u0661,2\n"}, "line 3: id '\u0661' is no whole number"),
    ({"name": "other.json"}, r"tiny_features\.json does not exist; check the path, or download"),
])
def test_refusals(tmp_path, changes, message):
    write(tmp_path, **changes)
    with pytest.raises(DatasetError, match=message):
        load_musae(tmp_path)


def test_one_graph_per_folder(tmp_path):
    write(tmp_path)
    write(tmp_path, prefix="other")
    with pytest.raises(DatasetError, match=r"2 files \*_edges\.csv; keep those of one graph"):
        load_musae(tmp_path)
