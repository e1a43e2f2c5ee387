# SPDX-License-Identifier: BSD-2-Clause
"""Damaged options of commands."""

import os
import tomllib
from pathlib import Path
from random import Random
from typing import Any

from hypercast.benches.fuzzing.bytes_damage import NUMBERS
from hypercast.benches.fuzzing.command_line import run_command
from hypercast.benches.fuzzing.file_damage import replace_file
from hypercast.benches.fuzzing.kept_runs import short_runs
from hypercast.benches.fuzzing.trial import READ, REFUSED, Trial, require

__all__ = ["build_network_of_trials", "try_options"]

#: Options of a short training to values that make sense, and to the description's section and key.
_TRAINING = {
    "--split": ("60/20/20", "graph.split"), "--split-seed": ("1", "graph.split_seed"),
    "--model": ("sage", "model.name"), "--layers": ("2", "model.layers"),
    "--hidden": ("3", "model.hidden"), "--order": ("combine_first", "model.order"),
    "--dropout": ("0.5", "model.dropout"), "--epochs": ("2", "recipe.epochs"),
    "--seed": ("1", "recipe.seed"), "--learning-rate": ("0.1,0.2", "recipe.learning_rate"),
    "--bias-learning-rate": ("0.1", "recipe.bias_learning_rate"),
    "--micro-batches": ("2", "recipe.micro_batches"),
    "--weight-decay": ("0.001", "recipe.weight_decay"),
    "--optimiser": ("sgd", "recipe.optimiser"), "--momentum": ("0.5", "recipe.momentum"),
    "--betas": ("0.9,0.99", "recipe.betas"), "--epsilon": ("1e-6", "recipe.epsilon"),
    "--normalisation": ("mean", "recipe.normalisation"),
    "--gin-epsilon": ("0.1", "recipe.gin_epsilon"),
    "--sampler": ("neighbours", "sampling.sampler"), "--batch": ("4", "sampling.batch"),
    "--fan-outs": ("2,3", "sampling.fan_outs"), "--walk": ("2", "sampling.walk"),
    "--coverage": ("1.5", "sampling.coverage"), "--parts": ("2", "sampling.parts"),
    "--patience": ("2", "stopping.patience"),
    "--monitor": ("validation_loss", "stopping.monitor"), "--device": ("reference", "device.name"),
    "--preset": ("demo", "device.preset"), "--elements": ("8", "device.element_width"),
    "--evaluate-on": ("host", "device.evaluate_on"),
    "--every": ("1", ""), "--trace-step": ("1", ""), "--smoothing": ("0.5", ""),
    "--timeout": ("60", ""), "--weights": ("none.safetensors", "model.weights")}
_FLAGS = ("--residual", "--jumping", "--normalise-features", "--resume", "--check", "--trace=x")
#: Options that another one makes possible.
_NEEDS = {"--split-seed": ("--split",), "--batch": ("--sampler",),
          "--fan-outs": ("--sampler",), "--monitor": ("--patience",),
          "--micro-batches": ("--sampler",),
          "--walk": ("--sampler=walks",), "--coverage": ("--sampler=walks",),
          "--parts": ("--sampler=cut",),
          "--betas": ("--optimiser=adam",), "--epsilon": ("--optimiser=adam",),
          "--gin-epsilon": ("--model=gin",)}
#: The smallest network, and few messages: all trials simulate the same.
_NETWORK = "--dimensions=1", "--planes=1", "--messages=20"
_FIELDS = ("dimensions", "lanes", "planes", "eject", "buffer_depth", "element_width", "weight_rows",
           "channel_words", "operand_words", "bypass_rows", "adam", "program_rows", "tensors", "x")
_TEXTS = ("x", "ä", "karate", "1,2,3", ",", "1,", "50/50", "60/20/20/0", "100/0/0", "1e-320",
          "serial@0", "serial:x@", "xdma:", "xdma:/dev/null", "serial:/dev/null@-1", "mapped:",
          "mapped:/dev/null", "mapped:x@1", "-0.0",
          "0.999999", "1e-9", "65536", "3", "7")
#: A training may take that long, if it was asked for.
_TOO_LONG = ("2147483648", "4294967295")


def _damaged_value(random: Random, option: str) -> str:
    values = [value for value in (*NUMBERS, *_TEXTS) if len(value) < 100]
    if option in ("--epochs", "--walk", "--coverage", "--layers", "--batch"):
        values = [value for value in values if value not in _TOO_LONG]
    return random.choice(values)


def build_network_of_trials() -> None:
    """Build the network that trials simulate: they have too little memory and time for that."""
    run_command([], "noc", *_NETWORK, "--json")


def try_options(trial: Trial) -> str:
    """A command one of whose options has a damaged value."""
    command = trial.random.choice((
        _train, _train, _train, _config, _model, _noc, _area, _output, _device))
    return command(trial)


