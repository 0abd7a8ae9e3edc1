"""The command ``memreport``: one module per command, imported when it is run.

``memreport --help`` imports no command, no git and never Sphinx. A command is a function that
click knows; what all of them share is in :mod:`.common`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import click

from sphinx_memreport import __version__
from sphinx_memreport.cli.exits import Exit, Failure, explained, tidy_termination


class _Entry(NamedTuple):
    """Where a command is, as ``module:function`` of this package, and its line of help."""

    target: str
    help: str

    @property
    def module(self) -> str:
        """The full name of the module."""
        return f"{__name__}.{self.target.partition(':')[0]}"


#: Every command, in the order in which ``--help`` lists them.
COMMANDS = {
    "new": _Entry("new:new", "Start a report: a project that builds at once."),
    "fetch": _Entry("fetch:fetch", "Bring every pinned commit to its checkout path."),
    "status": _Entry("status:status", "Show the pins, what is here and what is missing."),
    "quote": _Entry("quote:quote", "Print a passage of a source as an evidence block."),
    "fmt": _Entry("fmt:fmt", "Give quotes the line breaks of their source."),
    "check": _Entry("check:check", "Say all problems without writing pages."),
    "repin": _Entry("repin:repin", "Move a pin, and say what that does to the report."),
    "import": _Entry("importer:import_", "Turn plain-Markdown members into a report."),
    "export": _Entry("exporter:export", "Write a report as plain-Markdown members."),
    "lock": _Entry("locking:lock", "Record the verified quotes for builds without checkouts."),
}


class Commands(click.Group):
    """Imports a command when it is asked for, and says failures without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of those that are installed, in the order of the table."""
        return [name for name, entry in COMMANDS.items() if find_spec(entry.module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        entry = COMMANDS[cmd_name]
        try:
            command = getattr(import_module(entry.module), entry.target.partition(":")[2])
        except ModuleNotFoundError as error:
            if error.name != entry.module:
                raise
            ctx.fail(f"the command {cmd_name!r} is not part of this installation")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the help of the table, so that none must be imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; what it could not do becomes a message and an exit status."""
        try:
            with tidy_termination():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Failure("interrupted", Exit.INTERRUPTED) from None
        except Exception as error:
            failure = explained(error)
            if failure is None:
                raise
            raise failure from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="memreport %(version)s")
def main() -> None:
    """Write reports whose quotes are checked against pinned sources.

    \b
    A report from nothing:
      memreport new report --repository URL --commit SHA
      cd report
      memreport fetch
      memreport quote src/app.py 12-20      a block to paste into a record
      sphinx-build -b html . _build/html

    Commands look for memreport.toml here, in docs/, and then in the folders above; -c names
    another one. 'check', 'repin' and 'lock' run Sphinx, and so conf.py beside it (-s names its
    folder); the others do not need Sphinx.

    \b
    Exit status:
      0  all is well
      1  problems were found
      2  wrong usage or configuration, or a file that cannot be read or written
      3  a source cannot be reached
    """
