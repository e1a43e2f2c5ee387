# SPDX-License-Identifier: BSD-2-Clause
"""The networks that go by a name, with residual connections and jumping knowledge if wanted."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypercast.errors import InputError
from hypercast.reference.network import (
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    ROOT_INITIAL,
    ROOT_WEIGHTS,
    Layer,
    Network,
)

__all__ = ["ALPHA", "MODELS", "MOST_THETA", "THETA", "NamedModel", "model_network"]


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A network that goes by a name.

    Parameters
    ----------
    title : str
        What people call it.
    normalisation : str
        Normalisation of edge weights that it is defined with.
    own : str
        The way a model has in place of residual connections and jumping knowledge; empty if it has
        these. Then all of its layers have dropout, linear ones, too.
    counted : str
        The parts that have its hidden widths, if they are not convolutions.
    least : int
        Hidden widths that it has at least.
    """

    title: str
    normalisation: str = "symmetric"
    own: str = ""
    counted: str = ""
    least: int = 0


#: Models by name.
MODELS = {
    "gcn": NamedModel(title="GCN"),
    "sage": NamedModel(title="GraphSAGE with means", normalisation="neighbours"),
    "gin": NamedModel(title="GIN", normalisation="sum"),
    "gcnii": NamedModel(title="GCNII", own="an initial residual"),
    "mixhop": NamedModel(title="MixHop", own="branches", counted="a first layer and branches",
                         least=3),
    "sign": NamedModel(title="SIGN", own="branches", counted="branches", least=2),
}
#: Of GCNII: share of the first layer's outputs, and strength of the identity mapping, as its paper
#: has them for Cora.
ALPHA, THETA = 0.1, 0.5
#: Theta is below this: beyond, the first convolution's weights would have more than all of it.
MOST_THETA = math.e - 1


def model_network(model: str, features: int, hidden: Sequence[int], classes: int, *,
                  dropout: float = 0.0, residual: bool = False, jumping: bool = False,
                  alpha: float = ALPHA, theta: float = THETA) -> Network:
    """The network of a model.

    ``"gcn"``: ``A H W + b`` (Kipf and Welling, Semi-Supervised Classification with Graph
    Convolutional Networks, 2017). ``"sage"``: ``A H W + H R + b``, with the means over neighbours
    (Hamilton et al., Inductive Representation Learning on Large Graphs, 2017). ``"gin"``: the sums
    over a vertex and its neighbours go through two linear layers, both with as many outputs as the
    convolution; the first one's product may well come before the sums (Xu et al., How Powerful are
    Graph Neural Networks?, 2019). ``"gcnii"``: a linear layer, convolutions with an initial
    residual and identity mapping, and a linear layer (Chen et al., Simple and Deep Graph
    Convolutional Networks, 2020: its GCNII*, whose initial residual has weights of its own, with a
    bias in each layer). ``"mixhop"``: a linear layer, branches of no, one, two and more
    convolutions that read it, and a linear layer that takes the outputs of all branches (in the
    manner of Abu-El-Haija et al., MixHop: Higher-Order Graph Convolutional Architectures via
    Sparsified Neighborhood Mixing, 2019, which has no weights between hops). ``"sign"``: branches
    of no, one, two and more convolutions that read the input features, and a linear layer that
    takes the outputs of all branches (in the manner of Rossi et al., SIGN: Scalable Inception Graph
    Neural Networks, 2020, which has no weights between hops).

    Parameters
    ----------
    model : str
        One of ``MODELS``.
    features, classes : int
        Features of a vertex, and columns of the logits.
    hidden : sequence of int
        Outputs of every convolution but the last; with jumping knowledge and in GCNII, of every
        convolution, and GCNII needs as many everywhere. For MixHop, outputs of the first layer, and
        of each branch. For SIGN, outputs of each branch.
    dropout : float
        On the input of every convolution, and of the linear layer of jumping knowledge; of all
        layers of GCNII, MixHop and SIGN.
    residual : bool
        Whether hidden convolutions of as many outputs as inputs add these to their sums.
    jumping : bool
        Whether a linear layer takes the outputs of all convolutions.
    alpha : float
        Share of the first layer's outputs in the sums of a convolution of GCNII.
    theta : float
        Lambda of GCNII's paper: the share of weights beside the identity in convolution ``l`` is
        ``log(theta / l + 1)``.

    Raises
    ------
    InputError
        If there is no such model, or the additions do not fit it.
    """
    if model not in MODELS:
        raise InputError(f"model must be one of {', '.join(MODELS)}, not {model!r}")
    named = MODELS[model]
    if named.own and (residual or jumping):
        raise InputError(f"{named.title} has {named.own}; leave "
                         f"{'residual' if residual else 'jumping'} out")
    if len(hidden) < named.least:
        raise InputError(f"{named.title} has {named.counted}; give {named.least} hidden widths or "
                         f"more, not {list(hidden)}")
    if model == "gcnii":
        return _gcnii(features, hidden, classes, dropout, alpha, theta)
    if model in ("mixhop", "sign"):
        return _branches(features, hidden, classes, dropout, first=model == "mixhop")
    if jumping and not hidden:
        raise InputError("jumping knowledge needs at least one hidden width")
    if residual and model == "sage":
        raise InputError("GraphSAGE adds a vertex's own features with weights of their own; leave "
                         "residual out")
    widths = [features, *hidden] if jumping else [features, *hidden, classes]
    layers, outputs = [], []
    for number, (before, after) in enumerate(itertools.pairwise(widths), 1):
        hidden_layer = jumping or number < len(widths) - 1
        root = ROOT_WEIGHTS if model == "sage" else None
        if residual and hidden_layer and before == after and number > 1:
            root = ROOT_IDENTITY
        layers.append(Layer(features_in=before, features_out=after, dropout=dropout, root=root))
        if model == "gin":
            layers.append(Layer(features_in=after, features_out=after, order=LINEAR))
        outputs.append(len(layers))
    if residual and not any(layer.root for layer in layers):
        raise InputError(f"no hidden convolution has as many outputs as inputs, with widths "
                         f"{widths}; give neighbouring hidden layers the same width")
    if jumping:
        layers.append(Layer(features_in=sum(hidden), features_out=classes, order=LINEAR,
                            dropout=dropout))
    return Network(layers=tuple(layers), jumping=tuple(outputs) if jumping else ())


