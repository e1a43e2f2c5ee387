"""What training steps work on: the whole graph, or samples of it."""

from dataclasses import asdict, dataclass, fields

from hypercast.host.description.conversion import DescriptionError, checked

__all__ = ["SAMPLERS", "Sampling"]

#: Neighbour sampling, and what GraphSAINT draws.
SAMPLERS = ("neighbours", "nodes", "edges", "walks")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How samples are drawn.

    Parameters
    ----------
    sampler : str, optional
        One of ``SAMPLERS``; every step works on the whole graph if not given.
    batch : int
        Vertices to train on (neighbours), or nodes, edges or walks drawn, for a sample.
    fan_outs : tuple of int
        Neighbours that are drawn at most (neighbours), of each convolution from the last one down;
        the last number holds for all beyond.
    walk : int
        Steps of a walk (walks).
    coverage : float
        How often each vertex is in the pool of subgraphs, in the mean (nodes, edges and walks).

    Raises
    ------
    DescriptionError
        If a value is out of range.
    """

    sampler: str | None = None
    batch: int = 512
    fan_outs: tuple[int, ...] = (10, 25)
    walk: int = 2
    coverage: float = 20.0

    def __post_init__(self):
        hints = {field.name: field.type for field in fields(self)}
        for key, value in checked("sampling", asdict(self), hints).items():
            object.__setattr__(self, key, value)
        if self.sampler is not None and self.sampler not in SAMPLERS:
            raise DescriptionError(f"[sampling] sampler must be one of {', '.join(SAMPLERS)}, not "
                                   f"{self.sampler!r}", "sampling", "sampler")
        for key in ("batch", "walk", "coverage"):
            if not getattr(self, key) > 0:
                raise DescriptionError(
                    f"[sampling] {key} must be above 0, not {getattr(self, key)}", "sampling", key)
        if not self.fan_outs or min(self.fan_outs) < 1:
            raise DescriptionError(
                f"[sampling] fan_outs must be one or more numbers from 1 on, not "
                f"{list(self.fan_outs)}", "sampling", "fan_outs")

    def values(self):
        """What ``Sampling`` is made from, but for what is not given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
