# SPDX-License-Identifier: BSD-2-Clause
"""Damaged descriptions of trainings: TOML and YAML files."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import tomli_w
import yaml

from hypercast.benches.fuzzing.command_line import run_command
from hypercast.benches.fuzzing.file_damage import damage_file
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME, Trial, outcome, require
from hypercast.benches.fuzzing.value_damage import damaged_tree
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description, load_description

__all__ = ["draw_sections", "quick", "try_description"]


def draw_sections(random: Random) -> dict[str, dict[str, Any]]:
    """Sections of a random description of a short training on the karate club."""
    sage = random.random() < 0.3
    sections: dict[str, dict[str, Any]] = {
        "graph": {"source": "karate"}, "model": {"hidden": random.randint(1, 5)},
        "recipe": {"epochs": random.randint(1, 2), "seed": random.getrandbits(20),
                   "learning_rate": random.choice((0.1, [0.2, 0.1]))},
        "device": {"name": "reference", "preset": "demo"}}
    if sage:
        sections["model"] |= {"name": "sage", "dropout": 0.5, "jumping": True}
    if random.random() < 0.4:
        sections["graph"] |= {"split": [50, 25, 25.0], "split_seed": 3}
    if random.random() < 0.4:
        sections["recipe"] |= {"schedule": [[1, 0.5]], "weight_decay": 5e-4, "momentum": 0.5}
    if random.random() < 0.4:
        sections["stopping"] = {"patience": 2, "monitor": "validation_loss"}
    if not sage and random.random() < 0.4:
        sections["sampling"] = random.choice((
            {"sampler": "neighbours", "batch": 4, "fan_outs": [2, 3]},
            {"sampler": "walks", "batch": 3, "walk": 2, "coverage": 1.5},
            {"sampler": "cut", "parts": 2}))
    if random.random() < 0.4:
        sections["device"] |= {"elements": 8, "lanes": 4}
    return sections


def _texts(sections: dict[str, Any]) -> dict[str, str]:
    """Texts of a description, by the suffix of their file."""
    return {".toml": tomli_w.dumps(sections), ".yaml": yaml.safe_dump(sections)}


def quick(sections: Mapping[str, Any]) -> bool:
    """Whether a description that was read asks for a training that takes no time."""
    graph, recipe, model, sampling, device = (
        sections.get(name) or {} for name in ("graph", "recipe", "model", "sampling", "device"))
    def small(value: Any, most: int) -> bool:
        values = value if isinstance(value, list) else [value]
        return all(type(one) in (int, float) and one <= most for one in values)
    return (small(recipe.get("epochs", 1000), 20) and small(model.get("hidden", 1), 64)
            and small(model.get("layers", 1), 20) and small(sampling.get("walk", 1), 50)
            and small(sampling.get("coverage", 1), 50) and small(sampling.get("batch", 1), 1000)
            and graph.get("source") == "karate"
            and device.get("name", "reference") == "reference")


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    return tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)


def _equal(given: Any, taken: Any) -> bool:
    """Whether a value is as a file gives it: a number for a list of it alone, 1 for 1.0."""
    if isinstance(given, list) or isinstance(taken, (list, tuple)):
        given = given if isinstance(given, list) else [given]
        taken = taken if isinstance(taken, (list, tuple)) else [taken]
        return len(given) == len(taken) and all(map(_equal, given, taken))
    if isinstance(taken, float) and not isinstance(given, bool):
        given = float(given)  # PyYAML takes 1e-3 for text
    return given == taken and isinstance(given, bool) == isinstance(taken, bool)


def _difference(given: dict[str, Any], taken: dict[str, Any]) -> str:
    """Differences of a description from its file, but for defaults that the file does not give."""
    default = Description.of_sections({"graph": {"source": "karate"}}).sections()
    for section, keys in given.items():
        for key, value in (keys or {}).items():
            if (section, key) == ("graph", "source") or value is None:
                continue
            if key not in taken[section]:  # the preset's value, or as if it were not given
                continue
            if not _equal(value, taken[section][key]):
                return f"[{section}] {key} is {value} there, {taken[section][key]} here"
    for section, keys in taken.items():
        for key, value in keys.items():
            if key not in (given.get(section) or {}) and section in ("model", "graph", "recipe") \
                    and default[section].get(key) != value and key not in _DERIVED:
                return f"[{section}] {key} is {value} here, and not there"
    return ""


#: Keys whose defaults follow from others.
_DERIVED = ("normalisation", "source", "headroom", "feature_headroom", "gradient_headroom",
            "learning_rate", "bias_learning_rate")


def try_description(trial: Trial) -> str:
    """A description in a file: read, and trained by."""
    random = trial.random
    sections = draw_sections(random)
    suffix = random.choice((".toml", ".yaml"))
    path = trial.folder / f"run{suffix}"
    whole = trial.chance(0.05)
    if whole or trial.chance(0.5):
        path.write_text(_texts(sections)[suffix], encoding="utf-8")
        if not whole:
            trial.note(f"{suffix}, {damage_file(random, path)}")
    else:
        changed, text = damaged_tree(random, sections)
        try:
            path.write_text(_texts(changed)[suffix], encoding="utf-8")
        except (TypeError, ValueError, AttributeError, RecursionError):  # no value of such files
            path.write_text("", encoding="utf-8")
        trial.note(f"{suffix}, {text}")
    names = [str(path)]
    try:
        description = load_description(path)
    except DescriptionError as error:
        require(not whole, f"a description that is not damaged is refused: {error}")
        return outcome(error, names)
    given = _read(path)
    different = _difference(given, description.sections())
    require(not different, different)
    if quick(given):
        # Options that are at odds with the graph are named by their keys, or the graph's parts.
        printed = run_command([*names, *_WORDS], "train", path, "--json")
        # Gradients of a few samples can grow too large to be trained.
        require(printed is not None or not whole or "sampling" in given,
                "what is not damaged is not trained")
        if printed is None:
            return REFUSED
    return SAME if given == sections else READ


#: Names in a refusal that comes later than when the file is read.
_WORDS = ("--", *Description.__dataclass_fields__, "learning rate", "patience", "monitor", "split",
          "vertex", "vertices", "momentum", "decay", "dropout",
          "feature", "epochs", "gradient", "hidden")
