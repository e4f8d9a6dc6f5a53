"""Write the release of a solution of an earlier run.

The run is repeated from its run.json on the same files, which gives the same solutions. Options of the release that
are not given here stay as they were in the run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vbas_desktop.app.release import ExportRequest, export_run
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import RecipientOptions

from .arguments import OptionParser, add_options, whole
from .options import print_release
from .terminal import TerminalProgress

EXAMPLE = """Example:
  vbas export result --solution 2 --out release-2"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    parser.add_argument(
        "--solution", metavar="N", type=whole(1), help="id of the solution (default: the one of the run)"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the release")
    parser.add_argument(
        "--records", metavar="FILE", help="where the record file (or address) is now, if it was moved"
    )
    parser.add_argument(
        "--regions", metavar="FILE", help="where the region file is now, if it was moved"
    )
    add_options(parser, ReleaseOptions, defaults=False)
    add_options(parser, RecipientOptions)
    parser.add_argument("--quiet", action="store_true", help="hide progress and remarks")


def run(options: argparse.Namespace) -> int:
    """Repeat the run, take the solution, write its release."""
    given = {
        each.name: vars(options)[each.name]
        for each in ReleaseOptions.options()
        if each.name in vars(options)
    }
    request = ExportRequest(
        Path(options.run_folder),
        Path(options.out),
        options.solution,
        given,
        options.records,
        Path(options.regions) if options.regions else None,
        handing=RecipientOptions.from_dict(vars(options)),
    )
    with TerminalProgress(options.quiet) as progress:
        report = export_run(request, progress)
    print_release(report, options.quiet)
    return 0
