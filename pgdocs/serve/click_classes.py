"""click as our commands use it: examples left as they are, errors as sentences, operators as arguments."""

from __future__ import annotations

import errno
import re
from typing import Any

import click

from pgdocs.errors import BadQuery, PgdocsError, UnknownSource
from pgdocs.serve.terminal import as_commands


def clean(text: str) -> str:
    from pgdocs.serve.guard import clean  # its weights take a tenth of the handshake's time, `serve` needs them later

    return clean(text)


class Command(click.Command):
    """Leaves the examples at the end of its help as they are: a wrapped one can't be pasted."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{self.epilog}\n")


class Group(Command, click.Group):
    """Shows an error of ours as its sentence."""

    command_class = Command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (BadQuery, UnknownSource) as error:
            raise click.UsageError(clean(str(error))) from error
        except PgdocsError as error:
            raise click.ClickException(as_commands(clean(str(error)))) from error
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise click.ClickException("The output can't be written: no space is left there.") from error
            raise


class Asking(Command):
    """Takes what begins like `->>` for an operator that is asked about, not for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {word}" if re.match(r"-[^\w-]", word) else word for word in args])
