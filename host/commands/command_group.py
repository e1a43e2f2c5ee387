# SPDX-License-Identifier: BSD-2-Clause
"""The group of all commands: the last place that errors and warnings come to."""

import codecs
import contextlib
import itertools
import os
import re
import shlex
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, TextIO

import click

from hypercast.errors import HypercastError, InputError
from hypercast.host.commands.ranks import one_of_several
from hypercast.host.description.conversion import DescriptionError
from hypercast.safe_path import safe_path

__all__ = ["UNFORESEEN", "CommandGroup", "command_line"]

#: What is said of errors that are no refusals.
UNFORESEEN = "this should have been refused with a reason"

#: The command that processes which are started together share.
_SHARED = "train"
#: An option with nothing for its value.
_EMPTY = re.compile(r"--?[\w-]+=")
_ERRORS = "hypercast.as_it_came"
#: Where a context keeps the command line.
_COMMAND_LINE = "hypercast.command_line"
_SOURCE = Path(__file__).parents[1]


class CommandGroup(click.Group):
    """Commands whose errors and warnings are a line each on standard error, without a traceback.

    Exit status 2 says that what was given is refused, 1 that something else went wrong. With
    ``python -X dev``, errors have their traceback.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line; text is UTF-8 whatever the locale.

        Where standard input, output or errors are closed, they are nothing, and no file that is
        opened later.
        """
        _open_standard_files()
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(encoding="utf-8", errors=_ERRORS)
        arguments = args[0] if args and args[0] is not None else kwargs.get("args")
        words = sys.argv[1:] if arguments is None else [*arguments]
        shared = one_of_several() if words[:1] == [_SHARED] else contextlib.nullcontext()
        try:
            with safe_path(), shared:
                return super().main(*args, **kwargs)
        except OSError as error:  # of what a command's help is printed to
            click.echo(f"error: {_text(error)}", err=True)
            sys.exit(1)

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Take a command line apart, and remember it; what is empty there is a slip."""
        for before, text in itertools.pairwise(["", *arguments]):
            if not text or _EMPTY.fullmatch(text):
                name = text.strip("=") or (before if before.startswith("-") else "an argument")
                raise click.UsageError(f"{name} is empty; give a value, or leave it out", context)
        context.meta[_COMMAND_LINE] = shlex.join(["hypercast", *arguments])
        return super().parse_args(context, arguments)

    def invoke(self, context: click.Context) -> Any:
        """Run the command that was named."""
        with warnings.catch_warnings():
            warnings.showwarning = _show
            try:
                return super().invoke(context)
            except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
                raise
            except KeyboardInterrupt:
                click.echo("error: ended by signal 2 (SIGINT)", err=True)
                raise click.exceptions.Exit(130) from None
            except Exception as error:
                if sys.flags.dev_mode:
                    raise
                click.echo(f"error: {_text(error)}", err=True)
                raise click.exceptions.Exit(2 if isinstance(error, InputError) else 1) from error


def _open_standard_files() -> None:
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which gets the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))


def command_line() -> str:
    """The command line that is carried out, as a shell takes it."""
    found: str = click.get_current_context().meta[_COMMAND_LINE]
    return found


def _as_it_came(error: UnicodeError) -> tuple[str | bytes, int]:
    """How names of files that are no text come out: byte for byte; what else is none, escaped."""
    assert isinstance(error, UnicodeEncodeError)  # nothing is decoded with it
    code = ord(error.object[error.start])
    if 0xDC80 <= code <= 0xDCFF:
        return bytes([code - 0xDC00]), error.start + 1
    return f"\\u{code:04x}", error.start + 1


codecs.register_error(_ERRORS, _as_it_came)


def _show(message: Warning | str, category: type[Warning], filename: str, lineno: int,
          file: TextIO | None = None, line: str | None = None) -> None:
    click.echo(f"warning: {message}", err=True)


def _text(error: Exception) -> str:
    """An error as one line, with what to do."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}; check the path, your permissions and the space there"
    if isinstance(error, MemoryError):
        return f"memory is used up ({text or 'no more is given'}); take a smaller graph, model " \
               f"or batch"
    if isinstance(error, DescriptionError):
        return " ".join(error.on_command_line.split())
    if text and isinstance(error, HypercastError):
        return text
    return f"{type(error).__name__}: {text or 'no more is said'} ({_place(error)}); " \
           f"{UNFORESEEN}: please report the command and its files"


def _place(error: Exception) -> str:
    """The last line of ours that the error came through."""
    *_, last = (frame for frame in traceback.extract_tb(error.__traceback__)
                if _SOURCE in Path(frame.filename).parents)
    return f"{Path(last.filename).relative_to(_SOURCE.parent)}, line {last.lineno}"
