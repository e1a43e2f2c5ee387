# SPDX-License-Identifier: BSD-2-Clause
"""Predictions of a trained model for every vertex, and the files that they are kept in."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from hypercast.errors import InputError
from hypercast.host.files.durable_file import write_durably
from hypercast.reference.array_types import BoolArray, FloatArray, IntArray

__all__ = ["Predictions"]

#: Vertices that a notebook shows.
_ROWS = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """Predictions, a row per vertex in the order of the graph.

    Parameters
    ----------
    classes : (V,) numpy.ndarray of int64, or (V, C) numpy.ndarray of bool
        Predicted class, or, of a multi-label graph, classes.
    logits : (V, C) numpy.ndarray of float64
        What the last layer says, exactly as the device computes it.
    """

    classes: IntArray | BoolArray
    logits: FloatArray

    @classmethod
    def of_logits(cls, logits: FloatArray, *, several: bool = False) -> Self:
        """Predictions from logits: the class with the largest, or all that are above zero."""
        return cls(classes=logits > 0 if several else logits.argmax(axis=1), logits=logits)

    def __repr__(self) -> str:
        vertices, classes = self.logits.shape
        return f"Predictions(vertices={vertices}, classes={classes})"

    def _repr_html_(self) -> str:
        """The first vertices as a table."""
        head = "".join(f"<th>logit {number}</th>" for number in range(self.logits.shape[1]))
        rows = "".join(
            f"<tr><td>{vertex}</td><td>{' '.join(map(str, self._of(vertex)))}</td>"
            + "".join(f"<td>{logit:.4g}</td>" for logit in self.logits[vertex]) + "</tr>"
            for vertex in range(min(_ROWS, len(self.logits))))
        more = "<tr><td>…</td></tr>" if len(self.logits) > _ROWS else ""
        return (f"<table><thead><tr><th>vertex</th><th>class</th>{head}</tr></thead>"
                f"<tbody>{rows}{more}</tbody></table>")

    def save(self, path: str | PathLike[str]) -> None:
        """Write an ``.npz`` file with both arrays, or a ``.csv`` file with a line per vertex.

        Raises
        ------
        InputError
            If the name ends in neither.
        OSError
            If it cannot be written; an older file stays.
        """
        path = Path(path)
        if path.suffix == ".npz":
            archive = io.BytesIO()
            np.savez_compressed(archive, classes=self.classes, logits=self.logits)
            write_durably(path, archive.getvalue())
        elif path.suffix == ".csv":
            table = io.StringIO(newline="")
            writer = csv.writer(table)
            writer.writerow(["vertex", "classes", *(
                f"logit {number}" for number in range(self.logits.shape[1]))])
            writer.writerows(
                [vertex, " ".join(map(str, self._of(vertex))), *self.logits[vertex].tolist()]
                for vertex in range(len(self.logits)))
            write_durably(path, table.getvalue().encode())
        else:
            raise InputError(f"{path} must end in .npz or .csv")

    def _of(self, vertex: int) -> Iterable[np.integer[Any]]:
        chosen = self.classes[vertex]
        return [chosen] if self.classes.ndim == 1 else np.flatnonzero(chosen)
