# SPDX-License-Identifier: BSD-2-Clause
"""The oracle of one of several boards, which tells its group what it computes."""

from hypercast.host.processes.group import Group
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.step_sums import StepSums

__all__ = ["PacedGnn"]


class PacedGnn(FixedGnn):
    """A network in training, whose passes take the time that a group's clock says.

    Parameters
    ----------
    model : InitialModel
        What is trained.
    group : Group
        Is told of steps, and of each layer's passes in training.
    """

    def __init__(self, model: InitialModel, group: Group) -> None:
        super().__init__(model)
        self._group = group

    def begin_step(self) -> None:
        """Begin a step, see ``FixedGnn``."""
        self._group.begin_step()
        super().begin_step()

    def forward_layer(self, number: int, step_key: int | None = None) -> None:
        """A layer forward, see ``FixedPasses``."""
        if step_key is not None:
            self._group.compute(self.sample, range(number, number + 1), forward=True)
        super().forward_layer(number, step_key)

    def backward_layer(self, number: int) -> None:
        """A layer backward, see ``FixedPasses``."""
        self._group.compute(self.sample, range(number, number + 1), forward=False)
        super().backward_layer(number)

    def update(self, sums: StepSums) -> None:
        """End a step, see ``FixedGnn``."""
        super().update(sums)
        self._group.end_step()
