# SPDX-License-Identifier: BSD-2-Clause
"""Whatever is given to a command, it answers with one line that says what is wrong, and no more."""

import json
import os
import struct
import subprocess
import sys
from functools import partial

import click
import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from hypercast import errors
from hypercast.host.commands.command_group import UNFORESEEN, CommandGroup
from tests.host.graphs.test_datasets import npz_parts
from tests.host.test_cli import refused, run


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("kept") / "run"
    run("train", "karate", "--hidden", 4, "--epochs", 1, "--run", folder)
    return folder


@pytest.mark.parametrize("arguments", [
    ("export", "{kept}", "-o", "{folder}/none/weights.safetensors"),
    ("predict", "{kept}", "-o", "{folder}/none/predictions.csv"),
    ("report", "{kept}", "-o", "{folder}/none/page.html"),
    ("noc", "--plot", "{folder}/none/plot.png"),
    ("train", "karate", "--device", "rtl", "--trace", "{folder}/none/trace.json"),
    ("train", "karate", "--image", "{folder}/none/image"),
])
def test_folders_that_are_not_there(kept, tmp_path, arguments):
    message = refused(*(one.format(kept=kept, folder=tmp_path) for one in arguments), status=2)
    assert f"cannot be written, for there is no folder {tmp_path}/none; make it" in message


