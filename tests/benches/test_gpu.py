# SPDX-License-Identifier: BSD-2-Clause
"""The bench of a GPU: what is said without one, figures, what does not fit, what is predicted."""

import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from hypercast.benches import gpu, large_graphs
from hypercast.benches.gpu import gpu_figures
from hypercast.benches.gpu_training import Epochs
from hypercast.benches.large_graphs import LARGE_GRAPHS, LargeGraph
from hypercast.host.cli import main
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.eda.energy import mean_hops, step_energy
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS

TINY = LargeGraph(500, 4_001, (12, 8, 5))
WAYS = {"one": Epochs([0.5, 0.25, 0.25, 0.25, 0.3], [100.0, 120.0]),
        "other": Epochs([0.5] * 5, []), "large": None}
TIMING = {"memory": 24.0, "epochs": 5, "seconds": 0.0, "progress": lambda text: None}


def fake_torch(monkeypatch, cuda, found=False, **card):
    """Put a PyTorch in place that finds a card, or none."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "torch" or None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(
        __version__="2.8.0", version=SimpleNamespace(cuda=cuda),
        device=lambda *name: SimpleNamespace(type=name[0]),
        cuda=SimpleNamespace(is_available=lambda: found, empty_cache=lambda: None,
                             get_device_properties=lambda number: SimpleNamespace(**card))))


def test_without_torch_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["bench", "gpu"])
    assert result.exit_code == 1 and not result.stdout
    assert result.stderr == ("error: torch not installed, which this bench trains with on a CUDA "
                             "device; pip install torch torch_geometric\n")


@pytest.mark.parametrize("cuda, remedy", [
    ("12.8", "finds none; see whether nvidia-smi lists one, and whether CUDA_VISIBLE_DEVICES hides "
             "it"),
    (None, "is a build without CUDA; on a machine with a card of NVIDIA, pip install torch "
           "torch_geometric")])
def test_without_a_device_one_line_says_what_is_missing(monkeypatch, cuda, remedy):
    fake_torch(monkeypatch, cuda)
    result = CliRunner().invoke(main, ["bench", "gpu", "--json"])
    assert result.exit_code == 1 and not result.stdout
    assert result.stderr == (
        f"error: no CUDA device, which this bench needs: torch 2.8.0 {remedy}\n")


@pytest.fixture
def ways(monkeypatch):
    """Ways to train that take the time in ``WAYS``, or more memory than there is."""
    def time_epochs(step, device, **timing):
        if WAYS[step] is None:
            raise RuntimeError("CUDA out of memory. Tried to allocate 120.00 GiB.")
        return WAYS[step]

    monkeypatch.setattr(gpu, "installed_ways", lambda: list(WAYS))
    monkeypatch.setattr(gpu, "FullBatchTraining", lambda way, matrix, widths, device: (
        SimpleNamespace(step=way)))
    monkeypatch.setattr(gpu, "time_epochs", time_epochs)
    monkeypatch.setattr(gpu, "_free_memory", lambda: None)


def test_figures_of_every_way(ways):
    figures = gpu_figures({"tiny": TINY}, None, read_watts=lambda: None, **TIMING)
    found = {one.name: (one.value, one.unit) for one in figures}
    assert len(found) == len(figures) and all(one.bar is None for one in figures)
    assert found["tiny, one: an epoch, median"] == (0.25, "s")
    assert found["tiny, one: an epoch, interquartile range"] == (pytest.approx(0.15), "s")
    assert found["tiny, one: power, as the driver tells it"] == (110, "W")
    assert found["tiny, one: energy of an epoch"] == (27.5, "J")
    assert found["tiny, other: an epoch, median"] == (0.5, "s")
    assert "tiny, other: energy of an epoch" not in found  # the driver does not tell it
    assert found["tiny, large: left out, it does not fit the memory of"] == (24, "GB")
    step, _ = found["tiny, preset vcu128: at 250 MHz, assumed"]
    assert found["tiny: epoch by one, the fastest / predicted step"] == (0.25 / step, "x")


def test_a_graph_that_fits_in_no_way_is_left_out(ways, monkeypatch):
    monkeypatch.setattr(gpu, "installed_ways", lambda: ["large"])
    figures = gpu_figures({"tiny": TINY}, None, read_watts=lambda: None, **TIMING)
    assert [one.name.partition(": ")[2] for one in figures] == [
        "left out, it does not fit the memory of", "predicted step", "at 250 MHz, assumed",
        "energy, an estimate without clock and leakage"]


def test_another_error_is_none_of_memory(ways, monkeypatch):
    def fail(*arguments, **timing):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(gpu, "time_epochs", fail)
    with pytest.raises(RuntimeError, match="illegal"):
        gpu_figures({"tiny": TINY}, None, read_watts=lambda: None, **TIMING)


@pytest.mark.parametrize("graph", [TINY, LargeGraph(3_000, 20_000, (40, 64, 8, 3))])
def test_the_step_is_that_of_the_command(graph):
    figures, seconds = gpu._predict_step("tiny", graph)
    result = CliRunner().invoke(main, [
        "model", "--preset", "vcu128", "--vertices", str(graph.vertices), "--edges",
        str(graph.entries), "--layers", ",".join(map(str, graph.widths)), "--json"])
    expected = json.loads(result.stdout)
    assert figures[0].value == expected["cycles"] and seconds == expected["cycles"] / 250e6
    assert figures[0].name == "tiny, preset vcu128: predicted step"
    config, layers = PRESETS["vcu128"], len(graph.widths) - 1
    workload = Workload.of_statistics(
        [graph.vertices] * (layers + 1), [graph.entries] * layers,
        Network.of_widths(graph.widths, orders=expected["orders"]), config)
    energy = step_energy(expected["work"], mean_hops(workload), config, external=True)
    assert figures[2].value == pytest.approx(sum(energy.values()))
    assert figures[2].value > 1.1 * sum(step_energy(
        expected["work"], 0, config, external=False).values())


def test_a_step_that_does_not_fit_is_marked(monkeypatch):
    monkeypatch.setattr(
        large_graphs, "BOARD", large_graphs.BOARD.replace(channel_words=64))
    name = gpu._predict_step("tiny", TINY)[0][0].name
    assert name.startswith("tiny, preset vcu128: predicted step, which does not fit: channel_words "
                           "is 64, but ")


def test_the_card_and_all_versions_are_named(ways, monkeypatch):
    uuids = []

    def read_watts(uuid):
        uuids.append(uuid)

    fake_torch(monkeypatch, "12.8", found=True, name="NVIDIA X", total_memory=24e9, uuid="1-2")
    monkeypatch.setattr(gpu, "LARGE_GRAPHS", {"tiny": TINY})
    monkeypatch.setattr(gpu.nvidia_smi, "read_driver", lambda: "580.65")
    monkeypatch.setattr(gpu.nvidia_smi, "read_watts", read_watts)
    monkeypatch.setattr(gpu, "time_epochs", lambda *step, read_watts, **timing: (
        read_watts() or WAYS["one"]))
    result = CliRunner().invoke(main, ["bench", "gpu", "--json"])
    first, *figures = json.loads(result.stdout)
    assert first["name"].startswith("NVIDIA X, driver 580.65, torch 2.8.0, without PyTorch "
                                    "Geometric, 20")
    assert first["name"].endswith(": memory of the card") and first["value"] == 24
    assert any("an epoch, median" in one["name"] for one in figures)
    assert set(uuids) == {"1-2"}


def test_graphs_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs/performance.md").read_text()
    table = page.partition("| graph | vertices | entries | features, hidden, classes |\n")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.partition("\n\n")[0].splitlines()[1:]]
    found = {title.partition(",")[0]: LargeGraph(
        int(vertices.replace(",", "")), int(entries.replace(",", "")),
        tuple(map(int, widths.split(",")))) for title, vertices, entries, widths in rows}
    assert found == LARGE_GRAPHS


@pytest.mark.filterwarnings("ignore:Sparse")  # it is in beta
def test_a_tiny_graph_is_trained_in_torch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    figures = gpu_figures({"tiny": TINY}, torch.device("cpu"), read_watts=lambda: None, **TIMING)
    medians = [one for one in figures if one.name.endswith("an epoch, median")]
    assert [one.name.split(", ")[1].partition(":")[0] for one in medians] == gpu.installed_ways()
    assert all(one.value > 0 for one in medians)
