# SPDX-License-Identifier: BSD-2-Clause
"""The course of a training so far, epoch by epoch, as people see it."""

from html import escape

from hypercast.host.training.run_folder import Record

__all__ = ["History", "summary"]

#: What a line about an epoch has, if there is such a thing.
_SHOWN = ("training_loss", "validation_loss", "validation_accuracy", "validation_micro_f1")
#: Epochs that a notebook shows of many.
_ROWS = 6


class History(list[Record]):
    """A record of each epoch. Notebooks show the last ones as a table."""

    def __repr__(self) -> str:
        if not self:
            return "History(no epoch)"
        count = f"{len(self)} epoch{'s' if len(self) > 1 else ''}"
        return f"History({count}; the last one: {summary(self[-1])})"

    def _repr_html_(self) -> str:
        """The last epochs as a table."""
        names = [name for name in _SHOWN if self and self[0].get(name) is not None]
        rows = "".join(
            f"<tr><td>{record['epoch'] + 1}</td>"
            + "".join(f"<td>{_value(name, record.get(name))}</td>" for name in names) + "</tr>"
            for record in self[-_ROWS:])
        head = "".join(f"<th>{escape(_words(name))}</th>" for name in ("epoch", *names))
        more = f"<p>{len(self)} epochs, the last of which are:</p>" if len(self) > _ROWS else ""
        return f"{more}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def summary(record: Record) -> str:
    """An epoch in a few words: losses and accuracies, as far as there are such."""
    return ", ".join(f"{_words(name)} {_value(name, record[name])}" for name in _SHOWN
                     if record.get(name) is not None)


def _words(name: str) -> str:
    return name.replace("_f1", " F1").replace("_", " ")


def _value(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if name.endswith(("accuracy", "f1")) else f"{value:.4g}"
