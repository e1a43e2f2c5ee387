# SPDX-License-Identifier: BSD-2-Clause
"""Names of a network's weights in PyTorch Geometric, and other names that users give them.

A convolution is ``convs.0`` with ``lin`` (GCN), ``lin_l`` and ``lin_r`` (GraphSAGE), or
``nn.lins.0`` and ``nn.lins.1`` (GIN); what ends jumping knowledge is ``lin``. Matrices have a row
per output there, a row per input here. The identity of a residual connection is not among them.
GCNII, which is no such model there, has ``lins.0``, convolutions with ``lin_l`` for what is summed
over neighbours and ``lin_r`` for the first layer's outputs, and ``lins.1``. These are the matrices
that are multiplied with, shares and identity included. MixHop has ``lins.0``, branches
``branches.0.lin``, ``branches.1.convs.0.lin`` and so on, and ``lins.1``. SIGN has the same
branches, and ``lin``.
"""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from hypercast.reference.network import LINEAR, ROOT_INITIAL, ROOT_WEIGHTS, Network
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["epsilon_names", "own_names", "proposed_names", "weight_names"]

_CONVOLUTION = re.compile(r"convs\.(\d+)\.(.+)")
_EPSILON = "eps"
#: What ``torch.compile`` inserts, at any place.
_COMPILED = "_orig_mod."
#: Linear layers of a perceptron, in a ``Sequential`` or with numbers in their names.
_PERCEPTRON = re.compile(r"(?P<base>.*?)(?P<number>\d+)\.(?P<kind>weight|bias)")


def weight_names(network: Network) -> Iterator[tuple[str, list[Tensor] | Tensor]]:
    """Name of each tensor, and the matrices that it has side by side, or the bias that it is."""
    if network.branches:
        yield from _branch_names(network)
        return
    convolutions, convolution = itertools.count(), ""
    linears = len(network.layers) - bool(network.jumping)  # all beyond is no convolution's
    for number, layer in enumerate(network.layers, 1):
        weights = [weight.name for weight in network.weights(number)
                   if weight.name.kind != Kind.IDENTITY]
        if layer.order == LINEAR and not convolution:
            places = "lins.0", "lins.0.bias"
        elif number == linears and network.layers[number - 2].root == ROOT_INITIAL:
            places = "lins.1", "lins.1.bias"
        elif number > linears:
            places = "lin", "lin.bias"
        elif layer.order == LINEAR:
            places = f"{convolution}.nn.lins.1", f"{convolution}.nn.lins.1.bias"
        else:
            convolution = f"convs.{next(convolutions)}"
            perceptron = number < linears and layer.root != ROOT_INITIAL
            if perceptron and network.layers[number].order == LINEAR:
                places = f"{convolution}.nn.lins.0", f"{convolution}.nn.lins.0.bias"
            elif layer.root in (ROOT_WEIGHTS, ROOT_INITIAL):
                places = f"{convolution}.lin_l", f"{convolution}.lin_l.bias"
                yield f"{convolution}.lin_r.weight", [weights.pop()]
            else:
                places = f"{convolution}.lin", f"{convolution}.bias"
        yield f"{places[0]}.weight", weights
        yield places[1], Tensor(Kind.BIAS, number)


def _branch_names(network: Network) -> Iterator[tuple[str, list[Tensor] | Tensor]]:
    """The same, of a network with branches of no more than convolutions, or one linear layer."""
    branch, place, last = -1, 0, len(network.layers)
    for number, layer in enumerate(network.layers, 1):
        begins = layer.source is not None
        branch, place = branch + begins, 0 if begins else place + 1
        name = f"branches.{branch}.lin" if layer.order == LINEAR else \
            f"branches.{branch}.convs.{place}.lin"
        if number == last:
            name = "lin" if network.layers[0].source == 0 else "lins.1"
        elif branch < 0:
            name = "lins.0"
        bias = name.removesuffix(".lin") if layer.order != LINEAR else name
        yield f"{name}.weight", [weight.name for weight in network.weights(number)]
        yield f"{bias}.bias", Tensor(Kind.BIAS, number)


def epsilon_names(names: Collection[str]) -> list[str]:
    """Names of GIN's epsilons, which are no parameters here, by the names of its weights."""
    return [name.removesuffix("nn.lins.0.weight") + _EPSILON for name in names
            if name.endswith("nn.lins.0.weight")]