def _train(trial: Trial) -> str:
    random = trial.random
    damaged = random.choice(list(_TRAINING))
    options = {damaged: _damaged_value(random, damaged), "--epochs": "1"} | {
        option: _TRAINING[option][0] for option in random.sample(list(_TRAINING), 2)
        if _TRAINING[option][1] not in ("", "model.weights")}
    options[damaged] = _damaged_value(random, damaged)
    for needed in _NEEDS.get(damaged, ()):
        name, _, value = needed.partition("=")
        options.setdefault(name, value or _TRAINING[name][0])
    arguments = [f"{option}={value}" for option, value in options.items()]
    if trial.chance(0.2):
        arguments.append(random.choice(_FLAGS))
    trial.note(f"train karate {' '.join(arguments)[:300]}")
    folder = trial.folder / "run"
    printed = run_command(["--", "-P", *_KEYS], "train", "karate", *arguments, "--json",
                          "--run", folder)
    if printed is None:
        require(not folder.exists() or not (folder / "run.toml").exists()
                or not (folder / "epochs.jsonl").exists(), "a command that fails has kept a run")
        return REFUSED
    kept = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
    for option, value in options.items():
        section, _, key = _TRAINING[option][1].partition(".")
        taken = kept.get(section, {}).get(key)
        require(taken is None or _says(value, taken), f"{option}={value[:40]} is taken as {taken}")
    return READ


#: Names in a refusal that concerns several options.
_KEYS = ("learning_rate", "learning rate", "dropout", "weight_decay", "momentum", "epsilon", "seed",
         "patience", "monitor", "split", "fan_outs", "vertex", "vertices", "hidden", "device",
         "serial", "xdma", "layers", "micro_batches", "[sampling]", "gradient", "/dev/null")


def _says(text: str, taken: Any) -> bool:
    """Whether a text means a value, or a list of them; one may be said for all."""
    if isinstance(taken, list):
        parts = text.replace("/", ",").split(",")
        parts *= len(taken) if len(parts) == 1 else 1
        return len(parts) == len(taken) and all(map(_says, parts, taken))
    if isinstance(taken, str):
        return text == taken
    return bool(type(taken)(text) == taken)


def _config(trial: Trial) -> str:
    field, value = trial.random.choice(_FIELDS), _damaged_value(trial.random, "-P")
    trial.note(f"config show -P {field}={value[:40]}")
    printed = run_command(["-P", field], "config", "show", "--json", "-P", f"{field}={value}")
    return REFUSED if printed is None else READ


def _model(trial: Trial) -> str:
    return _damage_one(trial, {"--vertices": "20", "--edges": "50", "--layers": "8,4,2"},
                       ["--", "vertices", "edges", "features", "layer", "width", "memory"],
                       "model", "--order=combine_first")


def _noc(trial: Trial) -> str:
    """Messages through a network."""
    return _damage_one(trial, {"--seed": "1", "--rate": "0.5", "--stalls": "0.5"}, ["--", "rate"],
                       "noc", *_NETWORK)


def _damage_one(trial: Trial, options: dict[str, str], names: list[str], *command: str) -> str:
    """Damage one of the options of a command; a refusal names one of ``names``."""
    damaged = trial.random.choice(list(options))
    options[damaged] = _damaged_value(trial.random, damaged)
    arguments = [f"{option}={value}" for option, value in options.items()]
    trial.note(f"{command[0]} {' '.join(arguments)[:300]}")
    printed = run_command(names, *command, *arguments, "--json")
    return REFUSED if printed is None else READ


def _area(trial: Trial) -> str:
    options = {"--family": "ecp5", "--preset": "tiny", "--memory": "sram"}
    damaged = trial.random.choice([*options, "-P"])
    value = _damaged_value(trial.random, damaged)
    options[damaged] = f"{trial.random.choice(_FIELDS)}={value}" if damaged == "-P" else value
    trial.note(f"area {options}")
    arguments = [part for option in options.items() for part in option]
    printed = run_command(["-", *_FIELDS], "area", "--estimate", *arguments, "--json")
    return REFUSED if printed is None else READ


def _output(trial: Trial) -> str:
    """A file that cannot be written, or a name that says nothing of its kind."""
    random = trial.random
    run = random.choice(short_runs(trial.kept))
    own = trial.folder
    (own / "old.npz").mkdir()
    (own / "link.csv").symlink_to("link.csv")
    place = random.choice(("x", "x.npz", "x.csv", "x.safetensors", "x.pt", "old.npz", "link.csv",
                           "none/x.npz", "none/x.csv", "none/x.safetensors", "x.npz/", "", ".",
                           "ä.csv", "x" * 300 + ".npz", "x" * 300 + ".safetensors"))
    command = random.choice(("predict", "export", "report"))
    trial.note(f"{command} -o {place[:40]!r}")
    before = sorted(own.iterdir())
    printed = run_command(["-o", str(own), place], command, run, "-o", f"{own}/{place}")
    if printed is None:
        require(sorted(own.iterdir()) == before, "a command that fails has left files")
        return REFUSED
    require((own / place).is_file() and (own / place).stat().st_size, "nothing is written")
    return READ


def _device(trial: Trial) -> str:
    """A file that is named as a device and is none: it is refused, and does not change."""
    random, path = trial.random, trial.folder / "device"
    path.write_bytes(random.randbytes(random.choice((0, 3, 4096, 9000))))
    text = "a file" if trial.chance(0.5) else replace_file(random, path)
    kind = random.choice(("xdma", "mapped", "serial"))
    trial.note(f"selftest --device {kind}:..., which is {text}")
    before = _state(path)
    printed = run_command([str(path)], "selftest", "--quick", "--device", f"{kind}:{path}")
    require(printed is None, "it is taken for a device")
    require(_state(path) == before, "it has changed")
    return REFUSED


def _state(path: Path) -> tuple[object, ...]:
    """Properties of a file that change if it is written."""
    if not os.path.lexists(path):
        return ()
    found = path.lstat()
    small = path.is_file() and found.st_size < 1 << 20
    return found.st_mode, found.st_size, found.st_mtime_ns, path.read_bytes() if small else b""
