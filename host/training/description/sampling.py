"""What training steps work on: the whole graph, or samples of it."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import TYPE_CHECKING, Any

from hypercast.host.training.description.conversion import DescriptionError, check_fields

__all__ = ["SAMPLERS", "SAMPLING_DEFAULTS", "Sampling"]

#: Neighbour sampling, what GraphSAINT draws, and a vertex cut; and the keys that each takes.
SAMPLERS = {"neighbours": ("batch", "fan_outs"), "nodes": ("batch", "coverage"),
            "edges": ("batch", "coverage"), "walks": ("batch", "walk", "coverage"),
            "cut": ("parts",)}
#: What keys are that are not given.
SAMPLING_DEFAULTS = {"batch": 512, "fan_outs": (10, 25), "walk": 2, "coverage": 20.0, "parts": 4}
#: What is outside of these is a slip, and no machine's memory.
_RANGES = {"batch": (1, 1 << 24), "walk": (1, 1 << 10), "coverage": (1e-3, 1e3),
           "parts": (1, 1 << 16)}
#: More vertices than that no graph has here.
_MOST_NEIGHBOURS = (1 << 31) - 1


@dataclass(frozen=True)
class Sampling:
    """How samples are drawn; keys that the sampler does not take stay None.

    Parameters
    ----------
    sampler : str, optional
        One of ``SAMPLERS``; every step works on the whole graph if not given.
    batch : int, optional
        Vertices to train on (neighbours), or nodes, edges or walks drawn, for a sample.
    fan_outs : tuple of int, optional
        Neighbours that are drawn at most (neighbours), of each convolution from the last one down;
        the last number holds for all beyond.
    walk : int, optional
        Steps of a walk (walks).
    coverage : float, optional
        How often each vertex is in the pool of subgraphs, in the mean (nodes, edges and walks).
    parts : int, optional
        Shares of the edges, each of which is a sample (cut).

    Raises
    ------
    DescriptionError
        If a value is out of range, or of another sampler.
    """

    sampler: str | None = None
    _: KW_ONLY
    batch: int | None = None
    fan_outs: tuple[int, ...] | None = None
    walk: int | None = None
    coverage: float | None = None
    parts: int | None = None

    if TYPE_CHECKING:  # what may be given; one fan-out holds for all convolutions
        def __init__(self, sampler: str | None = None, *, batch: int | None = None,
                     fan_outs: int | Sequence[int] | None = None, walk: int | None = None,
                     coverage: float | None = None, parts: int | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_fields("sampling", self)
        if self.sampler is not None and self.sampler not in SAMPLERS:
            raise DescriptionError(f"[sampling] sampler must be one of {', '.join(SAMPLERS)}, not "
                                   f"{self.sampler!r}", "sampling", "sampler")
        for key, (least, most) in _RANGES.items():
            value = getattr(self, key)
            if value is not None and not least <= value <= most:
                raise DescriptionError(f"[sampling] {key} must be {least} to {most}, not {value}",
                                       "sampling", key)
        if self.fan_outs is not None and not (
                self.fan_outs and all(1 <= one <= _MOST_NEIGHBOURS for one in self.fan_outs)):
            raise DescriptionError(
                f"[sampling] fan_outs must be one or more numbers from 1 to {_MOST_NEIGHBOURS}, "
                f"not {list(self.fan_outs)}", "sampling", "fan_outs")
        for key, default in SAMPLING_DEFAULTS.items():
            if key in SAMPLERS.get(self.sampler or "", ()):
                if getattr(self, key) is None:
                    object.__setattr__(self, key, default)
            elif getattr(self, key) is not None:
                users = " or ".join(name for name, keys in SAMPLERS.items() if key in keys)
                raise DescriptionError(
                    f"[sampling] {key} is of sampler {users}, not of {self.sampler}; leave it out",
                    "sampling", key)

    def values(self) -> dict[str, Any]:
        """What ``Sampling`` is made from, but for what is not given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
