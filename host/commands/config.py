# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast config``: presets and derived values."""

import click

from hypercast.host.commands.options import configuration, json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.rtl.config import PRESETS, Config

__all__ = ["config"]

_DERIVED = ("cores", "data_width", "word_width", "accumulator_width", "digits", "streams",
            "send_record_width", "state_words", "index_width", "address_width")
#: Presets side by side, so that a table fits 80 columns.
_BESIDE = 4


@click.group()
def config() -> None:
    """Show configurations."""


@config.command("list")
@json_option
def list_presets(as_json: bool) -> None:
    """All presets."""
    if as_json:
        print_json({name: preset.to_dict() for name, preset in PRESETS.items()})
        return
    everything = list(PRESETS.items())
    for first in range(0, len(everything), _BESIDE):
        presets = everything[first:first + _BESIDE]
        print_table(make_console(), ("field", *(name for name, _ in presets)), [
            *((field, *(str(getattr(preset, field)) for _, preset in presets))
              for field in presets[0][1].to_dict()),
            ("hash", *(f"{preset.hash:#010x}" for _, preset in presets))])


@config.command()
@configuration("cora")
@json_option
def show(config: Config, as_json: bool) -> None:
    """One configuration, with derived values."""
    derived = {name: getattr(config, name) for name in _DERIVED}
    if as_json:
        print_json({**config.to_dict(), "derived": derived, "hash": f"{config.hash:#010x}"})
        return
    given = {**config.to_dict(), "hash": f"{config.hash:#010x}"}
    print_table(make_console(), ("field", "value"), [
        *((name, str(value)) for name, value in given.items()), None,
        *((name, str(value)) for name, value in derived.items())])
