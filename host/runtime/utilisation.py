# SPDX-License-Identifier: BSD-2-Clause
"""Each engine's work in a run, and the causes of its idle time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypercast.rtl.config import Config

__all__ = ["Utilisation", "utilisation"]


@dataclass(frozen=True, kw_only=True)
class Utilisation:
    """One engine or resource over a run, averaged over the cores.

    Parameters
    ----------
    name : str
        Engine or resource.
    work : float
        Fraction of its capacity that was used.
    limits : dict
        Cause to fraction of cycles lost to it: starved, blocked (both at once, at times), and
        ``idle`` for the rest, if any, in which it had no instruction (waiting for other engines),
        or was filling and emptying.
    """

    name: str
    work: float
    limits: dict[str, float]

    @property
    def limit(self) -> str:
        """The cause that cost most, with its fraction."""
        cause = max(self.limits, key=self.limits.__getitem__)
        return f"{cause} {self.limits[cause]:.0%}"


def utilisation(counters: Mapping[str, Sequence[int]], cycles: int,
                config: Config) -> list[Utilisation]:
    """Utilisation of every engine in a run, or a part of it.

    Parameters
    ----------
    counters : dict
        Counter name to a value for each core that is averaged over.
    cycles : int
        Cycles of the run.
    config : Config
        Configuration of the chip.
    """
    def fraction(*names: str, capacity: int = 1) -> float:
        values = [value for name in names for value in counters[name]]
        return sum(values) * len(names) / (len(values) * cycles * capacity)

    def engine(name: str, work: float, **limits: float) -> Utilisation:
        limits["idle"] = max(0.0, 1.0 - work - sum(limits.values()))
        return Utilisation(name=name, work=work, limits=limits)

    links = [f"link_{dimension}" for dimension in range(config.dimensions)]
    rows = [
        engine("array", fraction("array_words"),
               starved=fraction("array_starved"), blocked=fraction("array_blocked")),
        engine("aggregators", fraction("edges", capacity=config.eject),
               starved=fraction("edge_starved", capacity=config.eject)),
        engine("injection", fraction("sent"), blocked=fraction("send_blocked")),
        engine("vector unit", fraction("vector_words"),
               starved=fraction("vector_starved"), blocked=fraction("vector_blocked")),
        engine("memory channel 0", fraction("features_read", "features_written")),
        engine("memory channel 1", fraction("gradients_read", "gradients_written")),
    ]
    if links:
        rows.append(engine("links", fraction(*links, capacity=len(links))))
    return rows