def own_names(given: Collection[str], names: Collection[str]) -> dict[str, str]:
    """The name here of each tensor of a file.

    What wraps a model (``model.``, ``module.``, ``_orig_mod.``) is left out. Convolutions may have
    any name, if only its number differs, as in ``conv1`` and ``conv2``; so may linear layers of
    GIN's perceptrons, and the layer that ends jumping knowledge.

    Parameters
    ----------
    given : collection of str
        Names in the file.
    names : collection of str
        Names of the network's weights, as of ``weight_names``.

    Returns
    -------
    dict
        Name here by name in the file; a name that means nothing here does not change, but loses its
        wrappers.
    """
    here = {name: name.replace(_COMPILED, "") for name in given}
    plain = here if len({*here.values()}) == len(given) else {name: name for name in given}
    weights = {name for name in names if name.endswith(".weight")}
    while len({*here.values()}) == len(given):
        if weights <= {*here.values()}:
            return here
        if numbered := _number_names([*here.values()], names):
            return {name: numbered[short] for name, short in here.items()}
        if len({short.partition(".")[0] for short in here.values()}) != 1:
            break
        here = {name: short.partition(".")[2] for name, short in here.items()}
    return plain


def _number_names(given: Sequence[str], names: Collection[str]) -> dict[str, str]:
    """Names by the numbers of convolutions; nothing if that leaves a choice, or does not fit."""
    found = [match for name in names if (match := _CONVOLUTION.fullmatch(name))]
    count, expected = len({match[1] for match in found}), {match[2] for match in found}
    last = {*names} - {match[0] for match in found}
    if last not in (set(), {"lin.weight", "lin.bias"}):
        return {}
    modules: dict[tuple[str, int], dict[str, str]] = {}
    for name in given:
        for place in reversed([*re.finditer(r"\d+(?=\.)", name)]):
            part = name[place.end() + 1:]
            if part in expected or part == _EPSILON or (
                    "nn.lins.0.weight" in expected and _PERCEPTRON.fullmatch(part)):
                modules.setdefault((name[:place.start()], int(place[0])), {})[name] = part
                break
    modules = {key: parts for key, parts in modules.items()
               if any(part.endswith(".weight") for part in parts.values())}
    if len({base for base, _ in modules}) != 1 or len(modules) != count:
        return {}
    here = {name: f"convs.{number}.{part}" for number, (_, parts) in enumerate(sorted(
        modules.items())) for name, part in _own_parts(parts, expected).items()}
    rest = [name.rpartition(".") for name in given if name not in here]
    if rest and not (last and len({owner for owner, _, _ in rest}) == 1
                     and {kind for _, _, kind in rest} <= {"weight", "bias"}):
        return {}
    return here | {f"{owner}.{kind}": f"lin.{kind}" for owner, _, kind in rest}


def _own_parts(parts: Mapping[str, str], expected: Collection[str]) -> dict[str, str]:
    """Parts of names within a convolution; a perceptron's layers get their names here."""
    linears = {name: match for name, part in parts.items()
               if (match := _PERCEPTRON.fullmatch(part))}
    numbers = sorted({int(match["number"]) for match in linears.values()})
    if len({match["base"] for match in linears.values()}) != 1 or len(numbers) != 2 \
            or not {*expected}.isdisjoint(parts.values()):
        return dict(parts)
    return {name: f"nn.lins.{numbers.index(int(linears[name]['number']))}.{linears[name]['kind']}"
            if name in linears else part for name, part in parts.items()}


def proposed_names(given: Mapping[str, tuple[int, ...]],
                   expected: Mapping[str, tuple[int, ...]]) -> str:
    """How weights may be called to be read, as text of Python, for a message.

    Parameters
    ----------
    given, expected : dict
        Shape by name, in the file and here.
    """
    pairs, left = [], dict(given)
    for name, shape in expected.items():
        found = next((other for other, size in left.items() if size in (shape, shape[::-1])), None)
        if found is not None:
            turned = ".T" if left.pop(found) != shape else ""
            pairs.append(f'"{name}": old["{found}"]{turned}')
    return f"{{{', '.join(pairs)}}}"