def test_two_options_that_name_the_same_file(tmp_path):
    (tmp_path / "link").symlink_to("trace.json")
    for other in ("trace.json", "../{}/trace.json", "link"):
        message = refused("train", "karate", "--device", "rtl", "--trace", tmp_path / "trace.json",
                          "--image", tmp_path / other.format(tmp_path.name), status=2)
        assert "is what --trace writes, too; give another" in message
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize(("arguments", "message"), [
    (("--momentum", "-0.5"), "momentum"),
    (("--optimiser", "adam", "--betas", "nan,0.9"), "--betas: [recipe] betas must be two numbers"),
    (("--optimiser", "adam", "--epsilon", "inf"), "--epsilon: [recipe] epsilon must be finite"),
    (("--learning-rate", "nan"), "--learning-rate: [recipe] learning_rate must be one or more"),
    (("--learning-rate", "1e300"), "learning rate 1e+300 gives optimiser constant"),
    (("--learning-rate", "1e9"), "which is not in 0 to 65535: lower it, or"),
    (("--weight-decay", "1e300"), "weight_decay must be at most 65535, not (1e+300,)"),
    (("--learning-rate", "0_1"), "'0_1' is not a number"),
    (("--hidden", "1_6"), "'1_6' is not a number"),
    (("--hidden", "16.0"), "'16.0' is not a number"),
    (("--hidden", "٣"), "'٣' is not a number"),
    (("--split", "nan/20/20"), "--split: [graph] split must be three percentages"),
    (("--sampler", "neighbours", "--fan-outs", 1 << 31), "fan_outs must be 1 to 2147483647, not"),
    (("--sampler", "neighbours", "--batch", 10**12), "--batch: [sampling] batch must be 1 to"),
    (("--sampler", "walks", "--walk", 10**12), "--walk: [sampling] walk must be 1 to"),
    (("--staleness", "--smoothing", "nan"), "Invalid value for '--smoothing': 'nan' is no number"),
    (("--boards", 2, "--timeout", "nan"), "Invalid value for '--timeout': 'nan' is no number"),
    (("--sampler", "nodes", "--coverage", "inf"), "--coverage: [sampling] coverage must be 0.001"),
    (("--sampler", "nodes", "--coverage", "inf"), "--coverage: [sampling] coverage must be 0.001"),
    (("--device", "serial@0"), "'serial@0' is of 0 baud, but ports have 50 to 12000000; give"),
    (("--device", "serial@99999999999999999999"), "is not of the form serial[:PORT][@BAUD]"),
    (("--device", "serial@٣"), "is not of the form serial[:PORT][@BAUD]"),
    (("--device", "xdma:"), "is not of the form xdma:FILE"),
    (("--epochs", 1 << 40), "--epochs: [recipe] epochs must be 1 to 4294967295"),
    (("-P", "lanes=0x10"), "-P lanes must be a whole number, not '0x10'"),
    (("-P", "dimensions=99999999999999999999"), "-P dimensions must be a whole number"),
    (("--weights", os.devnull), "/dev/null is a device, not a regular file"),
    (("--epochs", "1_0"), "--epochs': '1_0' is not a whole number"),
    (("--epochs", "１０"), "--epochs': '１０' is not a whole number"),
    (("--momentum", "٠.5"), "--momentum': '٠.5' is no number"),
    (("--momentum", "nan"), "--momentum': 'nan' is no number"),
    (("--dropout", "0.٥"), "'0.٥' is not a number or a list"),
    (("--gin-epsilon", "1_0", "--model", "gin"), "'1_0' is no number"),
    (("--dropout", "0.999999999"), "dropout must be at least 0 and, rounded to 1/65536, below 1"),
    (("--learning-rate", "1,2,3"), "learning_rate has 3 numbers, but the network has 2 layers"),
    (("--weight-decay", "1,2", "--layers", 1), "weight_decay has 2 numbers, but the network has 1 "
                                               "layer; give one for each, or one for all"),
    (("--dropout", "0,0.5,0.5"), "dropout has 3 numbers, but 2 layers of the network have"),
    (("--sampler", "neighbours", "--fan-outs", "1,2,3"), "fan_outs has 3 numbers, but the network"),
    (("--sampler", "walks", "--walk", 65536), "[sampling] walk must be 1 to 1024, not 65536"),
    (("--sampler", "nodes", "--coverage", "1e6"), "coverage must be 0.001 to 1000, not"),
])
def test_values_that_make_no_sense(tmp_path, arguments, message):
    assert message in refused("train", "karate", "--run", tmp_path / "run", *arguments, status=2)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("text", "message"), [
    ("[recipe]\nepochs = 0", "line 4: [recipe] epochs must be 1 to 4294967295, not 0"),
    ("[recipe]\nschedule = [[0, 1.0], [5, -1.0]]", "line 4: [recipe] schedule has factor -1.0"),
    ("[recipe]\nschedule = [[5, nan]]", "line 4: [recipe] schedule has factor nan from epoch 5"),
    ("[recipe]\nschedule = [[5, 1e9]]", "learning rate 5e+07 gives optimiser constant"),
    ("[recipe]\nschedule = [[5, 0.5], [5, 1.0]]", "each there once, not [5, 5]"),
    (f"[recipe]\nmomentum = 1{'0' * 400}", "line 4: [recipe] momentum must be a number, not 1000"),
    (f"[recipe]\nmomentum = 1{'0' * 9000}", "Exceeds the limit"),
    (f"[recipe]\nschedule = {'[' * 9000}", "too many brackets in each other; correct the file"),
    ("[recipe]\nepochs = 1\nepochs = 2", "Cannot overwrite a value"),
    ("[model]\nweights = ''", "line 4: [model] weights is empty; give"),
    ("[graph2]", "line 3: there is no section [graph2]; did you mean [graph]?"),
])
def test_descriptions_that_make_no_sense(tmp_path, text, message):
    path = tmp_path / "training.toml"
    path.write_text(f"[graph]\nsource = 'karate'\n{text}\n")
    assert message in refused("train", path, "--run", tmp_path / "run", status=2)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("value", "message"), [
    ("010", "epochs must be a whole number, not '010'"), ("1:30", "not '1:30'"),
    ("1_0", "not '1_0'"), ("0x10", "not '0x10'"), ("no", "not 'no'"), ("2001-01-01", "not '2001"),
    ("*a", "*a refers to another value; write it out"), ("[&a 1, *a]", "*a refers to another"),
    ("[" * 9000, "too many brackets in each other"), ("!!python/none", "determine a constructor"),
])
def test_yaml_that_reads_differently_than_it_says(tmp_path, value, message):
    path = tmp_path / "training.yaml"
    path.write_text(f"graph: {{source: karate}}\nrecipe:\n  epochs: {value}\n")
    assert message in refused("train", path, status=2)


