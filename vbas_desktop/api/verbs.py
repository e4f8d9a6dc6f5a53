"""The verbs: run, compare, release, export, verify."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.jobs.compare import CompareJob, plan_of
from vbas_desktop.jobs.release import ExportJob, ReleaseJob
from vbas_desktop.jobs.run import RunJob
from vbas_desktop.jobs.text_progress import shown
from vbas_desktop.jobs.verify import VerifyJob
from vbas_desktop.settings.approaches import Chooser, run_settings
from vbas_desktop.settings.command import check_columns
from vbas_desktop.settings.limits import Limiting
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import COMPONENTS, Protection, Running, Workers
from vbas_desktop.settings.sensitive import Harm, check_sensitive, sensitive_columns

from .data import Data, Place, options_of
from .results import Comparison, Run, Solution

if TYPE_CHECKING:
    from vbas_desktop.release import ReleaseReport


def run(data: Data, *, progress: Any = None, requirement: Any = None, **settings: Any) -> Run:
    """Run one combination of approaches over its range of site numbers and rate the solutions.

    Parameters
    ----------
    data
        What `read` gave.
    progress
        None shows a line on a terminal, False nothing; or a function of stage and fraction.
    requirement
        A file with what a researcher needs, or its content: `Run.chosen` is then one that meets it.
    settings
        ``k``, ``range_reach``, ``random_seed``, …; ``site_number``, ``site_location``, …; their parameters by the
        names of their options (``sites=40``), all others as ``parameters={"balanced-density": {"variant": "paper"}}``.
    """
    options = options_of(settings, Protection, Limiting, Harm, Running, Workers, approaches=True)
    chosen, unused = run_settings({**data._options, **options})
    if unused:
        raise TypeError(f"{', '.join(unused)}: no effect on the chosen approaches")
    check_columns(chosen)
    with shown(progress) as told:
        ran = RunJob(chosen, data._loaded, requirement=_requirement(requirement)).execute(told)
    return Run(data, ran)


def compare(
    data: Data,
    *,
    k: int | Iterable[int] = 5,
    out: str | PathLike[str] | None = None,
    generalised: str = "no",
    progress: Any = None,
    **settings: Any,
) -> Comparison:
    """Run every combination of the approaches that are listed (``site_location=["density", "adc"]``) and values of k.

    ``out`` receives the tables, a summary and charts. ``generalised`` says whether the groups of the data are used:
    no, yes or both. All other settings are those of `run`.
    """
    several = {name: settings.pop(name) for name in COMPONENTS if name in settings}
    options = options_of(settings, Protection, Limiting, Harm, Running, Workers, approaches=True)
    chosen, _ = run_settings({**data._options, **options})
    chooser = Chooser(options)
    made = {
        component: tuple(
            chooser.make(component, name) for name in _listed(several.get(component, chosen.approaches[component]))
        )
        for component in COMPONENTS
    }
    plan = plan_of(chosen, (chosen.quasi_identifiers,), tuple(_listed(k)), made, generalised)
    with shown(progress) as told:
        job = CompareJob(plan, data._loaded, None if out is None else Path(out), identifiers=chosen.identifiers)
        return Comparison(job.execute(told).comparison)


def release(
    made: Run | Solution, out: str | PathLike[str], *, progress: Any = None, requirement: Any = None, **options: Any
) -> ReleaseReport:
    """Write the release of a solution (of a run: the chosen one) to a folder, verified by reading it back.

    ``options`` are the settings of a release: ``columns``, ``renames``, ``format``, ``policy``, …
    """
    solution = made.chosen if isinstance(made, Run) else made
    run = solution._run
    plain = {"identifiers": list(run._ran.settings.identifiers), **options_of(options, ReleaseOptions)}
    chosen = ReleaseOptions.from_options(plain)
    job = ReleaseJob(run._ran, solution.id, chosen, Path(out), _requirement(requirement))
    with shown(progress) as told:
        return job.execute(told)


def export(
    folder: str | PathLike[str],
    out: str | PathLike[str],
    *,
    solution: int | None = None,
    progress: Any = None,
    **options: Any,
) -> ReleaseReport:
    """Repeat an earlier run from the folder that it left behind and release one of its solutions."""
    job = ExportJob(Path(folder), Path(out), solution, options_of(options, ReleaseOptions))
    with shown(progress) as told:
        return job.execute(told)


def verify(
    records: Any,
    *,
    quasi_identifiers: Any,
    region_column: str,
    k: int = 5,
    sensitive: Any = (),
    progress: Any = None,
    **settings: Any,
) -> dict[str, Any]:
    """Say whether a file or a data frame is k-anonymous, as `vbas verify` does: ``["ok"]`` is the verdict.

    ``settings`` are those of reading, and ``benign`` values and ``criteria`` of the sensitive columns.
    """
    names = tuple(quasi_identifiers.split(",") if isinstance(quasi_identifiers, str) else quasi_identifiers)
    options = options_of(settings, RecordOptions, Harm)
    how, harm = RecordOptions.from_options(options), Harm.from_options(options)
    columns = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    check_sensitive(columns, harm)
    place = Place()
    with shown(progress) as told:
        file, judged = place.file(records, "records"), sensitive_columns(columns, harm)
        return VerifyJob(file, names, region_column, k, how, judged).execute(told).as_dict()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _requirement(given: Any) -> Any:
    from vbas_desktop.assessment.representability.requirement import read_requirement, requirement_from

    if given is None:
        return None
    return requirement_from(given) if isinstance(given, Mapping) else read_requirement(given)