def _gcnii(features: int, hidden: Sequence[int], classes: int, dropout: float, alpha: float,
           theta: float) -> Network:
    if not hidden or len({*hidden}) > 1:
        raise InputError(f"the convolutions of GCNII have as many inputs as outputs; give hidden "
                         f"widths that are all the same, not {list(hidden)}")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be above 0 and below 1, not {alpha}")
    if not 0 < theta <= MOST_THETA:
        raise InputError(f"theta must be above 0 and at most {MOST_THETA:.3f}, not {theta}")
    width = hidden[0]
    convolutions = [
        Layer(features_in=width, features_out=width, dropout=dropout, root=ROOT_INITIAL,
              alpha=alpha, beta=math.log(theta / number + 1))
        for number, _ in enumerate(hidden, 1)]
    return Network(layers=(
        Layer(features_in=features, features_out=width, order=LINEAR, dropout=dropout),
        *convolutions,
        Layer(features_in=width, features_out=classes, order=LINEAR, dropout=dropout)))


def _branches(features: int, hidden: Sequence[int], classes: int, dropout: float, *,
              first: bool) -> Network:
    """Branches of no, one, two and more convolutions, which read a first layer, or the input."""
    widths, layers, inputs = list(hidden), list[Layer](), features
    if first:
        inputs = widths.pop(0)
        layers.append(Layer(features_in=features, features_out=inputs, order=LINEAR,
                            dropout=dropout))
    read, ends = len(layers), []
    for hops, width in enumerate(widths):
        layers.append(Layer(features_in=inputs, features_out=width, dropout=dropout,
                            source=read, order=COMBINE_FIRST if hops else LINEAR))
        layers += [Layer(features_in=width, features_out=width, dropout=dropout)
                   for _ in range(hops - 1)]
        ends.append(len(layers))
    layers.append(Layer(features_in=sum(widths), features_out=classes, order=LINEAR,
                        dropout=dropout))
    return Network(layers=tuple(layers), jumping=tuple(ends))