def test_a_name_that_is_no_text_is_refused_before_the_training(tmp_path):
    path = tmp_path / "graph\udcff.npz"
    np.savez(path, **npz_parts())
    found = refused("train", path, "--run", tmp_path / "run", status=2)
    assert "\\udcff.npz\", which is no UTF-8 text; rename the file" in found
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("arguments", "name"), [
    (("train", "karate", "--run", ""), "--run"), (("train", "karate", "--run="), "--run"),
    (("train", ""), "an argument"), (("plan", "karate", "--cluster", ""), "--cluster"),
    (("plan", "", "--cluster=ulx3s-2"), "an argument"), (("config", "show", "-P="), "-P"),
    (("noc", "unicast", "--graph", ""), "--graph")])
def test_what_is_empty_is_no_default(tmp_path, monkeypatch, arguments, name):
    monkeypatch.chdir(tmp_path)
    assert refused(*arguments, status=2).endswith(
        f"Error: {name} is empty; give a value, or leave it out")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("arguments", "message"), [
    (("--vertices", 1 << 31, "--edges", 10, "--layers", "5,4"), "the graph has 2147483648 vert"),
    (("--vertices", 20, "--edges", 10, "--layers", "99999999999999,4"), "99999999999999 input"),
    (("--vertices", 20, "--edges", 10, "--layers", "5,99999999999999"), "99999999999999 classes"),
])
def test_sizes_that_no_chip_can_name(arguments, message):
    assert message in refused("model", *arguments, status=2)


@pytest.mark.parametrize("arguments", [
    ("build", "--board", "ulx3s"), ("verilog", "--preset", "tiny")])
def test_folders_that_cannot_be_written(tmp_path, arguments):
    (tmp_path / "file").touch()
    found = refused(*arguments, "-o", tmp_path / "file" / "x", status=1)
    assert found.startswith(f"error: {tmp_path / 'file' / 'x'}: Not a directory")


