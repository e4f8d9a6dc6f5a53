"""Write the release of a solution of an earlier run.

The run is repeated from its run.json on the same files, which gives the same solutions. Options of the release that
are not given here stay as they were in the run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Span

from . import options as shared
from .argument_types import names, whole
from .errors import UsageError
from .release_options import DEFAULTS, add_release_options, release_options, say_release
from .run import approaches_of, chosen_solution
from .terminal import TerminalProgress

if TYPE_CHECKING:
    from vbas_desktop.release import ReleaseOptions

EXAMPLE = """Example:
  vbas export result --solution 2 --out release-2"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run_folder", metavar="RUN_DIR", help="the folder that `vbas run --out` wrote")
    parser.add_argument(
        "--solution", metavar="N", type=whole(1), help="id of the solution (default: the one of the run)"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the release")
    parser.add_argument("--records", metavar="FILE", help="where the record file is now, if it was moved")
    parser.add_argument("--regions", metavar="FILE", help="where the region file is now, if it was moved")
    parser.add_argument("--identifiers", metavar="A,B", type=names, default=argparse.SUPPRESS, help="columns to drop")
    add_release_options(parser, defaults=False)
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def run(options: argparse.Namespace) -> int:
    """Repeat the run, take the solution, write its release."""
    from vbas_desktop.engine.run import run as run_engine
    from vbas_desktop.files.hashing import require_unchanged
    from vbas_desktop.files.runfile import read_run_file
    from vbas_desktop.release import check_target, write_release

    document = read_run_file(Path(options.run_folder))
    with _undamaged():
        settings = _settings(document, options)
        chosen = release_options(settings)
        components = approaches_of(settings)
        repeated = _repeated(document, chosen)
    check_target(Path(options.out))
    progress = TerminalProgress(options.quiet)
    try:
        loaded = shared.load(settings, Span(progress, 0.0, 0.4))
        require_unchanged(loaded.table.source)
        _refuse_other_files(document, loaded)
        request = shared.request_of(settings, loaded.problem, **components)
        result = run_engine(request, Span(progress, 0.4, 0.6))
        solution = chosen_solution(result, options.solution or document.get("chosen_solution"))
        with _undamaged():
            _refuse_other_result(document, solution.as_dict())
        if "shuffle_seed" not in vars(options) and repeated != solution.id:
            # Every other release has an order of its own, so that rows that are in both cannot be told by their places.
            chosen = replace(chosen, shuffle_seed=None)
        changed = {**document, "chosen_solution": solution.id, "options": _kept(document, settings)}
        report = write_release(
            loaded.problem,
            loaded.table,
            result,
            solution,
            chosen,
            Path(options.out),
            Span(progress, 0.6, 1.0),
            changed,
        )
    finally:
        progress.close()
    if not options.quiet:
        say_release(report)
    return 0


def _settings(document: Mapping[str, Any], options: argparse.Namespace) -> argparse.Namespace:
    """The options of the run, with those that were given now in their place."""
    settings = shared.restored(document.get("options", {}))
    if not hasattr(settings, "region_column"):
        raise InputError(
            Finding("run-file", "The run does not tell its options.", "Run it again with `vbas run --out`.")
        )
    for name in ("identifiers", *DEFAULTS):
        if name in vars(options):
            setattr(settings, name, getattr(options, name))
    for name in ("records", "regions"):
        setattr(settings, name, getattr(options, name) or getattr(settings, name))
    settings.quiet = options.quiet
    return settings


def _repeated(document: Mapping[str, Any], chosen: ReleaseOptions) -> int | None:
    """The solution of which this would be the release that the run wrote, once more; None if of none."""
    kept = document.get("release") or {}
    before = type(chosen).from_dict(kept)
    return kept.get("solution") if replace(before, shuffle_seed=chosen.shuffle_seed) == chosen else None


@contextmanager
def _undamaged() -> Iterator[None]:
    """What an earlier run kept is understood as it is; what cannot be was damaged."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError):
        message = "The run.json of this run is damaged: an option has a value that none can have."
        raise InputError(Finding("run-file", message, "Run it again with `vbas run --out`.")) from None


def _kept(document: Mapping[str, Any], settings: argparse.Namespace) -> dict[str, Any]:
    """The options of the run as they are kept: where the files are now does not count."""
    files = {name: document["options"][name] for name in ("records", "regions")}
    return {**shared.in_force(settings), **files}


def _refuse_other_files(document: Mapping[str, Any], loaded: shared.Loaded) -> None:
    inputs = document.get("inputs") or {}
    now = {"records": loaded.problem.records_source, "regions": loaded.problem.regions_source}
    findings = [
        Finding(
            "input-changed",
            "This is not the file of the run: its content differs.",
            "Name the file of the run, or run again.",
            file=source.path,
        )
        for name, source in now.items()
        if source is not None and (inputs.get(name) or {}).get("sha256") != source.sha256
    ]
    if findings:
        raise InputError(findings)


def _refuse_other_result(document: Mapping[str, Any], solution: Mapping[str, Any]) -> None:
    """A run that cannot be repeated (another program version, say) must not be released under its name."""
    before = next((entry for entry in document["solutions"] if entry["id"] == solution["id"]), None)
    if before is None:
        raise UsageError(f"The run has no solution {solution['id']}.")
    same = all(before.get(name) == solution[name] for name in ("sites", "aggregated_regions"))
    name = "suppressed_records"
    if not same or before["measures"].get(name) != solution["measures"].get(name):
        raise InputError(
            Finding(
                "not-repeatable",
                "Repeating the run gave another solution than the one that was kept.",
                "Run again with this version of the program and release the new result.",
            )
        )
