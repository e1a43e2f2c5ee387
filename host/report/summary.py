# SPDX-License-Identifier: BSD-2-Clause
"""The begin of the page, with the result and how it was reached; and its end, with settings."""

from collections.abc import Mapping
from datetime import datetime
from html import escape

from hypercast.host.report.folder import Run
from hypercast.host.runtime.trace import CLOCK_MHZ
from hypercast.host.training.process_record import ProcessRecord
from hypercast.host.training.run_folder import Record

__all__ = ["result", "settings"]

#: Splits as records name them, the most important first.
_SPLITS = ("test", "validation", "train")
#: Settings that the table of results has.
_SHOWN = ("data set", "device")


def result(run: Run) -> str:
    """HTML of the result, and of when, how and where it was reached."""
    rows = {} if run.result is None else _measures(run.result)
    rows |= {"epochs": _epochs(run),
             "saturations": f"{sum(record['saturations'] for record in run.epochs):,}"}
    if run.step:
        rows["recorded step"] = (f"epoch {run.step}: {run.cycles:,} cycles, "
                                 f"{run.cycles / CLOCK_MHZ:,.1f} µs if the clock were {CLOCK_MHZ} "
                                 f"MHz")
    config, device = run.config, run.facts["device"]
    of = "" if device == "reference" else (f"{config.cores} core{'s' * (config.cores > 1)}, "
                                           f"{config.lanes} lanes, ")
    rows["device"] = f"{device}: {of}{config.element_width}-bit elements"
    if len(run.processes) == 1:
        rows |= _when(run.processes[0])
    html = _table(rows, "facts result")
    if len(run.processes) > 1:
        html += _processes(run.processes)
    return html


def _measures(record: Record) -> dict[str, str]:
    """Accuracy or F1, and loss, of the splits that have vertices."""
    rows = {}
    for kind, form in (("accuracy", ".1%"), ("micro_f1", ".1%"), ("loss", ".4f")):
        values = [f"{split} {value:{form}}" for split in _SPLITS
                  if (value := record.get(f"{split}_{kind}")) is not None]
        if values:
            rows[kind.replace("_f1", " F1")] = ", ".join(values)
    return rows


def _epochs(run: Run) -> str:
    asked, done = run.facts.get("epochs"), len(run.epochs)
    of = f" of {asked}" if isinstance(asked, int) and asked != done else ""
    kept = f"; the weights are those of epoch {run.best}" if run.best not in (0, done) else ""
    return f"{done}{of}{kept}"


def _when(record: ProcessRecord) -> dict[str, str]:
    return {"command": record.command or "none, it was started from Python",
            "date": _date(record), "duration of training": _duration(record.seconds),
            "version": record.version}


def _date(record: ProcessRecord) -> str:
    return f"{datetime.fromisoformat(record.begun):%Y-%m-%d %H:%M:%S} UTC"


def _duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None:
        return "not known: the process was killed"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _processes(records: list[ProcessRecord]) -> str:
    """HTML of all processes that trained, one after another."""
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}" for text in (
            _date(one), f"{one.first} to {one.last or '?'}", _duration(one.seconds), one.device,
            one.version, one.command or "from Python")) for one in records)
    return (f'<table class="facts"><tr><th>date<th>epochs<th>duration<th>device<th>version'
            f"<th>command{rows}</table>")


def settings(run: Run) -> str:
    """HTML of what was trained, and of the chip's configuration, a row for each setting."""
    facts = {name: value for name, value in run.facts.items() if name not in _SHOWN}
    return _table({name: _text(value) for name, value in {
        "data set": run.facts["data set"], **facts}.items() if value != []}, "facts") + _table(
            {name: _text(value) for name, value in run.config.to_dict().items()}, "facts")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value).replace("_", " ") if value in ("combine_first", "aggregate_first") \
        else str(value)


def _table(rows: Mapping[str, str], kind: str) -> str:
    return f'<table class="{kind}">' + "".join(
        f"<tr><th>{escape(name.replace('_', ' '))}<td>{escape(text)}"
        for name, text in rows.items()) + "</table>"
