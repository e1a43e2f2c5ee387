# SPDX-License-Identifier: BSD-2-Clause
"""Options that several commands share."""

import functools
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import click

from hypercast.host.description.model import AUTO, ORDERS
from hypercast.host.files.reading.whole_numbers import whole_number
from hypercast.reference.network import Network
from hypercast.rtl.config import PRESETS, Config, ConfigurationError

__all__ = ["FOLDER", "ORDER_HELP", "OUTPUT", "PAGE", "PICTURE", "Command", "configuration",
           "json_option", "layer_orders", "order_option", "parse_overrides", "print_json", "score",
           "scores"]


#: What becomes a command, or an option makes of it.
Command: TypeAlias = Callable[..., None]


#: In a command's context: the files that its options name, and which does.
_OUTPUTS = "hypercast.outputs"


class _Output(click.Path):
    """A file to write, in a folder that exists, so that no work is lost for a slip.

    Parameters
    ----------
    suffixes : tuple of str
        How its name may end; in any way if there are none.
    """

    def __init__(self, suffixes: tuple[str, ...] = ()) -> None:
        super().__init__(dir_okay=False, writable=True)
        self._suffixes = suffixes

    def convert(self, value: Any, parameter: click.Parameter | None,
                context: click.Context | None) -> Path:
        super().convert(value, parameter, context)
        path = Path(value)
        if not path.parent.is_dir():
            self.fail(f"{path} cannot be written, for there is no folder {path.parent}; make it, "
                      f"or give another", parameter, context)
        if path.exists() and not path.is_file():
            self.fail(f"{path} is no regular file, so it cannot be replaced; give another",
                      parameter, context)
        if self._suffixes and path.suffix.lower() not in self._suffixes:
            self.fail(f"{path} must end in one of {', '.join(self._suffixes)}", parameter, context)
        if context and parameter:
            known = context.meta.setdefault(_OUTPUTS, {})
            other = known.setdefault(os.path.realpath(path), parameter)
            if other is not parameter:
                self.fail(f"{path} is what {other.opts[0]} writes, too; give another",
                          parameter, context)
        return path


#: Type of options that name a folder to write to.
FOLDER = click.Path(file_okay=False, path_type=Path)
#: Type of options that name a file to write.
OUTPUT = _Output()
#: Type of options that name a page to write.
PAGE = _Output((".html", ".htm"))
#: Type of options that name a drawing to write.
PICTURE = _Output((".png", ".svg", ".pdf", ".jpg", ".webp"))

#: What orders of products there are, as ``--order`` takes them.
ORDER_HELP = ("Order of each layer's products: what network and graph ask for, the same on all "
              "chips; the fastest on this one, by the cycle model; features times weights first; "
              "or adjacency times features first.")
#: The order of every layer's products.
order_option = click.option("--order", type=click.Choice(ORDERS), default=AUTO, show_default=True,
                            help=ORDER_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def print_json(value: object) -> None:
    """Print ``value`` as one line of JSON; what is no finite number is null there."""
    click.echo(json.dumps(_finite(value), allow_nan=False))


def _finite(value: object) -> object:
    """A value with None for every infinity and NaN, which JSON has no words for."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def layer_orders(network: Network) -> str:
    """The orders of a network's layers, as text."""
    return "order of products: " + ", ".join(
        f"layer {number} {layer.order.replace('_', ' ')}"
        for number, layer in enumerate(network.layers, 1))


def score(record: Mapping[str, Any], split: str) -> float | None:
    """The score of a split's predictions; None if it has no vertices."""
    found: float | None = record.get(f"{split}_accuracy", record.get(f"{split}_micro_f1"))
    return found


def scores(record: Mapping[str, Any]) -> str:
    """Scores of the predictions for the splits that have vertices, as text."""
    found = []
    for kind in ("accuracy", "micro_f1", "macro_f1"):
        shares = [f"{split} {value:.1%}" for split in ("train", "validation", "test")
                  if (value := record.get(f"{split}_{kind}")) is not None]
        if shares:
            found.append(f"{kind.replace('_f1', ' F1')}: {', '.join(shares)}")
    return "; ".join(found)


def parse_overrides(overrides: Iterable[str]) -> dict[str, int]:
    """Fields of ``Config`` from NAME=VALUE texts."""
    kinds = {name: kind.type for name, kind in Config.__dataclass_fields__.items()}
    values: dict[str, int] = {}
    for override in overrides:
        name, separator, text = override.partition("=")
        if not separator or name not in kinds:
            raise ConfigurationError(
                f"-P {override} is no NAME=VALUE of a configuration field; there are "
                f"{', '.join(kinds)}")
        try:
            values[name] = {"true": True, "false": False}[text.lower()] if kinds[name] is bool \
                else whole_number(text)
        except (KeyError, ValueError):
            wanted = "true or false" if kinds[name] is bool else "a whole number"
            raise ConfigurationError(f"-P {name} must be {wanted}, not {text!r}") from None
    return values


def configuration(default: str | None = None, *,
                  of: Callable[..., str] | None = None) -> Callable[[Command], Command]:
    """Decorator: options ``--preset`` and ``-P``, given to the command as ``config``.

    Parameters
    ----------
    default : str or None
        The preset, unless one is named.
    of : callable
        Without ``default``: gives it, called with the command's other arguments.
    """
    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def wrapped(*args: Any, preset: str | None, overrides: tuple[str, ...],
                    **kwargs: Any) -> None:
            name = of(**kwargs) if preset is None and of else preset or ""
            chosen = PRESETS[name].replace(**parse_overrides(overrides))
            return function(*args, config=chosen, **kwargs)
        wrapped = click.option(
            "-P", "overrides", multiple=True, metavar="NAME=VALUE",
            help="Change one field of the preset; may be repeated.")(wrapped)
        return click.option("--preset", type=click.Choice(list(PRESETS)), default=default,
                            show_default=True, help="Configuration of the chip.")(wrapped)
    return decorate
