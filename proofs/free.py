# SPDX-License-Identifier: BSD-2-Clause
"""Parts that may do anything, so that a proof holds whatever they do."""

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow, In, Out

__all__ = ["Free", "inputs"]


def _ports(component: wiring.Component, flow: Flow) -> list[Value]:
    return [Value.cast(value) for _, member, value in component.signature.flatten(component)
            if member.flow is flow]


def inputs(component: wiring.Component) -> list[Value]:
    """The inputs of a component."""
    return _ports(component, In)


class Free(wiring.Component):
    """Has the ports of a block, and nothing in it: its outputs are to be free inputs of the bench.

    Parameters
    ----------
    block : wiring.Component
        The block it stands for.

    Attributes
    ----------
    outputs : list of Value
        What drives nothing.
    """

    def __init__(self, block: wiring.Component) -> None:
        block._MustUse__silence = True  # nothing but its ports is needed
        super().__init__(dict(block.signature.members.items()))
        self.outputs = _ports(self, Out)

    def elaborate(self, platform: object) -> Module:
        return Module()
