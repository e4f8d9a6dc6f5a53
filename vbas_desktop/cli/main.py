"""The entry point of `vbas`: finds the command, runs it, and turns every outcome into its exit code."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from vbas_desktop import __version__
from vbas_desktop.io.output import check_writable
from vbas_desktop.io.signals import handle_stop_signals, recorded_outputs
from vbas_desktop.model.findings import InputError, UsageError, VerificationFailed, explain_os_error
from vbas_desktop.model.progress import Cancelled
from vbas_desktop.model.text import NOT_UTF8, is_valid_text, shorten

from .arguments import HelpFormatter, OptionParser, Store
from .terminal import OutputError, discard_output, flush_output, open_closed_streams, say

COMMANDS: dict[str, str] = {
    "run": "run one combination of approaches and rate the solutions",
    "search": "find the finest release at one protection and one allowed loss",
    "compare": "run many combinations of approaches and write one table",
    "reproduce-thesis": "run the thesis' experiments and check its claims",
    "export": "write the release of a solution of an earlier run",
    "ledger": "record what was handed to whom, and check a release against it",
    "policies": "list, show and check the policies that releases are judged by",
    "verify": "check whether a file is k-anonymous",
    "generate": "make synthetic records and regions with known counts",
    "approaches": "list every approach and its parameters",
    "representability": "report what an anonymised file is still worth, against its original",
    "outliers": "count and handle the classes of fewer than k records of any file",
    "risky": "find combinations of values that single people out, and coarsen them",
    "appointments": "plan screening appointments that keep people anonymous",
    "appointments-experiment": "measure the appointment planners on random programmes",
}
"""The commands and their line of help; each is a module with ``configure(parser)`` and ``run(options)``."""

_CANCELLED = 130
_NO_MEMORY = (
    "There is not enough memory for this. "
    "Close other programs, take fewer columns or regions, or use a larger machine."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 done, 1 wrong input, 2 wrong usage, 3 not verified, 130 cancelled."""
    try:
        with handle_stop_signals(to_the_end=argv is None):
            return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        # Loading the commands takes a while too.
        return _report_stop()


def _report_stop() -> int:
    """Say whether a stop left nothing or came when the result was complete already; return the exit code."""
    placed = recorded_outputs()
    if not placed:
        say("Stopped. Nothing half-written was left behind.")
        return _CANCELLED
    say(f"The stop came too late: the result is complete in {placed[-1]}.")
    return 0


def run_program() -> int:
    """Run the command of this process, with its streams and its environment prepared; return the exit code."""
    open_closed_streams()
    # What libraries warn of is noted as findings where it matters; a raw warning helps nobody who uses the command.
    warnings.simplefilter("ignore")
    # Nothing here multiplies large matrices. Threads for that would be started all the same, and wait busily at first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return main()
    finally:
        flush_output()


def _main(arguments: list[str]) -> int:
    parser = build_parser(arguments)
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    undecodable = next((word for word in arguments if not is_valid_text(word)), None)
    if undecodable is not None:
        say(f"error: {NOT_UTF8.format(name=shorten(undecodable))}")
        return 2
    options = parser.parse_args(arguments)
    if "--out=" in arguments or ("--out", "") in pairwise(arguments):
        say("error: --out is empty; give it a folder or file, or leave it out.")
        return 2
    try:
        for target in filter(None, (getattr(options, name, None) for name in ("out", "scores"))):
            check_writable(Path(target))
        return int(options.command(options) or 0)
    except InputError as error:
        if options.debug:
            raise
        for finding in error.findings:
            say(f"{finding.severity}: {finding}")
        return 1
    except UsageError as error:
        say(f"error: {error}")
        return 2
    except VerificationFailed as error:
        say(f"error: {error}")
        return 3
    except (Cancelled, KeyboardInterrupt):
        return _report_stop()
    except OutputError as error:
        say(
            f"error: standard output: {error}. What --out names is complete; only what was to be printed is not."
        )
        discard_output()
        return 1
    except OSError as error:
        if options.debug:
            raise
        say(f"error: {explain_os_error(error)}")
        return 1
    except Exception as error:
        if options.debug:
            raise
        if isinstance(error, MemoryError) or "can't start new thread" in str(error):
            say(f"error: {_NO_MEMORY}")
            return 1
        say(
            f"error: something unexpected happened ({type(error).__name__}). Run again with --debug to see where."
        )
        return 1


class _Parser(OptionParser):
    """Says what is wrong in a line or two: the list of all options would hide it."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, where help is, and end."""
        say(f"{self.prog}: error: {message}")
        say(f"`{self.prog} --help` explains what goes here.")
        raise SystemExit(2)


class _CommandParser(_Parser):
    """Tells of unknown options itself: it knows the like ones, and its help lists them. Refuses repeated inputs."""

    def __init__(self, *args: Any, **others: Any) -> None:
        super().__init__(*args, **others)
        for name in (None, "store"):
            self.register("action", name, Store)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the options; what is unknown is an error."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = re.findall(r"--[\w-]+", self.format_usage())
            likely = difflib.get_close_matches(unknown[0].partition("=")[0], known, 1)
            what = "an option" if unknown[0].startswith("-") else "expected here"
            self.error(f"“{unknown[0]}” is not {what}{f'; did you mean {likely[0]}?' if likely else ''}")
        return options, unknown


def build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Declare all commands, and the options of the one that the arguments name."""
    parser = _Parser(
        prog="vbas",
        description="Make record files k-anonymous by merging small regions; see what it costs; release and verify.",
        formatter_class=HelpFormatter,
        epilog="`vbas COMMAND --help` explains a command, with an example on the sample data.",
    )
    parser.add_argument("--version", action="version", version=f"vbas {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, line in COMMANDS.items():
        if arguments[:1] == [name]:
            _add_command(commands, name, line)
        else:
            # Only what is needed is imported: the help of all, and the command that runs, come at once.
            commands.add_parser(name, help=line)
    return parser


def _add_command(commands: Any, name: str, line: str) -> None:
    module = importlib.import_module(f".{name.replace('-', '_')}", __package__)
    parser = commands.add_parser(
        name,
        help=line,
        description=module.__doc__,
        epilog=getattr(module, "EXAMPLE", None),
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--debug", action="store_true", help="show the full traceback of an error")
    module.configure(parser)
    parser.set_defaults(command=module.run)
