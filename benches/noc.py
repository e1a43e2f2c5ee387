# SPDX-License-Identifier: BSD-2-Clause
"""The network under traffic: efficiency, balance, small batches, multicast, scaling, fairness."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from hypercast.benches.figure import Figure
from hypercast.host.compiler.network_loads import link_loads
from hypercast.host.compiler.plane_choice import choose_planes
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.noc.measurement import Measurement, measure
from hypercast.host.noc.patterns import Traffic, graph_traffic, pattern_traffic
from hypercast.rtl.config import Config
from hypercast.sim.network_simulation import NetworkSimulation, narrow

__all__ = ["run"]

_DIMENSIONS, _PLANES = 4, 4
#: Messages of each core, and of each core where the network is scaled, and up to which dimensions.
_MESSAGES, _SCALED_MESSAGES, _LARGEST = 400, 100, 6
#: Messages of each core, enough for a long time in which no core has sent all of them.
_BACKLOG = 4_000
#: Seeds that efficiencies are the mean of, and seeds of small batches, which vary more.
_SEEDS, _BATCH_SEEDS = 3, 500
_RANDOM = ("unicast", "random2", "random4", "random8")
#: Efficiency demanded of random destinations by ejection ports, of their mean, and of broadcast.
_BARS, _MEAN_BAR, _BROADCAST_BAR = {1: 0.85, 2: 0.90, 4: 0.88}, 0.92, 0.98
#: Busiest link over mean link load that is allowed to patterns, and to Cora's aggregation.
_BALANCED, _BALANCED_CORA = {"broadcast": 1.1, "random4": 1.15}, 1.2
#: BookSim2's cycles for 400 uniform messages a node, and bound over cycles: a 2-ary 4-mesh of
#: input-queued routers with 4 virtual channels of depth 2, in dimension order.
_BOOKSIM_CYCLES, _BOOKSIM_EFFICIENCY = 524, 0.82


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` may be a folder with Cora's Planetoid files."""
    networks = _Networks(progress)
    return [
        *_efficiency(networks), *_balance(data), *_batches(networks), *_multicast(networks),
        *_scaling(networks), *_fairness(networks)]


