"""What all commands are in: shows warnings as a line each."""

import warnings

import click

__all__ = ["CommandGroup"]


class CommandGroup(click.Group):
    """Commands whose warnings are lines on standard error."""

    def invoke(self, context):
        """Run the command that was named."""
        with warnings.catch_warnings():
            warnings.showwarning = _show
            return super().invoke(context)


def _show(message, category, filename, lineno, file=None, line=None):
    click.echo(f"warning: {message}", err=True)
