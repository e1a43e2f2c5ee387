# SPDX-License-Identifier: BSD-2-Clause
"""Ways to split a training over boards, one in each module."""

from typing import Final

from hypercast.host.planner.strategies.bapipe import STRATEGY as BAPIPE
from hypercast.host.planner.strategies.equal_layers import GPIPE_STRATEGY, ONE_BY_ONE_STRATEGY
from hypercast.host.planner.strategies.gnnpipe import STRATEGY as GNNPIPE
from hypercast.host.planner.strategies.graph_parts import EXACT_STRATEGY, STALE_STRATEGY
from hypercast.host.planner.strategies.graphpipe import STRATEGY as GRAPHPIPE
from hypercast.host.planner.strategies.one_board import STRATEGY as ONE_BOARD
from hypercast.host.planner.strategies.pipedream import STRATEGY as PIPEDREAM
from hypercast.host.planner.strategies.pipedream import TWO_VERSIONS_STRATEGY
from hypercast.host.planner.strategies.piper import STRATEGY as PIPER
from hypercast.host.planner.strategies.samples import STRATEGY as SAMPLES
from hypercast.host.planner.strategies.vertex_cut import STRATEGY as VERTEX_CUT
from hypercast.host.planner.strategy import Strategy

__all__ = ["STRATEGIES"]

#: Strategies by name, in the order in which they are asked.
STRATEGIES: Final[dict[str, Strategy]] = {strategy.name: strategy for strategy in (
    ONE_BOARD, SAMPLES, EXACT_STRATEGY, ONE_BY_ONE_STRATEGY, GPIPE_STRATEGY, BAPIPE, GRAPHPIPE,
    PIPER, PIPEDREAM, TWO_VERSIONS_STRATEGY, STALE_STRATEGY, GNNPIPE, VERTEX_CUT)}
