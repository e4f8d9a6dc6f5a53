"""Write the release of a solution of an earlier run.

The run is repeated from its run.json on the same files, which gives the same solutions. Options of the release that
are not given here stay as they were in the run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vbas_desktop.settings.declaration import settings_of
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.writing import HandingOver

from .arguments import add_settings, whole
from .options import say_release
from .terminal import TerminalProgress

EXAMPLE = """Example:
  vbas export result --solution 2 --out release-2"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    parser.add_argument(
        "--solution", metavar="N", type=whole(1), help="id of the solution (default: the one of the run)"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the release")
    parser.add_argument("--records", metavar="FILE", help="where the record file (or address) is now, if it was moved")
    parser.add_argument("--regions", metavar="FILE", help="where the region file is now, if it was moved")
    add_settings(parser, ReleaseOptions, defaults=False)
    add_settings(parser, HandingOver)
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def run(options: argparse.Namespace) -> int:
    """Repeat the run, take the solution, write its release."""
    from vbas_desktop.jobs.release import ExportJob

    given = {each.key: vars(options)[each.key] for each in settings_of(ReleaseOptions) if each.key in vars(options)}
    job = ExportJob(
        Path(options.run_folder),
        Path(options.out),
        options.solution,
        given,
        options.records,
        Path(options.regions) if options.regions else None,
        handing=HandingOver.from_options(vars(options)),
    )
    with TerminalProgress(options.quiet) as progress:
        report = job.execute(progress)
    say_release(report, options.quiet)
    return 0
