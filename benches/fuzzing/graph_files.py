# SPDX-License-Identifier: BSD-2-Clause
"""Damaged files and folders of graphs, of all formats."""

from hypercast.benches.fuzzing.command_line import run_command
from hypercast.benches.fuzzing.file_damage import damage_file
from hypercast.benches.fuzzing.graph_formats import FORMATS, draw_graph
from hypercast.benches.fuzzing.reading import of_graph
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME, Trial, outcome, require
from hypercast.host.graphs.graph import Graph

__all__ = ["try_graph_file"]


def try_graph_file(trial: Trial) -> str:
    """A graph of any format, one of whose files is damaged: loaded, or trained on."""
    random = trial.random
    form = random.choice(list(FORMATS))
    write, read = FORMATS[form]
    path = write(trial.folder, random, *draw_graph(random))
    written = read(path)
    whole = trial.chance(0.05)
    if not whole:
        file = random.choice(sorted(one for one in trial.folder.rglob("*") if one.is_file()))
        trial.note(f"{form}, {damage_file(random, file)}")
    if trial.chance(0.1):
        printed = run_command([str(trial.folder), "--", "feature"], "train", path, "--epochs", 1,
                              "--json")
        if printed is None:
            require(not whole, "a graph that is not damaged is refused")
            return REFUSED
    try:
        graph = Graph.load(str(path))
    except Exception as error:
        require(not whole, f"a graph that is not damaged is refused: {error}")
        return outcome(error, [str(trial.folder)])
    found = of_graph(graph)
    if not found.difference(written):
        return SAME
    different = found.difference(read(path))
    require(not different, f"accepted with other {', '.join(different)} than the files have")
    return READ
