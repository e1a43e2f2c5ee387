# SPDX-License-Identifier: BSD-2-Clause
"""Checks what the files of a run say, before it is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from hypercast.errors import require
from hypercast.host.compiler.phase_name import PhaseName
from hypercast.host.runtime.timeline import WORK_COUNTERS
from hypercast.host.training.numbers import TensorNumbers
from hypercast.rtl.isa import Engine

__all__ = ["check_boards", "check_numbers", "check_records", "check_run", "check_slices",
           "check_step"]

_COUNTS, _EXPONENTS = range(1 << 63), range(-512, 512)
#: Beyond is no loss, and no number to draw.
_LARGEST = 1e300
_SPLITS = ("train", "validation", "test")
#: Entries that only records of chips have.
_CYCLES = ("train_cycles", "evaluate_cycles")


def _check(value: Any, form: Any, place: str) -> None:
    """Raise ``InputError`` unless a value has a form: a type, a range, None or a number (float),
    a list of such, or a dictionary of just these keys."""
    if isinstance(form, dict):
        require(isinstance(value, dict) and value.keys() == form.keys(),
                f"{place} has not just {', '.join(form)}")
        for key, inner in form.items():
            _check(value[key], inner, f"{place}, {key}")
    elif isinstance(form, list):
        require(isinstance(value, list), f"{place} is no list")
        for number, entry in enumerate(value, 1):
            _check(entry, form[0], f"{place}, entry {number}")
    elif isinstance(form, range):
        require(type(value) is int and value in form,
                f"{place} is {str(value)[:40]}, no whole number from {form[0]} to {form[-1]}")
    elif form is float:
        require(value is None or (type(value) in (int, float) and abs(value) <= _LARGEST),
                f"{place} is {str(value)[:40]}, no number")
    else:
        require(type(value) is form, f"{place} is {str(value)[:40]}, no {form.__name__}")


def check_run(run: Any) -> None:
    """Raise ``InputError`` unless ``run.json`` has facts, a configuration and a memory map."""
    _check(run, {"facts": dict, "config": dict, "memory": dict}, "the run")
    for name in ("data set", "device"):
        _check(run["facts"].get(name), str, f"facts, {name}")
    for memory, regions in run["memory"].items():
        _check(regions, [list], memory)
        for region in regions:
            require(len(region) == 3, f"{memory} has a region that is no name, address and words")
            for value, form in zip(region, (str, _COUNTS, _COUNTS), strict=True):
                _check(value, form, f"{memory}, {region[0]}")


def check_boards(time: Any) -> None:
    """Raise ``InputError`` unless ``boards.json`` has what boards took, and their last step."""
    _check(time, {"steps": _COUNTS, "boards": [str], "seconds": float, "computed": [float],
                  "waited": [float], "alone": float, "slots": [list]}, "the boards")
    names = time["boards"]
    require(names and len(names) == len(time["computed"]) == len(time["waited"]),
            "boards, computed and waited are not of as many boards")
    for key in ("steps", "seconds"):
        require(time[key] and time[key] > 0, f"{key} is {time[key]}, not above 0")
    for number, value in enumerate((*time["computed"], *time["waited"], time["alone"])):
        require(value is not None and value >= 0, f"time {number + 1} is {value}, no number")
    for number, interval in enumerate(time["slots"], 1):
        place = f"slot {number}"
        require(len(interval) == 4, f"{place} is no track, name, begin and end")
        for value, form in zip(interval, (str, str, float, float), strict=True):
            _check(value, form, place)
        require(None not in interval and 0 <= interval[2] <= interval[3],
                f"{place} ends before it begins")


def check_records(records: Sequence[Any]) -> None:
    """Raise ``InputError`` unless every epoch has its record, and all have the same entries.

    Only epochs that a chip trained have cycles; a training can go on with another device.
    """
    for number, record in enumerate(records):
        place = f"epoch {number + 1}"
        _check(record, dict, place)
        kind = "accuracy" if "train_accuracy" in record else "micro_f1"
        form = {name: float for name in records[0] if name not in _CYCLES} | {
            name: _COUNTS for name in _CYCLES if any(one in record for one in _CYCLES)} | {
            "epoch": range(number, number + 1), "training_loss": float, "saturations": _COUNTS,
            "exponents": dict, **{f"{split}_{score}": float for split in _SPLITS
                                  for score in ("loss", kind)}}
        _check(record, form, place)
        _check(record["exponents"], dict.fromkeys(records[0]["exponents"], _EXPONENTS),
               f"{place}, exponents")


def check_step(step: Any, cores: int) -> None:
    """Raise ``InputError`` unless ``step.json`` has the phases of a chip of so many cores."""
    _check(step, {"number": _COUNTS, "cycles": _COUNTS, "phases": [
        {"name": str, "cycles": _COUNTS,
         "counters": {name: [_COUNTS] for name in WORK_COUNTERS}}]}, "the step")
    for phase in step["phases"]:
        PhaseName.read(phase["name"])
        for name, values in phase["counters"].items():
            require(len(values) == cores, f"{name} has {len(values)} values for {cores} cores")


def check_slices(slices: Mapping[str, npt.NDArray[Any]], step: Mapping[str, Any],
                 cores: int) -> None:
    """Raise ``InputError`` unless ``slices.npz`` has slices of a step."""
    ends = {"core": cores, "engine": len(Engine), "start": step["cycles"] + 1,
            "end": step["cycles"] + 1, "instruction": len(step["phases"])}
    for name, end in ends.items():
        values = slices[name]
        require(values.ndim == 1 and values.dtype.kind in "iu" and len(values) == len(
            slices["core"]), f"{name} is no list of whole numbers, one for each slice")
        outside = values[(values < 0) | (values >= end)]
        require(not outside.size, f"{name} goes to {outside[:1]}, but is 0 to {end - 1}")


def check_numbers(numbers: Any) -> None:
    """Raise ``InputError`` unless ``numbers.json`` has a ``TensorNumbers`` of each tensor."""
    _check(numbers, [dict(zip(TensorNumbers._fields, (
        str, _EXPONENTS, float, _COUNTS, _COUNTS, float), strict=True))], "the numbers")
