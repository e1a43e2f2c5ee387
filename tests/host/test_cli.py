# SPDX-License-Identifier: BSD-2-Clause
"""The command line: output for people and machines, and errors without tracebacks."""

import json

import pytest
from click.testing import CliRunner

from hypercast.benches import BENCHES
from hypercast.host.cli import main
from hypercast.host.commands import diagnosis as doctor
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.image import write_image
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import PRESETS
from hypercast.sim import compilers
from tests.host.graphs.test_datasets import folder  # noqa: F401 - a fixture


def run(*arguments, status=0):
    """The result of a command that has to end with ``status`` and no exception."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


def refused(*arguments, status=2):
    """The one line that a refused command prints."""
    result = run(*arguments, status=status)
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert lines[-1].lower().startswith("error: ")
    return lines[-1]


# --- train --------------------------------------------------------------------------------------


def test_train():
    result = run("train", "karate", "--epochs", 12, "--hidden", 4)
    assert "karate: 34 vertices, 156 edges, 34-4-2 features, on reference" in result.stdout
    assert "epoch   10" in result.stdout and "epoch   12" in result.stdout
    assert "saturations" in result.stdout


def test_train_json():
    result = run("train", "karate", "--epochs", 3, "--json", "--check")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["epoch"] for record in records] == [0, 1, 2, 2]
    for record in records:
        assert 0 <= record["test_accuracy"] <= 1
    summary = records[-1]
    assert summary["words"] == summary["equal_words"] > 0
    assert summary["saturations"] >= 0


def test_train_on_several_labels(tmp_path):
    """The loss is the one that takes them; F1 in place of accuracy, also in a report."""
    options = ("--epochs", 30, "--dropout", 0.2, "--learning-rate", 1, "--bias-learning-rate", 1,
               "--weight-decay", 5e-4, "--run", tmp_path / "run")
    result = run("train", "communities", *options, "--json")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert "test_accuracy" not in records[-1]
    assert records[-1]["test_loss"] < records[0]["test_loss"]
    assert 0.3 < records[-1]["test_micro_f1"] < 1 and 0 < records[-1]["test_macro_f1"] < 1
    run("report", tmp_path / "run", "-o", tmp_path / "report.html")
    result = run("train", "communities", "--epochs", 2)
    text = result.stdout
    assert ", micro F1: train " in text and "; macro F1: train " in text


def test_train_is_repeatable():
    first, second = (run("train", "karate", "--epochs", 2, "--json", "--seed", 7).stdout
                     .splitlines()[:2] for _ in range(2))
    assert first == second


def test_train_options():
    result = run("train", "karate", "--epochs", 1, "--json", "--layers", 3, "--hidden", 5,
                 "--dropout", 0.3, "--learning-rate", "0.1,0.05", "--momentum", 0, "--preset",
                 "tiny", "-P", "element_width=8", "--normalisation", "mean",
                 "--normalise-features")
    assert "34-5-5-2 features" in result.stderr and "8-bit" in result.stderr


@pytest.mark.parametrize(("arguments", "widths", "orders"), [
    (("sage",), "34-6-2", ["combine first"] * 2),
    (("gin",), "34-6-6-2-2", ["combine first", "linear"] * 2),
    (("gcn", "--jumping", "--layers", 2), "34-6-6-2", ["combine first", "combine first", "linear"]),
    (("gcn", "--layers", 3, "--residual"), "34-6-6-2", ["combine first"] * 3),
    (("sage", "--layers", 3, "--hidden", "6,5"), "34-6-5-2", ["combine first"] * 3),
])
def test_train_models(arguments, widths, orders):
    result = run("train", "karate", "--epochs", 1, "--hidden", 6, "--order", "combine_first",
                 "--model", *arguments)
    text = result.stdout
    assert f"{widths} features" in text
    assert ", ".join(f"layer {number} {order}" for number, order in enumerate(orders, 1)) in text


@pytest.mark.parametrize(("arguments", "message", "status"), [
    (("--hidden", "6,x"), "'6,x' is not a number or a list like 3,2", 2),
    (("--hidden", 0), "--hidden: [model] hidden must be 1 to 16384, not [0]", 2),
    (("--hidden", 10**9), "--hidden: [model] hidden must be 1 to 16384, not [1000", 2),
    (("--hidden", ""), "--hidden is empty; give a value, or leave it out", 2),
    (("--layers", 10**9), "--layers: [model] layers must be 1 to 1000, not 1000000000", 2),
    (("--dropout", "nan"), "--dropout: [model] dropout must be at least 0 and below 1", 2),
    (("--dropout", -1), "--dropout: [model] dropout must be at least 0 and below 1", 2),
    (("--model", "sage", "--residual"), "leave residual out", 2),
    (("--jumping", "--dropout", 0.3), "dropout of a linear layer must be 0, 0.5, 0.75", 2),
    (("--learning-rate", "inf"), "--learning-rate: [recipe] learning_rate must be", 2),
    (("--weight-decay", -1), "--weight-decay: [recipe] weight_decay must be", 2),
    (("--gin-epsilon", 1), "--gin-epsilon: [recipe] gin_epsilon counts with normalisation sum", 2),
    (("--betas", "0.9,0.99"), "--betas: [recipe] betas counts with optimiser adam only", 2),
    (("--optimiser", "adam", "--momentum", 0.5), "--momentum: [recipe] momentum counts with", 2),
    (("--optimiser", "adam", "--betas", "2,0.9"), "--betas: [recipe] betas must be two", 2),
    (("--sampler", "edges", "--fan-outs", 3), "--fan-outs: [sampling] fan_outs is of sampler", 2),
    (("--monitor", "validation_loss"), "--monitor: [stopping] monitor is what patience", 2),
    (("--every", 3), "--every says how often --run keeps a checkpoint", 2),
    (("-P", "lanes=3"), "[device] lanes must be one of 2, 4, 8, 16, not 3", 2),
])
def test_train_models_refused(arguments, message, status, tmp_path):
    kept = () if "--every" in arguments else ("--run", tmp_path / "run")
    assert message in refused("train", "karate", *arguments, *kept, status=status)
    assert not (tmp_path / "run").exists()


def test_train_with_adam():
    lines = run("train", "karate", "--epochs", 3, "--json", "--optimiser", "adam",
                "--learning-rate", 0.01, "--betas", "0.8,0.99", "--epsilon", 1e-6).stdout
    with_sgd = run("train", "karate", "--epochs", 3, "--json", "--learning-rate", 0.01).stdout
    assert json.loads(lines.splitlines()[0])["training_loss"] == \
        json.loads(with_sgd.splitlines()[0])["training_loss"]  # before the first update
    assert lines.splitlines()[1] != with_sgd.splitlines()[1]


def test_train_orders():
    def lines(order, *arguments):
        return run("train", "karate", "--epochs", 1, "--dropout", 0, "--order", order,
                   *arguments).stdout.splitlines()
    named = "order of products: layer 1 aggregate first, layer 2 aggregate first"
    assert named in lines("aggregate_first")
    chosen = "order of products: layer 1 combine first, layer 2 combine first"
    assert chosen in lines("auto")


def test_train_image(tmp_path):
    """The image is that of the model before its first step, whatever is trained."""
    graph = Graph.load("karate")
    model = prepare(graph, Network.of_widths([34, 4, 2], dropout=0.5), Recipe(epochs=2),
                    PRESETS["demo"])
    write_image(tmp_path / "expected", compile_job(model, PRESETS["demo"]), model)
    run("train", "karate", "--epochs", 2, "--hidden", 4, "--image", tmp_path / "image")
    assert (tmp_path / "image").read_bytes() == (tmp_path / "expected").read_bytes()


def test_train_planetoid_folder(folder):  # noqa: F811
    result = run("train", folder, "--epochs", 1, "--hidden", 2, "--json")
    assert json.loads(result.stdout.splitlines()[0])["epoch"] == 0


@pytest.mark.parametrize(("arguments", "message"), [
    (["train", "nosuch"], "neither a bundled data set (karate, blocks, communities) nor"),
    (["train", "/nowhere/cora"], "check the path"),
    (["train", "/nowhere/graph.npz"], "nor a file or folder that exists"),
    (["train", "karate", "-P", "lanes=3"], "lanes must be one of 2, 4, 8, 16, not 3"),
    (["train", "karate", "-P", "lanes=many"], "-P lanes must be a whole number, not 'many'"),
    (["train", "karate", "-P", "lanes"], "is no NAME=VALUE of a configuration field"),
    (["train", "karate", "-P", "colour=3"], "there are dimensions, lanes"),
    (["train", "karate", "-P", "memory_stalls=1"], "must be true or false, not '1'"),
    (["train", "karate", "--learning-rate", "-1"], "learning_rate must be one or more finite"),
    (["train", "karate", "--device", "gpu"], "'gpu' is not of the form serial[:PORT][@BAUD]"),
    (["train", "karate", "--layers", "4", "--hidden", "3,2"], "hidden has 2 numbers, but 4 layers"),
    (["train", "karate", "--split", "60/0/40", "--patience", "2"], "needs vertices to validate on"),
    (["train", "karate", "--betas", "0.9"], "betas must be a list of 2"),
    (["train", "karate", "--order", "aggregate_first"], "layer 1 cannot aggregate first with"),
    (["train", "karate", "--dropout", "0.999999"], "dropout must be at least 0 and, rounded to"),
    (["train", "blocks", "--device", "rtl", "--preset", "tiny"], "raise "),
    (["config", "show", "-P", "eject=4", "-P", "planes=1"], "eject must be at most planes (1)"),
    (["bench", "cora"], "give the folder with the Planetoid files"),
])
def test_refusals(arguments, message, monkeypatch):
    monkeypatch.delenv("HYPERCAST_CORA", raising=False)
    result = run(*arguments, status=2)
    assert message in result.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("arguments", [
    ["train", "karate", "--epochs", "0"], ["train", "karate", "--learning-rate", "a,b"],
    ["train", "karate", "--preset", "huge"], ["train", "karate", "--elements", "12"],
    ["bench", "nosuch"], ["nosuch"],
])
def test_usage_errors(arguments):
    assert "Error: " in refused(*arguments, status=2)


def test_refused_trainings_write_nothing(tmp_path):
    for arguments in (("nosuch",), ("karate", "--order", "aggregate_first")):
        refused("train", *arguments, "--device", "rtl", "--run", tmp_path / "run", "--trace",
                tmp_path / "trace.json", "--image", tmp_path / "image", status=2)
    assert not list(tmp_path.iterdir())


def test_truncated_folder(folder):  # noqa: F811
    path = folder / "ind.tiny.allx"
    path.write_bytes(path.read_bytes()[:100])
    assert f"{path} is truncated or damaged" in refused("train", folder, status=2)
    path.unlink()
    assert f"{path} does not exist; check the path" in refused(
        "train", folder, status=2)


def test_empty_folder(tmp_path):
    assert "give one of: Planetoid folder (ind.NAME.graph," in refused(
        "train", tmp_path, status=2)


def test_no_compiler(monkeypatch):
    """A machine that cannot compile the chip."""
    monkeypatch.setattr(compilers.shutil, "which", lambda name: None)
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    result = run("train", "karate", "--device", "rtl", status=1)
    assert "error: no C++ compiler found: install" in result.stderr


# --- The other commands -------------------------------------------------------------------------


def test_config_list():
    result = run("config", "list", "--json")
    assert json.loads(result.stdout) == {
        name: preset.to_dict() for name, preset in PRESETS.items()}
    table = run("config", "list").stdout
    assert all(name in table for name in PRESETS)


def test_config_show():
    shown = json.loads(run("config", "show", "--preset", "demo", "-P", "lanes=8", "--json").stdout)
    config = PRESETS["demo"].replace(lanes=8)
    assert shown["hash"] == f"{config.hash:#010x}"
    assert shown["lanes"] == 8 and shown["derived"]["data_width"] == 128
    assert "accumulator_rows" in run("config", "show").stdout


def test_bench_list():
    assert json.loads(run("bench", "--json").stdout) == BENCHES
    assert [line.split()[0] for line in run("bench").stdout.splitlines()] == list(BENCHES)


def test_doctor(monkeypatch):
    check = doctor.Check(name="tool", purpose="work", required=True, state="ok", found="1",
                         remedy="pip '.[dev]'")
    for state, status in (("ok", 0), ("missing", 1)):
        monkeypatch.setattr(doctor, "examine", lambda state=state: [check._replace(state=state)])
        assert json.loads(run("doctor", "--json", status=status).stdout)[0]["state"] == state
        shown = run("doctor", status=status).stdout
        assert "tool" in shown and "'.[dev]'" in shown


def test_verilog_refuses_a_file_as_folder(tmp_path):
    (tmp_path / "file").write_text("")
    assert f"'{tmp_path / 'file'}' is a file" in refused(
        "verilog", "--preset", "tiny", "-o", tmp_path / "file", status=2)


@pytest.mark.parametrize("options, message", [
    (("--top-name", "a-b"), "top module 'a-b' is no Verilog identifier"),
    (("--prefix", "2_"), "with prefix '2_', module '2_hypercast' is no Verilog identifier"),
    (("--top-name", "hypercast_core"), "has the name of a part of the chip"),
])
def test_verilog_refuses_names(options, message, tmp_path):
    assert message in refused("verilog", "--preset", "tiny", "-o", tmp_path / "new", *options)
    assert not (tmp_path / "new").exists()


def test_verilog_by_another_name(tmp_path, monkeypatch):
    """Files, and what is in them, have the name of the top module."""
    monkeypatch.setattr("hypercast.host.eda.integration.export_files.to_verilog",
                        lambda config, options, progress: f"module {options.top};")
    run("verilog", "--preset", "tiny", "-o", tmp_path, "--prefix", "left_", "--top-name", "mine")
    assert {path.name for path in tmp_path.iterdir()} == {
        "manifest.json", "registers.md", "component.xml", "mine.v", "mine.vlt", "mine.xml",
        "mine.svd", "mine.h", "mine.core", "mine_bench.sv", "mine_training.hex", "mine_litex.py",
        "mine_yosys.tcl"}
    texts = {path.suffix: path.read_text() for path in tmp_path.iterdir()
             if path.name != "component.xml"}
    assert texts[".v"] == "module mine;"
    assert 'file "*mine.v"' in texts[".vlt"] and "*hypercast.v" not in texts[".vlt"]
    assert "<name>mine</name>" in texts[".xml"] and "<name>mine.v</name>" in texts[".xml"]
    assert "<moduleName>mine</moduleName>" in texts[".xml"]
    assert "<name>MINE</name>" in texts[".svd"] and "define MINE_CONFIG_LANES" in texts[".h"]
    manifest = json.loads(texts[".json"])
    assert (manifest["top"], manifest["prefix"]) == ("mine", "left_")


@pytest.mark.slow
def test_verilog(tmp_path):
    result = run("verilog", "--preset", "tiny", "-o", tmp_path, "--json")
    files = json.loads(result.stdout)["files"]
    assert files[0] == str(tmp_path / "hypercast.v")
    assert sorted(files) == sorted(str(path) for path in tmp_path.iterdir())
    identity = f"configuration hash {PRESETS['tiny'].hash:#010x}"
    for name in ("hypercast.v", "hypercast.xml", "hypercast.svd", "hypercast.h"):
        assert identity in (tmp_path / name).read_text(), name


def test_help_and_version():
    for command in ((), ("train",), ("bench",), ("config",), ("doctor",), ("verilog",)):
        assert "Usage:" in run(*command, "--help").stdout
    assert "version" in run("--version").stdout
