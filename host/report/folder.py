"""The folder of a training run: what ``hypercast train --run`` keeps for ``hypercast report``."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hypercast.host.timeline import Phase, Slices
from hypercast.host.trace import write_trace
from hypercast.rtl.config import Config

__all__ = ["Run", "RunError", "RunWriter", "load_run"]

_RUN, _EPOCHS, _STEP, _SLICES, _TRACE = (
    "run.json", "epochs.jsonl", "step.json", "slices.npz", "trace.json")


class RunError(ValueError):
    """A folder holds no run, or a damaged one; says which file, and what to do."""


class RunWriter:
    """Keeps a run: ``run.json``, ``epochs.jsonl``, and of one step ``step.json``, ``slices.npz``
    and ``trace.json`` (for Perfetto). An earlier run in the folder is replaced.

    Parameters
    ----------
    folder : pathlib.Path
        The folder; it is made if need be.
    config : Config
        Configuration of the chip.
    facts : dict
        What is trained, and how.
    job : Job, optional
        What a chip runs, for its memory map.
    """

    def __init__(self, folder, config, facts, job=None):
        self._folder = folder
        self._config = config
        folder.mkdir(parents=True, exist_ok=True)
        for name in (_STEP, _SLICES, _TRACE):
            (folder / name).unlink(missing_ok=True)
        (folder / _EPOCHS).write_text("")
        self._write(_RUN, {"facts": facts, "config": config.to_dict(),
                           "memory": memory_map(job) if job else {}})

    def _write(self, name, value):
        (self._folder / name).write_text(json.dumps(value, indent=1) + "\n")

    def epoch(self, record, device):
        """Add an epoch: its metrics, and the device's exponents and saturations in it."""
        with (self._folder / _EPOCHS).open("a") as file:
            file.write(json.dumps({**record, "saturations": device.saturations,
                                   "exponents": device.exponents()}) + "\n")

    def step(self, number, profile):
        """Keep the profile of training step ``number``, from 1."""
        self._write(_STEP, {"number": number, "cycles": profile.cycles,
                            "phases": [phase._asdict() for phase in profile.phases]})
        names = [phase.name for phase in profile.phases]
        phases = np.array([names.index(instruction.phase) for instruction in profile.instructions])
        # The report needs the phase of a slice, not its instruction.
        slices = profile.slices._replace(instruction=phases[profile.slices.instruction])
        np.savez_compressed(self._folder / _SLICES, **slices._asdict())
        write_trace(self._folder / _TRACE, profile, self._config)


def memory_map(job):
    """Places of everything: memory to (name, first word, words) in order of addresses."""
    places: dict[str, dict] = {"channel 0": {}, "channel 1": {}, "weight bank": {}}
    for name, region in job.regions.items():
        if region.words and not name.endswith(".eval"):  # which lie where the others do
            places[f"channel {region.channel}"][name] = region.address, region.words
    for name, weights in job.weights.items():
        places["weight bank"][name] = weights.base, weights.rows
    return {memory: sorted(([name, *place] for name, place in regions.items()),
                           key=lambda place: place[1])
            for memory, regions in places.items()}


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run, as it was kept.

    Parameters
    ----------
    facts : dict
        What was trained, and how.
    config : Config
        Configuration of the chip.
    memory : dict
        Name of each memory to its (name, first word, words) regions; empty without a chip.
    epochs : list of dict
        Metrics, ``saturations`` and ``exponents`` of every epoch.
    step, cycles : int
        Number, from 1, of the training step that was recorded, and its cycles; 0 if there is none.
    phases : list of Phase
        Its phases.
    slices : Slices or None
        When its engines were busy; ``instruction`` is the number of the phase.
    """

    facts: dict
    config: Config
    memory: dict
    epochs: list
    step: int = 0
    cycles: int = 0
    phases: list = field(default_factory=list)
    slices: Slices | None = None

    def counters(self):
        """Counter name to a value per core, over the whole step."""
        return {name: np.sum([phase.counters[name] for phase in self.phases], axis=0).tolist()
                for name in self.phases[0].counters}


def load_run(folder):
    """The ``Run`` in a folder.

    Raises
    ------
    RunError
        If there is none, or a file is damaged.
    """
    folder = Path(folder)
    if not (folder / _RUN).exists():
        raise RunError(f"{folder} holds no run (there is no {_RUN}); make one by "
                       f"hypercast train --run {folder}")
    name = _RUN
    try:
        run = json.loads((folder / _RUN).read_text())
        name = _EPOCHS
        epochs = [json.loads(line) for line in (folder / _EPOCHS).read_text().splitlines()]
        step = {}
        if (folder / _STEP).exists():
            name = _STEP
            step = json.loads((folder / _STEP).read_text())
            name = _SLICES
            step["slices"] = Slices(**np.load(folder / _SLICES))
            step["step"] = step.pop("number")
            step["phases"] = [Phase(**phase) for phase in step["phases"]]
        return Run(facts=run["facts"], config=Config(**run["config"]), memory=run["memory"],
                   epochs=epochs, **step)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{folder / name} cannot be read ({error}); run hypercast train --run "
                       f"{folder} again") from error
