"""The network under traffic: efficiency, balance, small batches, multicast, scaling, fairness."""

from functools import cache

import numpy as np

from hypercast.host import datasets
from hypercast.host.benches.figure import Figure
from hypercast.host.graph import rank_order
from hypercast.host.noc.loads import link_loads
from hypercast.host.noc.measurement import measure
from hypercast.host.noc.patterns import Traffic, graph_traffic, pattern_traffic
from hypercast.host.plane_choice import choose_planes
from hypercast.rtl.config import Config
from hypercast.sim.network_simulation import NetworkSimulation, narrow

__all__ = ["run"]

_DIMENSIONS, _PLANES = 4, 4
#: Messages of each core, and of each core where the network is scaled to 64 cores.
_MESSAGES, _SCALED_MESSAGES = 400, 100
#: Messages of each core, enough for a long time in which no core has sent all of them.
_BACKLOG = 4_000
#: Seeds that efficiencies are the mean of, and those of small batches, which vary more.
_SEEDS, _BATCH_SEEDS = 3, 500
_RANDOM = ("unicast", "random2", "random4", "random8")
#: Efficiency demanded of random destinations by ejection ports, of their mean, and of broadcast.
_BARS, _MEAN_BAR, _BROADCAST_BAR = {1: 0.85, 2: 0.90, 4: 0.88}, 0.92, 0.98
#: What BookSim2 took for ``_MESSAGES`` uniform messages a node, and of its bound: a 2-ary 4-mesh of
#: input-queued routers with 4 virtual channels of depth 2, in dimension order.
_BOOKSIM_CYCLES, _BOOKSIM_EFFICIENCY = 524, 0.82


def run(data, progress):
    """The figures; ``data`` may be a folder with Cora's Planetoid files."""
    networks = _Networks(progress)
    return [
        *_efficiency(networks), *_balance(data), *_batches(networks), *_multicast(networks),
        *_scaling(networks), *_fairness(networks)]


class _Networks:
    """Simulated networks, each compiled when first used."""

    def __init__(self, progress):
        self._progress = progress
        self._open = cache(self._open)

    def _open(self, config):
        self._progress(f"opening a network of {config.cores} cores, eject {config.eject}")
        simulation = NetworkSimulation(config)
        self._progress(f"running {config.cores} cores, eject {config.eject}")
        return simulation

    def measure(self, traffic, *, dimensions=_DIMENSIONS, eject=1):
        """The measurement of a closed batch."""
        config = narrow(Config(dimensions=dimensions, planes=_PLANES, eject=eject))
        return measure(self._open(config), traffic, config)


def _efficiency(networks):
    figures, means = [], []
    unicast_cycles = []
    for eject, bar in _BARS.items():
        for name in (*_RANDOM, "broadcast"):
            results = [
                networks.measure(pattern_traffic(name, _DIMENSIONS, _MESSAGES, seed), eject=eject)
                for seed in range(_SEEDS)]
            mean = float(np.mean([result.efficiency for result in results]))
            if name != "broadcast":
                means.append(mean)
            if name == "unicast" and eject == 1:
                unicast_cycles = [result.run.cycles for result in results]
            figures.append(Figure(name=f"efficiency: {name}, eject {eject}", value=mean,
                                  bar=_BROADCAST_BAR if name == "broadcast" else bar))
    return [
        *figures,
        Figure(name=f"efficiency: mean of the {len(means)} with random destinations",
               value=float(np.mean(means)), bar=_MEAN_BAR),
        Figure(name=f"{_MESSAGES} uniform messages a core, eject 1",
               value=float(np.mean(unicast_cycles)), unit="cycles"),
        Figure(name="the same with BookSim2's 2-ary 4-mesh (measured apart)",
               value=_BOOKSIM_CYCLES, unit="cycles"),
        Figure(name="BookSim2's efficiency (measured apart)", value=_BOOKSIM_EFFICIENCY)]


def _imbalance(traffic):
    """Busiest link over mean link load."""
    config = Config(dimensions=_DIMENSIONS, planes=_PLANES)
    loads = link_loads(*traffic, choose_planes(*traffic, config), _DIMENSIONS)
    return float(loads.max() / loads.mean())


def _balance(data):
    worst = {name: max(_imbalance(pattern_traffic(name, _DIMENSIONS, _MESSAGES, seed))
                       for seed in range(_SEEDS)) for name in ("broadcast", "random4")}
    graph = datasets.load("blocks" if data is None else str(data))
    graph = graph.permuted(rank_order(graph))
    aggregation = graph_traffic(graph.normalised("symmetric"), _DIMENSIONS)
    title = ("blocks' aggregation (Cora's with --data)" if data is None
             else "aggregation over --data")
    name = "busiest link over mean link load: "
    return [
        Figure(name=name + "broadcast", value=worst["broadcast"], bar=1.1, relation="<="),
        Figure(name=name + "random4", value=worst["random4"], bar=1.15, relation="<="),
        Figure(name=name + title, value=_imbalance(aggregation),
               bar=None if data is None else 1.2, relation="<=")]


def _batches(networks):
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


def _as_unicasts(traffic):
    """The same deliveries, a message each, in the same order."""
    relative = np.arange(1 << _DIMENSIONS, dtype=np.uint64)
    message, destination = np.nonzero(traffic.mask[:, None] >> relative & np.uint64(1))
    return Traffic(traffic.source[message], np.uint64(1) << destination.astype(np.uint64))


def _multicast(networks):
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


def _scaling(networks):
    figures = []
    for dimensions in range(1, 7):
        for name in ("unicast", "broadcast"):
            traffic = pattern_traffic(name, dimensions, _SCALED_MESSAGES)
            result = networks.measure(traffic, dimensions=dimensions)
            title = f"{1 << dimensions} cores, {name}: "
            rate = len(result.run.message) / result.run.cycles / (1 << dimensions)
            figures += [Figure(name=title + "efficiency", value=result.efficiency),
                        Figure(name=title + "accepted by a core", value=rate,
                               unit="flits/cycle")]
    return figures


def _fairness(networks):
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
