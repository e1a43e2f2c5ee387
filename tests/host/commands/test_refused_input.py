"""Whatever is given to a command, it answers with one line that says what is wrong, and no more."""

import json
import os
import struct
import subprocess
import sys

import click
import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from hypercast.host.commands.command_group import CommandGroup
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


@pytest.mark.parametrize(("arguments", "message"), [
    (("--momentum", "nan"), "[recipe] momentum must be at least 0 and below 1, not nan"),
    (("--optimiser", "adam", "--betas", "nan,0.9"), "--betas: [recipe] betas must be two numbers"),
    (("--optimiser", "adam", "--epsilon", "nan"), "--epsilon: [recipe] epsilon must be finite"),
    (("--learning-rate", "nan"), "--learning-rate: [recipe] learning_rates must be one or more"),
    (("--learning-rate", "1e300"), "learning rate 1e+300 gives optimiser constant"),
    (("--learning-rate", "1e9"), "which is not in 0 to 65535: lower it, or"),
    (("--weight-decay", "1e300"), "weight_decays must be at most 65535, not (1e+300,)"),
    (("--learning-rate", "0_1"), "'0_1' is not a number"),
    (("--hidden", "1_6"), "'1_6' is not a number"),
    (("--hidden", "16.0"), "'16.0' is not a number"),
    (("--hidden", "٣"), "'٣' is not a number"),
    (("--split", "nan/20/20"), "--split: [graph] split must be three percentages"),
    (("--sampler", "neighbours", "--fan-outs", 1 << 31), "more numbers from 1 to 2147483647, not"),
    (("--sampler", "neighbours", "--batch", 10**12), "--batch: [sampling] batch must be 1 to"),
    (("--sampler", "walks", "--walk", 10**12), "--walk: [sampling] walk must be 1 to"),
    (("--staleness", "--smoothing", "nan"), "Invalid value for '--smoothing': nan is no number"),
    (("--boards", 2, "--timeout", "nan"), "Invalid value for '--timeout': nan is no number"),
    (("--sampler", "nodes", "--coverage", "inf"), "--coverage: [sampling] coverage must be 0.001"),
    (("--sampler", "nodes", "--coverage", "nan"), "--coverage: [sampling] coverage must be 0.001"),
    (("--device", "serial@0"), "'serial@0' is of 0 baud, but ports have 50 to 12000000; give"),
    (("--device", "serial@99999999999999999999"), "is not of the form serial[:PORT][@BAUD]"),
    (("--device", "serial@٣"), "is not of the form serial[:PORT][@BAUD]"),
    (("--device", "xdma:"), "is not of the form xdma:FILE"),
    (("--epochs", 1 << 40), "--epochs: [recipe] epochs must be 1 to 4294967295"),
    (("-P", "lanes=0x10"), "-P lanes must be a whole number, not '0x10'"),
    (("-P", "dimensions=99999999999999999999"), "-P dimensions must be a whole number"),
    (("--weights", os.devnull), "/dev/null is a device, not a regular file"),
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


def bfloat16(path):
    """A file of safetensors as PyTorch writes one of bfloat16."""
    header = json.dumps({"convs.0.bias": {
        "dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))


def too_large(path):
    save_file({"convs.0.lin.weight": np.full((4, 34), 40, np.float32),
               "convs.0.bias": np.zeros(4, np.float32),
               "convs.1.lin.weight": np.zeros((2, 4), np.float32),
               "convs.1.bias": np.zeros(2, np.float32)}, path)


@pytest.mark.parametrize(("make", "message"), [
    (bfloat16, "convs.0.bias is of type BF16; save it as float32 (tensor.float())"),
    (too_large, "convs.0.lin.weight[0, 0] is 40, but weights are at least -32 and below 32"),
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
    assert "is not in the range 1<=x<=2147483648" in refused(
        "model", "--vertices", 10**50, "--edges", 1, "--layers", "1,1", status=2)


@pytest.mark.timeout(60)
def test_a_fifo_is_no_data_set(tmp_path):
    os.mkfifo(tmp_path / "graph.npz")
    assert "graph.npz is a FIFO, not a regular file" in refused(
        "train", tmp_path / "graph.npz", status=2)


# --- The last resort ----------------------------------------------------------------------------


@pytest.mark.parametrize(("error", "status", "message"), [
    (ValueError("a is 1; make it 2"), 2, "error: a is 1; make it 2"),
    (RuntimeError("two\n lines"), 1, "error: two lines"),
    (MemoryError(), 1, "error: memory is used up (no more is given); take a smaller graph"),
    (KeyError("te"), 1, "error: KeyError: 'te' (host/commands/command_group.py, line "),
    (TypeError("no"), 1, "error: TypeError: no (host/"),
    (OverflowError("int too large"), 1, "error: OverflowError: int too large (host/"),
    (RecursionError("too deep"), 1, "error: RecursionError: too deep (host/"),
    (AssertionError(), 1, "error: AssertionError: no more is said (host/"),
    (FileNotFoundError(2, "No such file", "x"), 1, "error: x: No such file; check the path"),
])
def test_whatever_is_raised(error, status, message):
    @click.group(cls=CommandGroup)
    def group():
        pass

    @group.command()
    def fail():
        raise error

    result = CliRunner().invoke(group, ["fail"])
    assert result.exit_code == status and result.stderr.startswith(message)
    assert len(result.stderr.splitlines()) == 1 and result.stdout == ""


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
