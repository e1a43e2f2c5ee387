# SPDX-License-Identifier: BSD-2-Clause
"""Damaged folders of runs, and checkpoints."""

import functools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from hypercast.benches.fuzzing.bytes_damage import damaged_bytes
from hypercast.benches.fuzzing.command_line import run_command
from hypercast.benches.fuzzing.file_damage import damage_file, replace_file
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME, Trial, WrongError, outcome, require
from hypercast.benches.fuzzing.value_damage import damaged_tree
from hypercast.host.description.description import Description
from hypercast.host.report.folder import load_run
from hypercast.host.training.checkpoint import Checkpoint
from hypercast.host.training.checkpoint_file import load_checkpoint
from hypercast.host.training.run_folder import EPOCHS, RUN
from hypercast.host.training.trainer import Trainer
from hypercast.reference.training_state import TrainingState

__all__ = ["short_runs", "try_checkpoint", "try_run_folder"]

_CHECKPOINT = "checkpoint.safetensors"
_RUNS: tuple[dict[str, dict[str, Any]], ...] = (
    {"model": {"hidden": 3}},
    {"model": {"hidden": 2, "name": "sage"}, "recipe": {"optimiser": "adam"},
     "stopping": {"patience": 2}},
    {"model": {"hidden": 2}, "sampling": {"sampler": "neighbours", "batch": 4,
                                          "fan_outs": [2, 2]}})
#: Commands on a run that print or write their findings, and the file that they write.
_COMMANDS = {"evaluate": (("--json",), None), "predict": ((), "predictions.npz"),
             "export": ((), "weights.safetensors"), "numbers": (("--json",), None)}


@functools.cache
def short_runs(kept: Path) -> list[Path]:
    """Folders of short runs; each is made once in a process."""
    folders = []
    for number, sections in enumerate(_RUNS):
        folder = kept / f"run{number}"
        description = Description.of_sections({
            "graph": {"source": "karate"}, **sections,
            "recipe": {"epochs": 2, "learning_rate": 0.1, **sections.get("recipe", {})}})
        with Trainer.of_description(description, run=folder) as trainer:
            trainer.fit()
        run_command([], "report", folder)
        folders.append(folder)
    return folders


def _copy(trial: Trial) -> tuple[Path, Path]:
    folder = trial.folder / "run"
    original = trial.random.choice(short_runs(trial.kept))
    shutil.copytree(original, folder)
    return original, folder


@functools.cache
def _find(command: str, folder: Path) -> Any:
    """A command's findings in a run."""
    options, file = _COMMANDS[command]
    output = folder.with_name(f"{folder.name}-{file}") if file else None
    printed = run_command([str(folder), "on samples", "scale"], command, folder, *options,
                          *(("-o", output) if file else ()))
    if printed is None:
        return None
    return printed if output is None else _content(output)


def _content(path: Path) -> dict[str, Any]:
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name].tolist() for name in arrays}
    return {name: values.tolist() for name, values in load(path.read_bytes()).items()}


def try_run_folder(trial: Trial) -> str:
    """A folder of a run, one of whose files is damaged: used by any command that reads it."""
    original, folder = _copy(trial)
    random = trial.random
    file = random.choice(sorted(path for path in folder.iterdir() if path.suffix != ".html"))
    whole = trial.chance(0.05)
    if not whole:
        trial.note(f"{damage_file(random, file)}")
    command = random.choice((*_COMMANDS, "report", "resume", "checked"))
    trial.note(f"{file.name if not whole else 'nothing'} damaged, {command}")
    names = [str(folder), "optimiser constant", "gradient"]
    if command == "report":
        return _report(folder, names, whole)
    if command in _COMMANDS:
        expected = _find(command, original)
        if expected is None:  # samples have no numbers
            command, expected = "evaluate", _find("evaluate", original)
        found = _find.__wrapped__(command, folder)
        require(found is not None or not whole, "a run that is not damaged is refused")
        require(found in (None, expected), f"{command} finds something else in it")
        return REFUSED if found is None else SAME
    return _resume(original, folder, names, whole)