def bfloat16(path):
    """A file of safetensors as PyTorch writes one of bfloat16."""
    header = json.dumps({"convs.0.bias": {
        "dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))


def alike(value):
    """Makes a file of safetensors whose weights are all of one value."""
    return partial(save_file, {
        "convs.0.lin.weight": np.full((4, 34), value, np.float32),
        "convs.0.bias": np.zeros(4, np.float32),
        "convs.1.lin.weight": np.full((2, 4), value, np.float32),
        "convs.1.bias": np.zeros(2, np.float32)})


@pytest.mark.parametrize(("make", "message"), [
    (bfloat16, "convs.0.bias is of type BF16; save it as float32 (tensor.float())"),
    (alike(40), "convs.0.lin.weight[0, 0] is 40, but weights are at least -32 and below 32"),
    (alike(1e-10), "weights W1 would all be zero: all weights are rounded to multiples of 1.49e-"),
    (lambda path: path.write_bytes(b"nothing"), "is damaged or not a file of safetensors"),
])
def test_weights(tmp_path, make, message):
    path = tmp_path / "weights.safetensors"
    make(path)
    found = refused("train", "karate", "--hidden", 4, "--weights", path, status=2)
    assert str(path) in found and message in found


def test_all_neighbours_at_once():
    """A fan-out beyond all degrees takes no memory for it."""
    found = [run("train", "karate", "--sampler", "neighbours", "--epochs", 1, "--json",
                 "--fan-outs", fan_out).stdout.splitlines()[0] for fan_out in (34, (1 << 31) - 1)]
    assert found[0] == found[1]


@pytest.mark.timeout(60)
def test_more_vertices_than_any_graph_has():
    assert "is not a whole number" in refused(
        "model", "--vertices", 10**50, "--edges", 1, "--layers", "1,1", status=2)


@pytest.mark.timeout(60)
def test_a_fifo_is_no_data_set(tmp_path):
    os.mkfifo(tmp_path / "graph.npz")
    assert "graph.npz is a FIFO, not a regular file" in refused(
        "train", tmp_path / "graph.npz", status=2)


# --- The last resort ----------------------------------------------------------------------------


def failing(statement):
    """What a command says that carries out a statement."""
    @click.group(cls=CommandGroup)
    def group():
        pass

    @group.command()
    def fail():
        exec(statement, {"errors": errors})

    result = CliRunner().invoke(group, ["fail"])
    assert len(result.stderr.splitlines()) == 1 and result.stdout == ""
    return result.exit_code, result.stderr


@pytest.mark.parametrize(("statement", "status", "message"), [
    ("raise errors.InputError('a is 1; make it 2')", 2, "error: a is 1; make it 2"),
    ("errors.require(False, 'a is 1; make it 2')", 2, "error: a is 1; make it 2"),
    ("raise errors.ToolError('two\\n lines')", 1, "error: two lines"),
    ("raise errors.NotFoundError('there is no yosys')", 1, "error: there is no yosys"),
    ("raise errors.InputError", 2, "error: InputError: no more is said (host/"),
    ("raise MemoryError", 1, "error: memory is used up (no more is given); take a smaller graph"),
    ("raise KeyError('te')", 1, "error: KeyError: 'te' (host/commands/command_group.py, line "),
    ("raise TypeError('no')", 1, "error: TypeError: no (host/"),
    ("assert False", 1, "error: AssertionError: no more is said (host/"),
    ("open('/nowhere/x')", 1, "error: /nowhere/x: No such file or directory; check the path"),
])
def test_what_our_own_code_raises(statement, status, message):
    found, text = failing(statement)
    assert found == status and text.startswith(message)


@pytest.mark.parametrize("statement", [
    "int('x')", "b'\\xff'.decode()", "(1 << 70).to_bytes(2, 'big')", "1 / 0",
    "import json; json.loads('{')", "raise ValueError('a is 1; make it 2')",
    "raise RuntimeError('it failed')", "raise OSError('it failed')",
])
def test_what_python_and_libraries_raise_is_no_message_for_users(statement):
    status, text = failing(statement)
    assert status == 1 and UNFORESEEN in text


@pytest.mark.parametrize("locale", [
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    *(pytest.param(locale, marks=pytest.mark.slow) for locale in (
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}, {"LANG": "C"})),
])
def test_text_is_utf_8_whatever_the_locale(tmp_path, locale):
    path = tmp_path / "Mäuse.toml"
    path.write_text("[graph]\nsource = 'karate'  # Löwen\n[recipe]\nepochs = 1\n", encoding="utf-8")
    code = "from hypercast.host.cli import main; main()"
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("LC_", "LANG", "PYTHON"))}

    def output(*arguments):
        return subprocess.run([sys.executable, "-c", code, *map(os.fsencode, arguments)],
                              capture_output=True, env=kept | locale)
    trained = output("train", path, "--run", tmp_path / "Läufe")
    assert trained.returncode == 0, trained.stderr
    escaped = output("train", "\udcff.toml")
    assert escaped.stderr == b"error: \xff.toml does not exist; check the path\n"
    refusal = output("train", tmp_path / "Bär.toml")
    assert refusal.returncode == 2
    assert refusal.stderr.decode() == f"error: {tmp_path}/Bär.toml does not exist; check the path\n"
    exported = output("export", tmp_path / "Läufe", "-o", tmp_path / "Gewichte für.safetensors")
    assert f"{tmp_path}/Gewichte für.safetensors: ".encode() in exported.stdout
