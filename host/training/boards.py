# SPDX-License-Identifier: BSD-2-Clause
"""How boards are to train together, as a user says it: in Python and on the command line."""

import contextlib
import os
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from hypercast.errors import InputError
from hypercast.host.cluster.assignment import LAYERS, SCHEMES, Assignment, unfit_value
from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.description.conversion import Within, call_text, check, given_fields
from hypercast.host.files.given_path import given_path

__all__ = ["Boards"]

#: What most values are, by name; others are objects.
_HINTS = {
    "count": Annotated[int, Within(1, 1024)] | None, "scheme": str | None, "staleness": bool,
    "smoothing": Annotated[float, Within(0, 1)] | None,
    "stages": Annotated[int, Within(1, 1024)] | None,
    "chunks": Annotated[int, Within(1)] | None,
    "timeout": Annotated[float, Within(1e-9, 1e7)] | None}
#: Seconds that a board waits for another.
_TIMEOUT = 600.0


@dataclass(frozen=True)
class Boards:
    """Boards that train together, with a process of this machine for each.

    The bits are the same as on one board, but with ``staleness``. It needs
    ``pip install 'hypercast-gcn[cluster]'``.

    Parameters
    ----------
    count : int, optional
        How many.
    scheme : str, optional
        What each board has its own of: ``samples``, some of a step's; ``graph``, a part of it;
        ``layers``, a run of them. If not given, samples if steps work on some, else the graph.
    cluster : Cluster, str or pathlib.Path, optional
        Boards that they stand for: a name as ``vcu128-4``, or a file. Their time is reckoned, see
        ``Trainer.virtual_time``. With neither ``count`` nor ``scheme``, they train as the cluster's
        boards would fastest.
    plan : pathlib.Path or str, optional
        A plan for the cluster, in a file that ``hypercast plan -o`` wrote.
    staleness : bool
        Boards that share a graph take each other's rows of the step before, and do not wait for
        them; boards that have a run of layers take older weights, or with ``chunks`` older rows. By
        a plan, if that is fastest.
    smoothing : float, optional
        With staleness: rows of others are a running mean that keeps this share of itself in each
        step; 0 if not given.
    stages : int, optional
        With layers and staleness: weights are stashed for so many stages of layers.
    chunks : int, optional
        With layers and staleness, on a whole graph: so many chunks of vertices follow each other.
    timeout : float, optional
        Seconds that a board waits for another; 600 if not given.

    Raises
    ------
    DescriptionError
        If a value makes no sense, or two of them do not fit each other.
    """

    count: int | None = None
    _: KW_ONLY
    scheme: str | None = None
    cluster: Cluster | str | os.PathLike[str] | None = None
    plan: str | os.PathLike[str] | None = None
    staleness: bool = False
    smoothing: float | None = None
    stages: int | None = None
    chunks: int | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in _HINTS}
        for name, value in check("boards", values, _HINTS).items():
            object.__setattr__(self, name, value)
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise unfit_value("scheme", "must be {} or {}, not {!r}",
                              ", ".join(SCHEMES[:-1]), SCHEMES[-1], self.scheme)
        if self.cluster is not None and not isinstance(self.cluster, Cluster):
            object.__setattr__(self, "cluster", load_cluster(_path("cluster", self.cluster)))
        if self.plan is not None:
            object.__setattr__(self, "plan", Path(_path("plan", self.plan)))
        if self.plan and not self.cluster:
            raise unfit_value("plan", "{} is for the boards of a cluster; give {cluster} as "
                              "well", self.plan)
        for name in ("count", "scheme") if self.plan else ():
            if getattr(self, name):
                raise unfit_value(name, "and {plan} both say how boards train together; "
                                  "leave one of them out")
        if self.smoothing is not None and not (self.staleness or self.plan):
            raise unfit_value("smoothing", "is of rows that are a step old; give "
                              "{staleness} as well")
        if self.smoothing is not None and self.scheme == LAYERS:
            raise unfit_value("smoothing", "is of rows that are a step old; with {scheme} "
                              "layers, it is weights that are; leave it out")
        for name in ("stages", "chunks"):
            if getattr(self, name) and not (self.staleness and self.scheme == LAYERS):
                raise unfit_value(name, "says what is older where boards have a run of "
                                  "layers each; give {scheme} layers and {staleness} "
                                  "as well")
        if self.stages and self.chunks:
            raise unfit_value("stages", "are of older weights, {chunks} of older rows; "
                              "leave one of them out")

    def __repr__(self) -> str:
        values = given_fields(self)
        if self.count is None:
            del values["count"]
        return call_text("Boards", values)

    @property
    def described(self) -> Cluster | None:
        """The cluster."""
        assert self.cluster is None or isinstance(self.cluster, Cluster)
        return self.cluster

    @property
    def planned(self) -> bool:
        """Whether a plan says what each board does."""
        return self.plan is not None or bool(self.cluster and not (self.count or self.scheme))

    @property
    def seconds(self) -> float:
        """How long a board waits for another."""
        return self.timeout or _TIMEOUT

    def number(self, started: int = 1) -> int:
        """How many train, by no plan.

        Parameters
        ----------
        started : int
            How many processes were started for them.

        Raises
        ------
        DescriptionError
            If it is one process, but more was asked for; or if another number was started.
        """
        if self.count and started > 1 and self.count != started:
            raise unfit_value("count", "{} starts as many processes, but {} were started "
                              "already; leave one of the two out",
                              self.count, started)
        count = self.count or started
        for name in ("timeout", "scheme", "cluster", "staleness") if count == 1 else ():
            if getattr(self, name):
                raise unfit_value(name, "says how boards train together" + (
                    ", but {count} is 1; give 2 or more" if self.count
                    else "; give {count} as well"))
        return count

    @property
    def assignment(self) -> Assignment:
        """The assignment of each board, if no plan says it."""
        if not self.staleness:
            return Assignment(scheme=self.scheme)
        if self.scheme == LAYERS:
            return Assignment(scheme=LAYERS, stages=self.stages or 0, chunks=self.chunks or 0,
                              versions=1 if self.stages or self.chunks else 2)
        return Assignment(scheme=self.scheme, smoothing=self.smoothing or 0.0)


def _path(name: str, value: object) -> str:
    with contextlib.suppress(InputError):
        return str(given_path(value, name))
    what = "a Cluster, its name or a file" if name == "cluster" else "the path of a file"
    raise unfit_value(name, "must be {}, not {}", what, repr(value) if isinstance(
        value, (str, int, float)) else f"a {type(value).__name__}")