class _Networks:
    """Simulated networks, each compiled when first used."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._opened = cache(self._open)

    def _open(self, config: Config) -> NetworkSimulation:
        self._progress(f"opening a network of {config.cores} cores, eject {config.eject}")
        simulation = NetworkSimulation(config)
        self._progress(f"running {config.cores} cores, eject {config.eject}")
        return simulation

    def measure(self, traffic: Traffic, *, dimensions: int = _DIMENSIONS,
                eject: int = 1) -> Measurement:
        """The measurement of a closed batch."""
        config = narrow(Config(dimensions=dimensions, planes=_PLANES, eject=eject))
        return measure(self._opened(config), traffic, config)


def _efficiency(networks: _Networks) -> list[Figure]:
    means, cycles = {}, {}
    for eject in _BARS:
        for name in (*_RANDOM, "broadcast"):
            results = [
                networks.measure(pattern_traffic(name, _DIMENSIONS, _MESSAGES, seed), eject=eject)
                for seed in range(_SEEDS)]
            means[name, eject] = float(np.mean([result.efficiency for result in results]))
            cycles[name, eject] = float(np.mean([result.run.cycles for result in results]))
    chosen = [mean for (name, _), mean in means.items() if name in _RANDOM]
    return [
        *(Figure(name=f"efficiency: {name}, eject {eject}", value=mean,
                 bar=_BARS[eject] if name in _RANDOM else _BROADCAST_BAR)
          for (name, eject), mean in means.items()),
        Figure(name=f"efficiency: mean of the {len(chosen)} with random destinations",
               value=float(np.mean(chosen)), bar=_MEAN_BAR),
        Figure(name=f"{_MESSAGES} uniform messages a core, eject 1", value=cycles["unicast", 1],
               unit="cycles"),
        Figure(name="BookSim2's 2-ary 4-mesh, 400 uniform messages a node (measured apart)",
               value=_BOOKSIM_CYCLES, unit="cycles"),
        Figure(name="BookSim2's efficiency there (measured apart)", value=_BOOKSIM_EFFICIENCY)]


def _imbalance(traffic: Traffic) -> float:
    """Busiest link over mean link load."""
    config = Config(dimensions=_DIMENSIONS, planes=_PLANES)
    source, destinations = traffic
    planes = choose_planes(source, destinations, config)
    loads = link_loads(source, destinations, planes, _DIMENSIONS)
    return float(loads.max() / loads.mean())


def _balance(data: Path | None) -> list[Figure]:
    name = "busiest link over mean link load: "
    figures = [
        Figure(name=name + pattern, bar=bar, relation="<=", value=max(
            _imbalance(pattern_traffic(pattern, _DIMENSIONS, _MESSAGES, seed))
            for seed in range(_SEEDS)))
        for pattern, bar in _BALANCED.items()]
    graph = Graph.load("blocks" if data is None else str(data))
    graph = graph.permute(rank_order(graph))
    value = _imbalance(graph_traffic(graph.normalise("symmetric"), _DIMENSIONS))
    if data is None:
        return [*figures, Figure(name=name + "blocks' aggregation (Cora's with --data)",
                                 value=value)]
    return [*figures, Figure(name=name + "Cora's aggregation", value=value, bar=_BALANCED_CORA,
                             relation="<=")]


def _batches(networks: _Networks) -> list[Figure]:
    figures = []
    for each in (1, 4, 16):
        cycles = [networks.measure(pattern_traffic("unicast", _DIMENSIONS, each, seed)).run.cycles
                  for seed in range(_BATCH_SEEDS)]
        title = f"{each << _DIMENSIONS} messages, {each} a core, to deliver all: "
        figures.append(Figure(name=title + "mean", value=float(np.mean(cycles)), unit="cycles"))
        figures += [
            Figure(name=f"{title}{label}", unit="cycles",
                   value=int(np.percentile(cycles, percent, method="inverted_cdf")))
            for label, percent in (("least", 0), ("median", 50), ("p90", 90), ("p99", 99),
                                   ("most", 100))]
    return figures


def _as_unicasts(traffic: Traffic) -> Traffic:
    """Traffic with a message for each delivery, in the same order."""
    relative = np.arange(1 << _DIMENSIONS, dtype=np.uint64)
    message, destination = np.nonzero(traffic.destinations[:, None] >> relative & np.uint64(1))
    return Traffic(traffic.source[message], np.uint64(1) << destination.astype(np.uint64))


def _multicast(networks: _Networks) -> list[Figure]:
    figures = []
    for name in (*_RANDOM[1:], "broadcast"):
        traffic = pattern_traffic(name, _DIMENSIONS, _MESSAGES)
        unicasts = _as_unicasts(traffic)
        title = f"{name} as unicasts over multicast: "
        for eject in _BARS:
            one, many = (networks.measure(sent, eject=eject) for sent in (traffic, unicasts))
            figures.append(Figure(name=f"{title}cycles, eject {eject}",
                                  value=many.run.cycles / one.run.cycles))
        figures.append(Figure(name=f"{title}link-hops", value=float(
            many.run.link_flits.sum() / one.run.link_flits.sum())))
    return figures


def _scaling(networks: _Networks) -> list[Figure]:
    figures = []
    for dimensions in range(1, _LARGEST + 1):
        for name in ("unicast", "broadcast"):
            traffic = pattern_traffic(name, dimensions, _SCALED_MESSAGES)
            result = networks.measure(traffic, dimensions=dimensions)
            title = f"{1 << dimensions} cores, {name}: "
            rate = len(result.run.message) / result.run.cycles / (1 << dimensions)
            figures += [Figure(name=title + "efficiency", value=result.efficiency),
                        Figure(name=title + "accepted by a core", value=rate,
                               unit="flits/cycle")]
    return figures


def _fairness(networks: _Networks) -> list[Figure]:
    """Throughput of the slowest source over the mean, until the first has sent everything."""
    shares = []
    for seed in range(_SEEDS):
        traffic = pattern_traffic("unicast", _DIMENSIONS, _BACKLOG, seed)
        injected = networks.measure(traffic).run.injected
        last = np.zeros(1 << _DIMENSIONS, dtype=np.int64)
        np.maximum.at(last, traffic.source, injected)
        sent = np.bincount(traffic.source[injected < last.min()], minlength=len(last))
        shares.append(float(sent.min() / sent.mean()))
    return [Figure(name="slowest source over the mean, unicast, all backlogged",
                   value=min(shares), bar=0.8)]
