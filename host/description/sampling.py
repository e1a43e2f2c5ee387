# SPDX-License-Identifier: BSD-2-Clause
"""The choice of samples of training steps, or of the whole graph."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from hypercast.host.description.conversion import (
    DescriptionError,
    Within,
    call_text,
    check_fields,
    given_fields,
)

__all__ = ["SAMPLERS", "SAMPLING_DEFAULTS", "Sampling"]

#: Neighbour sampling, what GraphSAINT draws, and a vertex cut; and the keys that each takes.
SAMPLERS = {"neighbours": ("batch", "fan_outs"), "nodes": ("batch", "coverage"),
            "edges": ("batch", "coverage"), "walks": ("batch", "walk", "coverage"),
            "cut": ("parts",)}
#: What keys are that are not given.
SAMPLING_DEFAULTS = {"batch": 512, "fan_outs": (10, 25), "walk": 2, "coverage": 20.0, "parts": 4}
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
    # What is outside of these ranges is a slip, and no machine's memory.
    batch: Annotated[int, Within(1, 1 << 24)] | None = None
    fan_outs: tuple[Annotated[int, Within(1, _MOST_NEIGHBOURS)], ...] | None = None
    walk: Annotated[int, Within(1, 1 << 10)] | None = None
    coverage: Annotated[float, Within(1e-3, 1e3)] | None = None
    parts: Annotated[int, Within(1, 1 << 16)] | None = None

    if TYPE_CHECKING:  # what may be given; one fan-out holds for all convolutions
        def __init__(self, sampler: str | None = None, *, batch: int | None = None,
                     fan_outs: int | Sequence[int] | None = None, walk: int | None = None,
                     coverage: float | None = None, parts: int | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_fields("sampling", self)
        if self.sampler is not None and self.sampler not in SAMPLERS:
            raise DescriptionError(f"[sampling] sampler must be one of {', '.join(SAMPLERS)}, not "
                                   f"{self.sampler!r}", "sampling", "sampler")
        if self.fan_outs == ():
            raise DescriptionError("[sampling] fan_outs is empty; give one or more numbers",
                                   "sampling", "fan_outs")
        for key, default in SAMPLING_DEFAULTS.items():
            if key in SAMPLERS.get(self.sampler or "", ()):
                if getattr(self, key) is None:
                    object.__setattr__(self, key, default)
            elif getattr(self, key) is not None:
                users = " or ".join(name for name, keys in SAMPLERS.items() if key in keys)
                raise DescriptionError(
                    f"[sampling] {key} is of sampler {users}, not of {self.sampler}; leave it out",
                    "sampling", key)

    def __repr__(self) -> str:
        return call_text("Sampling", given_fields(self))

    def values(self) -> dict[str, Any]:
        """Arguments of ``Sampling`` that are given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