def _report(folder: Path, names: list[str], whole: bool) -> str:
    found = run_command(names, "report", folder)
    require(found is not None or not whole, "a run that is not damaged is refused")
    if found is None:
        return REFUSED
    run = load_run(folder)
    lines = (folder / EPOCHS).read_bytes().splitlines(keepends=True)
    require(run.epochs == [json.loads(line) for line in lines if line.endswith(b"\n")],
            "the report shows other epochs than the file has")
    said = json.loads((folder / RUN).read_text(encoding="utf-8-sig"))
    require(run.facts == said["facts"] and run.memory == said["memory"],
            "the report shows other facts than the file has")
    return READ


def _description(folder: Path) -> bytes:
    path = folder / "run.toml"
    small = path.is_file() and path.stat().st_size < 1 << 20
    return path.read_bytes() if small else b""


@functools.cache
def _go_on(original: Path) -> Checkpoint:
    """The checkpoint after one more epoch of a run that is not damaged."""
    folder = original.with_name(f"{original.name}-gone-on-with")
    shutil.copytree(original, folder)
    run_command([], "train", "--resume", "--run", folder, "--epochs", 3)
    return load_checkpoint(folder / _CHECKPOINT)


def _resume(original: Path, folder: Path, names: list[str], whole: bool) -> str:
    before = _description(folder)
    printed = run_command([*names, "--"], "train", "--resume", "--run", folder, "--epochs", 3,
                          "--json")
    require(printed is not None or not whole, "a run that is not damaged is not gone on with")
    if printed is None:
        require(before == _description(folder), "a command that fails has written run.toml")
        return REFUSED
    found, expected = load_checkpoint(folder / _CHECKPOINT), _go_on(original)
    # Only the description says when a training ends; checkpoints do not.
    if found.state.step == expected.state.step and found.best and expected.best:
        require(_plain(found) == _plain(expected), "it ends in other bits")
    elif found.state.step == expected.state.step:
        require(_tensors(found.state) == _tensors(expected.state), "it ends in other bits")
    return READ


def try_checkpoint(trial: Trial) -> str:
    """A checkpoint that is damaged: read back as it was written, or refused."""
    original, folder = _copy(trial)
    random = trial.random
    path = folder / _CHECKPOINT
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8:8 + length]), content[8 + length:]
    kind = random.choice(("bytes", "bytes", "header", "facts", "body", "other", "nothing"))
    text = ""
    match kind:
        case "bytes":
            content, text = damaged_bytes(random, content)
        case "header":
            header, text = damaged_tree(random, header)
        case "facts":
            facts, text = damaged_tree(random, json.loads(header["__metadata__"]["hypercast"]))
            header["__metadata__"]["hypercast"] = json.dumps(facts)
        case "body":
            body, text = damaged_bytes(random, body)
    if kind in ("header", "facts", "body"):
        coded = json.dumps(header).encode()
        content = len(coded).to_bytes(8, "little") + coded + body
    path.write_bytes(content)
    if kind == "other":
        text = replace_file(random, path)
    trial.note(f"{kind}: {text}")
    try:
        found = load_checkpoint(path)
    except Exception as error:
        require(kind != "nothing", f"a checkpoint that is not damaged is refused: {error}")
        return outcome(error, [str(path)])
    written = load_checkpoint(original / path.name)
    if _plain(found) != _plain(written):
        raise WrongError("accepted with other contents than were written")
    return SAME


def _plain(checkpoint: Checkpoint) -> tuple[Any, ...]:
    """All of a checkpoint, to be compared."""
    return (checkpoint.identity, checkpoint.records, _tensors(checkpoint.state),
            checkpoint.best and _tensors(checkpoint.best))


def _tensors(state: TrainingState) -> tuple[Any, ...]:
    return (state.step, state.exponents, state.momentum_exponents, {
        (name, kind): values.tolist() for name, arrays in state.parameters.items()
        for kind, values in arrays.items()})
