"""How commands end: exit statuses, and failures that are said in one message."""

from __future__ import annotations

import errno
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import IO, Any

import click


class Exit(IntEnum):
    """The exit statuses of every command."""

    OK = 0
    PROBLEMS = 1
    USAGE = 2
    UNREACHABLE = 3
    INTERRUPTED = 130


class Failure(click.ClickException):
    """What a command could not do, in words for its user.

    :param message: what is wrong; further lines may give details and what to type.
    """

    def __init__(self, message: str, status: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        # click reads it from the instance
        self.exit_code = status  # type: ignore[misc]

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message to standard error."""
        from sphinx_memreport.cli.output import visible

        click.echo(f"memreport: {visible(self.message)}", file=file, err=file is None)


@contextmanager
def tidy_termination() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, so that what is half done is taken back."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def explained(error: Exception) -> Failure | None:
    """The failure that an exception of the library means; None for those that are bugs."""
    from sphinx_memreport.config import InvalidConfig
    from sphinx_memreport.core.blobs import SourceUnavailable

    match error:
        case InvalidConfig():
            return InvalidConfigFailure(error.report())
        case SourceUnavailable():
            fix = f"\n    fix: {error.fix}" if error.fix else ""
            return Failure(f"{error.message} [memreport.{error.code}]{fix}", Exit.UNREACHABLE)
        case OSError() if error.errno != errno.EPIPE:  # click ends quietly when a pipe closes
            where = f"{error.filename}: " if error.filename else ""
            return Failure(f"{where}{error.strerror or error}")
    return None


class InvalidConfigFailure(Failure):
    """A configuration that cannot be used, said as the build says it."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the problems to standard error, one a line, as the build does."""
        from sphinx_memreport.cli.output import visible

        click.echo(visible(self.message), file=file, err=file is None)
