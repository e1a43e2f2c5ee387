# SPDX-License-Identifier: BSD-2-Clause
"""The command line in this process, as a user calls it."""

from collections.abc import Collection

from click.testing import CliRunner

from hypercast.benches.fuzzing.trial import WrongError, check_refusal
from hypercast.host.commands.command_group import UNFORESEEN

__all__ = ["UnforeseenError", "run_command"]


class UnforeseenError(Exception):
    """An error that would be a traceback, were it not for the command line's last resort."""


def run_command(names: Collection[str], *arguments: object) -> str | None:
    """The standard output of a command; None if it refuses, as it should.

    Parameters
    ----------
    names : sequence of str
        A refusal has to name one of these.
    *arguments
        Arguments of ``hypercast``.

    Raises
    ------
    WrongError
        If it fails without a line that says why.
    UnforeseenError
        If the command line did not expect the error.
    BaseException
        An error that a user would see as a traceback.
    """
    from hypercast.host.cli import main

    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code == 0:
        return result.stdout
    lines = result.stderr.splitlines()
    errors = [place for place, line in enumerate(lines) if line.lower().startswith("error: ")]
    if UNFORESEEN in result.stderr:
        raise UnforeseenError(lines[-1])
    if result.exit_code not in (1, 2) or not errors:
        raise WrongError(f"exit status {result.exit_code} without an error: "
                         f"{result.stderr[-400:]!r}")
    check_refusal("\n".join(lines[errors[0]:]), names)
    return None
