# SPDX-License-Identifier: BSD-2-Clause
"""The versions of weights that a board keeps for steps to come."""

from collections import deque
from collections.abc import Mapping, Sequence

from hypercast.host.schemes.actions import Actions, ReadWeights
from hypercast.reference.rows import Older
from hypercast.reference.tensor import Tensor

__all__ = ["WeightVersions"]


class WeightVersions:
    """Which weights the passes of each step take.

    Each step takes the oldest version, and leaves a new one. If none is older than the newest,
    nothing is kept, and passes take what the device has.

    Parameters
    ----------
    layers : range
        The layers that are here, from 1.
    staleness : sequence of int
        As of ``OlderWeightsGnn``; none if no weights are older.
    """

    def __init__(self, layers: range, staleness: Sequence[int] = ()) -> None:
        self._layers = layers
        self._staleness = tuple(staleness)
        self._coming: dict[Tensor, deque[Older]] = {}

    def load(self, versions: Mapping[Tensor, tuple[Older, ...]]) -> Actions[None]:
        """Go on with the ``versions`` of a state that the device has been given."""
        if self._staleness:
            newest = yield from ReadWeights()
            self._coming = {
                name: deque((*versions.get(name, (one,) * self._staleness[name.layer - 1]), one))
                for name, one in newest.items() if name.layer in self._layers}

    def begin(self) -> Actions[dict[Tensor, Older] | None]:
        """The parameters that the passes of a step take."""
        if not self._staleness:
            return None
        if not self._coming:
            yield from self.load({})
        return {name: versions.popleft() for name, versions in self._coming.items()}

    def end(self) -> Actions[None]:
        """The parameters were updated."""
        if self._staleness:
            newest = yield from ReadWeights()
            for name, versions in self._coming.items():
                versions.append(newest[name])

    @property
    def newest(self) -> dict[Tensor, Older] | None:
        """The parameters after the last update, if passes may have taken other ones since."""
        return {name: versions[-1] for name, versions in self._coming.items()} or None

    @property
    def older(self) -> dict[Tensor, tuple[Older, ...]]:
        """Parameter to its older versions, oldest first, as of a ``TrainingState``."""
        return {name: tuple(versions)[:-1] for name, versions in self._coming.items()
                if len(versions) > 1}
